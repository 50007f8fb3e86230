#include "session/moves.h"

#include <errno.h>
#include <stdbool.h>
#include <tally/abi.h>
#include <tally/record.h>

int tally_moves_each(struct tally_map *counters, const struct tally_data *data,
		     const struct tally_read *read, tally_move_fn each, void *context)
{
	bool has_id = read->read_format & PERF_FORMAT_ID;
	size_t words = 1 + has_id + !!(read->read_format & PERF_FORMAT_LOST);
	uint64_t count = read->group ? read->nr : 1;
	int result = 0;

	for (uint64_t i = 0; !result && i < count; i++) {
		const uint64_t *entry = read->group ? &read->group[i * words] : NULL;
		uint64_t value = entry ? entry[0] : read->value;
		uint64_t id = entry && has_id ? entry[1] : entry ? 0 : read->id;
		int event = tally_data_find_event(data, id);
		uint64_t *last, by;
		bool added;

		if (event < 0)
			continue;
		last = tally_map_put(counters, id, &added);
		if (!last)
			return -ENOMEM;
		by = value - *last;
		*last = value;
		if (by)
			result = each(context, (uint32_t)event, id, by);
	}
	return result;
}
