#include "dwarf/split_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A .dwo file has one unit, and types; more when units were compiled together. */
#define UNITS_MOST 64

/* Kinds of sections in the index of a package.  Source: DWARF 5, 7.3.5.3; those of version 2 in the
 * same places. */
enum {
	PART_INFO = 1,
	PART_ABBREV = 3,
	PART_LINE = 4,
	PART_STR_OFFSETS = 6,
	PART_RNGLISTS = 8, /* of version 2: macros */
	PARTS = 9,
};

static bool path_of(const struct tally_elf *elf, char *path, size_t size)
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", elf->fd);
	length = elf->fd < 0 ? -1 : readlink(link, path, size - 1);
	if (length <= 0 || (size_t)length >= size - 1)
		return false;
	path[length] = 0;
	return true;
}

int tally_split_package_open(const struct tally_elf *binary, struct tally_elf *ret)
{
	char path[PATH_MAX];

	if (!path_of(binary, path, sizeof(path) - 4))
		return -ENOENT;
	memcpy(path + strlen(path), ".dwp", 5);
	return tally_elf_open(path, ret);
}

/* The parts of one unit in a package, by the kind of the section. */
struct parts {
	uint64_t start[PARTS];
};

struct index {
	struct dwarf_cursor slots, numbers, kinds, starts;
	uint64_t columns, units, slot_count;
	bool old;
};

/* -ENOENT: the file has none, or it is invalid. */
static int read_index(const struct dwarf_file *package, struct index *ret)
{
	struct dwarf_cursor head = dwarf_cursor_of(package, DWARF_CU_INDEX, 0);
	struct index index = {.old = cursor_uint(&head, 4) == 2};
	const uint8_t *at;
	uint64_t size;

	if (!index.old) {
		head = dwarf_cursor_of(package, DWARF_CU_INDEX, 0);
		if (cursor_uint(&head, 2) != 5)
			return -ENOENT;
		cursor_take(&head, 2);
	}
	index.columns = cursor_uint(&head, 4);
	index.units = cursor_uint(&head, 4);
	index.slot_count = cursor_uint(&head, 4);
	if (head.failed || !index.slot_count || index.slot_count & (index.slot_count - 1) ||
	    index.columns > 64)
		return -ENOENT;
	index.slots = index.numbers = index.kinds = index.starts = head;
	size = index.slot_count * 8;
	at = cursor_take(&index.numbers, size);
	size += index.slot_count * 4;
	at = at ? cursor_take(&index.kinds, size) : NULL;
	size += index.columns * 4;
	at = at ? cursor_take(&index.starts, size) : NULL;
	size += index.columns * index.units * 4;
	if (!at || size > cursor_left(&head))
		return -ENOENT;
	*ret = index;
	return 0;
}

/* The n-th number of a table; tables were checked. */
static uint64_t nth(const struct dwarf_cursor *table, uint64_t n, unsigned size)
{
	struct dwarf_cursor cursor = *table;

	cursor_take(&cursor, n * size);
	return cursor_uint(&cursor, size);
}

static int find_parts(const struct dwarf_file *package, uint64_t id, struct parts *ret)
{
	struct index index;
	uint64_t mask, slot, step, row = 0;
	int error = read_index(package, &index);

	if (error)
		return error;
	mask = index.slot_count - 1;
	slot = id & mask;
	step = (id >> 32 & mask) | 1;
	for (uint64_t i = 0; i < index.slot_count && !row; i++, slot = (slot + step) & mask) {
		uint64_t number = nth(&index.numbers, slot, 4);

		if (!number)
			return -ENOENT;
		if (nth(&index.slots, slot, 8) == id)
			row = number;
	}
	if (!row || row > index.units)
		return -ENOENT;
	*ret = (struct parts){.start = {0}};
	for (uint64_t i = 0; i < index.columns; i++) {
		uint64_t kind = nth(&index.kinds, i, 4);

		if (kind < PARTS)
			ret->start[kind] = nth(&index.starts, (row - 1) * index.columns + i, 4);
	}
	if (index.old)
		ret->start[PART_RNGLISTS] = 0;
	return 0;
}

