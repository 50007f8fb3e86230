/* Filters in shared objects, as those of perf script --dlfilter: they decide which samples of a
 * session are seen.
 *
 * The binary interface is that of <perf/perf_dlfilter.h>; filters that were compiled for perf run
 * unchanged.  Filters run on the caller's thread, one sample at a time, in the order of time. */
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
/* Does not call the filters' stop().  NULL is fine. */
void tally_dlfilters_free(struct tally_dlfilters *filters);

/* Loads a filter, which may already run code of it.  A name without a slash is looked for in the
 * working directory, in the folders of tally_dlfilters_folder(), and where dlopen(3) looks.  The
 * arguments are copied; the filter gets them by args().  0; -ENOENT: it cannot be loaded, the error
 * says why; -ENOMEM. */
int tally_dlfilters_add(struct tally_dlfilters *filters, const char *name, const char *const *args,
			size_t arg_count, struct tally_error *error);

/* Calls start() of each filter, and sends the session's samples through them until
 * tally_dlfilters_stop(), which must be called before the session is freed.  `kernel_path`: filters
 * see the paths of the kernel's binaries.  0; -ECANCELED: a filter refused, see
 * tally_dlfilters_ended(); -ENOMEM. */
int tally_dlfilters_start(struct tally_dlfilters *filters, struct tally_session *session,
			  bool kernel_path, struct tally_error *error);
/* Calls stop() of each filter whose start() was called, once. */
void tally_dlfilters_stop(struct tally_dlfilters *filters);

/* The filter that ended the reading, or the start. */
struct tally_dlfilter_end {
	size_t size;          /* sizeof of this struct, set by the caller */
	const char *name;     /* of the filter's file; NULL: no filter did */
	const char *callback; /* "start", "filter_event", "filter_event_early" */
	int value;            /* that it returned */
};
/* 0; -EINVAL: ret->size is not set. */
int tally_dlfilters_ended(const struct tally_dlfilters *filters, struct tally_dlfilter_end *ret);

/* The callback that runs at the moment, for signal handlers.  `callback` is NULL while no filter
 * runs; `call` is another number in each call.  Borrowed until the filters are freed. */
struct tally_dlfilter_now {
	size_t size; /* sizeof of this struct, set by the caller */
	const char *name, *callback;
	uint64_t call;
};
/* Async-signal-safe.  0; -EINVAL: ret->size is not set. */
int tally_dlfilters_now(const struct tally_dlfilters *filters, struct tally_dlfilter_now *ret);

/* The folders where filters are looked for, Tally's first, then perf's; NULL: there are no more.
 * The result is the caller's to free(). */
char *tally_dlfilters_folder(unsigned index);

/* Loads a filter and gives its own description.  Both strings are the caller's to free(), or NULL
 * where it has none.  0; -ENOENT: it is not a filter. */
int tally_dlfilter_describe(const char *path, char **ret_short, char **ret_long);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
