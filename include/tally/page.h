/* A page: recordings as one HTML file that any browser opens, without a network or a server. */
#ifndef TALLY_PAGE_H
#define TALLY_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/data.h>
#include <tally/diff.h>
#include <tally/profile.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A row of the page's first lists: the ten hottest functions of the first event that has samples,
 * then the five in which threads were blocked longest, from a hundredth of the recording's time on.
 * A function that waits has a row for each of its callers. */
struct tally_page_row {
	bool blocked;         /* of the second list: weights are ns */
	const char *name;     /* "[unknown]" of code in which no function is known */
	const char *image;    /* short name; "" if unknown */
	bool inlined;         /* the function was inlined in others */
	uint64_t self, total; /* its own weight, and that of the event */
	/* The nearest caller that is the program's own, of a function of the C library or another
	 * that belongs to the language: of a hot one, if at least half of `self` is that caller's.
	 * NULL: there is none, it is the function itself, or it is not known. */
	const char *caller, *caller_image;
};

struct tally_page_options {
	size_t size; /* sizeof of this struct */
	/* NULL: the file's name and the recorded command. */
	const char *title;
	/* What the page says in words goes there, too: a line about what limits, then a line for
	 * each thing that is missing and what to do.  NULL: nowhere. */
	FILE *words;
	FILE *to; /* the page goes there, and `path` is not used; NULL: to `path` */
	/* Is called with each row of the first lists; what a row points to is the library's, until
	 * the call returns.  Not for differences.  NULL: nobody is. */
	void (*row)(void *context, const struct tally_page_row *row);
	void *row_context;
	bool no_source; /* source and assembly of the hottest functions are left out */
};

/* Reads all samples of the session once, and writes the page.  The profile's options choose the
 * samples as they do for a report; keys, trees and `children` are ignored.  Sums of the page are
 * those of a report with the same options.
 *
 * An existing file of that name is replaced when the page is complete; a failure leaves it as it
 * was.  *ret_size, which may be NULL, becomes the bytes written.  0,
 * -EINVAL, -E2BIG, -ENOMEM, -errno of writing, or an error of reading. */
int tally_page_write(struct tally_session *session, const struct tally_profile_options *options,
		     const struct tally_page_options *page, const char *path, uint64_t *ret_size,
		     struct tally_error *error);

/* The same of a difference of two recordings, by the keys "dso" and "symbol": graphs and tables
 * show both, what is gone and new, and which changes are more than chance.  `options` are those
 * that the difference's profiles were made with.  Also -EINVAL: it is another difference. */
int tally_page_write_diff(const struct tally_diff *diff,
			  const struct tally_profile_options *options,
			  const struct tally_page_options *page, const char *path,
			  uint64_t *ret_size, struct tally_error *error);

/* The call trees of a profile as a flame graph, one SVG that needs nothing else: a graph for each
 * event that has samples.  The profile must have no keys, and `callchains` without `children`.  Of
 * `page`, `words` is not used.  0, or as tally_page_write(); -ENODATA: no event has call stacks
 * with samples. */
int tally_page_write_svg(const struct tally_profile *profile, const struct tally_page_options *page,
			 const char *path, uint64_t *ret_size, struct tally_error *error);

/* Writes a sum of an event's weights as pages and flame graphs have it, "9.64 s" of a time and
 * "1.23 M" of another event, to `to`, cut at its `room` bytes.  Returns the whole length. */
size_t tally_page_amount(const struct tally_data_event *event, uint64_t weight, char *to,
			 size_t room);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
