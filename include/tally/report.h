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

/* Columns have names: "overhead" (the row's own share), "overhead_children", "sample", "period",
 * and the keys of tally_key_name().  The first function enumerates them, the second finds the one
 * that has this name or alias, as tally_key_name() and tally_key_find() do for keys. */
const char *tally_report_field_name(size_t index, const char **ret_help);
const char *tally_report_field_find(const char *name, size_t length);
#define TALLY_REPORT_COLUMNS_MOST 20

/* The formats of a report: "text" comes first, then "csv", "json".  Enumerates them as
 * tally_key_name() does keys. */
const char *tally_report_format_name(size_t index, const char **ret_help);
/* Whether reports in this format can have call trees.  A profile for another format needs call
 * chains only for `children`. */
bool tally_report_format_has_trees(const char *name);

/* How trees are drawn. */
enum tally_tree_style {
	TALLY_TREE_GRAPH,   /* branches with shares of all */
	TALLY_TREE_FRACTAL, /* with shares of the branch above */
	TALLY_TREE_FLAT,    /* a block for each path, without branches */
	TALLY_TREE_FOLDED,  /* a line for each path: "12.34% main;run;work" */
};
enum tally_tree_value {
	TALLY_TREE_PERCENT,
	TALLY_TREE_PERIOD,
	TALLY_TREE_SAMPLES, /* of a profile made with tree_samples */
};

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
	    *separator; /* between cells, which are not padded then; without trees. NULL: columns */
	bool quiet;     /* rows only, no header lines */
	/* Lines of the terminal.  If there are trees, the report begins with the first rows without
	 * trees, as many as fit, but at least ten. 0: rows come once, each with its tree. */
	unsigned height;
	/* The columns, from the left, and the columns that rows are sorted by, the most important
	 * one first; a count of 0: the default.  At most TALLY_REPORT_COLUMNS_MOST columns.  Keys
	 * must be keys of the profile. */
	const char *const *columns, *const *order_by;
	size_t column_count, order_by_count;
	const char *format; /* NULL: "text" */
	enum tally_tree_style tree_style;
	enum tally_tree_value tree_value;
	uint64_t tree_limit; /* branches of a tree, or paths; 0: no limit */
	/* Columns with the parts of the share in the kernel, in user space, and in guests, if there
	 * were any; of a profile made with by_mode. */
	bool show_modes;
	/* Text: the events of a group side by side, each column of sums with a value for each;
	 * where no group was recorded, all events.  Sorted by the event of this number in the
	 * group. */
	bool group;
	uint32_t group_sort;
	/* Names of functions are whole also where the terminal is too narrow for them.  Else they
	 * are shortened in the middle, so that they stay different. */
	bool whole_names;
	/* Widths of the columns from the left, as they are on the terminal; 0: as needed. */
	const unsigned *column_widths;
	size_t column_width_count;
	bool ns; /* times have nine digits behind the point */
	/* Text: rows in a hierarchy: those with the same first key are below one line with their
	 * sum, and so on.  Without columns of one's own.  Bits of keys that share a line with the
	 * key before them, from bit 1. */
	bool hierarchy;
	uint64_t joined_keys;
	bool show_empty; /* also events without samples */
	/* Text: instead of rows, blocks of code by their cycles; of a profile made with cycles. */
	bool blocks;
	bool title_self; /* the column "overhead" is called Self, as it is by default with children
			  */
};

/* Writes the rows of every event that has samples to `to`, as text with header lines ("# Samples:
 * ...").  If there are none, a line says what the reason may be.  Names are escaped, so that no
 * terminal acts on them.  "csv" and "json" have all sums as columns unless columns are given.  0,
 * -EINVAL, -ENOMEM, or -errno of writing. */
int tally_report_write(const struct tally_profile *profile,
		       const struct tally_report_options *options, FILE *to);

/* The text of a field of a row, as in the table: shares with a percent sign, functions with the
 * letter of their level; control characters are escaped.  `field` is a name as
 * tally_report_field_find() gives it, or one of the profile's keys; `whole` is 100 %.  Writes at
 * most `room` bytes with the NUL; returns the full length, as snprintf(3) does; -EINVAL: the
 * profile does not have this field; -ENOMEM. */
int tally_report_cell(const struct tally_profile *profile, const struct tally_profile_row *row,
		      const char *field, uint64_t whole, char *to, size_t room);
/* The title of the column of a field; NULL: the profile does not have it. */
const char *tally_report_title(const struct tally_profile *profile, const char *field);
/* Shortens the name of a function, which is escaped already, to so many columns of a terminal:
 * parameters and template arguments become "...", then the middle is cut.  Returns as
 * tally_report_cell(). */
int tally_report_shorten(const char *name, size_t columns, char *to, size_t room);

/* Writes a line for each binary that has functions without symbols in the profile, the one with the
 * largest share of an event first: the share, its path, the reason, and the Debian package that has
 * its symbols.  Returns the number of lines, or -errno. */
int tally_report_nameless(const struct tally_profile *profile, FILE *to);

/* Writes what a report says of an event above its rows, a line each, as far as there is such:
 * records that were lost, throttling, how much has no symbols or no whole call chains, and what to
 * do.  0, -ENOMEM, or -errno of writing. */
int tally_report_remarks(const struct tally_profile *profile, size_t event, FILE *to);

/* Writes a line for each binary that has samples but no symbols: its path and the reason.  Returns
 * the number of lines, or -errno. */
int tally_report_missing(const struct tally_session *session, FILE *to);

/* Writes how many records of each type there are, and how many samples of each event, as `perf
 * report --stats` lists them.  0, -ENOMEM, or -errno of writing. */
int tally_report_stats(const struct tally_session *session, FILE *to);
/* The same with those that there are none of. */
int tally_report_all_stats(const struct tally_session *session, FILE *to);
/* Writes the threads of the recording, each below the one that created it, as `perf report --tasks`
 * lists them.  0, -ENOMEM, -errno of writing, or an error of reading. */
int tally_report_tasks(struct tally_session *session, FILE *to, struct tally_error *error);
/* The same, and below each thread what its process has mapped when the recording ends, as `perf
 * report --mmaps` lists it.  -E2BIG: that would take too much memory. */
int tally_report_mmaps(struct tally_session *session, FILE *to, struct tally_error *error);

/* Writes what each thread counted of each event, as `perf report --threads` lists it: of recordings
 * whose events have inherit_stat (record --stat).  `raw`: a line for each thread and event, instead
 * of columns.  0, -ENOMEM, -errno of writing, or an error of reading. */
int tally_report_threads(struct tally_session *session, bool raw, FILE *to,
			 struct tally_error *error);

/* Writes a line for each binary of which symbols or source lines were left out so far, because they
 * would take too much memory for a file of that size.  Returns the number of lines, or -errno. */
int tally_report_left_out(const struct tally_session *session, FILE *to);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
