/* The summary as JSON: doc/PAGE-DATA.md. */
#include <string.h>
#include <tally/data.h>
#include <tally/info.h>
#include <tally/version.h>
#include "page/page_facts.h"

#define NS 1000000000.0

/* The recorded command line: without the recorder, if "--" is between them. */
static void put_command(const struct tally_data_info *info, struct tally_buf *to)
{
	size_t from = 0;

	for (size_t i = 1; i < info->cmdline_count && !from; i++)
		if (!strcmp(info->cmdline[i], "--"))
			from = i + 1;
	for (size_t i = from; i < info->cmdline_count; i++) {
		if (i > from)
			tally_buf_byte(to, ' ');
		tally_buf_text(to, info->cmdline[i]);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_recordings(const struct tally_data *data, const char *command, struct json *json)
{
	const struct tally_data_info *info = tally_data_info(data);

	json_key(json, "recordings");
	json_array(json);
	json_object(json);
	json_key_string(json, "name", base_name(tally_data_path(data)));
	json_key_string(json, "command", command);
	json_key_string(json, "host", info->hostname);
	json_key_string(json, "kernel", info->os_release);
	json_key_string(json, "cpu", info->cpu_desc);
	json_key_u64(json, "cpus", info->cpus_online);
	json_object_end(json);
	json_array_end(json);
}

static void put_times(const struct tally_data_info *info, const struct page_tables *tables,
		      struct json *json)
{
	json_key(json, "start");
	if (info->has_clock_data && tables->start)
		json_double(json,
			    (double)(info->clock_wall_ns + tables->start - info->clock_event_ns) /
				NS);
	else
		json_null(json);
	json_key(json, "clock");
	json_double(json, (double)tables->start / NS);
	json_key(json, "duration");
	json_double(json, (double)(tables->end - tables->start) / NS);
	json_key_u64(json, "time_unit", PAGE_UNIT);
	json_key_u64(json, "time_step", tables->step / PAGE_UNIT);
}

static void put_events(const struct page_tables *tables, struct json *json)
{
	json_key(json, "events");
	json_array(json);
	for (uint32_t i = 0; i < tables->event_count; i++) {
		const struct page_event *event = &tables->events[i];

		json_object(json);
		json_key_u64(json, "samples", event->samples);
		json_key_u64(json, "weight", event->weight);
		json_key_u64(json, "unknown", event->unknown);
		json_key_u64(json, "lost", event->lost);
		json_key_u64(json, "throttled", event->throttled);
		json_object_end(json);
	}
	json_array_end(json);
}

int tally_page_summary(const struct page_facts *facts, const char *title, struct page_words *words)
{
	const struct tally_session *session = facts->session;
	const struct page_tables *tables = facts->tables;
	const struct tally_data *data = tally_session_data(session);
	const struct tally_data_info *info = tally_data_info(data);
	struct tally_buf command = {0}, own = {0}, sentence = {0};
	struct json *json = &words->json;
	int result;

	put_command(info, &command);
	tally_buf_printf(&own, "%s: %s", base_name(tally_data_path(data)), tally_buf_str(&command));
	result = tally_page_sentence(session, tables, &sentence);
	tally_buf_text(&words->lines, tally_buf_str(&sentence));
	tally_buf_byte(&words->lines, '\n');
	json_object(json);
	json_key_u64(json, "version", 1);
	json_key_string(json, "title",
			title          ? title
			: command.size ? tally_buf_str(&own)
				       : base_name(tally_data_path(data)));
	json_key_string(json, "tally", TALLY_VERSION);
	put_times(info, tables, json);
	put_recordings(data, tally_buf_str(&command), json);
	json_key_string(json, "mode", "report");
	put_events(tables, json);
	json_key(json, "notes");
	json_array(json);
	if (!result)
		result = tally_page_notes(facts, words);
	json_array_end(json);
	json_key_string(json, "sentence", tally_buf_str(&sentence));
	json_key(json, "totals");
	json_object(json);
	json_key_u64(json, "nodes", tables->node_count);
	json_key_u64(json, "samples", tables->sample_count);
	json_object_end(json);
	json_object_end(json);
	result = result ? result : command.failed | own.failed | sentence.failed | json->to->failed;
	tally_buf_done(&command);
	tally_buf_done(&own);
	tally_buf_done(&sentence);
	return result;
}
