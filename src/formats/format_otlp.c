/* Profiles of OpenTelemetry: a message ProfilesData, a profile for each event.  The format is still
 * in development, as its name v1development says.
 *
 * Source: profiles.proto of opentelemetry-proto 1.11, whose numbers of fields are named here; of
 * attributes, OpenTelemetry's semantic conventions.  Number 0 of each table is the zero value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "convert/code_tables.h"
#include "convert/sample_sums.h"
#include "formats/format_list.h"
#include "base/protobuf.h"

enum data_field { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum dictionary_field {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION,
	DICTIONARY_FUNCTION,
	DICTIONARY_LINK,
	DICTIONARY_STRING,
	DICTIONARY_ATTRIBUTE,
	DICTIONARY_STACK,
};
enum resource_profiles_field { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPES };
enum scope_profiles_field { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES };
enum scope_field { SCOPE_NAME = 1, SCOPE_VERSION };
enum resource_field { RESOURCE_ATTRIBUTES = 1 };
enum key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };
enum any_value_field { ANY_VALUE_STRING = 1, ANY_VALUE_INT = 3 };
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES,
	PROFILE_TIME,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT };
enum sample_field { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES };
enum mapping_field {
	MAPPING_START = 1,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILENAME,
	MAPPING_ATTRIBUTES,
};
enum location_field { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINES };
enum line_field { LINE_FUNCTION = 1, LINE_LINE };
enum function_field { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };
enum link_field { LINK_TRACE_ID = 1, LINK_SPAN_ID };
enum attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum stack_field { STACK_LOCATIONS = 1 };

#define TRACE_ID_SIZE 16
#define SPAN_ID_SIZE  8

struct otlp {
	struct convert *convert;
	struct sample_sums sums;
	struct code_tables code;
	struct tally_buf profiles, stacks, attributes; /* encoded; the last two are tables */
	struct tally_map known_attributes;             /* key and value -> number */
	uint32_t attribute_count, stack_count;
	uint32_t *stack_of; /* by node; 0: none yet */
	uint64_t *locations;
	uint32_t location_room;
	int failed;
};

static uint32_t string_of(struct otlp *otlp, const char *text)
{
	int64_t number = tally_code_tables_string(&otlp->code, text);

	if (number >= 0)
		return (uint32_t)number;
	otlp->failed = (int)number;
	return 0;
}

/* --- attributes --- */

/* The number of an attribute: a string (`text` is not NULL) or a number. */
static uint32_t attribute_of(struct otlp *otlp, const char *key, const char *text, uint64_t value)
{
	uint32_t name = string_of(otlp, key);
	uint64_t hash, *known;
	size_t place, inner;
	bool added;

	if (text)
		value = string_of(otlp, text);
	hash = hash_mix(hash_u64((uint64_t)name << 1 | (text != NULL)), value);
	known = tally_map_put(&otlp->known_attributes, hash, &added);
	if (!known) {
		otlp->failed = -ENOMEM;
		return 0;
	}
	if (!added)
		return (uint32_t)*known;
	*known = otlp->attribute_count++;
	place = tally_protobuf_begin(&otlp->attributes, DICTIONARY_ATTRIBUTE);
	tally_protobuf_u64(&otlp->attributes, ATTRIBUTE_KEY, name);
	inner = tally_protobuf_begin(&otlp->attributes, ATTRIBUTE_VALUE);
	if (text) {
		tally_protobuf_text(&otlp->attributes, ANY_VALUE_STRING, text, strlen(text));
	} else {
		/* A number 0 is there although it is the default. */
		tally_protobuf_varint(&otlp->attributes, ANY_VALUE_INT << 3 | PROTOBUF_VARINT);
		tally_protobuf_varint(&otlp->attributes, value);
	}
	tally_protobuf_end(&otlp->attributes, inner);
	tally_protobuf_end(&otlp->attributes, place);
	return (uint32_t)*known;
}

static void put_context(struct otlp *otlp, const struct sum_context *context)
{
	uint64_t numbers[4];
	size_t count = 0;

	if (context->comm)
		numbers[count++] = attribute_of(otlp, "thread.name", context->comm, 0);
	if (context->pid != UINT32_MAX)
		numbers[count++] = attribute_of(otlp, "process.pid", NULL, context->pid);
	if (context->tid != UINT32_MAX)
		numbers[count++] = attribute_of(otlp, "thread.id", NULL, context->tid);
	if (context->cpu != UINT32_MAX)
		numbers[count++] = attribute_of(otlp, "cpu.logical_number", NULL, context->cpu);
	tally_protobuf_packed(&otlp->profiles, SAMPLE_ATTRIBUTES, numbers, count);
}

