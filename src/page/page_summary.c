/* The summary as JSON: doc/PAGE-DATA.md. */
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/info.h>
#include <tally/version.h>
#include "diff/diff_state.h"
#include "page/page_facts.h"

#define NS        1000000000.0
#define COMM_MOST 15U /* bytes of a name, of a thread (TASK_COMM_LEN of linux/sched.h) */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The recorded command line: without the recorder, if "--" is between them. */
static void put_command(const struct tally_data_info *info, size_t from, struct tally_buf *to)
{
	for (size_t i = 1; i < info->cmdline_count && !from; i++)
		if (!strcmp(info->cmdline[i], "--"))
			from = i + 1;
	for (size_t i = from; i < info->cmdline_count; i++) {
		if (i > from)
			tally_buf_byte(to, ' ');
		tally_buf_text(to, info->cmdline[i]);
	}
}

/* --- the title: what ran, in a few words --- */

/* The value of an option, whose letter may be NULL: of the argument itself ("-p5", "--pid=5") or
 * the next one; NULL: it is not this option. */
static const char *option_value(const struct tally_data_info *info, size_t at, const char *letter,
				const char *name)
{
	const char *text = info->cmdline[at], *next = NULL;
	size_t length = strlen(name);

	if (at + 1 < info->cmdline_count)
		next = info->cmdline[at + 1];
	if ((letter && !strcmp(text, letter)) || !strcmp(text, name))
		return next;
	if (!strncmp(text, name, length) && text[length] == '=')
		return text + length + 1;
	return letter && !strncmp(text, letter, 2) && text[2] >= '0' && text[2] <= '9' ? text + 2
										       : NULL;
}

static const char *name_of(const struct page_tables *tables, unsigned long pid)
{
	const char *name = NULL;

	for (uint32_t i = 0; i < tables->thread_count; i++) {
		const struct page_thread *thread = &tables->threads[i];

		if (thread->pid == pid && (!name || thread->tid == pid))
			name = tables->strings.text[thread->comm];
	}
	return name;
}

/* The name of the first of these processes ("5,6,7") that has samples; NULL: none has. */
static const char *process_name(const struct page_tables *tables, const char *pids)
{
	const char *name = NULL;
	char *end;

	for (; !name; pids = end + 1) {
		unsigned long pid = strtoul(pids, &end, 10);

		if (end == pids || (*end && *end != ','))
			break;
		name = name_of(tables, pid);
		if (!*end)
			break;
	}
	return name;
}

/* The name that all threads have; NULL: there is none. */
static const char *common_name(const struct page_tables *tables)
{
	for (uint32_t i = 1; i < tables->thread_count; i++)
		if (tables->threads[i].comm != tables->threads[0].comm)
			return NULL;
	return tables->thread_count ? tables->strings.text[tables->threads[0].comm] : NULL;
}

/* Where the recorder's options end, and the command begins: at the first argument that is called as
 * a thread of the recording.  0: there is none. */
static size_t command_start(const struct page_tables *tables, const struct tally_data_info *info)
{
	for (size_t i = 2; i < info->cmdline_count; i++) {
		const char *name = base_name(info->cmdline[i]);

		for (uint32_t j = 0; j < tables->thread_count; j++)
			if (*name && !strncmp(tables->strings.text[tables->threads[j].comm], name,
					      COMM_MOST))
				return i;
	}
	return 0;
}

static void put_processes(const struct page_tables *tables, const char *pids, bool with_children,
			  struct tally_buf *to)
{
	const char *name = process_name(tables, pids);
	size_t count = 1;

	for (const char *at = pids; *at; at++)
		count += *at == ',';
	if (!name && with_children)
		name = common_name(tables);
	if (name)
		tally_buf_printf(to, "%s, ", name);
	if (count == 1)
		tally_buf_printf(to, "process %s", pids);
	else
		tally_buf_printf(to, "%zu processes", count);
	if (with_children)
		tally_buf_text(to, count == 1 ? " and its children" : " and their children");
}

static void put_what_ran(const struct page_tables *tables, const struct tally_data_info *info,
			 struct tally_buf *to)
{
	size_t end = command_start(tables, info);
	bool all = false;

	for (size_t i = 1; i < info->cmdline_count && (!end || i < end); i++) {
		const char *pids = option_value(info, i, "-p", "--pid");
		const char *parents = option_value(info, i, NULL, "--children-of");

		if (pids || parents) {
			put_processes(tables, pids ? pids : parents, parents != NULL, to);
			return;
		}
		all |= !strcmp(info->cmdline[i], "-a") || !strcmp(info->cmdline[i], "--all-cpus");
		if (!strcmp(info->cmdline[i], "--"))
			end = i + 1;
	}
	if (all)
		tally_buf_text(to, end ? "the whole system during " : "the whole system");
	if (end || !all)
		put_command(info, end, to);
}

