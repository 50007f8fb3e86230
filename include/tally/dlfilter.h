/* Filters in shared objects, as perf script --dlfilter takes them: what is loaded here decides
 * which samples of a session are seen, by whatever shows them.  The binary interface is that of
 * <perf/perf_dlfilter.h>; filters that were compiled for perf run as they are.
 *
 * Filters run on the thread that calls, one sample at a time, in the order of time. */
#ifndef TALLY_DLFILTER_H
#define TALLY_DLFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_dlfilters; /* filters in the order in which they are asked */

int tally_dlfilters_new(struct tally_dlfilters **ret); /* 0 or -ENOMEM */
/* Does not call stop().  NULL is allowed. */
void tally_dlfilters_free(struct tally_dlfilters *filters);

/* Loads one more; code of it may run now.  A name without a slash is looked for in the working
 * directory, in the folders of tally_dlfilters_folder(), and where dlopen(3) looks.  The arguments
 * are what its args() gives; copied.  -ENOENT: it cannot be loaded, and why; -ENOMEM. */
int tally_dlfilters_add(struct tally_dlfilters *filters, const char *name, const char *const *args,
			size_t arg_count, struct tally_error *error);

/* The session's samples go through the filters from now on, until tally_dlfilters_stop(), which
 * must come before the session is freed.  Calls start() of each.  `kernel_path`: the kernel's
 * binaries by their paths.  0; -ECANCELED: one of them refused (tally_dlfilters_ended()); -ENOMEM.
 */
int tally_dlfilters_start(struct tally_dlfilters *filters, struct tally_session *session,
			  bool kernel_path, struct tally_error *error);
/* Calls stop() of those whose start() was called, once; the first gives the result. */
void tally_dlfilters_stop(struct tally_dlfilters *filters);

/* What ended the reading, or the start. */
struct tally_dlfilter_end {
	size_t size;          /* sizeof of this struct, set by the caller */
	const char *name;     /* of the filter's file; NULL: nothing did */
	const char *callback; /* "start", "filter_event", "filter_event_early" */
	int value;            /* that it returned */
};
/* 0; -EINVAL: ret->size is not set. */
int tally_dlfilters_ended(const struct tally_dlfilters *filters, struct tally_dlfilter_end *ret);

/* What runs at the moment, for signal handlers: `callback` is NULL when no filter does; `call` is
 * another number in each call.  Borrowed until the filters are freed. */
struct tally_dlfilter_now {
	size_t size; /* sizeof of this struct, set by the caller */
	const char *name, *callback;
	uint64_t call;
};
/* Async-signal-safe.  0; -EINVAL: ret->size is not set. */
int tally_dlfilters_now(const struct tally_dlfilters *filters, struct tally_dlfilter_now *ret);

/* A folder where filters are looked for, ours first, then perf's; NULL beyond the last.  Made for
 * the environment of the process; the caller's to free(). */
char *tally_dlfilters_folder(unsigned index);

/* What a filter says of itself.  Loads it for that.  0, and both are the caller's to free(), NULL
 * where it says nothing; -ENOENT: it is no filter. */
int tally_dlfilter_describe(const char *path, char **ret_short, char **ret_long);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
