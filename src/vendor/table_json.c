/* Reads the JSON of event tables. */
#include "vendor/table_json.h"

#include <errno.h>
#include <string.h>
#include "base/arena.h"
#include "base/fail.h"

#define DEEPEST 32

struct reader {
	const char *begin, *at, *end;
	struct tally_arena *arena; /* for the object's decoded strings; NULL: they are skipped */
	table_json_call call;
	void *to;
	struct tally_error *error;
};

static int fail_expected(const struct reader *reader, const char *expected)
{
	return tally_fail(reader->error, -EINVAL, reader->at - reader->begin,
			  "%s expected at offset %td", expected, reader->at - reader->begin);
}

/* The next byte that is not white space; NUL at the end, which JSON never contains. */
static char peek(struct reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n' ||
					    *reader->at == '\r' || *reader->at == '\t'))
		reader->at++;
	return reader->at < reader->end ? *reader->at : '\0';
}

static bool take(struct reader *reader, char byte)
{
	if (peek(reader) != byte || reader->at == reader->end)
		return false;
	reader->at++;
	return true;
}

static int hex4(const char *at, const char *end, unsigned *ret)
{
	unsigned value = 0;

	if (end - at < 4)
		return -EINVAL;
	for (int i = 0; i < 4; i++) {
		char byte = at[i];
		unsigned digit;

		if (byte >= '0' && byte <= '9')
			digit = (unsigned)(byte - '0');
		else if ((byte | 32) >= 'a' && (byte | 32) <= 'f')
			digit = (unsigned)((byte | 32) - 'a') + 10;
		else
			return -EINVAL;
		value = value << 4 | digit;
	}
	*ret = value;
	return 0;
}