/* What its forms are relative to. */
static void tie(struct dwarf_unit *unit, const struct dwarf_unit *skeleton,
		const struct unit_top *top, const struct parts *parts)
{
	bool is_long = unit->offset_size == 8;

	unit->split = true;
	unit->addresses = skeleton->file;
	unit->address_base = skeleton->address_base;
	unit->low = skeleton->low;
	unit->range_base = top->split_ranges;
	unit->abbreviations += parts->start[PART_ABBREV];
	unit->string_base = parts->start[PART_STR_OFFSETS];
	unit->list_part = parts->start[PART_RNGLISTS];
	unit->list_base = unit->list_part + (is_long ? 20 : 12);
	unit->location_base = is_long ? 20 : 12;
	if (unit->version >= 5)
		unit->string_base += is_long ? 16 : 8;
}

/* In version 4 the unit's first entry has its number. */
static bool is_it(struct dwarf_unit *unit, uint64_t id)
{
	struct abbreviations abbreviations;
	struct dwarf_unit read = *unit;
	struct unit_top top;
	uint64_t size;
	bool found;

	if (unit->version >= 5)
		return unit->type == DW_UT_split_compile && unit->id == id;
	found = !tally_abbreviations_read(unit, 0, UINT32_MAX, &abbreviations, &size) &&
		!tally_unit_top_read(&read, &abbreviations, NULL, &top) && read.id == id;
	tally_abbreviations_done(&abbreviations);
	return found;
}

static int find_packed(const struct line_program *program, const struct dwarf_unit *skeleton,
		       const struct unit_top *top, struct split_unit *ret)
{
	struct parts parts;
	uint64_t at;
	int error = find_parts(&program->package, skeleton->id, &parts);

	if (error)
		return error;
	at = parts.start[PART_INFO];
	if (tally_dwarf_unit_next(&program->package, &at, &ret->unit))
		return -ENOENT;
	tie(&ret->unit, skeleton, top, &parts);
	return 0;
}

static int try_path(const char *path, const struct dwarf_unit *skeleton, const struct unit_top *top,
		    struct split_unit *ret)
{
	const struct parts whole = {.start = {0}};
	uint64_t at = 0;
	int error;

	if (tally_elf_open(path, &ret->elf))
		return -ENOENT;
	error = tally_dwarf_file_read(&ret->file, &ret->elf, true);
	for (int i = 0; i < UNITS_MOST && !error; i++) {
		error = tally_dwarf_unit_next(&ret->file, &at, &ret->unit);
		if (error == -EBADMSG) {
			error = 0;
			continue;
		}
		if (error)
			break;
		tie(&ret->unit, skeleton, top, &whole);
		if (is_it(&ret->unit, skeleton->id))
			return 0;
	}
	tally_dwarf_file_done(&ret->file);
	tally_elf_close(&ret->elf);
	return -ENOENT;
}

/* As the compiler named it; else beside the program. */
static int find_file(const struct line_program *program, const struct dwarf_unit *skeleton,
		     const struct unit_top *top, struct split_unit *ret)
{
	const char *name = top->split_name, *base = strrchr(name, '/');
	char path[PATH_MAX], *slash;
	int length;

	if (*name == '/' || !top->folder)
		length = snprintf(path, sizeof(path), "%s", name);
	else
		length = snprintf(path, sizeof(path), "%s/%s", top->folder, name);
	if (*path == '/' && length > 0 && (size_t)length < sizeof(path) &&
	    !try_path(path, skeleton, top, ret))
		return 0;
	base = base ? base + 1 : name;
	if (!path_of(program->symbol_file, path, sizeof(path)))
		return -ENOENT;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + strlen(base) >= sizeof(path))
		return -ENOENT;
	memcpy(slash + 1, base, strlen(base) + 1);
	return try_path(path, skeleton, top, ret);
}

int tally_split_unit_open(const struct line_program *program, const struct dwarf_unit *skeleton,
			  const struct unit_top *top, struct split_unit *ret)
{
	*ret = (struct split_unit){.elf = {.fd = -1}};
	if (program->has_package && !find_packed(program, skeleton, top, ret))
		return 0;
	return find_file(program, skeleton, top, ret);
}

void tally_split_unit_close(struct split_unit *split)
{
	tally_dwarf_file_done(&split->file);
	tally_elf_close(&split->elf);
}
