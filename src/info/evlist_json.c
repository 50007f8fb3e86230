/* The events of a recording as JSON; tally-json(7) describes the keys. */
#include <tally/evlist.h>

#include "base/text.h"
#include "info/facts.h"

int tally_evlist_json(const struct tally_data *data, FILE *out)
{
	struct tally_buf text = {0};
	struct json json = {.to = &text};

	json_object(&json);
	json_key_u64(&json, "version", 1);
	json_key(&json, "events");
	json_array(&json);
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		tally_facts_event_json(&json, data, i);
	json_array_end(&json);
	json_object_end(&json);
	tally_buf_byte(&text, '\n');
	return tally_buf_put(&text, out);
}
