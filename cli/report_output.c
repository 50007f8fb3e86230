/* What a report reads, and how it is printed. */
#include <stdio.h>
#include <string.h>
#include <tally/report.h>
#include <tally/text.h>
#include "colour_option.h"
#include "config.h"
#include "damage_notice.h"
#include "recording.h"
#include "report_options.h"
#include "two_words.h"

/* perf has windows; without this row the message would suggest a similar option. */
static int refuse_screen(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	return on ? cli_refuse(error, "tally has no such screen: the report is text, on a terminal "
				      "through $PAGER")
		  : 0;
}

int report_take_tui(void *to, const char *value, bool on, struct tally_error *error)
{
	bool wanted = false;

	if (on && cli_config_bool(value, &wanted))
		return cli_refuse(error, "'%s' is not true or false", value);
	*(bool *)to = !wanted;
	return 0;
}

int report_take_group(void *to, const char *value, bool on, struct tally_error *error)
{
	bool group = on;

	if (value && cli_config_bool(value, &group)) /* of a configuration file */
		return cli_refuse(error, "'%s' is not true or false", value);
	*(int *)to = group;
	return 0;
}

static int take_pretty(void *to, const char *value, bool on, struct tally_error *error)
{
	static const char *const words[] = {"normal", "raw", NULL};

	return cli_take_second(to, value, on, error, "form", words);
}

static int take_widths(void *to, const char *value, bool on, struct tally_error *error)
{
	struct report *report = to;

	report->width_count = 0;
	while (on) {
		size_t length = strcspn(value, ",");
		char number[16];
		uint64_t width;

		snprintf(number, sizeof(number), "%.*s", (int)length, value);
		if (length >= sizeof(number) || tally_text_u64(number, &width) || width > 10000 ||
		    report->width_count == REPORT_NAMES_MOST)
			return cli_refuse(error,
					  "'%.*s' is not a width: give numbers of columns, "
					  "as 8,20,40",
					  (int)length, value);
		report->widths[report->width_count++] = (unsigned)width;
		if (!value[length])
			break;
		value += length + 1;
	}
	return 0;
}

size_t report_input_rows(struct report *report, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Input"},
	    CLI_INPUT(report->input),
	    CLI_BINARIES(report->binaries),
	    {CLI_FLAG, 0, "ignore-vmlinux", NULL, "do not read the image of --vmlinux",
	     .to = &report->binaries.ignore_vmlinux},
	    CLI_STRICT(report->strict),
	    CLI_FORCE(report->force),
	    CLI_MAX_EXPAND(report->max_expand),
	    {CLI_GROUP, .help = "Other output, instead of rows or before them"},
	    {CLI_FLAG, 0, "header", NULL, "print the file's header first", .to = &report->header},
	    {CLI_FLAG, 0, "header-only", NULL, "print the header and nothing else",
	     .to = &report->header_only},
	    {CLI_FLAG, 'I', "show-info", NULL, "with --header: also topology, caches and memory",
	     .to = &report->full},
	    {CLI_FLAG, 0, "stats", NULL,
	     "count the records of each type, and the samples of each event", .to = &report->stats},
	    {CLI_FLAG, 0, "tasks", NULL, "the threads, each below its parent",
	     .to = &report->tasks},
	    {CLI_FLAG, 0, "mmaps", NULL, "the same with what their processes have mapped",
	     .to = &report->mmaps},
	    {CLI_FLAG, 'T', "threads", NULL,
	     "behind the rows, what each thread counted (record -s)", .to = &report->threads},
	    {CLI_CALL, 0, "pretty", "STYLE",
	     "with --threads: normal, a column for each event (default), or raw, a line",
	     .to = &report->raw_counts, .call = take_pretty},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

size_t report_output_rows(struct report *report, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Output"},
	    {CLI_FLAG, 0, "stdio", NULL, "print the same text on a terminal as into a file",
	     .to = &report->stdio},
	    {CLI_CALL, 0, "stdio-color", "WHEN",
	     "colours always, never, or auto: on a terminal (default)", .to = &report->colour,
	     .call = cli_take_colour},
	    {CLI_SET, 0, "tui", NULL,
	     "on a terminal, a screen to walk in: ? shows its keys (default); --no-tui: text",
	     .to = &report->screen, .number = 1},
	    {CLI_CALL, 0, "gtk", NULL, NULL, NULL, CLI_BARE | CLI_HIDDEN, refuse_screen},
	    {CLI_CALL, 0, "group", NULL,
	     "all events side by side, where no group was recorded; the events of a recorded "
	     "group are without this",
	     .to = &report->group, .flags = CLI_BARE, .call = report_take_group},
	    {CLI_U64, 0, "group-sort-idx", "N", "sort a group by its event of this number, from 0",
	     .to = &report->group_sort},
	    {CLI_FLAG, 0, "hierarchy", NULL,
	     "rows with the same first key below a line of their sum, and so on; keys in "
	     "{brackets} share a line",
	     .to = &report->hierarchy},
	    {CLI_FLAG, 0, "skip-empty", NULL, "leave out events without samples (default)",
	     .to = &report->no_empty},
	    {CLI_FLAG, 'n', "show-nr-samples", NULL, "a column with the number of samples",
	     .to = &report->show_samples},
	    {CLI_FLAG, 0, "show-total-period", NULL, "a column with the sum of periods",
	     .to = &report->show_total_period},
	    {CLI_FLAG, 0, "whole-names", NULL,
	     "names of functions are not shortened to the width of the terminal",
	     .to = &report->whole_names},
	    {CLI_CALL, 'w', "column-widths", "WIDTHS",
	     "widths of the columns from the left, as 8,20,40; 0: as wide as needed", .to = report,
	     .call = take_widths},
	    {CLI_FLAG, 0, "ns", NULL, "times of the key time in nanoseconds", .to = &report->ns},
	    {CLI_STRING, 't', "field-separator", "TEXT",
	     "print this text between columns instead of spaces; no trees",
	     .to = &report->separator},
	    CLI_NO_DEMANGLE(report->binaries),
	    CLI_INLINE(report->binaries),
	    {CLI_FLAG, 'q', "quiet", NULL, "rows only, without header lines", .to = &report->quiet},
	    {CLI_COUNT, 'v', "verbose", NULL, "print why symbols are missing",
	     .to = &report->dlfilters.verbose},
	    {CLI_GROUP, .help = "Pictures"},
	    {CLI_CALL, 0, "html", "FILE",
	     "write one file that any browser opens: a summary, flame graphs, callers and callees, "
	     "a time line (default: profile.html beside the recording; -: standard output)",
	     .to = &report->page, .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = report_take_file,
	     .ending = ".html"},
	    {CLI_FLAG, 0, "no-source", NULL,
	     "with --html: without the source and assembly of the hottest functions",
	     .to = &report->no_source},
	    {CLI_CALL, 0, "svg", "FILE",
	     "write the flame graph as one SVG, in which a browser zooms and searches (default: "
	     "flame.svg beside the recording; -: standard output)",
	     .to = &report->svg, .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = report_take_file,
	     .ending = ".svg"},
	    {CLI_FLAG, 0, "flame", NULL, "print the flame graph in characters",
	     .to = &report->flame},
	    {CLI_GROUP, .help = "Formats for other programs"},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}
