/* What a report reads, and how it is printed. */
#include <string.h>
#include <tally/report.h>
#include "damage_notice.h"
#include "recording.h"
#include "report_options.h"

/* perf has windows; without this row the message would suggest a similar option. */
static int refuse_screen(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)to;
	(void)value;
	return on ? cli_refuse(error, "tally has no such screen: the report is text, on a terminal "
				      "through $PAGER")
		  : 0;
}

size_t report_input_rows(struct report *report, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Input"},
	    CLI_INPUT(report->input),
	    CLI_BINARIES(report->binaries),
	    CLI_STRICT(report->strict),
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
	    {CLI_FLAG, 0, "tui", NULL, "on a terminal, a screen to walk in: ? shows its keys",
	     .to = &report->screen},
	    {CLI_CALL, 0, "gtk", NULL, NULL, NULL, CLI_BARE | CLI_HIDDEN, refuse_screen},
	    {CLI_FLAG, 'n', "show-nr-samples", NULL, "a column with the number of samples",
	     .to = &report->show_samples},
	    {CLI_FLAG, 0, "show-total-period", NULL, "a column with the sum of periods",
	     .to = &report->show_total_period},
	    {CLI_STRING, 't', "field-separator", "TEXT",
	     "print this text between columns instead of spaces; no trees",
	     .to = &report->separator},
	    CLI_NO_DEMANGLE(report->binaries),
	    CLI_INLINE(report->binaries),
	    {CLI_FLAG, 'q', "quiet", NULL, "rows only, without header lines", .to = &report->quiet},
	    {CLI_COUNT, 'v', "verbose", NULL, "print why symbols are missing",
	     .to = &report->dlfilters.verbose},
	    {CLI_GROUP, .help = "Formats for other programs"},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}
