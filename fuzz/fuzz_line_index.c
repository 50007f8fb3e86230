/* The file that keeps an index of lines between runs: whatever it holds, look-ups end and stay
 * within it.  Its hashes are made to fit, so that what is behind them is reached. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "dwarf/line_index.h"
#include "dwarf/line_index_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of struct head in line_index_file.c. */
#define HASH_AT   16
#define SIZE_AT   24
#define TABLES_AT 32
#define NEST_MOST 100000

static volatile size_t sink;

static void look_up(struct line_index *index, uint64_t address)
{
	struct line_found found;
	const struct unit_lines_function *at;
	unsigned depth = 0;

	if (tally_line_index_find(index, address, &found) || !found.lines)
		return;
	if (found.at.file)
		sink += strlen(found.at.file) + found.at.line;
	for (at = found.at.function; at; at = unit_lines_caller(found.lines, at)) {
		const char *name = unit_lines_name(found.lines, at);
		const char *file = unit_lines_call_file(found.lines, at);

		sink += (name ? strlen(name) : 0) + (file ? strlen(file) : 0) + at->call_line;
		if (++depth > NEST_MOST)
			abort();
	}
}

static void look_up_names(struct line_names *names)
{
	struct tally_buf list = {0}, text = {0};
	const char *shown = tally_line_names_find(names, "_Z4workv");

	sink += shown ? strlen(shown) : 0;
	if (!tally_line_names_join(names, &list, &text))
		sink += list.size + text.size;
	tally_buf_done(&list);
	tally_buf_done(&text);
}

static void read_index(const uint8_t *bytes, size_t size)
{
	struct line_index index = {.lock = PTHREAD_MUTEX_INITIALIZER,
				   .ready = PTHREAD_COND_INITIALIZER};

	if (tally_line_index_take(&index, bytes, size))
		return;
	for (size_t i = 0; i < index.unit_count; i++)
		if (index.units[i].block)
			index.units[i].hash =
			    tally_hash_block(index.units[i].block, index.units[i].size);
	for (size_t i = 0; i < index.spans.count && i < 64; i++) {
		look_up(&index, index.spans.list[i].low);
		look_up(&index, index.spans.list[i].high - 1);
	}
	for (uint64_t i = 0; i < 256; i++)
		look_up(&index, index.base + i * 16);
	look_up_names(&index.names);
	look_up(&index, 0);
	look_up(&index, UINT64_MAX);
	tally_line_index_close(&index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t tables;
	uint8_t *bytes;

	if (size < TABLES_AT + sizeof(tables))
		return 0;
	bytes = malloc(size); /* aligned, and no byte longer */
	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	store_u64(bytes + SIZE_AT, size);
	tables = load_u64(bytes + TABLES_AT);
	if (tables >= SIZE_AT && tables <= size)
		store_u64(bytes + HASH_AT, tally_hash_block(bytes + SIZE_AT, tables - SIZE_AT));
	read_index(bytes, size);
	free(bytes);
	return 0;
}
