#include "trace/trace_text.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/text.h"
#include "file/trace_data.h"
#include "trace/trace_program.h"

enum {
	ON_STACK = 2048,
	DAMAGE_LENGTH = 256,
};

/* An event of the tracing data.  The program is made when it is first asked for. */
struct trace_event {
	const struct trace_format_text *format;
	_Atomic(const struct trace_program *) program;
	atomic_bool hopeless;
};

struct tally_trace_text {
	struct trace_data data;
	struct trace_printk printk;
	struct trace_event *events; /* one a format */
	uint32_t *by_id;            /* index + 1 of the event; 0: none */
	size_t id_count;
	pthread_mutex_t lock; /* of all below, and of making programs */
	struct tally_arena arena;
	struct trace_compiler *compiler;
	char damage[DAMAGE_LENGTH];
	bool swap;
};

static int index_events(struct tally_trace_text *text)
{
	const struct trace_data *data = &text->data;
	uint64_t highest = 0;

	for (size_t i = 0; i < data->format_count; i++)
		if (data->formats[i].id > highest)
			highest = data->formats[i].id;
	text->events = calloc(data->format_count + 1, sizeof(*text->events));
	text->by_id = calloc(highest + 1, sizeof(*text->by_id));
	if (!text->events || !text->by_id)
		return -ENOMEM;
	text->id_count = highest + 1;
	for (size_t i = 0; i < data->format_count; i++) {
		text->events[i].format = &data->formats[i];
		if (!text->by_id[data->formats[i].id])
			text->by_id[data->formats[i].id] = (uint32_t)i + 1;
	}
	return 0;
}

static void describe_damage(struct tally_trace_text *text)
{
	const struct trace_data *data = &text->data;

	if (data->cut)
		snprintf(text->damage, sizeof(text->damage),
			 "tracing data is cut or damaged in %s, at offset %zu: %zu formats read",
			 data->cut, data->cut_at, data->format_count);
	else if (data->unnumbered)
		snprintf(text->damage, sizeof(text->damage),
			 "%zu formats of the tracing data have no usable ID and are left out",
			 data->unnumbered);
}

int tally_trace_text_new(const void *tracing_data, size_t size, struct tally_trace_text **ret,
			 struct tally_error *error)
{
	struct tally_trace_text *text = calloc(1, sizeof(*text));
	int result;

	if (!text)
		return tally_fail(error, -ENOMEM, -1, "no memory for tracing data");
	pthread_mutex_init(&text->lock, NULL);
	result = tally_trace_data_init(&text->data, tracing_data, size, error);
	if (!result)
		result = tally_trace_compiler_new(text->data.long_size, text->data.big_endian,
						  &text->compiler, error);
	if (!result &&
	    (index_events(text) ||
	     tally_trace_printk_init(&text->printk, text->data.printk, text->data.printk_size)))
		result = tally_fail(error, -ENOMEM, -1, "no memory for tracepoint formats");
	if (result) {
		tally_trace_text_free(text);
		return result;
	}
	text->swap = text->data.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	describe_damage(text);
	*ret = text;
	return 0;
}

void tally_trace_text_free(struct tally_trace_text *text)
{
	if (!text)
		return;
	tally_trace_compiler_free(text->compiler);
	tally_arena_done(&text->arena);
	tally_trace_printk_done(&text->printk);
	tally_trace_data_done(&text->data);
	pthread_mutex_destroy(&text->lock);
	free(text->events);
	free(text->by_id);
	free(text);
}

const char *tally_trace_text_damage(const struct tally_trace_text *text)
{
	return *text->damage ? text->damage : NULL;
}

static const struct trace_program *make(struct tally_trace_text *text, struct trace_event *event)
{
	struct trace_program *made = NULL;

	pthread_mutex_lock(&text->lock);
	if (!atomic_load(&event->program) && !atomic_load(&event->hopeless)) {
		if (tally_trace_compile(text->compiler, &text->arena, event->format, &made))
			atomic_store(&event->hopeless, true);
		else
			atomic_store_explicit(&event->program, made, memory_order_release);
	}
	pthread_mutex_unlock(&text->lock);
	return atomic_load(&event->program);
}

static const struct trace_program *program_of(struct tally_trace_text *text, uint64_t id)
{
	const struct trace_program *program;
	struct trace_event *event;

	if (id >= text->id_count || !text->by_id[id])
		return NULL;
	event = &text->events[text->by_id[id] - 1];
	program = atomic_load_explicit(&event->program, memory_order_acquire);
	if (program || atomic_load(&event->hopeless))
		return program;
	return make(text, event);
}

/* A payload starts with its event's number, common_type (struct trace_entry of the kernel's
 * include/linux/trace_events.h). */
static const struct trace_program *program_for(struct tally_trace_text *text, uint64_t id,
					       const uint8_t *raw, uint32_t raw_size)
{
	const struct trace_program *program = NULL;
	uint16_t type;

	if (raw_size >= sizeof(type)) {
		type = load_u16(raw);
		program = program_of(text, text->swap ? __builtin_bswap16(type) : type);
	}
	return program ? program : program_of(text, id);
}

