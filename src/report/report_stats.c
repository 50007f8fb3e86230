/* Prints the number of records of each type, and of samples and lost samples of each event, as
 * `perf report --stats` lists them. */
#include <tally/report.h>
#include "base/buf.h"
#include "base/cell.h"
#include "report/report_rows.h"
#include "dump/value_text.h"
#include "session/session.h"

#define TYPES 127U /* more are counted together */

static void put_line(struct tally_buf *to, const char *name, uint64_t count)
{
	tally_buf_printf(to, "%16s events: %10llu", name, (unsigned long long)count);
}

static void put_types(struct tally_buf *to, const struct tally_session_counts *counts, bool empty)
{
	uint64_t total = 0;

	for (uint32_t type = 0; type <= TYPES; type++)
		total += counts->by_type[type];
	tally_buf_text(to, "\nAggregated stats:");
	if (counts->by_type[PERF_RECORD_AUXTRACE_INFO])
		tally_buf_text(to, " (excludes AUX area (e.g. instruction trace) decoded / "
				   "synthesized events)");
	tally_buf_byte(to, '\n');
	put_line(to, "TOTAL", total);
	tally_buf_byte(to, '\n');
	for (uint32_t type = 1; type <= TYPES; type++) {
		const char *name = type == TYPES ? "others" : tally_script_record_name(type);

		if (!counts->by_type[type] && (!empty || !tally_record_type_name(type)))
			continue;
		put_line(to, name, counts->by_type[type]);
		tally_buf_printf(to, "  (%4.1f%%)\n",
				 100.0 * (double)counts->by_type[type] / (double)total);
	}
}

static int write_stats(const struct tally_session *session, bool empty, FILE *to)
{
	const struct tally_data *data = tally_session_data(session);
	struct tally_session_counts counts = *tally_session_counts(session);
	struct tally_buf text = {0};
	int result;

	/* A walk gives what was in them. */
	counts.by_type[PERF_RECORD_COMPRESSED] += tally_data_packed(data)->records;
	put_types(&text, &counts, empty);
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		uint64_t samples = tally_session_event_samples(session, i);
		uint64_t lost = session->source.event_lost[i];

		if (!samples && !lost && !empty)
			continue;
		tally_cell_name(&text, tally_data_event(data, i)->name);
		tally_buf_text(&text, " stats:\n");
		put_line(&text, "SAMPLE", samples);
		tally_buf_byte(&text, '\n');
		if (!lost)
			continue;
		put_line(&text, "LOST_SAMPLES", lost);
		tally_buf_byte(&text, '\n');
	}
	result = tally_report_write_out(&text, to);
	tally_buf_done(&text);
	return result;
}

int tally_report_stats(const struct tally_session *session, FILE *to)
{
	return write_stats(session, false, to);
}

int tally_report_all_stats(const struct tally_session *session, FILE *to)
{
	return write_stats(session, true, to);
}