static size_t utf8(char *to, unsigned point)
{
	if (point < 0x80) {
		to[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		to[0] = (char)(0xc0 | point >> 6);
		to[1] = (char)(0x80 | (point & 63));
		return 2;
	}
	if (point < 0x10000) {
		to[0] = (char)(0xe0 | point >> 12);
		to[1] = (char)(0x80 | (point >> 6 & 63));
		to[2] = (char)(0x80 | (point & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | point >> 18);
	to[1] = (char)(0x80 | (point >> 12 & 63));
	to[2] = (char)(0x80 | (point >> 6 & 63));
	to[3] = (char)(0x80 | (point & 63));
	return 4;
}

/* \uXXXX from behind its u, with the other half of a pair. Moves *at; 0: not a character. */
static unsigned escaped_point(const char **at, const char *end)
{
	unsigned high, low;

	if (hex4(*at, end, &high) || (high & 0xfc00) == 0xdc00)
		return 0;
	*at += 4;
	if ((high & 0xfc00) != 0xd800)
		return high;
	if (end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u' || hex4(*at + 2, end, &low) ||
	    (low & 0xfc00) != 0xdc00)
		return 0;
	*at += 6;
	return 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
}

/* Decodes the text between two quotes into `to`, which is large enough: an escape never grows. */
static int unescape(const char *at, const char *end, char *to, size_t *ret_length)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	char *begin = to;

	while (at < end) {
		const char *which;
		unsigned point;

		if (*at != '\\') {
			*to++ = *at++;
			continue;
		}
		at++; /* a byte follows, as the search for the quote made sure */
		if (*at == 'u') {
			at++;
			point = escaped_point(&at, end);
			if (!point) /* U+0000, too: it would end the text */
				return -EINVAL;
			to += utf8(to, point);
			continue;
		}
		which = *at ? strchr(from, *at) : NULL;
		if (!which)
			return -EINVAL;
		*to++ = into[which - from];
		at++;
	}
	*ret_length = (size_t)(to - begin);
	return 0;
}

/* At an opening quote. */
static int read_string(struct reader *reader, const char **ret, size_t *ret_length)
{
	const char *begin = ++reader->at;
	bool escapes = false;
	char *copy;

	for (;; reader->at++) {
		if (reader->at == reader->end || !*reader->at)
			return fail_expected(reader, "the end of a string");
		if (*reader->at == '"')
			break;
		if (*reader->at != '\\')
			continue;
		escapes = true;
		if (++reader->at == reader->end)
			return fail_expected(reader, "the end of a string");
	}
	*ret = begin;
	*ret_length = (size_t)(reader->at - begin);
	if (escapes && reader->arena) {
		copy = tally_arena_alloc(reader->arena, *ret_length + 1);
		if (!copy)
			return -ENOMEM;
		if (unescape(begin, reader->at, copy, ret_length))
			return fail_expected(reader,
					     "a string without wrong escapes before what is");
		*ret = copy;
	}
	reader->at++;
	return 0;
}

/* A number, true, false or null, as written. */
static int read_bare(struct reader *reader, const char **ret, size_t *ret_length)
{
	const char *begin = reader->at;

	while (reader->at < reader->end &&
	       ((*reader->at >= '0' && *reader->at <= '9') ||
		(*reader->at >= 'a' && *reader->at <= 'z') || *reader->at == 'E' ||
		*reader->at == '+' || *reader->at == '-' || *reader->at == '.'))
		reader->at++;
	if (reader->at == begin)
		return fail_expected(reader, "a value");
	*ret = begin;
	*ret_length = (size_t)(reader->at - begin);
	return 0;
}

static int skip_scalar(struct reader *reader)
{
	struct tally_arena *arena = reader->arena;
	const char *text;
	size_t length;
	int result;

	reader->arena = NULL;
	result = peek(reader) == '"' ? read_string(reader, &text, &length)
				     : read_bare(reader, &text, &length);
	reader->arena = arena;
	return result;
}

/* Skips a value with all in it, without recursion: `open` holds the brackets. */
static int skip_value(struct reader *reader)
{
	char open[DEEPEST];
	size_t depth = 0;
	int result;

	do {
		char next = peek(reader);

		if (next == '[' || next == '{') {
			if (depth == DEEPEST)
				return tally_fail(reader->error, -E2BIG, reader->at - reader->begin,
						  "over %d levels of brackets", DEEPEST);
			open[depth++] = next == '[' ? ']' : '}';
			reader->at++;
		} else if (depth && next == open[depth - 1]) {
			depth--;
			reader->at++;
		} else if (depth && (next == ',' || next == ':')) {
			reader->at++; /* commas are not checked in skipped values */
		} else {
			result = skip_scalar(reader);
			if (result)
				return result;
		}
	} while (depth);
	return 0;
}

/* A key and its colon. */
static int read_key(struct reader *reader, struct table_field *ret)
{
	int result;

	if (peek(reader) != '"')
		return fail_expected(reader, "a name in quotes");
	result = read_string(reader, &ret->name, &ret->name_length);
	if (result)
		return result;
	return take(reader, ':') ? 0 : fail_expected(reader, "':'");
}

/* 1: a field, 0: nothing to keep, or -errno. */
static int read_field(struct reader *reader, struct table_field *ret)
{
	int result = read_key(reader, ret);
	char next;

	if (result)
		return result;
	next = peek(reader);
	if (next == '[' || next == '{')
		return skip_value(reader);
	if (next == '"')
		result = read_string(reader, &ret->value, &ret->value_length);
	else
		result = read_bare(reader, &ret->value, &ret->value_length);
	if (result)
		return result;
	if (next != '"' && ret->value_length == 4 && !memcmp(ret->value, "null", 4))
		return 0;
	return ret->value_length > 0;
}

/* Behind the opening brace. */
static int read_object(struct reader *reader)
{
	struct table_field fields[TABLE_JSON_FIELDS];
	size_t count = 0;
	int result;

	if (take(reader, '}'))
		return reader->call(reader->to, NULL, 0);
	do {
		if (count == TABLE_JSON_FIELDS)
			return tally_fail(reader->error, -E2BIG, reader->at - reader->begin,
					  "over %d fields in one object", TABLE_JSON_FIELDS);
		result = read_field(reader, &fields[count]);
		if (result < 0)
			return result;
		count += (size_t)result;
	} while (take(reader, ','));
	if (!take(reader, '}'))
		return fail_expected(reader, "',' or '}'");
	return reader->call(reader->to, fields, count);
}

/* Behind the opening bracket. */
static int read_list(struct reader *reader)
{
	if (take(reader, ']'))
		return 0;
	do {
		struct tally_arena arena = {0};
		int result;

		if (!take(reader, '{'))
			return fail_expected(reader, "an object");
		reader->arena = &arena;
		result = read_object(reader);
		reader->arena = NULL;
		tally_arena_done(&arena);
		if (result)
			return result;
	} while (take(reader, ','));
	return take(reader, ']') ? 0 : fail_expected(reader, "',' or ']'");
}

/* Behind the opening brace of a file in Intel's layout. */
static int read_native(struct reader *reader)
{
	if (take(reader, '}'))
		return 0;
	do {
		struct table_field key = {0};
		int result = read_key(reader, &key);

		if (result)
			return result;
		if (key.name_length == 6 && !memcmp(key.name, "Events", 6) && take(reader, '['))
			result = read_list(reader);
		else
			result = skip_value(reader);
		if (result)
			return result;
	} while (take(reader, ','));
	return take(reader, '}') ? 0 : fail_expected(reader, "',' or '}'");
}

int tally_table_json_read(const char *text, size_t size, table_json_call call, void *to,
			  bool *ret_native, struct tally_error *error)
{
	struct reader reader = {
	    .begin = text, .at = text, .end = text + size, .call = call, .to = to, .error = error};
	int result;

	if (size >= 3 &&
	    !memcmp(text, "\xef\xbb\xbf", 3)) /* some of Intel's files have a byte order mark */
		reader.at += 3;
	*ret_native = peek(&reader) == '{';
	if (take(&reader, '['))
		result = read_list(&reader);
	else if (take(&reader, '{'))
		result = read_native(&reader);
	else
		return fail_expected(&reader, "a list of events");
	if (result)
		return result;
	peek(&reader);
	return reader.at == reader.end ? 0 : fail_expected(&reader, "the end of the file");
}
