#include "jit/perf_map.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/hex.h"

/* A number in hex with or without 0x, and one space behind it. */
static char *parse_hex(char *at, char *end, uint64_t *ret)
{
	uint64_t value;
	char *first;

	if (end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x')
		at += 2;
	first = at;
	at += hex_digits(first, end, &value) - first;
	if (at == first || at == end || *at != ' ')
		return NULL;
	*ret = value;
	return at + 1;
}

static int parse_line(char *text, char *at, char *end, struct tally_symbol_list *list)
{
	uint64_t start, size;

	at = parse_hex(at, end, &start);
	if (at)
		at = parse_hex(at, end, &size);
	if (!at || at == end || start + size < start)
		return 0;
	*end = 0;
	return tally_symbol_list_add(list, start, start + size, (uint32_t)(at - text),
				     ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
}

int tally_perf_map_parse(char *text, size_t size, struct tally_symbol_table *table)
{
	struct tally_symbol_list list = {0};
	char *at = text, *end = text + size;
	uint32_t base;
	int error = size < UINT32_MAX ? 0 : -EOVERFLOW;

	while (at < end && !error) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		error = parse_line(text, at, stop, &list);
		at = stop + 1;
	}
	if (!error)
		error = tally_symbol_list_take_text(&list, text, size + 1, &base);
	if (error)
		free(text);
	else
		error = tally_symbol_list_sort(&list);
	if (!error)
		error = tally_symbol_table_take(table, &list);
	tally_symbol_list_done(&list);
	return error;
}
