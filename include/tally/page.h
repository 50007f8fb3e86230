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

struct tally_page_options {
	size_t size; /* sizeof of this struct */
	/* NULL: the file's name and the recorded command. */
	const char *title;
	/* What the page says in words goes there, too: a line about what limits, then a line for
	 * each thing that is missing and what to do.  NULL: nowhere. */
	FILE *words;
	FILE *to;       /* the page goes there, and `path` is not used; NULL: to `path` */
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
