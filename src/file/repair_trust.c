/* Which records perf 6.1 and later take without ending at them: those that decode, and whose ids
 * are of events that the file has. */
#include "file/feature.h"
#include "file/repair.h"

#define LAST_CPU_MAP  2 /* list, mask, range */
#define LAST_AUXTRACE 6 /* intel_pt, intel_bts, cs_etm, arm_spe, s390, hisi_ptt */

/* perf looks up the event of each entry, and gives the file up when there is none. */
static bool knows_ids(const struct tally_data *data, const struct tally_record_id_index *index)
{
	for (uint64_t i = 0; i < index->nr; i++)
		if (!tally_map_find(&data->ids, index->entries[i].id))
			return false;
	return true;
}

static bool knows_id(const struct tally_data *data, uint64_t id)
{
	return data->event_count == 1 || tally_map_find(&data->ids, id);
}

/* Counts make sense in what `perf stat record` wrote; elsewhere perf has no room for them. */
static bool has_counts(const struct tally_data *data)
{
	return data->has_section[FEATURE_STAT] || data->kind == TALLY_DATA_PIPE;
}

bool tally_repair_trusts(const struct tally_data *data, const struct tally_record *record)
{
	int event = tally_data_event_of(data, record);
	struct tally_body body;

	if (event < 0 || tally_record_decode(&data->events[event].layout, record, &body, NULL))
		return false;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		/* More of the stack than was dumped. */
		return body.sample.user_stack_dyn_size <= body.sample.user_stack_size;
	case PERF_RECORD_ID_INDEX:
		return knows_ids(data, &body.id_index);
	case PERF_RECORD_EVENT_UPDATE:
		return knows_id(data, body.event_update.id);
	case PERF_RECORD_STAT:
		return has_counts(data) && knows_id(data, body.stat.id);
	case PERF_RECORD_STAT_CONFIG:
	case PERF_RECORD_STAT_ROUND:
		return has_counts(data);
	case PERF_RECORD_CPU_MAP:
		return body.cpu_map.type <= LAST_CPU_MAP;
	case PERF_RECORD_AUXTRACE_INFO:
		return body.auxtrace_info.type && body.auxtrace_info.type <= LAST_AUXTRACE;
	default:
		return true;
	}
}
