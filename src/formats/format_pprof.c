/* A profile of pprof: a message in gzip, with symbols, lines, binaries and labels.
 *
 * Source: profile.proto of github.com/google/pprof, whose numbers of fields are named here. Samples
 * of all events are in one profile: each has a column of its own, behind the number of samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "convert/code_tables.h"
#include "convert/sample_sums.h"
#include "formats/format_list.h"
#include "formats/gzip.h"
#include "base/protobuf.h"
#include "session/numbers.h"
#include "session/run.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT };
enum sample_field { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum label_field { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_MEMORY_START,
	MAPPING_MEMORY_LIMIT,
	MAPPING_FILE_OFFSET,
	MAPPING_FILENAME,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILENAMES,
	MAPPING_HAS_LINE_NUMBERS,
	MAPPING_HAS_INLINE_FRAMES,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum line_field { LINE_FUNCTION_ID = 1, LINE_LINE };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };

/* Samples or locations that a thread writes at a time: some 100 KB. */
#define SHARE 4096U

/* What a thread works with. */
struct pprof_worker {
	uint64_t *values;    /* of a sample */
	uint64_t *locations; /* of a sample */
	uint32_t location_room;
};

struct pprof {
	struct convert *convert;
	struct sample_sums sums;
	struct code_tables code;
	struct tally_gzip *gzip;
	struct tally_buf *text;
	uint32_t *column_of;     /* by event: of the values; 0: it has no samples */
	uint32_t *name_of;       /* by event: string */
	uint32_t columns;        /* of values, with that of samples */
	struct tally_buf labels; /* of the contexts, one after the other */
	size_t *labels_at;       /* by context, where they start; and the end */
	struct pprof_worker *workers;
	unsigned worker_count;
	uint32_t comm, pid, tid, cpu, event; /* strings of labels */
	int failed;
};

static int pour(struct pprof *pprof, size_t least)
{
	struct tally_buf *text = pprof->text;
	int result;

	if (text->failed || text->size < least)
		return text->failed;
	result = tally_gzip_add(pprof->gzip, text->data, text->size);
	tally_buf_clear(text);
	return result;
}

/* A string's number; 0 after a failure, which is kept. */
static uint32_t string_of(struct pprof *pprof, const char *text)
{
	int64_t number = tally_code_tables_string(&pprof->code, text);

	if (number >= 0)
		return (uint32_t)number;
	pprof->failed = (int)number;
	return 0;
}

static void put_value_type(struct pprof *pprof, unsigned field, const char *type, const char *unit)
{
	size_t place = tally_protobuf_begin(pprof->text, field);

	tally_protobuf_u64(pprof->text, VALUE_TYPE, string_of(pprof, type));
	tally_protobuf_u64(pprof->text, VALUE_UNIT, string_of(pprof, unit));
	tally_protobuf_end(pprof->text, place);
}

/* The columns: samples, and one for each event that has some. */
static int put_columns(struct pprof *pprof)
{
	const struct convert *convert = pprof->convert;
	size_t events = tally_data_event_count(convert->data);
	const struct tally_data_event *event;
	uint32_t first = UINT32_MAX;

	pprof->column_of = calloc(events + 1, sizeof(*pprof->column_of));
	pprof->name_of = calloc(events + 1, sizeof(*pprof->name_of));
	if (!pprof->column_of || !pprof->name_of)
		return -ENOMEM;
	put_value_type(pprof, PROFILE_SAMPLE_TYPE, "samples", "count");
	pprof->columns = 1;
	for (uint32_t i = 0; i < pprof->sums.context_count; i++)
		pprof->column_of[pprof->sums.contexts[i].event] = 1;
	for (uint32_t i = 0; i < events; i++) {
		event = tally_data_event(convert->data, i);
		/* Without any sample the first one is there, so that there is a column. */
		if (!tally_convert_has_event(convert, i) ||
		    (!pprof->column_of[i] && (pprof->sums.count || first != UINT32_MAX)))
			continue;
		if (first == UINT32_MAX)
			first = i;
		pprof->column_of[i] = pprof->columns++;
		pprof->name_of[i] = string_of(pprof, event->name);
		put_value_type(pprof, PROFILE_SAMPLE_TYPE, event->name,
			       tally_convert_unit(convert, i));
	}
	if (first == UINT32_MAX)
		return 0;
	event = tally_data_event(convert->data, first);
	tally_protobuf_u64(pprof->text, PROFILE_DEFAULT_SAMPLE_TYPE, pprof->name_of[first]);
	put_value_type(pprof, PROFILE_PERIOD_TYPE, event->name, tally_convert_unit(convert, first));
	tally_protobuf_u64(pprof->text, PROFILE_PERIOD,
			   event->attr.freq ? 0 : event->attr.sample_period);
	return pprof->failed;
}

