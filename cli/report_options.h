/* The options of `tally report`, by theme: what is read, what rows are of, call trees, the output.
 *
 * To add an option: its value into struct report, its row into the table of its theme
 * (cli/report_*.c), and what it means for the library into that file's function.  A new theme is a
 * new file, and a row of `themes` in cmd_report.c. */
#ifndef TALLY_CLI_REPORT_OPTIONS_H
#define TALLY_CLI_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/data.h>
#include <tally/profile.h>
#include <tally/report.h>
#include <tally/session.h>
#include "binaries.h"
#include "dlfilter_option.h"
#include "filter_expression.h"
#include "filter_lists.h"
#include "options.h"
#include "progress.h"
#include "say.h"

#define REPORT_NAMES_MOST   TALLY_REPORT_COLUMNS_MOST
#define REPORT_BRANCH_USUAL 0.5 /* %, of branches of a tree: perf's */

struct tree_choice {
	bool none, has_order, chosen; /* chosen: by -g or -G */
	enum tally_call_order order;
	enum tally_tree_style style;
	enum tally_tree_value value;
	enum tally_tree_key key;
	bool branches; /* -g branch: the same as --branch-history, but for the keys */
	double least;
	uint64_t limit;
	bool has_least;
};

/* Names of keys or fields, as the library has them, or fields of tracepoints as they were typed. */
struct name_list {
	const char *names[REPORT_NAMES_MOST];
	size_t count;
};

struct key_choice {
	struct name_list list; /* keys and sums in the order of -s */
	struct name_list more; /* +KEY */
	struct name_list less; /* -KEY */
	uint64_t joined;       /* bits of keys in brackets with the key before them */
	bool chosen;           /* by -s or report.sort_order */
	bool first_overhead;
};

/* -F: columns from the left, and what rows are sorted by. */
struct field_choice {
	struct name_list columns, more, less; /* more: +KEY, among the usual columns */
	const char *order[3 * REPORT_NAMES_MOST];
	size_t order_count;
};

struct report {
	const char *input, *separator, *time, *cpus;
	uint32_t *cpu_numbers; /* of `cpus` */
	size_t cpu_count;
	struct cli_binaries binaries;
	struct cli_filter filter;
	struct cli_dlfilters dlfilters;
	struct cli_choice choice;
	struct key_choice keys;
	struct field_choice fields;
	struct tree_choice trees;
	struct name_list typed; /* names that are not the library's, to be freed */
	bool typed_column;      /* the first of them by -F */
	bool title_self;        /* the columns are those of -s with sums, and there are children */
	bool strict, force, children, addresses, show_samples, show_total_period, quiet, stdio,
	    relative;
	int screen;     /* --tui: 1, --no-tui: 0; -1: where there is a terminal */
	bool no_screen; /* unless --tui asks for it */
	bool show_modes;
	bool header, header_only, full, stats, tasks, mmaps, threads, raw_counts;
	bool hierarchy, no_empty, whole_names, ns;
	int group;                          /* -1: where groups were recorded */
	unsigned widths[REPORT_NAMES_MOST]; /* -w */
	size_t width_count;
	uint64_t group_sort;
	bool blocks; /* --total-cycles */
	bool memory, latency, hide_unresolved, other, raw_trace;
	bool history; /* --branch-history */
	bool stitch;  /* --stitch-lbr */
	int branches; /* -1: where the recording has them */
	const char *parent, *ignore_callees, *socket, *symbol_part, *colour;
	uint32_t socket_number;
	const char *page; /* --html: its file; "": beside the recording; NULL: text */
	const char *svg;  /* --svg: the same */
	bool flame;       /* --flame */
	bool no_source;   /* --no-source */
	int format;       /* number of it: tally_report_format_name() */
	double percent_limit;
	uint64_t max_stack, max_expand, time_quantum;
};

/* Rows of a theme, copied to `to`; how many. */
size_t report_input_rows(struct report *report, struct cli_option *to);
size_t report_key_rows(struct report *report, struct cli_option *to);
size_t report_filter_rows(struct report *report, struct cli_option *to);
size_t report_tree_rows(struct report *report, struct cli_option *to);
size_t report_output_rows(struct report *report, struct cli_option *to);

/* report_keys.c: calls for -s, which are settings too. */
int report_take_keys(void *to, const char *value, bool on, struct tally_error *error);
/* Whether rows are by source lines or files. */
bool report_keys_have_lines(const struct tally_profile_options *options);
/* Decides what rows are of and which columns there are, once the recording is known.  0; -EINVAL
 * with words: a name is not a key; -ENOMEM. */
int report_keys_finish(struct report *report, const struct tally_data *data,
		       struct tally_profile_options *ret, struct tally_error *error);
void report_keys_columns(const struct report *report, struct tally_report_options *ret);
void report_keys_done(struct report *report);

/* report_trees.c: one word of -g, from a configuration file; it is added to the words so far. */
int report_take_tree_word(void *to, const char *value, bool on, struct tally_error *error);

/* report_page.c: the file of --html or --svg; "": the usual one. */
int report_take_file(void *to, const char *value, bool on, struct tally_error *error);

/* --html.  Writes the page of the samples that the filters keep, and prints where.
 * 0, or an exit status after a message. */
int report_page_write(const struct report *report, struct tally_session *session,
		      struct tally_profile_options *options, struct cli_progress *progress);

/* report_flame.c: --flame and --svg.  The same. */
int report_flame_write(const struct report *report, struct tally_session *session,
		       struct tally_profile_options *options, struct cli_progress *progress);

/* report_filters.c: numbers of -C and --socket-filter.  0, or an exit status after a message. */
int report_filters_finish(struct report *report, const struct cli_usage *usage);
int report_take_group(void *to, const char *value, bool on, struct tally_error *error);
/* report_output.c: tui.report of a configuration file. */
int report_take_tui(void *to, const char *value, bool on, struct tally_error *error);

#endif
