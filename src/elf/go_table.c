#include "elf/go_table.h"

#include <errno.h>
#include <string.h>
#include "base/bytes.h"

#define MAGIC_1_2  0xfffffffbU
#define MAGIC_1_16 0xfffffffaU
#define MAGIC_1_18 0xfffffff0U
#define MAGIC_1_20 0xfffffff1U
#define HEADER     8U /* bytes before the header's words */

static uint64_t number_at(const struct tally_go_table *table, size_t at, unsigned bytes)
{
	const uint8_t *from = table->bytes + at;
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * (table->big ? bytes - 1 - i : i);
	return value;
}

/* A word of the header; 0 beyond the end. */
static uint64_t word(const struct tally_go_table *table, unsigned index)
{
	size_t at = HEADER + (size_t)index * table->pointer;

	return at + table->pointer <= table->size ? number_at(table, at, table->pointer) : 0;
}

/* An offset in the header must be in the table. */
static bool take_offset(const struct tally_go_table *table, unsigned index, size_t *ret)
{
	uint64_t offset = word(table, index);

	*ret = (size_t)offset;
	return offset >= HEADER && offset < table->size;
}

int tally_go_table_open(const void *bytes, size_t size, bool big, struct tally_go_table *ret)
{
	struct tally_go_table table = {.bytes = bytes, .size = size, .big = big};
	const uint8_t *header = bytes;
	uint64_t magic;
	bool valid;

	if (size < HEADER + 8 || header[4] || header[5] ||
	    (header[6] != 1 && header[6] != 2 && header[6] != 4) ||
	    (header[7] != 4 && header[7] != 8))
		return -EINVAL;
	table.pointer = table.field = header[7];
	magic = number_at(&table, 0, 4);
	table.count = word(&table, 0);
	if (magic == MAGIC_1_2) {
		table.functions = HEADER + table.pointer;
		valid = true; /* names and entries count from the start of the table */
	} else if (magic == MAGIC_1_16) {
		valid = take_offset(&table, 2, &table.names) &&
			take_offset(&table, 6, &table.functions);
		table.data = table.functions;
	} else if (magic == MAGIC_1_18 || magic == MAGIC_1_20) {
		table.field = 4;
		table.text = word(&table, 2);
		valid = table.text && take_offset(&table, 3, &table.names) &&
			take_offset(&table, 7, &table.functions);
		table.data = table.functions;
	} else {
		return -EINVAL;
	}
	/* pairs of address and entry, and the address behind the last function */
	if (!valid || !table.count || table.functions > size ||
	    table.count > (size - table.functions) / table.field / 2 ||
	    (size - table.functions) / table.field < table.count * 2 + 1)
		return -EINVAL;
	*ret = table;
	return 0;
}

int tally_go_table_function(const struct tally_go_table *table, uint64_t index,
			    struct tally_go_function *ret)
{
	size_t at = table->functions + (size_t)index * 2 * table->field;
	uint64_t entry, name;
	size_t room;

	if (index >= table->count)
		return -EINVAL;
	ret->start = table->text + number_at(table, at, table->field);
	ret->end = table->text + number_at(table, at + 2 * table->field, table->field);
	entry = number_at(table, at + table->field, table->field);
	/* An entry begins with the address, and the name's offset, of 4 bytes. */
	room = table->size - table->data;
	if (entry > room || room - entry < table->field + 4)
		return -EINVAL;
	name = number_at(table, table->data + (size_t)entry + table->field, 4);
	room = table->size - table->names;
	if (ret->end < ret->start || name >= room)
		return -EINVAL;
	ret->name = (const char *)table->bytes + table->names + name;
	room -= (size_t)name;
	if (room > TALLY_NAME_MOST)
		room = TALLY_NAME_MOST;
	return *ret->name && memchr(ret->name, 0, room) ? 0 : -EINVAL;
}

bool tally_go_made(const struct tally_elf *elf)
{
	return tally_elf_find(elf, ".note.go.buildid", SHT_NULL) ||
	       tally_elf_find(elf, ".go.buildinfo", SHT_NULL) ||
	       tally_elf_find(elf, ".gopclntab", SHT_NULL);
}

/* With an external linker (a PIE of Debian's) the table is somewhere in .data.rel.ro. */
static int find_table(const struct tally_elf *elf, struct tally_go_table *ret)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro"};
	bool big = elf->header.e_ident[EI_DATA] == ELFDATA2MSB;

	if (!tally_go_made(elf))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct tally_elf_section *section =
		    tally_elf_find(elf, names[i], SHT_PROGBITS);
		Elf_Data *data = section ? tally_elf_data(elf, section) : NULL;

		for (size_t at = 0; data && data->d_buf && at < data->d_size; at += 8)
			if (!tally_go_table_open((const uint8_t *)data->d_buf + at,
						 data->d_size - at, big, ret))
				return 0;
	}
	return -ENOENT;
}

static int add_function(const struct tally_elf *elf, const struct tally_go_function *function,
			struct tally_symbol_list *list)
{
	size_t name = symbol_list_text_end(list);
	uint64_t start;

	if (tally_elf_offset(elf, function->start, &start))
		return 0;
	if (name + strlen(function->name) >= UINT32_MAX || name > elf->allowed)
		return -EFBIG;
	tally_buf_add(&list->text, function->name, strlen(function->name) + 1);
	if (list->text.failed)
		return -ENOMEM;
	return tally_symbol_list_add(list, start, start + (function->end - function->start),
				     (uint32_t)name, GELF_ST_INFO(STB_LOCAL, STT_FUNC));
}

int64_t tally_go_symbols_add(const struct tally_elf *elf, struct tally_symbol_list *list)
{
	size_t before = list->count;
	struct tally_go_table table;
	int error = find_table(elf, &table);

	for (uint64_t i = 0; !error && i < table.count; i++) {
		struct tally_go_function function;

		if (!tally_go_table_function(&table, i, &function))
			error = add_function(elf, &function, list);
	}
	if (error && error != -EFBIG) {
		list->count = before;
		return error;
	}
	return error && list->count == before ? error : (int64_t)(list->count - before);
}
