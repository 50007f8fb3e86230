/* The facts about a recording as JSON; tally-json(7) describes the keys. */
#include "base/text.h"
#include "info/info_json.h"

#include <tally/record.h>

#include "info/facts.h"
#include "info/summary.h"

static void add_file(struct json *json, const struct tally_data *data,
		     const struct tally_data_info *info)
{
	static const char *const kinds[] = {"file", "pipe", "directory"};

	json_key(json, "file");
	json_object(json);
	json_key_string(json, "path", tally_data_path(data));
	json_key_string(json, "kind", kinds[tally_data_kind(data)]);
	json_key_u64(json, "size", tally_data_file_size(data));
	json_key_u64(json, "header_version", info->header_version);
	json_key(json, "modified");
	json_i64(json, info->modified);
	if (tally_data_kind(data) != TALLY_DATA_PIPE) {
		json_key_u64(json, "data_offset", info->data_offset);
		json_key_u64(json, "data_size", info->data_size);
	}
	json_key(json, "features");
	json_array(json);
	for (unsigned feature = 1; feature < 256; feature++) {
		if (!facts_has(info, feature))
			continue;
		if (tally_data_feature_name(info, feature))
			json_text(json, tally_data_feature_name(info, feature));
		else
			json_u64(json, feature);
	}
	json_array_end(json);
	json_key(json, "compression");
	if (info->has_compression) {
		json_object(json);
		json_key_u64(json, "type", info->compression_type);
		json_key_u64(json, "level", info->compression_level);
		json_key_u64(json, "ratio", info->compression_ratio);
		json_object_end(json);
	} else {
		json_null(json);
	}
	json_object_end(json);
}

static void add_recorder(struct json *json, const struct tally_data_info *info)
{
	json_key(json, "recorder");
	json_object(json);
	json_key_string(json, "version", info->version);
	json_key(json, "command");
	json_array(json);
	for (size_t i = 0; i < info->cmdline_count; i++)
		json_text(json, info->cmdline[i]);
	json_array_end(json);
	json_key(json, "meta_info");
	tally_info_pairs_json(json, &info->meta_info);
	json_object_end(json);
}

/* Those that were merged. */
static void add_recordings(struct json *json, const struct tally_data_info *info)
{
	if (!info->recording_count)
		return;
	json_key(json, "recordings");
	json_array(json);
	for (size_t i = 0; i < info->recording_count; i++) {
		const struct tally_data_recording *recording = &info->recordings[i];

		json_object(json);
		json_key_string(json, "name", recording->name);
		json_key_string(json, "hostname", recording->hostname);
		json_key_string(json, "os_release", recording->os_release);
		json_key_string(json, "command", recording->cmdline);
		json_key(json, "time_shift");
		json_i64(json, (int64_t)recording->shift);
		json_key_u64(json, "samples", recording->samples);
		json_object_end(json);
	}
	json_array_end(json);
}

static void add_time(struct json *json, const struct tally_data_info *info,
		     const struct tally_summary *summary)
{
	json_key(json, "time");
	json_object(json);
	if (summary && summary->timed) {
		json_key_u64(json, "first", summary->first);
		json_key_u64(json, "last", summary->last);
	} else if (info->has_sample_time) {
		json_key_u64(json, "first", info->sample_time_first);
		json_key_u64(json, "last", info->sample_time_last);
	}
	if (info->has_clock_data) {
		json_key_string(json, "clock", tally_facts_clock_name(info->clockid));
		json_key_u64(json, "clock_ns", info->clock_event_ns);
		json_key_u64(json, "wall_ns", info->clock_wall_ns);
	}
	json_object_end(json);
}

static void add_stacks(struct json *json, const struct tally_stack_counts *stacks)
{
	if (!stacks->count)
		return;
	json_key(json, "stacks");
	json_object(json);
	json_key_u64(json, "count", stacks->count);
	json_key_u64(json, "whole", stacks->whole);
	json_key_u64(json, "copy_ended", stacks->copy_ended);
	json_key_u64(json, "unknown_code", stacks->unknown_code);
	json_key_u64(json, "lost", stacks->lost);
	json_key_u64(json, "lost_in_made_code", stacks->lost_made);
	json_key_u64(json, "too_deep", stacks->too_deep);
	json_key(json, "frames");
	json_object(json);
	json_key_u64(json, "kernel", stacks->kernel_frames);
	json_key_u64(json, "registers", stacks->leaf_frames);
	json_key_u64(json, "call_frame_information", stacks->cfi_frames);
	json_key_u64(json, "frame_pointers", stacks->frame_pointer_frames);
	json_key_u64(json, "beyond_copy", stacks->spliced_frames);
	json_key_u64(json, "other_samples", stacks->joined_frames);
	json_object_end(json);
	json_key_u64(json, "joined", stacks->joined);
	json_key_u64(json, "cut_copies", stacks->cut_copies);
	json_key_u64(json, "spilled_bytes", stacks->spilled_bytes);
	json_key_u64(json, "dropped", stacks->dropped);
	json_object_end(json);
}

