#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/bits.h"

#define CPU_LIMIT    65536u
#define NEAREST_MOST 63

size_t tally_text_utf8(const uint8_t *at, size_t left)
{
	static const struct {
		uint8_t mask, lead;
	} forms[] = {{0xe0, 0xc0}, {0xf0, 0xe0}, {0xf8, 0xf0}};

	if (at[0] < 0x80)
		return 1;
	for (size_t i = 0; i < 3; i++) {
		size_t length = i + 2;

		if ((at[0] & forms[i].mask) != forms[i].lead || left < length)
			continue;
		for (size_t k = 1; k < length; k++)
			if ((at[k] & 0xc0) != 0x80)
				return 0;
		if (at[0] < 0xc2 || at[0] > 0xf4 || (at[0] == 0xe0 && at[1] < 0xa0) ||
		    (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
		    (at[0] == 0xf4 && at[1] > 0x8f) || (at[0] == 0xc2 && at[1] < 0xa0))
			return 0; /* too long, surrogates, over U+10FFFF, or a C1 control */
		return length;
	}
	return 0;
}

void tally_text_add_escaped(struct tally_buf *to, const char *text, size_t length)
{
	static const char hex[] = "0123456789abcdef";
	const uint8_t *at = (const uint8_t *)text, *end = at + length;

	while (at < end) {
		const uint8_t *run = at;

		while (at < end && *at >= 0x20 && *at < 0x7f)
			at++;
		tally_buf_add(to, run, (size_t)(at - run));
		if (at < end && *at >= 0x80) {
			size_t bytes = tally_text_utf8(at, (size_t)(end - at));

			tally_buf_add(to, at, bytes);
			at += bytes;
			if (bytes)
				continue;
		}
		if (at < end && (*at < 0x20 || *at >= 0x7f)) {
			char escaped[4] = {'\\', 'x', hex[*at >> 4], hex[*at & 15]};

			tally_buf_add(to, escaped, 4);
			at++;
		}
	}
}

size_t tally_text_escape(const char *text, char *to, size_t room)
{
	struct tally_buf buf = {0};
	size_t length;

	tally_text_add_escaped(&buf, text, strlen(text));
	length = buf.failed ? 0 : buf.size;
	if (room) {
		size_t fits = length < room ? length : room - 1;

		if (fits)
			memcpy(to, buf.data, fits);
		to[fits] = 0;
	}
	tally_buf_done(&buf);
	return length;
}

int tally_text_u64(const char *text, uint64_t *ret)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base);
	if (errno)
		return -errno;
	if (*end)
		return -EINVAL;
	*ret = value;
	return 0;
}

/* Adds one "3" or "0-3" of a list to the bit set; NULL if it is neither. */
static const char *take_range(const char *text, uint64_t *set)
{
	unsigned long first, last;
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	first = last = strtoul(text, &end, 10);
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return NULL;
		last = strtoul(end + 1, &end, 10);
	}
	if (last >= CPU_LIMIT || first > last)
		return NULL;
	for (; first <= last; first++)
		bits_add(set, first);
	return end;
}

int tally_text_cpu_list(const char *text, uint32_t **ret, size_t *ret_count)
{
	uint64_t set[CPU_LIMIT / 64] = {0};
	uint32_t *cpus = NULL;
	size_t count = 0, all = 0;
	bool first = true;

	while (*text && !isspace((unsigned char)*text)) {
		if (!first && *text++ != ',')
			return -EINVAL;
		first = false;
		text = take_range(text, set);
		if (!text)
			return -EINVAL;
	}
	if (text[strspn(text, " \t\n")])
		return -EINVAL;
	for (size_t i = 0; i < CPU_LIMIT / 64; i++)
		all += (size_t)__builtin_popcountll(set[i]);
	if (all) {
		cpus = reallocarray(NULL, all, sizeof(*cpus));
		if (!cpus)
			return -ENOMEM;
	}
	for (uint32_t cpu = 0; count < all; cpu++)
		if (bits_has(set, cpu))
			cpus[count++] = cpu;
	*ret = cpus;
	*ret_count = count;
	return 0;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The number of letters to add, remove or replace, and of neighbours to swap, that make one text of
 * the other. */
static size_t edits(const char *a, const char *b)
{
	size_t rows[3][NEAREST_MOST + 1], length = strlen(b);
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= length; j++)
		above[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t *oldest = before;

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			row[j + 1] = least_of(above[j] + !same_letter(a[i], b[j]),
					      least_of(row[j], above[j + 1]) + 1);
			if (i && j && same_letter(a[i], b[j - 1]) && same_letter(a[i - 1], b[j]))
				row[j + 1] = least_of(row[j + 1], before[j - 1] + 1);
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[length];
}

const char *tally_text_nearest(const char *name, const char *const *names, size_t count)
{
	/* At most a third of the letters may differ: with more, any word would do. */
	size_t length = strlen(name), least = (length > 5 ? length / 3 : 1) + 1;
	const char *nearest = NULL;

	if (length < 2 || length > NEAREST_MOST)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t distance;

		if (strnlen(names[i], NEAREST_MOST + 1) > NEAREST_MOST)
			continue;
		distance = edits(name, names[i]);
		if (distance < least) {
			least = distance;
			nearest = names[i];
		}
	}
	return nearest;
}

int tally_buf_put(struct tally_buf *text, FILE *out)
{
	int code = text->failed;

	errno = 0;
	if (!code && text->size && fwrite(text->data, 1, text->size, out) != text->size)
		code = errno ? -errno : -EIO;
	tally_buf_done(text);
	return code;
}

int tally_buf_put_escaped(struct tally_buf *text, FILE *out)
{
	const char *at = text->size ? (const char *)text->data : "", *end = at + text->size;
	struct tally_buf escaped = {.failed = text->failed};

	while (at < end) {
		const char *run = at;

		while (at < end && *at != '\n' && *at != '\t')
			at++;
		tally_text_add_escaped(&escaped, run, (size_t)(at - run));
		if (at < end)
			tally_buf_byte(&escaped, (uint8_t)*at++);
	}
	tally_buf_done(text);
	return tally_buf_put(&escaped, out);
}
