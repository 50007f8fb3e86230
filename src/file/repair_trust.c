/* Which records perf 6.1 and later take without ending at them: those that decode, and whose ids
 * are of events that the file has. */
#include "file/repair.h"

/* perf looks up the event of each entry, and gives the file up when there is none. */
static bool knows_ids(const struct tally_data *data, const struct tally_record_id_index *index)
{
	for (uint64_t i = 0; i < index->nr; i++)
		if (!tally_map_find(&data->ids, index->entries[i].id))
			return false;
	return true;
}

bool tally_repair_trusts(const struct tally_data *data, const struct tally_record *record)
{
	int event = tally_data_event_of(data, record);
	struct tally_body body;

	if (event < 0 || tally_record_decode(&data->events[event].layout, record, &body, NULL))
		return false;
	if (record->type == PERF_RECORD_ID_INDEX)
		return knows_ids(data, &body.id_index);
	if (record->type == PERF_RECORD_EVENT_UPDATE)
		return data->event_count == 1 || tally_map_find(&data->ids, body.event_update.id);
	return true;
}