static void add_row(struct json *json, const struct summary_type *row)
{
	if (!row->count)
		return;
	json_object(json);
	json_key_u64(json, "type", row->type);
	json_key_string(json, "name", tally_record_type_name(row->type));
	json_key_u64(json, "count", row->count);
	json_key_u64(json, "bytes", row->bytes);
	json_object_end(json);
}

static void add_records(struct json *json, const struct tally_data *data,
			const struct tally_summary *summary)
{
	json_key(json, "records");
	json_object(json);
	json_key_u64(json, "count", summary->records);
	json_key_u64(json, "bytes", summary->bytes);
	json_key(json, "types");
	json_array(json);
	for (size_t i = 0; i < SUMMARY_TYPES; i++)
		add_row(json, &summary->types[i]);
	for (size_t i = 0; i < SUMMARY_MORE; i++)
		add_row(json, &summary->more[i]);
	json_array_end(json);
	json_object_end(json);
	json_key(json, "samples");
	json_array(json);
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		json_object(json);
		json_key_u64(json, "event", i);
		json_key_u64(json, "count", summary->events[i].samples);
		json_key_u64(json, "period", summary->events[i].period);
		json_key_u64(json, "lost", summary->events[i].lost);
		json_object_end(json);
	}
	json_array_end(json);
}

static void add_loss(struct json *json, const struct tally_data *data,
		     const struct tally_summary *summary)
{
	const struct tally_data_damage *damage = tally_data_damage(data);
	const struct tally_data_packed *packed = tally_data_packed(data);

	json_key(json, "loss");
	json_object(json);
	json_key_u64(json, "records", summary->lost);
	json_key_u64(json, "samples", summary->lost_samples);
	json_key_u64(json, "throttled", summary->throttled);
	json_key_u64(json, "unthrottled", summary->unthrottled);
	json_object_end(json);
	json_key(json, "aux");
	json_object(json);
	json_key_u64(json, "records", summary->aux_records);
	json_key_u64(json, "bytes", summary->aux_bytes);
	json_key_u64(json, "truncated", summary->aux_truncated);
	json_key_u64(json, "stored_bytes", summary->auxtrace_bytes);
	json_object_end(json);
	json_key(json, "compressed");
	json_object(json);
	json_key_u64(json, "records", packed->records);
	json_key_u64(json, "bytes_in", packed->bytes_in);
	json_key_u64(json, "bytes_out", packed->bytes_out);
	json_object_end(json);
	json_key(json, "damage");
	json_object(json);
	json_key_u64(json, "places", damage->count);
	json_key_u64(json, "refused", damage->refused);
	json_key_u64(json, "lost_bytes", damage->lost_bytes);
	json_key_bool(json, "no_end", damage->no_end);
	if (damage->count) {
		json_key_u64(json, "first_at", damage->first_at);
		json_key_string(json, "text", damage->text);
	}
	json_object_end(json);
}

int tally_info_json(const struct tally_data *data, const struct tally_summary *summary, FILE *out)
{
	const struct tally_data_info *info = tally_data_info(data);
	struct tally_buf text = {0};
	struct json json = {.to = &text};

	json_object(&json);
	json_key_u64(&json, "version", 2);
	add_file(&json, data, info);
	add_recorder(&json, info);
	json_key(&json, "machine");
	json_object(&json);
	tally_info_machine_json(&json, info);
	json_object_end(&json);
	add_time(&json, info, summary);
	add_stacks(&json, &info->stacks);
	add_recordings(&json, info);
	json_key(&json, "events");
	json_array(&json);
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		tally_facts_event_json(&json, data, i);
	json_array_end(&json);
	tally_info_programs_json(&json, info);
	if (summary) {
		add_records(&json, data, summary);
		add_loss(&json, data, summary);
	}
	json_object_end(&json);
	tally_buf_byte(&text, '\n');
	return tally_buf_put(&text, out);
}
