/* JSON text, appended to a buffer.
 *
 *	struct json json = {.to = &buf};
 *
 *	json_object(&json);
 *	json_key(&json, "version");
 *	json_u64(&json, 1);
 *	json_object_end(&json);
 *
 * gives {"version":1}.  Commas are added automatically; the caller must match begins and ends.
 * Only the buffer allocates memory: check its `failed` once at the end.  The text is ASCII, except
 * for characters of the strings, and contains nothing that a terminal acts on.  Source: RFC
 * 8259. */
#ifndef TALLY_BASE_JSON_H
#define TALLY_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/buf.h"
#include "base/digits.h"

struct json {
	struct tally_buf *to;
	bool comma; /* the next value needs a comma before it */
};

/* Adds `length` bytes as a string with its quotes.  Each byte that is not valid UTF-8 becomes
 * U+FFFD; control characters, DEL and C1 controls are written as \u00XX. */
void tally_json_string(struct json *json, const char *text, size_t length);

/* The shortest text that reads back as the same number; null if the number is not finite. */
void tally_json_double(struct json *json, double value);

/* --- the other functions are small enough to be inline --- */

/* Writes the comma before a value if it needs one, and makes room for a value of up to `most`
 * bytes; NULL: out of memory. */
static inline char *json_place(struct json *json, size_t most)
{
	char *to = buf_put_begin(json->to, most + 1);

	if (to && json->comma)
		*to++ = ',';
	json->comma = true;
	return to;
}

/* A value that is JSON already. */
static inline void json_raw(struct json *json, const char *text, size_t length)
{
	char *to = json_place(json, length);

	if (to) {
		memcpy(to, text, length);
		buf_put_end(json->to, to + length);
	}
}

static inline void json_bracket(struct json *json, char bracket)
{
	json_raw(json, &bracket, 1);
	json->comma = false;
}

static inline void json_bracket_end(struct json *json, char bracket)
{
	json->comma = false;
	json_raw(json, &bracket, 1);
}

static inline void json_object(struct json *json)
{
	json_bracket(json, '{');
}

static inline void json_object_end(struct json *json)
{
	json_bracket_end(json, '}');
}

static inline void json_array(struct json *json)
{
	json_bracket(json, '[');
}

static inline void json_array_end(struct json *json)
{
	json_bracket_end(json, ']');
}

/* For our own names, which need no escapes. For keys from a file use json_key_text(). */
static inline void json_key(struct json *json, const char *key)
{
	size_t length = strlen(key);
	char *to = json_place(json, length + 3);

	if (to) {
		*to++ = '"';
		to = mempcpy(to, key, length);
		*to++ = '"';
		*to++ = ':';
		buf_put_end(json->to, to);
	}
	json->comma = false;
}

static inline void json_string(struct json *json, const char *text, size_t length)
{
	tally_json_string(json, text, length);
}

static inline void json_double(struct json *json, double value)
{
	tally_json_double(json, value);
}

static inline void json_text(struct json *json, const char *text)
{
	json_string(json, text, strlen(text));
}

static inline void json_key_text(struct json *json, const char *key)
{
	json_text(json, key);
	tally_buf_byte(json->to, ':');
	json->comma = false;
}

static inline void json_u64(struct json *json, uint64_t value)
{
	char *to = json_place(json, DIGITS_MOST);

	if (to)
		buf_put_end(json->to, put_dec(to, value));
}

static inline void json_i64(struct json *json, int64_t value)
{
	char *to = json_place(json, DIGITS_MOST + 1);

	if (!to)
		return;
	if (value < 0)
		*to++ = '-';
	buf_put_end(json->to, put_dec(to, value < 0 ? 0 - (uint64_t)value : (uint64_t)value));
}

/* An address, as the string "0x7f00": readers that keep numbers as doubles would round it. */
static inline void json_hex(struct json *json, uint64_t value)
{
	char *to = json_place(json, DIGITS_MOST);

	if (!to)
		return;
	*to++ = '"';
	*to++ = '0';
	*to++ = 'x';
	to = put_hex(to, value);
	*to++ = '"';
	buf_put_end(json->to, to);
}

static inline void json_bool(struct json *json, bool value)
{
	json_raw(json, value ? "true" : "false", value ? 4 : 5);
}

static inline void json_null(struct json *json)
{
	json_raw(json, "null", 4);
}

/* A key and its value in one. */
static inline void json_key_u64(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

static inline void json_key_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

static inline void json_key_string(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	if (text)
		json_text(json, text);
	else
		json_null(json);
}

#endif