/* --- samples --- */

/* The number of a node's stack; 0: out of memory. */
static uint32_t stack_of(struct otlp *otlp, uint32_t node)
{
	struct code_position at = {.node = node};
	uint32_t count = 0;
	size_t place;

	if (!node || otlp->stack_of[node])
		return otlp->stack_of[node];
	while (at.node) {
		uint32_t room = array_room(otlp->location_room, count + 1, 256);

		if (room != otlp->location_room &&
		    !array_resize(&otlp->locations, room, sizeof(*otlp->locations)))
			return 0;
		otlp->location_room = room;
		otlp->locations[count] = tally_code_places_walk(&otlp->code.places, &at);
		if (!otlp->locations[count++])
			return 0;
	}
	place = tally_protobuf_begin(&otlp->stacks, DICTIONARY_STACK);
	tally_protobuf_packed(&otlp->stacks, STACK_LOCATIONS, otlp->locations, count);
	tally_protobuf_end(&otlp->stacks, place);
	otlp->stack_of[node] = otlp->stack_count++;
	return otlp->stack_of[node];
}

static void put_value_type(struct otlp *otlp, unsigned field, uint32_t event)
{
	size_t place = tally_protobuf_begin(&otlp->profiles, field);

	tally_protobuf_u64(&otlp->profiles, VALUE_TYPE,
			   string_of(otlp, tally_data_event(otlp->convert->data, event)->name));
	tally_protobuf_u64(&otlp->profiles, VALUE_UNIT,
			   string_of(otlp, tally_convert_unit(otlp->convert, event)));
	tally_protobuf_end(&otlp->profiles, place);
}

static int put_sample(struct otlp *otlp, const struct sample_sum *sum)
{
	size_t place = tally_protobuf_begin(&otlp->profiles, PROFILE_SAMPLES);
	uint32_t stack = stack_of(otlp, sum->node);

	if (sum->node && !stack)
		return -ENOMEM;
	tally_protobuf_u64(&otlp->profiles, SAMPLE_STACK, stack);
	put_context(otlp, &otlp->sums.contexts[sum->context]);
	tally_protobuf_packed(&otlp->profiles, SAMPLE_VALUES, &sum->period, 1);
	tally_protobuf_end(&otlp->profiles, place);
	return otlp->failed;
}

static void put_times(struct otlp *otlp)
{
	const struct tally_session_counts *counts = tally_session_counts(otlp->convert->session);
	int64_t offset, start = tally_data_info(otlp->convert->data)->modified * 1000000000;

	/* Without the clock's offset the time is that of the file. */
	if (tally_convert_wall_offset(otlp->convert, &offset))
		start = (int64_t)counts->first_time + offset;
	tally_protobuf_fixed64(&otlp->profiles, PROFILE_TIME, (uint64_t)start);
	tally_protobuf_u64(&otlp->profiles, PROFILE_DURATION,
			   counts->last_time - counts->first_time);
}

/* The sums from one on that are of one event; *at is behind them. */
static int put_profile(struct otlp *otlp, uint32_t *at)
{
	const struct sample_sums *sums = &otlp->sums;
	uint32_t event = sums->contexts[sums->list[*at].context].event;
	const struct tally_attr *attr = &tally_data_event(otlp->convert->data, event)->attr;
	size_t place = tally_protobuf_begin(&otlp->profiles, SCOPE_PROFILES_PROFILES);
	int result = 0;

	put_value_type(otlp, PROFILE_SAMPLE_TYPE, event);
	for (;
	     *at < sums->count && sums->contexts[sums->list[*at].context].event == event && !result;
	     ++*at)
		result = put_sample(otlp, &sums->list[*at]);
	put_times(otlp);
	if (!attr->freq) {
		put_value_type(otlp, PROFILE_PERIOD_TYPE, event);
		tally_protobuf_u64(&otlp->profiles, PROFILE_PERIOD, attr->sample_period);
	}
	tally_protobuf_end(&otlp->profiles, place);
	return result;
}

/* --- the recording --- */

