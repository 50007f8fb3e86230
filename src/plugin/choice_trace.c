/* Fields of tracepoints: where they are, by the formats in the recording.
 *
 * Source of a format's lines: Documentation/trace/events.rst, "field:TYPE
 * NAME;\toffset:N;\tsize:N;\t signed:N;".  A __data_loc field holds where its text is: offset in
 * the low half, length in the upper;
 * __rel_loc counts from behind itself. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/buf.h"
#include "base/fail.h"
#include "file/trace_data.h"
#include "plugin/choice.h"

struct line {
	const char *declaration, *name;
	size_t declaration_length, name_length;
	uint64_t offset, size, is_signed;
	bool is_array;
};

/* The number behind `key` in the line. */
static bool take_number(const char *line, size_t length, const char *key, uint64_t *ret)
{
	const char *at = memmem(line, length, key, strlen(key));
	uint64_t number = 0;

	if (!at)
		return false;
	for (at += strlen(key); at < line + length && isdigit((unsigned char)*at); at++)
		number = number < UINT32_MAX ? number * 10 + (uint64_t)(*at - '0') : number;
	*ret = number;
	return true;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool read_line(const char *text, size_t length, struct line *ret)
{
	static const char key[] = "field:";
	const char *at = memmem(text, length, key, sizeof(key) - 1), *end;
	struct line line = {0};

	if (!at)
		return false;
	at += sizeof(key) - 1;
	end = memchr(at, ';', (size_t)(text + length - at));
	if (!end || !take_number(end, (size_t)(text + length - end), "offset:", &line.offset) ||
	    !take_number(end, (size_t)(text + length - end), "size:", &line.size))
		return false;
	take_number(end, (size_t)(text + length - end), "signed:", &line.is_signed);
	line.declaration = at;
	line.declaration_length = (size_t)(end - at);
	if (end > at && end[-1] == ']') {
		line.is_array = true;
		while (end > at && *end != '[')
			end--;
	}
	line.name = end;
	while (line.name > at && is_name(line.name[-1]))
		line.name--;
	line.name_length = (size_t)(end - line.name);
	*ret = line;
	return line.name_length > 0;
}

static bool begins(const struct line *line, const char *word)
{
	return line->declaration_length > strlen(word) &&
	       !strncmp(line->declaration, word, strlen(word));
}

static struct choice_trace place_of(const struct line *line)
{
	struct choice_trace trace = {
	    .offset = (uint32_t)line->offset,
	    .size = (uint32_t)line->size,
	    .is_signed = line->is_signed,
	};
	bool text = memmem(line->declaration, line->declaration_length, "char", 4);

	if (begins(line, "__data_loc"))
		trace.kind = text && line->size == 4 ? TRACE_DATA_LOC : TRACE_NONE;
	else if (begins(line, "__rel_loc"))
		trace.kind = text && line->size == 4 ? TRACE_REL_LOC : TRACE_NONE;
	else if (line->is_array)
		trace.kind = text ? TRACE_ARRAY : TRACE_NONE;
	else if (line->size == 1 || line->size == 2 || line->size == 4 || line->size == 8)
		trace.kind = TRACE_NUMBER;
	return trace;
}

/* A field's names, for a message that one of them is not there. */
struct similar_names {
	const char *wanted;
	struct tally_buf names; /* NUL-terminated, one behind the other */
};

/* What the format has of that name; its other names are kept for messages. */
static struct choice_trace find(const struct trace_format_text *format,
				struct similar_names *similar)
{
	const char *at = format->text, *end = at + format->size;
	struct choice_trace found = {0};

	while (at < end && !found.kind) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct line line;

		stop = stop ? stop : end;
		if (read_line(at, (size_t)(stop - at), &line)) {
			if (line.name_length == strlen(similar->wanted) &&
			    !strncmp(line.name, similar->wanted, line.name_length))
				found = place_of(&line);
			tally_buf_add(&similar->names, line.name, line.name_length);
			tally_buf_byte(&similar->names, 0);
		}
		at = stop + 1;
	}
	return found;
}