static void put_label(struct pprof *pprof, uint32_t key, unsigned field, uint64_t value)
{
	size_t place = tally_protobuf_begin(&pprof->labels, SAMPLE_LABEL);

	tally_protobuf_u64(&pprof->labels, LABEL_KEY, key);
	/* A number 0 is there although it is the default. */
	tally_protobuf_varint(&pprof->labels, field << 3);
	tally_protobuf_varint(&pprof->labels, value);
	tally_protobuf_end(&pprof->labels, place);
}

static void put_labels(struct pprof *pprof, const struct sum_context *context)
{
	if (context->comm)
		put_label(pprof, pprof->comm, LABEL_STR, string_of(pprof, context->comm));
	if (context->pid != UINT32_MAX)
		put_label(pprof, pprof->pid, LABEL_NUM, context->pid);
	if (context->tid != UINT32_MAX)
		put_label(pprof, pprof->tid, LABEL_NUM, context->tid);
	if (context->cpu != UINT32_MAX)
		put_label(pprof, pprof->cpu, LABEL_NUM, context->cpu);
	put_label(pprof, pprof->event, LABEL_STR, pprof->name_of[context->event]);
}

/* The labels of each context, once for all of its samples. */
static int make_labels(struct pprof *pprof)
{
	const struct sample_sums *sums = &pprof->sums;

	pprof->comm = string_of(pprof, "comm");
	pprof->pid = string_of(pprof, "pid");
	pprof->tid = string_of(pprof, "tid");
	pprof->cpu = string_of(pprof, "cpu");
	pprof->event = string_of(pprof, "event");
	pprof->labels_at = calloc(sums->context_count + 1ULL, sizeof(*pprof->labels_at));
	if (!pprof->labels_at)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->context_count; i++) {
		put_labels(pprof, &sums->contexts[i]);
		pprof->labels_at[i + 1] = pprof->labels.size;
	}
	return pprof->labels.failed ? pprof->labels.failed : pprof->failed;
}

static int put_sample(const struct pprof *pprof, struct pprof_worker *worker,
		      const struct sample_sum *sum, struct tally_buf *to)
{
	uint32_t column = pprof->column_of[pprof->sums.contexts[sum->context].event];
	size_t place = tally_protobuf_begin(to, PROFILE_SAMPLE);
	struct code_position at = {.node = sum->node};
	size_t labels = pprof->labels_at[sum->context];
	uint32_t count = 0;

	while (at.node) {
		uint32_t room = array_room(worker->location_room, count + 1, 256);

		if (room != worker->location_room &&
		    !array_resize(&worker->locations, room, sizeof(*worker->locations)))
			return -ENOMEM;
		worker->location_room = room;
		worker->locations[count++] = code_places_next(&pprof->code.places, &at);
	}
	tally_protobuf_packed(to, SAMPLE_LOCATION_ID, worker->locations, count);
	worker->values[0] = sum->samples;
	worker->values[column] = sum->period;
	tally_protobuf_packed(to, SAMPLE_VALUE, worker->values, pprof->columns);
	worker->values[column] = 0;
	tally_buf_add(to, pprof->labels.data + labels, pprof->labels_at[sum->context + 1] - labels);
	tally_protobuf_end(to, place);
	return to->failed;
}

static int put_sample_share(void *context, unsigned number, size_t share, struct tally_buf *to)
{
	const struct pprof *pprof = context;
	uint32_t at = (uint32_t)share * SHARE, end = at + SHARE;
	int result = 0;

	if (!number && tally_session_interrupted(pprof->convert->session))
		return -ECANCELED;
	for (; at < end && at < pprof->sums.count && !result; at++)
		result = put_sample(pprof, &pprof->workers[number], &pprof->sums.list[at], to);
	return result;
}

