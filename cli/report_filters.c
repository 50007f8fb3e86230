/* Which samples a report counts. */
#include <string.h>
#include <tally/text.h>
#include "command.h"
#include "report_options.h"
#include "two_words.h"

int report_filters_finish(struct report *report, const struct cli_usage *usage)
{
	uint64_t socket;

	if (report->cpus &&
	    (tally_text_cpu_list(report->cpus, &report->cpu_numbers, &report->cpu_count) ||
	     !report->cpu_count))
		return cli_usage_error(usage, "--cpu '%s' is not a list of CPUs; write it as 0-3,7",
				       report->cpus);
	if (report->socket && (tally_text_u64(report->socket, &socket) || socket > UINT32_MAX))
		return cli_usage_error(usage, "--socket-filter '%s' is not the number of a socket",
				       report->socket);
	if (report->socket)
		report->socket_number = (uint32_t)socket;
	return 0;
}

size_t report_filter_rows(struct report *report, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Samples that count"},
	    {CLI_DOUBLE, 0, "percent-limit", "PERCENT", "leave out rows below this share",
	     .to = &report->percent_limit},
	    {CLI_STRING, 0, "time", "SPANS",
	     "only from START,STOP in seconds, or parts of the time as 10%/2 or 0%-10%,30%-40%",
	     .to = &report->time},
	    {CLI_STRING, 'C', "cpu", "CPUS", "only these CPUs", .to = &report->cpus},
	    {CLI_STRING, 0, "socket-filter", "SOCKET", "only CPUs of this socket",
	     .to = &report->socket},
	    {CLI_LIST, 'c', "comms", "NAMES", "only these commands", .to = &report->filter.comms},
	    {CLI_LIST, 'd', "dsos", "NAMES", "only samples in these binaries",
	     .to = &report->filter.dsos},
	    {CLI_LIST, 'S', "symbols", "NAMES", "only samples in these functions",
	     .to = &report->filter.symbols},
	    {CLI_STRING, 0, "symbol-filter", "TEXT",
	     "only samples in functions whose names contain this", .to = &report->symbol_part},
	    {CLI_LIST, 0, "pid", "PIDS", "only these processes", .to = &report->filter.pids},
	    {CLI_LIST, 0, "tid", "TIDS", "only these threads", .to = &report->filter.tids},
	    {CLI_FLAG, 'U', "hide-unresolved", NULL, "only samples in functions with a name",
	     .to = &report->hide_unresolved},
	    {CLI_FLAG, 'x', "exclude-other", NULL,
	     "only samples with a caller that --parent matches", .to = &report->other},
	    CLI_CHOICE(report->choice),
	    CLI_DLFILTERS(report->dlfilters),
	    {CLI_CALL, 0, "percentage", "OF",
	     "with a filter, what 100 % is: absolute, all samples of the event (default), or "
	     "relative, the samples that pass",
	     .to = &report->relative, .call = cli_take_percentage},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}
