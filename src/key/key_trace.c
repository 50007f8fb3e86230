/* Keys of tracepoints: the whole text of a sample, and its fields by name.
 *
 * A field may be named alone, with its event ("sched_switch.prev_comm", also with "sched:" before
 * it), or as all fields of an event ("sched_switch.*") or of all events ("trace_fields"), as in
 * perf.  Its text is what the event's format makes of it ("prev_state=R": "R"), else its value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/data.h>
#include <tally/info.h>
#include "key/key_tables.h"
#include "session/numbers.h"
#include "trace/trace_text.h"

static const struct tally_attr *attr_of(const struct key_row *row)
{
	return &tally_data_event(tally_session_data(row->session), row->batch->event[row->at])
		    ->attr;
}

static uint64_t put(const struct profile_keys *keys, const char *text, size_t length)
{
	return tally_key_texts_put(keys->texts, text, length);
}

struct fields {
	struct tally_buf *text;
	const char *only; /* NULL: all */
	bool found;
};

static void put_value(struct tally_buf *to, const struct tally_trace_field *field)
{
	switch (field->kind) {
	case TALLY_TRACE_UNSIGNED:
		tally_buf_printf(to, "%llu", (unsigned long long)field->number);
		break;
	case TALLY_TRACE_SIGNED:
		tally_buf_printf(to, "%lld", (long long)field->number);
		break;
	case TALLY_TRACE_POINTER:
		tally_buf_printf(to, "0x%llx", (unsigned long long)field->number);
		break;
	case TALLY_TRACE_STRING:
		tally_buf_add(to, field->bytes, field->size);
		break;
	case TALLY_TRACE_BYTES:
		tally_buf_text(to, "ARRAY[");
		for (uint32_t i = 0; i < field->size; i++)
			tally_buf_printf(to, i ? ", %02x" : "%02x", field->bytes[i]);
		tally_buf_byte(to, ']');
		break;
	}
}

static int take_field(void *context, const struct tally_trace_field *field)
{
	struct fields *fields = context;

	if (fields->only && strcmp(field->name, fields->only) != 0)
		return 0;
	if (!fields->only && field->common)
		return 0;
	if (!fields->only)
		tally_buf_printf(fields->text, fields->text->size ? " %s=" : "%s=", field->name);
	put_value(fields->text, field);
	fields->found = true;
	return 0;
}

/* The format's words for a field: what follows its name and '=' in the text. */
static const char *word_of(const char *text, const char *field, size_t *ret_length)
{
	size_t length = strlen(field);

	for (const char *at = text; at && *at; at = *at ? at + 1 : at) {
		size_t word = strcspn(at, " ");

		if (word > length && !strncmp(at, field, length) && at[length] == '=') {
			*ret_length = word - length - 1;
			return at + length + 1;
		}
		at += word;
		if (!*at)
			break;
	}
	return NULL;
}

static uint64_t text_of(const struct profile_keys *keys, const struct key_row *row,
			const char *field)
{
	const struct tally_sample *sample = row->sample;
	uint64_t id = attr_of(row)->config, number = KEY_UNKNOWN;
	struct tally_buf text = {0};
	struct fields fields = {.text = &text, .only = field};
	const char *word = NULL;
	size_t length = 0;
	int result = 0;

	if (!keys->raw_trace) {
		result = tally_trace_text_add(keys->trace, &text, id, sample->raw, sample->raw_size,
					      NULL);
		if (!result && field)
			word = word_of(tally_buf_str(&text), field, &length);
	}
	if (word) {
		number = put(keys, word, length);
	} else if (!result && (keys->raw_trace || field)) {
		tally_buf_clear(&text);
		result = tally_trace_text_each_field(keys->trace, id, sample->raw, sample->raw_size,
						     take_field, &fields);
	}
	if (!word && (result || (field && !fields.found)))
		number = put(keys, "N/A", 3);
	else if (!word && !text.failed)
		number = put(keys, (const char *)text.data, text.size);
	tally_buf_done(&text);
	return number;
}

static bool has_payload(const struct profile_keys *keys, const struct key_row *row)
{
	return keys->trace && row->sample->present & PERF_SAMPLE_RAW &&
	       attr_of(row)->type == PERF_TYPE_TRACEPOINT;
}

static uint64_t trace_of(const struct profile_keys *keys, const struct key_row *row)
{
	return has_payload(keys, row) ? text_of(keys, row, NULL) : put(keys, "N/A", 3);
}