/* Two recordings of a difference are mostly called the same: then by their paths. */
static const char *recording_name(const struct page_facts *facts, const struct tally_data *data)
{
	const char *path = tally_data_path(data), *name = base_name(path);
	size_t equal = 0;

	for (size_t i = 0; i < facts->source_count; i++)
		equal += !strcmp(name, base_name(tally_data_path(
					   tally_session_data(facts->sources[i].session))));
	return equal > 1 ? path : name;
}

static void put_machine(const struct tally_data_info *info, struct json *json)
{
	json_key_string(json, "cpu", info->cpu_desc);
	json_key_u64(json, "cpus", info->cpus_online);
}

static void put_recording(const struct page_facts *facts, const struct tally_data *data,
			  struct json *json)
{
	const struct tally_data_info *info = tally_data_info(data);
	struct tally_buf command = {0};

	if (facts->source_count == 1)
		put_what_ran(facts->tables, info, &command);
	else
		put_command(info, 0, &command);
	json_object(json);
	json_key_string(json, "name", recording_name(facts, data));
	json_key_string(json, "command", tally_buf_str(&command));
	json_key_string(json, "host", info->hostname);
	json_key_string(json, "kernel", info->os_release);
	put_machine(info, json);
	json_object_end(json);
	tally_buf_done(&command);
}

static void put_recordings(const struct page_facts *facts, struct json *json)
{
	const struct tally_data *data = tally_session_data(facts->sources->session);
	const struct tally_data_info *info = tally_data_info(data);
	bool merged = facts->source_count == 1 && info->recording_count > 1;

	json_key(json, "recordings");
	json_array(json);
	for (size_t i = 0; merged && i < info->recording_count; i++) {
		const struct tally_data_recording *one = &info->recordings[i];

		json_object(json);
		json_key_string(json, "name", one->name);
		json_key_string(json, "command", one->cmdline);
		json_key_string(json, "host", one->hostname);
		json_key_string(json, "kernel", one->os_release);
		put_machine(info, json);
		json_object_end(json);
	}
	for (size_t i = 0; !merged && i < facts->source_count; i++)
		put_recording(facts, tally_session_data(facts->sources[i].session), json);
	json_array_end(json);
}

static const char *mode_of(const struct page_facts *facts)
{
	const struct tally_data *data = tally_session_data(facts->sources->session);

	return facts->diff                                  ? "diff"
	       : tally_data_info(data)->recording_count > 1 ? "merge"
							    : "report";
}

static void put_title(const struct page_facts *facts, struct tally_buf *to)
{
	const struct tally_data *data = tally_session_data(facts->sources->session);
	const char *name = base_name(tally_data_path(data));
	struct tally_buf what = {0};

	if (facts->diff) {
		const struct tally_data *other = tally_session_data(facts->sources[1].session);

		tally_buf_printf(to, "%s and %s", recording_name(facts, data),
				 recording_name(facts, other));
		return;
	}
	put_what_ran(facts->tables, tally_data_info(data), &what);
	/* A recording that has the usual name is known by what ran. */
	if (strcmp(name, "perf.data") != 0 || !what.size)
		tally_buf_printf(to, what.size ? "%s: " : "%s", name);
	tally_buf_text(to, tally_buf_str(&what));
	to->failed |= what.failed;
	tally_buf_done(&what);
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
	const struct tally_session *session = facts->sources->session;
	const struct page_tables *tables = facts->tables;
	const struct tally_data_info *info = tally_data_info(tally_session_data(session));
	struct tally_buf own = {0}, sentence = {0};
	struct json *json = &words->json;
	int result;

	put_title(facts, &own);
	result = facts->diff ? tally_page_difference_sentence(facts, &sentence)
			     : tally_page_sentence(tables, info->cpus_online, &sentence);
	tally_buf_text(&words->lines, tally_buf_str(&sentence));
	tally_buf_byte(&words->lines, '\n');
	json_object(json);
	json_key_u64(json, "version", 1);
	json_key_string(json, "title", title ? title : tally_buf_str(&own));
	json_key_string(json, "tally", TALLY_VERSION);
	put_times(info, tables, json);
	put_recordings(facts, json);
	json_key_string(json, "mode", mode_of(facts));
	if (facts->diff) {
		json_key(json, "noise");
		json_double(json, facts->diff->options.noise);
	}
	put_events(tables, json);
	json_key(json, "notes");
	json_array(json);
	for (size_t i = 0; i < facts->source_count && !result; i++) {
		struct page_facts of = *facts;

		of.source = &facts->sources[i];
		result = tally_page_notes(&of, words);
	}
	json_array_end(json);
	json_key_string(json, "sentence", tally_buf_str(&sentence));
	json_key(json, "totals");
	json_object(json);
	json_key_u64(json, "nodes", tables->node_count);
	json_key_u64(json, "samples", tables->sample_count);
	json_object_end(json);
	json_object_end(json);
	result = result ? result : own.failed | sentence.failed | json->to->failed;
	tally_buf_done(&own);
	tally_buf_done(&sentence);
	return result;
}
