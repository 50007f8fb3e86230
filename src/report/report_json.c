/* Rows as JSON; tally-json(7) describes the keys. */
#include "base/json.h"
#include "report/report_format.h"
#include "report/report_rows.h"
#include "report/report_table.h"

#define FLUSH_SIZE ((size_t)1 << 16)

static int put_event(const struct report_table *table, struct json *json, FILE *file)
{
	const struct tally_profile_event *facts = &table->facts;
	int result = 0;

	json_object(json);
	json_key_string(json, "event", facts->name);
	json_key_u64(json, "samples", facts->all_samples);
	json_key_u64(json, "period", facts->all_total);
	json_key_u64(json, "samples_passed", facts->samples);
	json_key_u64(json, "period_passed", facts->passed_total);
	json_key(json, "rows");
	json_array(json);
	for (uint64_t at = 0; at < table->row_count && !result; at++) {
		struct tally_profile_row row = report_table_row(table, at);

		json_object(json);
		for (size_t i = 0; i < table->field_count; i++) {
			json_key(json, table->fields[i].name);
			tally_report_field_json(&table->fields[i], &row, facts->total, json);
		}
		json_object_end(json);
		if (json->to->size >= FLUSH_SIZE)
			result = tally_report_write_out(json->to, file);
	}
	json_array_end(json);
	json_object_end(json);
	return result;
}

static int write_json(const struct tally_profile *profile,
		      const struct tally_report_options *options, FILE *to)
{
	struct tally_report_options all = *options;
	struct report_table table = {.profile = profile, .options = &all};
	struct tally_buf text = {0};
	struct json json = {.to = &text};
	int result;

	all.show_samples = all.show_total_period = true;
	result = tally_report_table_fields(&table);
	json_object(&json);
	json_key_u64(&json, "version", 1);
	json_key(&json, "events");
	json_array(&json);
	for (size_t i = 0; i < tally_profile_event_count(profile) && !result; i++) {
		if (!report_event(profile, i).all_samples)
			continue;
		result = tally_report_table_rows(&table, i);
		if (!result)
			result = put_event(&table, &json, to);
	}
	json_array_end(&json);
	json_object_end(&json);
	tally_buf_byte(&text, '\n');
	if (!result)
		result = tally_report_write_out(&text, to);
	tally_report_table_done(&table);
	tally_buf_done(&text);
	return result;
}

const struct report_format tally_report_format_json = {
    .name = "json",
    .help = "JSON for other programs",
    .write = write_json,
};
