#include "base/cell.h"

#include <stdio.h>
#include <string.h>
#include "base/text.h"

static bool begins_character(char byte)
{
	return ((uint8_t)byte & 0xc0) != 0x80;
}

size_t tally_cell_columns(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += begins_character(text[i]);
	return columns;
}

size_t tally_cell_cut(const char *text, size_t length, size_t columns)
{
	for (size_t i = 0; i < length; i++)
		if (begins_character(text[i]) && !columns--)
			return i;
	return length;
}

void tally_cell_spaces(struct tally_buf *to, size_t count)
{
	if (!count || tally_buf_reserve(to, count))
		return;
	memset(to->data + to->size, ' ', count);
	to->size += count;
}

void tally_cell_padded(struct tally_buf *to, uint64_t value, unsigned digits)
{
	char text[24], *at = text + sizeof(text);
	char *least = at - (digits < sizeof(text) ? digits : sizeof(text));

	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (at > least)
		*--at = '0';
	tally_buf_add(to, at, (size_t)(text + sizeof(text) - at));
}

void tally_cell_u64(struct tally_buf *to, uint64_t value)
{
	tally_cell_padded(to, value, 1);
}

void tally_cell_noun(struct tally_buf *to, uint64_t count, const char *noun)
{
	tally_buf_byte(to, ' ');
	tally_buf_text(to, noun);
	if (count != 1)
		tally_buf_byte(to, 's');
}

void tally_cell_hex(struct tally_buf *to, uint64_t value, unsigned digits)
{
	static const char hex[] = "0123456789abcdef";
	char text[16], *at = text + sizeof(text);
	char *least = at - (digits < sizeof(text) ? digits : sizeof(text));

	do {
		*--at = hex[value & 15];
		value >>= 4;
	} while (value);
	while (at > least)
		*--at = '0';
	tally_buf_add(to, at, (size_t)(text + sizeof(text) - at));
}

uint64_t tally_cell_share(uint64_t part, uint64_t whole)
{
	__uint128_t scaled = (__uint128_t)part * 10000;
	uint64_t down, rest;
	char text[64];
	int length;

	if (!whole)
		return 0;
	/* The kernel's periods sum to less than 2^64, but a file may say anything. */
	down = (uint64_t)(scaled / whole);
	rest = (uint64_t)(scaled % whole);
	if (rest != whole - rest)
		return down + (rest > whole - rest);
	/* Exactly in the middle: round as perf's printf of a double does. */
	length = snprintf(text, sizeof(text), "%.2f", 100.0 * (double)part / (double)whole);
	return down + (text[length - 1] != (char)('0' + down % 10));
}

void tally_cell_percent(struct tally_buf *to, uint64_t hundredths)
{
	tally_cell_u64(to, hundredths / 100);
	tally_buf_byte(to, '.');
	tally_cell_padded(to, hundredths % 100, 2);
	tally_buf_byte(to, '%');
}

void tally_cell_count(struct tally_buf *to, uint64_t value)
{
	static const char units[] = "KMG";
	char unit = 0;

	for (size_t i = 0; i < 3 && value > 1000; i++) {
		value /= 1000;
		unit = units[i];
	}
	tally_cell_u64(to, value);
	if (unit)
		tally_buf_byte(to, (uint8_t)unit);
}

void tally_cell_name(struct tally_buf *to, const char *name)
{
	if (name)
		tally_text_add_escaped(to, name, strlen(name));
}

bool tally_cell_tint(struct tally_buf *to, uint64_t hundredths, bool colour)
{
	if (!colour || hundredths < 50)
		return false;
	tally_buf_text(to, hundredths >= 500 ? "\x1b[31m" : "\x1b[32m");
	return true;
}

void tally_cell_plain(struct tally_buf *to, bool tinted)
{
	if (tinted)
		tally_buf_text(to, "\x1b[m");
}
