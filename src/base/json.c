#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "base/text.h"

#define ONES  0x0101010101010101u
#define HIGHS 0x8080808080808080u

/* Whether one of eight bytes is below 0x20, over 0x7e, a quote or a backslash.  A borrow between
 * bytes can only make a wrong "yes" after a right one. */
static inline bool has_special(uint64_t word)
{
	uint64_t quote = word ^ (ONES * '"'), back = word ^ (ONES * '\\');
	uint64_t found = word | ((word & ~HIGHS) + ONES); /* 0x7f and over */

	found |= (word - ONES * 0x20) | (quote - ONES) | (back - ONES);
	return found & HIGHS;
}

static inline bool is_plain(uint8_t byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

static const uint8_t *skip_plain(const uint8_t *at, const uint8_t *end)
{
	while (end - at >= 8 && !has_special(load_u64(at)))
		at += 8;
	while (at < end && is_plain(*at))
		at++;
	return at;
}

static void add_escape(struct tally_buf *to, uint8_t code)
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[] = "btn\0fr"; /* of 8 to 13 */
	char escape[6] = {'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]};

	if (code == '"' || code == '\\')
		escape[1] = (char)code;
	else if (code >= 8 && code <= 13 && code != 11)
		escape[1] = letters[code - 8];
	tally_buf_add(to, escape, escape[1] == 'u' ? 6 : 2);
}

/* Adds the character at `at`, which needs an escape or is not ASCII; returns the address of the
 * next one. */
static const uint8_t *add_special(struct tally_buf *to, const uint8_t *at, const uint8_t *end)
{
	size_t length;

	if (*at < 0x80) {
		add_escape(to, *at);
		return at + 1;
	}
	/* C1 controls are valid, and some terminals act on them. */
	if (*at == 0xc2 && end - at > 1 && at[1] >= 0x80 && at[1] < 0xa0) {
		add_escape(to, at[1]);
		return at + 2;
	}
	length = tally_text_utf8(at, (size_t)(end - at));
	if (!length) {
		tally_buf_add(to, "\\ufffd", 6);
		return at + 1;
	}
	tally_buf_add(to, at, length);
	return at + length;
}

void tally_json_string(struct json *json, const char *text, size_t length)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + length;
	char *to = json_place(json, length + 2);

	if (!to)
		return;
	*to++ = '"';
	buf_put_end(json->to, to);
	while (at < end) {
		const uint8_t *run = at;

		at = skip_plain(at, end);
		tally_buf_add(json->to, run, (size_t)(at - run));
		if (at < end)
			at = add_special(json->to, at, end);
	}
	tally_buf_byte(json->to, '"');
}

void tally_json_double(struct json *json, double value)
{
	char text[32];
	int length = 0;

	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		length = snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	json_raw(json, text, (size_t)length);
}
