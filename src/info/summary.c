/* Reads each record's header, and a few words of some types. */
#include "info/summary.h"

#include <errno.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "wire/sample_read.h"

/* Bits of an AUX record's flags.  Source: PERF_AUX_FLAG_* of include/uapi/linux/perf_event.h. */
#define AUX_TRUNCATED 1U

#define PROGRESS_EVERY 65536U /* records */

static struct summary_type *row_of(struct tally_summary *summary, uint32_t type)
{
	size_t i;

	if (type < SUMMARY_TYPES) {
		summary->types[type].type = type;
		return &summary->types[type];
	}
	for (i = 0; i < SUMMARY_MORE - 1; i++)
		if (!summary->more[i].count || summary->more[i].type == type)
			break;
	summary->more[i].type = type;
	return &summary->more[i];
}

static uint64_t word(const struct tally_record *record, size_t at)
{
	return record->size >= at + 8 ? load_u64(record->bytes + at) : 0;
}

static void count_sample(struct tally_summary *summary, const struct tally_data *data,
			 const struct tally_record *record)
{
	int index = tally_data_event_of(data, record);
	const struct tally_layout *layout;
	uint64_t time;

	summary->samples++;
	if (index < 0)
		return;
	layout = &tally_data_event(data, (size_t)index)->layout;
	summary->events[index].samples++;
	if (!sample_holds(layout, record))
		return;
	summary->events[index].period += sample_word(layout, record->bytes, TALLY_FIXED_PERIOD);
	time = sample_word(layout, record->bytes, TALLY_FIXED_TIME);
	if (!time)
		return;
	if (!summary->timed || time < summary->first)
		summary->first = time;
	if (!summary->timed || time > summary->last)
		summary->last = time;
	summary->timed = true;
}

/* LOST {u64 id, u64 lost}; LOST_SAMPLES {u64 lost}, the event in its trailer.
 * Source: include/uapi/linux/perf_event.h. */
static void count_lost(struct tally_summary *summary, const struct tally_data *data,
		       const struct tally_record *record)
{
	bool samples = record->type == PERF_RECORD_LOST_SAMPLES;
	uint64_t lost = word(record, samples ? 8 : 16);
	int index = samples ? tally_data_event_of(data, record)
			    : tally_data_find_event(data, word(record, 8));

	if (samples)
		summary->lost_samples += lost;
	else
		summary->lost += lost;
	if (index >= 0)
		summary->events[index].lost += lost;
}

static void count(struct tally_summary *summary, const struct tally_data *data,
		  const struct tally_record *record)
{
	struct summary_type *row = row_of(summary, record->type);
	uint64_t extent = tally_record_extent(record);

	row->count++;
	row->bytes += extent;
	summary->records++;
	summary->bytes += extent;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		count_sample(summary, data, record);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		count_lost(summary, data, record);
		break;
	case PERF_RECORD_THROTTLE:
		summary->throttled++;
		break;
	case PERF_RECORD_UNTHROTTLE:
		summary->unthrottled++;
		break;
	case PERF_RECORD_AUX: /* {u64 offset, u64 size, u64 flags} */
		summary->aux_records++;
		summary->aux_bytes += word(record, 16);
		summary->aux_truncated += word(record, 24) & AUX_TRUNCATED;
		break;
	case PERF_RECORD_AUXTRACE: /* {u64 size, ...} */
		summary->auxtrace_bytes += word(record, 8);
		break;
	default:
		break;
	}
}

static int walk(struct tally_summary *summary, struct tally_data *data,
		const struct tally_summary_options *options, struct tally_error *error)
{
	struct tally_record record;
	int code;

	tally_data_rewind(data);
	while ((code = tally_data_next_record(data, &record, error)) > 0) {
		if (options->progress && summary->records % PROGRESS_EVERY == 0 &&
		    options->progress(options->progress_context, record.offset,
				      tally_data_offset_end(data)))
			return tally_fail(error, -ECANCELED, -1, "interrupted");
		count(summary, data, &record);
	}
	return code;
}

int tally_summary_new(struct tally_data *data, const struct tally_summary_options *options,
		      struct tally_summary **ret, struct tally_error *error)
{
	struct tally_summary_options own = {.size = sizeof(own)};
	struct tally_summary *summary;
	int code = tally_options_take(&own, sizeof(own), options);

	if (code)
		return tally_fail(error, code, -1,
				  "an option was given that this libtally does not know; use a "
				  "newer one");
	summary = calloc(1, sizeof(*summary));
	if (summary)
		summary->events =
		    calloc(tally_data_event_count(data) + 1, sizeof(*summary->events));
	if (!summary || !summary->events) {
		tally_summary_free(summary);
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", tally_data_path(data));
	}
	code = walk(summary, data, &own, error);
	if (code < 0) {
		tally_summary_free(summary);
		return code;
	}
	*ret = summary;
	return 0;
}

void tally_summary_free(struct tally_summary *summary)
{
	if (summary)
		free(summary->events);
	free(summary);
}