static void put_resource_text(struct otlp *otlp, const char *key, const char *value, size_t length)
{
	size_t place = tally_protobuf_begin(&otlp->profiles, RESOURCE_ATTRIBUTES), inner;

	tally_protobuf_text(&otlp->profiles, KEY_VALUE_KEY, key, strlen(key));
	inner = tally_protobuf_begin(&otlp->profiles, KEY_VALUE_VALUE);
	tally_protobuf_text(&otlp->profiles, ANY_VALUE_STRING, value, length);
	tally_protobuf_end(&otlp->profiles, inner);
	tally_protobuf_end(&otlp->profiles, place);
}

static void add_fact(void *context, const char *line, size_t length)
{
	struct tally_buf *facts = context;

	if (facts->size)
		tally_buf_byte(facts, '\n');
	tally_buf_add(facts, line, length);
}

static int put_resource(struct otlp *otlp)
{
	const struct tally_data_info *info = tally_data_info(otlp->convert->data);
	size_t place = tally_protobuf_begin(&otlp->profiles, RESOURCE_PROFILES_RESOURCE);
	struct tally_buf facts = {0};
	int result = tally_convert_facts(otlp->convert, add_fact, &facts);

	if (info->hostname)
		put_resource_text(otlp, "host.name", info->hostname, strlen(info->hostname));
	if (info->arch)
		put_resource_text(otlp, "host.arch", info->arch, strlen(info->arch));
	if (info->os_release)
		put_resource_text(otlp, "os.version", info->os_release, strlen(info->os_release));
	put_resource_text(otlp, "tally.facts", tally_buf_str(&facts), facts.size);
	result = result ? result : facts.failed;
	tally_buf_done(&facts);
	tally_protobuf_end(&otlp->profiles, place);
	return result;
}

static void put_scope(struct otlp *otlp)
{
	size_t place = tally_protobuf_begin(&otlp->profiles, SCOPE_PROFILES_SCOPE);

	tally_protobuf_text(&otlp->profiles, SCOPE_NAME, "tally", 5);
	tally_protobuf_text(&otlp->profiles, SCOPE_VERSION, TALLY_VERSION, strlen(TALLY_VERSION));
	tally_protobuf_end(&otlp->profiles, place);
}

static int put_profiles(struct otlp *otlp)
{
	size_t whole = tally_protobuf_begin(&otlp->profiles, DATA_RESOURCE_PROFILES), scopes;
	int result = put_resource(otlp);

	scopes = tally_protobuf_begin(&otlp->profiles, RESOURCE_PROFILES_SCOPES);
	put_scope(otlp);
	for (uint32_t at = 0; at < otlp->sums.count && !result;)
		result = put_profile(otlp, &at);
	tally_protobuf_end(&otlp->profiles, scopes);
	tally_protobuf_end(&otlp->profiles, whole);
	return result ? result : otlp->failed;
}

/* --- tables --- */

/* The first of a table. */
static void put_zero(struct tally_buf *to, unsigned field)
{
	tally_protobuf_end(to, tally_protobuf_begin(to, field));
}

static void put_mappings(struct otlp *otlp, struct tally_buf *to)
{
	put_zero(to, DICTIONARY_MAPPING);
	for (uint32_t i = 1; i < otlp->code.mapping_count; i++) {
		const struct code_mapping *mapping = &otlp->code.mappings[i];
		size_t place = tally_protobuf_begin(to, DICTIONARY_MAPPING);
		uint64_t attribute;

		tally_protobuf_u64(to, MAPPING_START, mapping->start);
		tally_protobuf_u64(to, MAPPING_LIMIT, mapping->limit);
		tally_protobuf_u64(to, MAPPING_OFFSET, mapping->offset);
		tally_protobuf_u64(to, MAPPING_FILENAME, mapping->file);
		if (mapping->build_id) {
			attribute = attribute_of(otlp, "process.executable.build_id.gnu",
						 otlp->code.strings.text[mapping->build_id], 0);
			tally_protobuf_packed(to, MAPPING_ATTRIBUTES, &attribute, 1);
		}
		tally_protobuf_end(to, place);
	}
}

static void put_locations(const struct otlp *otlp, struct tally_buf *to)
{
	const struct code_places *places = &otlp->code.places;

	put_zero(to, DICTIONARY_LOCATION);
	for (uint32_t i = 1; i < places->count; i++) {
		const struct code_place *of = &places->list[i];
		size_t place = tally_protobuf_begin(to, DICTIONARY_LOCATION), line;

		tally_protobuf_u64(to, LOCATION_MAPPING, otlp->code.mapping_of[of->image]);
		tally_protobuf_u64(to, LOCATION_ADDRESS, of->address);
		for (uint32_t at = of->first_line; at < of->first_line + of->line_count; at++) {
			if (!otlp->code.function_of[at])
				continue;
			line = tally_protobuf_begin(to, LOCATION_LINES);
			tally_protobuf_u64(to, LINE_FUNCTION, otlp->code.function_of[at]);
			tally_protobuf_u64(to, LINE_LINE, places->lines[at].line);
			tally_protobuf_end(to, line);
		}
		tally_protobuf_end(to, place);
	}
}