static void run(const struct trace_program *program, const struct trace_payload *payload,
		struct tally_buf *to)
{
	if (program->by_fields)
		tally_trace_run_fields(program, payload, to);
	else
		tally_trace_run(program, payload, to);
}

/* A payload that is too short is filled up with zeros. */
static int run_filled(const struct trace_program *program, const struct trace_payload *payload,
		      struct tally_buf *to)
{
	struct trace_payload whole = *payload;
	uint8_t room[ON_STACK], *filled = room;

	if (program->needs > sizeof(room))
		filled = malloc(program->needs);
	if (!filled)
		return -ENOMEM;
	memset(filled, 0, program->needs);
	if (payload->size)
		memcpy(filled, payload->bytes, payload->size);
	whole.bytes = filled;
	whole.size = program->needs;
	run(program, &whole, to);
	if (filled != room)
		free(filled);
	return 0;
}

int tally_trace_text_add(struct tally_trace_text *text, struct tally_buf *to, uint64_t id,
			 const uint8_t *raw, uint32_t raw_size,
			 const struct tally_trace_symbols *symbols)
{
	const struct trace_program *program = program_for(text, id, raw, raw_size);
	struct trace_payload payload = {
	    .bytes = raw,
	    .size = raw_size,
	    .swap = text->swap,
	    .big_endian = text->data.big_endian,
	    .long_size = (uint8_t)text->data.long_size,
	    .symbols = symbols,
	    .printk = &text->printk,
	};

	if (!program)
		return -ENOENT;
	if (raw_size < program->needs)
		return run_filled(program, &payload, to);
	run(program, &payload, to);
	return 0;
}

const char *tally_trace_text_name(struct tally_trace_text *text, uint64_t id)
{
	const struct trace_program *program = program_of(text, id);

	return program ? program->name : NULL;
}

static void fill_bytes(const struct trace_payload *payload, const struct trace_field *from,
		       struct tally_trace_field *to)
{
	bool is_string = from->flags & FIELD_TEXT;

	if (from->flags & FIELD_DYNAMIC) {
		to->bytes = tally_trace_dynamic(payload, from, &to->size);
	} else {
		uint32_t offset = from->offset < payload->size ? from->offset : payload->size;
		uint32_t left = payload->size - offset;

		to->bytes = payload->bytes + offset;
		to->size = from->size && from->size < left ? from->size : left;
	}
	to->kind = is_string ? TALLY_TRACE_STRING : TALLY_TRACE_BYTES;
	to->element = from->element ? from->element : 1;
	if (is_string)
		to->size = (uint32_t)strnlen((const char *)to->bytes, to->size);
}

static void fill_number(const struct trace_payload *payload, const struct trace_field *from,
			struct tally_trace_field *to)
{
	unsigned unused = 64 - 8 * from->size;

	to->number = tally_trace_load(payload, from->offset, from->size);
	to->kind = from->flags & FIELD_POINTER ? TALLY_TRACE_POINTER
		   : to->is_signed             ? TALLY_TRACE_SIGNED
					       : TALLY_TRACE_UNSIGNED;
	if (to->is_signed)
		to->number = (uint64_t)((int64_t)(to->number << unused) >> unused);
}

static void fill(const struct trace_payload *payload, const struct trace_field *from,
		 struct tally_trace_field *to)
{
	*to = (struct tally_trace_field){
	    .name = from->name,
	    .common = from->common,
	    .is_signed = from->flags & FIELD_SIGNED,
	};
	if (!(from->flags & FIELD_ARRAY) &&
	    (from->size == 1 || from->size == 2 || from->size == 4 || from->size == 8))
		fill_number(payload, from, to);
	else
		fill_bytes(payload, from, to);
}

int tally_trace_text_each_field(struct tally_trace_text *text, uint64_t id, const uint8_t *raw,
				uint32_t raw_size, tally_trace_visit visit, void *context)
{
	const struct trace_program *program = program_for(text, id, raw, raw_size);
	struct trace_payload payload = {.bytes = raw, .size = raw_size, .swap = text->swap};
	int result = 0;

	if (!program)
		return -ENOENT;
	for (size_t i = 0; i < program->field_count && result >= 0; i++) {
		struct tally_trace_field field;

		fill(&payload, &program->fields[i], &field);
		result = visit(context, &field);
	}
	return result < 0 ? result : 0;
}

int tally_trace_text_find_field(struct tally_trace_text *text, uint64_t id, const char *name,
				struct tally_trace_place *ret)
{
	const struct trace_program *program = program_of(text, id);

	if (!program)
		return -ENOENT;
	for (size_t i = 0; i < program->field_count; i++) {
		const struct trace_field *field = &program->fields[i];

		if (strcmp(field->name, name))
			continue;
		*ret = (struct tally_trace_place){
		    .offset = field->offset,
		    .size = field->size,
		    .is_signed = field->flags & FIELD_SIGNED,
		    .is_string = field->flags & FIELD_TEXT && field->flags & FIELD_ARRAY,
		    .is_dynamic = field->flags & FIELD_DYNAMIC,
		    .is_relative = field->flags & FIELD_RELATIVE,
		};
		return 0;
	}
	return -ESRCH;
}
