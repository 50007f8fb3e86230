/* Which event a record belongs to.
 *
 * The id is the same word of every sample of all events (word 0 with IDENTIFIER), and in other
 * kernel records the same word from the end.  Id 0, which synthesized records have, is the first
 * event's.  Source: sample layout of include/uapi/linux/perf_event.h; perf reads it that way. */
#include "file/data_file.h"

#include <errno.h>

static int sample_place(const struct tally_layout *layout)
{
	int at = layout->at[TALLY_FIXED_IDENTIFIER];

	return at >= 0 ? at : layout->at[TALLY_FIXED_ID];
}

static int trailer_place(const struct tally_layout *layout)
{
	int back = layout->trailer_at[TALLY_FIXED_IDENTIFIER];

	return back >= 0 ? back : layout->trailer_at[TALLY_FIXED_ID];
}

void tally_file_event_lookup_init(struct tally_data *data)
{
	data->ids_differ = false;
	data->id_at = sample_place(&data->events[0].layout);
	data->id_back = trailer_place(&data->events[0].layout);
	for (size_t i = 1; i < data->event_count; i++)
		if (sample_place(&data->events[i].layout) != data->id_at ||
		    trailer_place(&data->events[i].layout) != data->id_back)
			data->ids_differ = true;
}

/* The event whose id is at this place of the record, or below 0. */
static int id_lookup(const struct tally_data *data, const uint8_t *bytes, size_t size, int64_t at,
		     bool swapped)
{
	uint64_t id;

	if (at < 8 || (uint64_t)at + 8 > size)
		return -EBADMSG;
	id = load_u64(bytes + at);
	return tally_data_find_event(data, swapped ? __builtin_bswap64(id) : id);
}

int tally_file_event_of(const struct tally_data *data, const uint8_t *bytes, uint32_t type,
			size_t size, bool swapped)
{
	bool sample = type == PERF_RECORD_SAMPLE;
	int found;

	if (data->event_count <= 1 || type >= 64 ||
	    (!sample && !data->events[0].layout.sample_id_all))
		return 0;
	if (sample ? data->id_at < 0 : data->id_back < 0)
		found = -ENOENT;
	else
		found = id_lookup(data, bytes, size,
				  sample ? data->id_at : (int64_t)size - data->id_back, swapped);
	if (found >= 0 || !data->ids_differ)
		return found;
	/* Events that have their id at different places: take the event whose id is at its own
	 * place. */
	for (size_t i = 0; i < data->event_count; i++) {
		const struct tally_layout *layout = &data->events[i].layout;
		int place = sample ? sample_place(layout) : trailer_place(layout);

		if (place >= 0 &&
		    id_lookup(data, bytes, size, sample ? place : (int64_t)size - place, swapped) ==
			(int)i)
			return (int)i;
	}
	return found;
}

int tally_data_find_event(const struct tally_data *data, uint64_t id)
{
	const uint64_t *index;

	if (!id || data->event_count <= 1)
		return 0;
	index = tally_map_find(&data->ids, id);
	return index ? (int)*index : -ENOENT;
}

int tally_data_event_of(const struct tally_data *data, const struct tally_record *record)
{
	return tally_file_event_of(data, record->bytes, record->type, record->size, false);
}