static void put_functions(const struct otlp *otlp, struct tally_buf *to)
{
	put_zero(to, DICTIONARY_FUNCTION);
	for (uint32_t i = 1; i < otlp->code.function_count; i++) {
		size_t place = tally_protobuf_begin(to, DICTIONARY_FUNCTION);

		tally_protobuf_u64(to, FUNCTION_NAME, otlp->code.functions[i].name);
		tally_protobuf_u64(to, FUNCTION_FILENAME, otlp->code.functions[i].file);
		tally_protobuf_end(to, place);
	}
}

/* No link: with ids of their whole lengths, as the format asks for. */
static void put_links(struct tally_buf *to)
{
	static const uint8_t zeros[TRACE_ID_SIZE];
	size_t place = tally_protobuf_begin(to, DICTIONARY_LINK);

	tally_protobuf_bytes(to, LINK_TRACE_ID, zeros, TRACE_ID_SIZE);
	tally_protobuf_bytes(to, LINK_SPAN_ID, zeros, SPAN_ID_SIZE);
	tally_protobuf_end(to, place);
}

static void put_strings(const struct otlp *otlp, struct tally_buf *to)
{
	for (size_t i = 0; i < otlp->code.strings.count; i++)
		tally_protobuf_text(to, DICTIONARY_STRING, otlp->code.strings.text[i],
				    otlp->code.strings.length[i]);
}

static int put_dictionary(struct otlp *otlp)
{
	struct tally_buf *to = &otlp->convert->text;
	size_t place;
	int result = tally_code_tables_make(&otlp->code);

	if (result)
		return result;
	place = tally_protobuf_begin(to, DATA_DICTIONARY);
	put_mappings(otlp, to);
	put_locations(otlp, to);
	put_functions(otlp, to);
	put_links(to);
	put_zero(to, DICTIONARY_STACK);
	tally_buf_add(to, otlp->stacks.data, otlp->stacks.size);
	put_zero(to, DICTIONARY_ATTRIBUTE);
	tally_buf_add(to, otlp->attributes.data, otlp->attributes.size);
	put_strings(otlp, to);
	tally_protobuf_end(to, place);
	return otlp->failed          ? otlp->failed
	       : otlp->stacks.failed ? otlp->stacks.failed
				     : otlp->attributes.failed;
}

static int put_data(struct otlp *otlp)
{
	struct convert *convert = otlp->convert;
	int result;

	otlp->stack_of = calloc(otlp->sums.stacks.node_count + 1ULL, sizeof(*otlp->stack_of));
	if (!otlp->stack_of)
		return -ENOMEM;
	result = put_profiles(otlp);
	tally_buf_add(&convert->text, otlp->profiles.data, otlp->profiles.size);
	if (!result)
		result = otlp->profiles.failed;
	tally_buf_done(&otlp->profiles);
	if (!result)
		result = tally_convert_flush(convert);
	return result ? result : put_dictionary(otlp);
}

static int write_otlp(struct convert *convert)
{
	struct otlp otlp = {.convert = convert, .attribute_count = 1, .stack_count = 1};
	int result = tally_sample_sums_make(convert, SUMS_BY_COMM | SUMS_BY_THREAD | SUMS_BY_CPU,
					    &otlp.sums);

	if (!result)
		result = tally_code_tables_init(&otlp.code, convert, &otlp.sums.stacks);
	if (!result)
		result = put_data(&otlp);
	tally_buf_done(&otlp.profiles);
	tally_buf_done(&otlp.stacks);
	tally_buf_done(&otlp.attributes);
	tally_map_done(&otlp.known_attributes);
	tally_code_tables_done(&otlp.code);
	tally_sample_sums_done(&otlp.sums);
	free(otlp.stack_of);
	free(otlp.locations);
	return result;
}

const struct export_format tally_export_format_otlp = {
    .name = "otlp",
    .help = "profiles of OpenTelemetry; experimental, as that format is",
    .binary = true,
    .places = true,
    .write = write_otlp,
};