static int unknown(const struct choice_test *test, struct similar_names *similar,
		   struct tally_error *error)
{
	const char *at = (const char *)similar->names.data,
		   *end = at ? at + similar->names.size : at, *nearest;
	const char **names = NULL;
	size_t count = 0, room = 0;
	int result;

	while (tally_choice_name(room))
		room++;
	for (const char *one = at; one && one < end; one += strlen(one) + 1)
		room++;
	names = calloc(room + 1, sizeof(*names));
	for (; names && tally_choice_name(count); count++)
		names[count] = tally_choice_name(count);
	for (; names && at && at < end; at += strlen(at) + 1)
		names[count++] = at;
	nearest = names ? tally_text_nearest(test->name, names, count) : NULL;
	result = tally_fail(error, -EINVAL, test->column,
			    "no tracepoint of this recording has a field '%s'%s%s%s", test->name,
			    nearest ? "; did you mean '"
				    : "; fields of all events are comm, pid, tid, "
				      "cpu, time, event, period, ip, addr, sym, "
				      "dso, weight, stack",
			    nearest ? nearest : "", nearest ? "'?" : "");
	free(names);
	return result;
}

/* Whether the test suits what the field is. */
static int suit(const struct choice_test *test, struct choice_trace *trace,
		struct tally_error *error)
{
	uint64_t number;

	if (trace->kind != TRACE_NUMBER) {
		if (test->op >= CHOICE_LESS && test->op <= CHOICE_GREATER_EQUAL)
			return tally_fail(error, -EINVAL, test->column,
					  "'%s' is text: compare it with == != =~ !~", test->name);
		return 0;
	}
	if (test->has_regex)
		return tally_fail(error, -EINVAL, test->column,
				  "'%s' is a number: compare it with == != < <= > >=", test->name);
	if (tally_choice_value(CHOICE_UNKNOWN, test->value, &number))
		return tally_fail(error, -EINVAL, test->value_column,
				  "'%s' is a number, and '%s' is not", test->name, test->value);
	trace->number = (int64_t)number;
	return 0;
}

static int look_up(struct tally_choice *choice, struct choice_test *test,
		   const struct trace_data *formats, struct tally_data *data,
		   struct tally_error *error)
{
	struct similar_names similar = {.wanted = test->name};
	bool any = false;
	int result = 0;

	test->trace =
	    tally_arena_alloc(&choice->arena, (choice->event_count + 1) * sizeof(*test->trace));
	if (!test->trace)
		return -ENOMEM;
	for (size_t i = 0; i < choice->event_count && !result; i++) {
		const struct tally_attr *attr = &tally_data_event(data, i)->attr;

		if (attr->type != PERF_TYPE_TRACEPOINT)
			continue;
		for (size_t k = 0; k < formats->format_count && !test->trace[i].kind; k++)
			if (formats->formats[k].id == attr->config)
				test->trace[i] = find(&formats->formats[k], &similar);
		if (test->trace[i].kind) {
			any = true;
			result = suit(test, &test->trace[i], error);
		}
	}
	if (!result && !any)
		result = similar.names.failed ? -ENOMEM : unknown(test, &similar, error);
	tally_buf_done(&similar.names);
	return result;
}

int tally_choice_trace(struct tally_choice *choice, struct tally_data *data,
		       struct tally_error *error)
{
	struct tally_block block = tally_data_feature(data, 1);
	struct trace_data formats = {0};
	int result = tally_trace_data_init(&formats, block.bytes, block.size, NULL);
	const uint16_t one = 1;

	if (result && result != -ENOMEM)
		result = 0; /* no formats: no such field */
	choice->swapped = formats.format_count && formats.big_endian != !*(const uint8_t *)&one;
	for (uint16_t i = 0; i < choice->count && !result; i++)
		if (choice->tests[i].field == CHOICE_TRACE)
			result = look_up(choice, &choice->tests[i], &formats, data, error);
	tally_trace_data_done(&formats);
	return result;
}