/* Writes the numbers below `count` by several threads. */
static int put_shares(struct pprof *pprof, uint32_t count, tally_gzip_make_fn make)
{
	int result = pour(pprof, 0);

	return result ? result
		      : tally_gzip_run(pprof->gzip, pprof->worker_count,
				       (count + SHARE - 1ULL) / SHARE, make, pprof);
}

static int put_samples(struct pprof *pprof)
{
	const struct sample_sums *sums = &pprof->sums;
	int result = make_labels(pprof);

	pprof->worker_count = tally_session_threads(pprof->convert->session);
	pprof->workers = calloc(pprof->worker_count, sizeof(*pprof->workers));
	if (!pprof->workers)
		return -ENOMEM;
	for (unsigned i = 0; i < pprof->worker_count; i++) {
		pprof->workers[i].values = calloc(pprof->columns, sizeof(uint64_t));
		if (!pprof->workers[i].values)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < sums->count && !result; i++)
		result = tally_code_places_add(&pprof->code.places, sums->list[i].node);
	return result ? result : put_shares(pprof, sums->count, put_sample_share);
}

static int put_mappings(struct pprof *pprof)
{
	struct tally_buf *text = pprof->text;

	for (uint32_t i = 1; i < pprof->code.mapping_count; i++) {
		const struct code_mapping *mapping = &pprof->code.mappings[i];
		size_t place = tally_protobuf_begin(text, PROFILE_MAPPING);

		tally_protobuf_u64(text, MAPPING_ID, i);
		tally_protobuf_u64(text, MAPPING_MEMORY_START, mapping->start);
		tally_protobuf_u64(text, MAPPING_MEMORY_LIMIT, mapping->limit);
		tally_protobuf_u64(text, MAPPING_FILE_OFFSET, mapping->offset);
		tally_protobuf_u64(text, MAPPING_FILENAME, mapping->file);
		tally_protobuf_u64(text, MAPPING_BUILD_ID, mapping->build_id);
		tally_protobuf_u64(text, MAPPING_HAS_FUNCTIONS, mapping->has_functions);
		tally_protobuf_u64(text, MAPPING_HAS_FILENAMES, mapping->has_lines);
		tally_protobuf_u64(text, MAPPING_HAS_LINE_NUMBERS, mapping->has_lines);
		tally_protobuf_u64(text, MAPPING_HAS_INLINE_FRAMES, mapping->has_inlines);
		tally_protobuf_end(text, place);
	}
	return pour(pprof, CONVERT_WRITE_SIZE);
}

static void put_location(const struct pprof *pprof, uint32_t number, struct tally_buf *to)
{
	const struct code_places *places = &pprof->code.places;
	const struct code_place *of = &places->list[number];
	size_t place = tally_protobuf_begin(to, PROFILE_LOCATION), line;

	tally_protobuf_u64(to, LOCATION_ID, number);
	tally_protobuf_u64(to, LOCATION_MAPPING_ID, pprof->code.mapping_of[of->image]);
	tally_protobuf_u64(to, LOCATION_ADDRESS, of->address);
	for (uint32_t at = of->first_line; at < of->first_line + of->line_count; at++) {
		if (!pprof->code.function_of[at])
			continue;
		line = tally_protobuf_begin(to, LOCATION_LINE);
		tally_protobuf_u64(to, LINE_FUNCTION_ID, pprof->code.function_of[at]);
		tally_protobuf_u64(to, LINE_LINE, places->lines[at].line);
		tally_protobuf_end(to, line);
	}
	tally_protobuf_end(to, place);
}

static int put_location_share(void *context, unsigned number, size_t share, struct tally_buf *to)
{
	const struct pprof *pprof = context;
	uint32_t at = (uint32_t)share * SHARE, end = at + SHARE;

	(void)number;
	for (; at < end && at < pprof->code.places.count; at++)
		if (at) /* the first one is none */
			put_location(pprof, at, to);
	return to->failed;
}

static int put_locations(struct pprof *pprof)
{
	return put_shares(pprof, pprof->code.places.count, put_location_share);
}