static int take_trace(struct profile_keys *keys, struct tally_session *session,
		      struct tally_error *error)
{
	const struct tally_data *data = tally_session_data(session);
	struct tally_block block = tally_data_feature(data, TALLY_FEATURE_TRACING_DATA);
	int result;

	(void)error;
	if (keys->trace || !block.bytes)
		return 0;
	result = tally_trace_text_new(block.bytes, block.size, &keys->trace, NULL);
	return result == -ENOMEM ? result : 0;
}

void tally_key_trace_done(struct profile_keys *keys)
{
	if (keys->trace)
		tally_trace_text_free(keys->trace);
}

/* --- fields by name --- */

static uint64_t field_of(const struct profile_keys *keys, const struct key_row *row)
{
	return has_payload(keys, row) && profile_key_is_of(row->key, row->batch->event[row->at])
		   ? text_of(keys, row, row->key->field)
		   : put(keys, "N/A", 3);
}

/* Adds one field as a key; one that was named before is the same key. */
static int make_key(struct profile_keys *keys, const char *field, size_t event,
		    const struct profile_key **ret)
{
	uint64_t bit = event < 64 ? 1ULL << event : 0;
	struct profile_key *key;

	for (size_t i = 0; i < keys->made_count; i++)
		if (!strcmp(keys->made[i]->field, field)) {
			keys->made[i]->events |= bit;
			*ret = keys->made[i];
			return 0;
		}
	if (keys->made_count == PROFILE_KEYS_MOST)
		return -E2BIG;
	key = calloc(1, sizeof(*key));
	if (!key)
		return -ENOMEM;
	*key = (struct profile_key){
	    .name = strdup(field),
	    .help = "field of a tracepoint",
	    .type = KEY_TEXT,
	    .columns = TALLY_COLUMN_SAMPLE,
	    .value = field_of,
	    .field = strdup(field),
	    .events = bit,
	};
	key->title = key->name;
	if (!key->name || !key->field) {
		free((char *)key->name);
		free((char *)key->field);
		free(key);
		return -ENOMEM;
	}
	keys->made[keys->made_count++] = key;
	*ret = key;
	return 0;
}

struct field_search {
	struct profile_keys *keys;
	int (*add)(struct profile_keys *keys, const struct profile_key *key);
	const char *field; /* NULL: all */
	size_t event;
	bool found;
};

static int look_at_field(void *context, const struct tally_trace_field *field)
{
	struct field_search *search = context;
	const struct profile_key *key;
	int result;

	if (search->field ? strcmp(search->field, field->name) != 0 : field->common)
		return 0;
	result = make_key(search->keys, field->name, search->event, &key);
	if (!result)
		result = search->add(search->keys, key);
	search->found = true;
	return result;
}

/* "sched_switch", with its system or without: the event of a name "sched:sched_switch". */
static bool is_event(const char *whole, const char *name, size_t length)
{
	const char *colon = strchr(whole, ':');

	return (strlen(whole) == length && !strncmp(whole, name, length)) ||
	       (colon && strlen(colon + 1) == length && !strncmp(colon + 1, name, length));
}

int tally_key_fields_find(struct profile_keys *keys, struct tally_session *session,
			  const char *name,
			  int (*add)(struct profile_keys *keys, const struct profile_key *key))
{
	const struct tally_data *data = tally_session_data(session);
	const char *dot = strchr(name, '.'), *field = dot ? dot + 1 : name;
	struct field_search search = {.keys = keys, .add = add, .field = field};
	int result = take_trace(keys, session, NULL);

	if ((dot && !strcmp(field, "*")) || !strcmp(name, "trace_fields"))
		search.field = NULL;
	for (size_t i = 0; keys->trace && i < tally_data_event_count(data) && !result; i++) {
		const struct tally_attr *attr = &tally_data_event(data, i)->attr;
		const char *event = attr->type == PERF_TYPE_TRACEPOINT
					? tally_trace_text_name(keys->trace, attr->config)
					: NULL;

		if (!event || (dot && !is_event(event, name, (size_t)(dot - name))))
			continue;
		search.event = i;
		result = tally_trace_text_each_field(keys->trace, attr->config, (const uint8_t *)"",
						     0, look_at_field, &search);
		if (result == -ENOENT)
			result = 0;
	}
	return result ? result : search.found ? 0 : -ENOENT;
}

static const struct profile_key rows[] = {
    {.name = "trace",
     .title = "Trace output",
     .help = "text of a tracepoint's sample; its fields are keys too, by their names",
     .type = KEY_TEXT,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = trace_of,
     .prepare = take_trace},
};
const struct key_table tally_keys_trace = KEY_TABLE(rows);
