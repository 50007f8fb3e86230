/* A profile as text for people, and in formats for programs. */
#ifndef TALLY_REPORT_H
#define TALLY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <tally/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What a column can hold goes by its name: "overhead" (the row's own share), "overhead_children",
 * "sample", "period", and the keys of tally_key_name().  Enumerates them, and finds the one that
 * has this name or alias, as those two functions do for keys. */
const char *tally_report_field_name(size_t index, const char **ret_help);
const char *tally_report_field_find(const char *name, size_t length);
#define TALLY_REPORT_COLUMNS_MOST 20

/* The formats of a report: "text" comes first, then "csv", "json".  Enumerates them as
 * tally_key_name() does keys. */
const char *tally_report_format_name(size_t index, const char **ret_help);
/* Whether reports in this format can have call trees; a profile for another format can do without
 * call chains, but for `children`. */
bool tally_report_format_has_trees(const char *name);

struct tally_report_options {
	size_t size;          /* sizeof of this struct */
	double percent_limit; /* rows below this share are left out, % */
	bool trees;           /* call trees below the rows */
	enum tally_call_order order;
	double tree_least; /* branches below this share are left out, % */
	bool colour;
	unsigned width;                       /* columns of the terminal; 0: no limit */
	bool show_samples, show_total_period; /* -n, --show-total-period */
	const char
	    *separator; /* not NULL: stands between cells, which are not padded then; no trees */
	bool quiet;     /* rows only, no header lines */
	/* Lines of the terminal: where there are trees, the first rows come without them once, as
	 * many as fit, ten at least.  0: rows come once, each with its tree. */
	unsigned height;
	/* These columns, from the left, instead of the usual ones, and the rows sorted by these,
	 * one after the other; 0: as usual.  TALLY_REPORT_COLUMNS_MOST columns at most.  Keys among
	 * them must be the profile's. */
	const char *const *columns, *const *order_by;
	size_t column_count, order_by_count;
	const char *format; /* NULL: "text" */
};

/* Writes the rows of every event that has samples to `to`, as text with header lines
 * ("# Samples: ..."), and with a line that says why it may be so when there are none.  Names are
 * escaped, so that no terminal acts on them.  `csv` and `json` have all sums as columns unless
 * columns are given.  0, -EINVAL, -ENOMEM, or -errno of writing. */
int tally_report_write(const struct tally_profile *profile,
		       const struct tally_report_options *options, FILE *to);

/* Writes a line for each binary of which functions in the profile have no symbols, the largest
 * share of an event first: the share, its path, the reason, and the Debian package that has its
 * symbols. The number of lines, or -errno. */
int tally_report_nameless(const struct tally_profile *profile, FILE *to);

/* Writes a line for each binary that samples fell into and whose symbols are missing: its path and
 * the reason.  The number of lines, or -errno. */
int tally_report_missing(const struct tally_session *session, FILE *to);

/* How many records of each type there are, and how many samples of each event, as
 * `perf report --stats` lists them.  0, -ENOMEM, or -errno of writing. */
int tally_report_stats(const struct tally_session *session, FILE *to);
/* The threads of the recording, each below the one that made it, as `perf report --tasks` lists
 * them.  0, -ENOMEM, -errno of writing, or what reading gave. */
int tally_report_tasks(struct tally_session *session, FILE *to, struct tally_error *error);

/* Writes a line for each binary of whose symbols or source lines something was left out so far,
 * because it would take more memory than the binary's size is a reason for.  The number of lines,
 * or -errno. */
int tally_report_left_out(const struct tally_session *session, FILE *to);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
