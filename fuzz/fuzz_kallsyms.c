/* The text tables of symbols: kallsyms, and with a first byte of 'm' perf maps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "kallsyms/kallsyms.h"
#include "jit/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct tally_symbol_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct tally_symbol symbol = tally_symbol_table_get(table, i);
		int64_t found = tally_symbol_table_find(table, symbol.start);

		if (found < 0 || symbol.end < symbol.start || strlen(symbol.name) > (size_t)1 << 24)
			abort();
	}
}

static void kallsyms(char *text, size_t size)
{
	struct tally_kallsyms table = {0};

	if (tally_kallsyms_parse(text, size, &table))
		return;
	for (size_t i = 0; i < table.group_count; i++)
		ask(&table.tables[i]);
	tally_kallsyms_find(&table, "mod_a");
	tally_kallsyms_anchor(&table, "_stext");
	tally_kallsyms_shift(&table, 0x1000);
	tally_kallsyms_done(&table);
}

static void perf_map(char *text, size_t size)
{
	struct tally_symbol_table table = {0};

	if (!tally_perf_map_parse(text, size, &table))
		ask(&table);
	tally_symbol_table_done(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	if (size && data[0] == 'm')
		perf_map(text, size);
	else
		kallsyms(text, size);
	return 0;
}
