/* Counts as text: a table for people, perf's CSV and JSON lines, and JSON of our own. */
#ifndef TALLY_STAT_TEXT_H
#define TALLY_STAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_stat_text_options {
	size_t size;           /* sizeof of this struct */
	const char *title;     /* what was counted: "'true'"; NULL: no title */
	const char *separator; /* of CSV; NULL: "," */
	bool intervals;        /* what is told is of an interval, which ended at: */
	uint64_t time;         /* ns */
	bool heading;          /* names of columns come first: before the first interval */
	bool summary;          /* CSV: lines begin with "summary" */
	bool repeated;         /* the spread over runs is told, though there may be but one */
	bool metric_only;      /* derived values alone, a line a part */
	bool skip_zeros;       /* threads that counted nothing are left out */
	bool plain_numbers;    /* table: 1234567 instead of 1,234,567 */
	bool command_times;    /* table, JSON: user and system time are of a command that was run */
	bool totals_only;      /* table: wall time without counts (--null) */
	bool colour;           /* table */
	unsigned width;        /* table: columns of the terminal; 0: no limit */
	const uint64_t *run_times; /* table: wall time of each run, ns; NULL: not shown */
	size_t run_time_count;
	/* Table: one line on what was not counted, beside the reasons of the events; NULL: none. */
	const char *hint;
};

/* Each writes what tally_stat_value() and tally_stat_derive() now tell.  0, -ENOMEM, or -errno of
 * writing.  Names from outside are made harmless for a terminal. */

/* For people: a line a count, widths by what there is. */
int tally_stat_text(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		    FILE *to);
/* As `perf stat -x` of 6.1: the same fields in the same order, numbers in the C locale. */
int tally_stat_csv(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		   FILE *to);
/* As `perf stat -j` of 6.1: an object a line, the same members in the same order. */
int tally_stat_perf_json(const struct tally_stat *stat,
			 const struct tally_stat_text_options *options, FILE *to);
/* All that is known of each count in one object on one line; see tally-stat(1). */
int tally_stat_json(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		    FILE *to);

/* Several commands that were run in turn, compared with the first. */
struct tally_stat_compared {
	const char *name;    /* "A" */
	const char *command; /* as it was typed */
	const struct tally_stat *stat;
};
struct tally_stat_compare_options {
	size_t size;       /* sizeof of this struct */
	double confidence; /* 0: 0.95 */
	bool colour;
	unsigned width; /* of the terminal, columns; 0: no limit */
};
/* For each time and count the mean of each command, and how far it is from the first one's; then in
 * words which one took less time, or that this cannot be told.  All have the same events, and one
 * part.  0, -ENOMEM, -errno of writing. */
int tally_stat_compare_text(const struct tally_stat_compared *compared, size_t count,
			    const struct tally_stat_compare_options *options, FILE *to);
/* The same as an object on a line; see tally-stat(1). */
int tally_stat_compare_json(const struct tally_stat_compared *compared, size_t count,
			    const struct tally_stat_compare_options *options, FILE *to);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