static int put_functions(struct pprof *pprof)
{
	struct tally_buf *text = pprof->text;
	int result = 0;

	for (uint32_t i = 1; i < pprof->code.function_count && !result; i++) {
		const struct code_function *function = &pprof->code.functions[i];
		size_t place = tally_protobuf_begin(text, PROFILE_FUNCTION);

		tally_protobuf_u64(text, FUNCTION_ID, i);
		tally_protobuf_u64(text, FUNCTION_NAME, function->name);
		tally_protobuf_u64(text, FUNCTION_SYSTEM_NAME, function->name);
		tally_protobuf_u64(text, FUNCTION_FILENAME, function->file);
		tally_protobuf_end(text, place);
		result = pour(pprof, CONVERT_WRITE_SIZE);
	}
	return result;
}

static void put_comment(void *context, const char *line, size_t length)
{
	struct pprof *pprof = context;
	int64_t number = tally_strings_intern(&pprof->code.strings, line, length);

	if (number < 0)
		pprof->failed = (int)number;
	else
		tally_protobuf_u64(pprof->text, PROFILE_COMMENT, (uint64_t)number);
}

/* When it was recorded, and what was lost. */
static int put_facts(struct pprof *pprof)
{
	const struct convert *convert = pprof->convert;
	const struct tally_session_counts *counts = tally_session_counts(convert->session);
	const struct tally_data_info *info = tally_data_info(convert->data);
	int64_t offset, start = info->modified * 1000000000;
	int result;

	/* Without the clock's offset the time is that of the file. */
	if (tally_convert_wall_offset(convert, &offset))
		start = (int64_t)counts->first_time + offset;
	tally_protobuf_u64(pprof->text, PROFILE_TIME_NANOS, (uint64_t)start);
	tally_protobuf_u64(pprof->text, PROFILE_DURATION_NANOS,
			   counts->last_time - counts->first_time);
	result = tally_convert_facts(convert, put_comment, pprof);
	return result ? result : pprof->failed;
}

static int put_strings(struct pprof *pprof)
{
	int result = 0;

	for (size_t i = 0; i < pprof->code.strings.count && !result; i++) {
		tally_protobuf_text(pprof->text, PROFILE_STRING_TABLE, pprof->code.strings.text[i],
				    pprof->code.strings.length[i]);
		result = pour(pprof, CONVERT_WRITE_SIZE);
	}
	return result ? result : pour(pprof, 0);
}

static int put_profile(struct pprof *pprof)
{
	static int (*const parts[])(struct pprof *) = {put_columns,   put_samples,   put_mappings,
						       put_locations, put_functions, put_facts,
						       put_strings};
	int result = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !result; i++) {
		if (parts[i] == put_mappings)
			result = tally_code_tables_make(&pprof->code);
		if (!result)
			result = parts[i](pprof);
	}
	return result;
}

static int write_pprof(struct convert *convert)
{
	struct pprof pprof = {.convert = convert, .text = &convert->text};
	int result = tally_sample_sums_make(convert, SUMS_BY_COMM | SUMS_BY_THREAD | SUMS_BY_CPU,
					    &pprof.sums);

	if (!result)
		result = tally_code_tables_init(&pprof.code, convert, &pprof.sums.stacks);
	if (!result)
		result = tally_gzip_new(convert->to, &pprof.gzip);
	if (!result)
		result = put_profile(&pprof);
	if (!result) {
		result = tally_gzip_end(pprof.gzip);
		pprof.gzip = NULL;
	}
	tally_gzip_free(pprof.gzip);
	tally_code_tables_done(&pprof.code);
	tally_sample_sums_done(&pprof.sums);
	free(pprof.column_of);
	free(pprof.name_of);
	for (unsigned i = 0; pprof.workers && i < pprof.worker_count; i++) {
		free(pprof.workers[i].values);
		free(pprof.workers[i].locations);
	}
	free(pprof.workers);
	free(pprof.labels_at);
	tally_buf_done(&pprof.labels);
	return result;
}

const struct export_format tally_export_format_pprof = {
    .name = "pprof",
    .help = "a profile for pprof, Pyroscope, Parca and others, in gzip",
    .binary = true,
    .places = true,
    .write = write_pprof,
};
