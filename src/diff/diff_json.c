/* A difference as JSON; tally-json(7) describes the keys. */
#include "base/text.h"
#include "diff/diff_output.h"

static const char *const statuses[] = {
    [TALLY_DIFF_BOTH] = "both", [TALLY_DIFF_RENAMED] = "renamed", [TALLY_DIFF_NEW] = "new",
    [TALLY_DIFF_GONE] = "gone", [TALLY_DIFF_INLINED] = "inlined",
};

static void put_cell(const struct tally_diff *diff, size_t event, size_t row, size_t recording,
		     struct json *json)
{
	struct tally_diff_cell cell = tally_diff_cell_of(diff, event, row, recording);

	json_object(json);
	json_key_string(json, "status", statuses[cell.status]);
	json_key_bool(json, "significant", cell.significant);
	json_key(json, "p");
	json_double(json, cell.p);
	json_key_u64(json, "samples", cell.samples);
	json_key_u64(json, "period", cell.period);
	json_key(json, "overhead");
	json_double(json, cell.share);
	json_key(json, "change");
	json_double(json, cell.change);
	json_key_string(json, "name", cell.name);
	json_key_u64(json, "inlined_samples", cell.inlined_samples);
	json_key_u64(json, "absorbed_samples", cell.absorbed_samples);
	json_object_end(json);
}

static void put_row(const struct tally_diff *diff, size_t event, size_t row, struct json *json)
{
	struct tally_diff_cell cell = tally_diff_cell_of(diff, event, row, 1);

	json_object(json);
	for (size_t i = 0; i < diff->key_count; i++)
		json_key_string(json, diff->keys[i], tally_diff_key(diff, event, row, i));
	json_key_u64(json, "samples", cell.base_samples);
	json_key_u64(json, "period", cell.base_period);
	json_key(json, "overhead");
	json_double(json, cell.base_share);
	json_key(json, "recordings");
	json_array(json);
	for (size_t i = 1; i < diff->recordings; i++)
		put_cell(diff, event, row, i, json);
	json_array_end(json);
	json_object_end(json);
}

int tally_diff_write_json(const struct tally_diff *diff, const struct tally_diff_text *options,
			  FILE *to)
{
	struct tally_buf text = {0};
	struct json json = {.to = &text};

	json_object(&json);
	json_key_u64(&json, "version", 1);
	json_key(&json, "events");
	json_array(&json);
	for (size_t event = 0; event < diff->event_count; event++) {
		if (!diff->events[event].count)
			continue;
		json_object(&json);
		json_key_string(&json, "event", diff->events[event].name);
		json_key(&json, "rows");
		json_array(&json);
		for (size_t row = 0; row < diff->events[event].count; row++)
			if (!options->significant_only || tally_diff_is_changed(diff, event, row))
				put_row(diff, event, row, &json);
		json_array_end(&json);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	tally_buf_byte(&text, '\n');
	return tally_buf_put(&text, to);
}
