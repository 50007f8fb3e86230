/* The formats of the running kernel, on made-up payloads: a compiled format prints what
 * libtraceevent prints for it. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>
#include <traceevent/event-parse.h>
#include "base/bytes.h"
#include "made_tracing.h"
#include "trace/trace_text.h"

enum { FORMAT_MOST = 1 << 18, FORMATS_MOST = 8192, ROUNDS = 12, TEXT_SIZE = 24, TEXTS = 64 };

static struct made_format formats[FORMATS_MOST];
static size_t format_count;

/* libtraceevent 1.7 fails on a tab in a print format, and has other widths for %zu. */
static bool is_known_to_differ(const char *text)
{
	const char *print = strstr(text, "\nprint fmt: ");

	return !print || strchr(print, '\t') || strstr(print, "%z") ||
	       strchr(print + 1, '\n') == NULL || strstr(text, "name: bprint\n");
}

static void take_format(const char *system, const char *path)
{
	char *text = calloc(1, FORMAT_MOST);
	FILE *file = fopen(path, "r");
	size_t size = file && text ? fread(text, 1, FORMAT_MOST - 1, file) : 0;

	if (file)
		fclose(file);
	if (!size || format_count == FORMATS_MOST || is_known_to_differ(text)) {
		free(text);
		return;
	}
	formats[format_count].system = strdup(system);
	formats[format_count++].text = text;
}

static void each_entry(const char *folder, void (*take)(const char *folder, const char *name))
{
	DIR *open = opendir(folder);
	struct dirent *entry;

	while (open && (entry = readdir(open)))
		if (*entry->d_name != '.')
			take(folder, entry->d_name);
	if (open)
		closedir(open);
}

static void take_event(const char *folder, const char *name)
{
	char path[2048];

	snprintf(path, sizeof(path), "%s/%.255s/format", folder, name);
	take_format(strrchr(folder, '/') + 1, path);
}

static void take_system(const char *folder, const char *name)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%.255s", folder, name);
	each_entry(path, take_event);
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Numbers of any size, strings that end, lengths that fit: what a kernel could have written. */
static void fill_field(const struct tep_format_field *field, uint8_t *raw, uint32_t fixed,
		       unsigned round, uint64_t *random)
{
	uint8_t *at = raw + field->offset;
	bool is_dynamic = field->flags & TEP_FIELD_IS_DYNAMIC;
	bool is_length = strstr(field->name, "len") || strstr(field->name, "count") ||
			 strstr(field->name, "size") || strstr(field->name, "buf");

	if (is_dynamic && field->size == 4) {
		uint32_t where = fixed + next_random(random) % (TEXTS - 1) * TEXT_SIZE;

		if (field->flags & TEP_FIELD_IS_RELATIVE)
			where -= (uint32_t)(field->offset + field->size);
		store_u32(at, where | (uint32_t)TEXT_SIZE << 16);
		return;
	}
	for (int i = 0; i < field->size; i++)
		at[i] = (uint8_t)(round == 0  ? 0
				  : round % 3 ? next_random(random) % 5
					      : next_random(random));
	if (field->flags & TEP_FIELD_IS_ARRAY && field->flags & TEP_FIELD_IS_STRING &&
	    field->size) {
		for (int i = 0; i < field->size; i++)
			at[i] = (uint8_t)('a' + next_random(random) % 26);
		at[field->size - 1] = 0;
	} else if (is_length && !(field->flags & TEP_FIELD_IS_ARRAY) && field->size) {
		memset(at, 0, (size_t)field->size);
		at[0] = next_random(random) % 16;
	}
}

static uint32_t fill(const struct tep_event *event, uint8_t *raw, unsigned round, uint64_t *random)
{
	const struct tep_format_field *field;
	uint32_t fixed = 8;

	for (field = event->format.fields; field; field = field->next)
		if ((uint32_t)(field->offset + field->size) > fixed)
			fixed = (uint32_t)(field->offset + field->size);
	memset(raw, 0, fixed + TEXTS * TEXT_SIZE);
	store_u16(raw, (uint16_t)event->id);
	for (field = event->format.fields; field; field = field->next)
		fill_field(field, raw, fixed, round, random);
	for (uint32_t i = 0; i < TEXTS; i++)
		for (uint32_t j = 0; j < TEXT_SIZE - 1; j++)
			raw[fixed + i * TEXT_SIZE + j] = (uint8_t)('A' + next_random(random) % 26);
	return fixed + TEXTS * TEXT_SIZE;
}

/* Whether all rounds are equal; a difference is printed. */
static bool agrees(struct tally_trace_text *trace, struct tep_handle *tep, struct tep_event *event)
{
	static uint8_t raw[1 << 18]; /* libtraceevent may read behind the payload */
	uint64_t random = (uint64_t)event->id;
	struct trace_seq theirs;
	struct tally_buf ours = {0};
	bool equal = true;

	trace_seq_init(&theirs);
	for (unsigned round = 0; round < ROUNDS && equal; round++) {
		struct tep_record record = {.data = raw};
		uint32_t size = fill(event, raw, round, &random);

		record.size = (int)size;
		trace_seq_reset(&theirs);
		tally_buf_clear(&ours);
		tep_print_event(tep, &theirs, &record, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&theirs);
		if (tally_trace_text_add(trace, &ours, (uint64_t)event->id, raw, size, NULL))
			tally_buf_text(&ours, "(unknown)");
		equal = !strcmp(theirs.buffer, tally_buf_str(&ours));
	}
	if (!equal)
		print_error("%s:%s\n  libtraceevent: %s\n  ours:          %s\n", event->system,
			    event->name, theirs.buffer, tally_buf_str(&ours));
	trace_seq_destroy(&theirs);
	tally_buf_done(&ours);
	return equal;
}

static void the_kernels_formats_print_as_libtraceevent_prints_them(void **state)
{
	struct tep_handle *tep = tep_alloc();
	struct tally_buf data = {0};
	struct tally_trace_text *trace;
	size_t different = 0, compared = 0;

	(void)state;
	each_entry("/sys/kernel/tracing/events", take_system);
	if (!format_count) {
		print_message("no formats in /sys/kernel/tracing/events\n");
		tep_free(tep);
		skip();
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, sizeof(long));
	made_tracing(&data, formats, format_count, NULL, false);
	assert_int_equal(tally_trace_text_new(data.data, data.size, &trace, NULL), 0);
	for (size_t i = 0; i < format_count; i++) {
		struct tep_event *event = NULL;

		tep_parse_format(tep, &event, formats[i].text, strlen(formats[i].text),
				 formats[i].system);
		if (!event || event->flags & (int)TEP_EVENT_FL_FAILED)
			continue;
		compared++;
		different += !agrees(trace, tep, event);
	}
	print_message("%zu formats compared, %zu differ\n", compared, different);
	assert_int_equal(different, 0);
	tally_trace_text_free(trace);
	tally_buf_done(&data);
	tep_free(tep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_kernels_formats_print_as_libtraceevent_prints_them),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	for (size_t i = 0; i < format_count; i++) {
		free((void *)(uintptr_t)formats[i].system);
		free((void *)(uintptr_t)formats[i].text);
	}
	return result;
}
