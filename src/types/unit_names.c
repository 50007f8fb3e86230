#include "types/unit_names.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sorted.h"
#include "base/table.h"
#include "types/location.h"
#include "types/type_shape.h"

/* Entries of a unit that are looked at: some ten times as many as the largest has. */
#define ENTRIES_MOST (1U << 24)

struct scan {
	struct type_reader *reader;
	struct unit_names *names;
	int error;
};

static bool room_for(struct scan *scan, void *array, size_t *room, size_t count, size_t size)
{
	size_t before = *room;

	if (!array_next(array, room, count, 64, size)) {
		scan->error = -ENOMEM;
		return false;
	}
	if (!budget_take(&scan->reader->budget, (*room - before) * size))
		scan->error = -EFBIG;
	return !scan->error;
}

/* --- functions --- */

static int add_range(void *context, uint64_t low, uint64_t high)
{
	struct scan *scan = context;

	if (low == high)
		return budget_take(&scan->reader->budget, DWARF_EMPTY_COST) ? 0 : -EFBIG;
	if (!budget_take(&scan->reader->budget, 2 * sizeof(struct tally_span)))
		return -EFBIG;
	return tally_spans_add(&scan->names->functions, low, high,
			       (uint32_t)scan->names->entry_count - 1);
}

static void add_function(struct scan *scan, const struct type_entry *entry)
{
	struct unit_names *names = scan->names;
	int error;

	if ((!entry->place.has_low && !entry->place.has_ranges) ||
	    names->entry_count >= UINT32_MAX / 2 ||
	    !room_for(scan, &names->entries, &names->entry_room, names->entry_count,
		      sizeof(*names->entries)))
		return;
	names->entries[names->entry_count++] = entry->self;
	error = tally_dwarf_ranges(&entry->unit->unit, &entry->place, add_range, scan);
	if (error && error != -EBADMSG)
		scan->error = error;
}

/* --- variables --- */

static void add_name(struct scan *scan, const char *name, type_ref type)
{
	struct unit_names *names = scan->names;

	if (name && type &&
	    room_for(scan, &names->names, &names->name_room, names->name_count,
		     sizeof(*names->names)))
		names->names[names->name_count++] = (struct unit_named){
		    tally_hash_bytes(name, strnlen(name, TALLY_NAME_MOST)), type};
}

static void add_place(struct scan *scan, const struct type_entry *entry,
		      const struct location *location)
{
	struct unit_names *names = scan->names;
	struct unit_variable variable = {.address = (uint64_t)location->offset,
					 .type = entry->type};

	if (!tally_type_size(scan->reader, entry->type, &variable.size))
		return;
	if (location->kind == LOCATION_THREAD) {
		if (room_for(scan, &names->of_threads, &names->thread_room, names->thread_count,
			     sizeof(*names->of_threads)))
			names->of_threads[names->thread_count++] = variable;
	} else if (room_for(scan, &names->variables, &names->variable_room, names->variable_count,
			    sizeof(*names->variables))) {
		names->variables[names->variable_count++] = variable;
	}
}

static void add_variable(struct scan *scan, struct type_entry *entry)
{
	struct location location = {.kind = LOCATION_UNKNOWN};

	if (entry->location.class == CLASS_BLOCK)
		location = tally_location_parse(
		    &entry->unit->unit,
		    (struct dwarf_bytes){entry->location.block, (size_t)entry->location.number});
	else if (!entry->declaration)
		return;
	if (location.kind != LOCATION_ADDRESS && location.kind != LOCATION_THREAD &&
	    !entry->declaration)
		return;
	tally_type_complete(scan->reader, entry);
	if (entry->declaration) {
		add_name(scan, entry->name, entry->type);
		add_name(scan, entry->linkage_name, entry->type);
	} else {
		add_place(scan, entry, &location);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct unit_variable *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static int by_hash(const void *a, const void *b)
{
	const struct unit_named *left = a, *right = b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->type < right->type ? -1 : left->type > right->type;
}

static void finish(struct unit_names *names)
{
	tally_spans_finish(&names->functions);
	if (names->variable_count)
		qsort(names->variables, names->variable_count, sizeof(*names->variables),
		      by_address);
	if (names->thread_count)
		qsort(names->of_threads, names->thread_count, sizeof(*names->of_threads),
		      by_address);
	if (names->name_count)
		qsort(names->names, names->name_count, sizeof(*names->names), by_hash);
}

bool tally_unit_names_read(struct type_reader *reader, uint64_t offset, struct unit_names *ret)
{
	struct scan scan = {.reader = reader, .names = ret};
	struct type_entry entry;
	uint32_t depth = 0, steps = reader->steps;
	bool more;

	*ret = (struct unit_names){0};
	reader->steps = ENTRIES_MOST;
	more = tally_type_unit_top(reader, offset, &entry);
	for (; more && !scan.error; more = tally_type_walk(reader, &entry, &depth, &entry)) {
		struct type_entry here = entry;

		if (entry.tag == DW_TAG_subprogram)
			add_function(&scan, &entry);
		else if (entry.tag == DW_TAG_variable || entry.tag == DW_TAG_member)
			add_variable(&scan, &here);
	}
	reader->steps = steps;
	reader->no_memory |= scan.error == -ENOMEM;
	finish(ret);
	return !scan.error;
}

void tally_unit_names_done(struct unit_names *names)
{
	tally_spans_done(&names->functions);
	free(names->entries);
	free(names->variables);
	free(names->of_threads);
	free(names->names);
	*names = (struct unit_names){0};
}

type_ref tally_unit_function_at(const struct unit_names *names, uint64_t address)
{
	uint32_t looked_at = 0;
	const struct tally_span *span = tally_spans_first(&names->functions, address, &looked_at);

	return span ? names->entries[span->index] : 0;
}

const struct unit_variable *tally_unit_variable_at(const struct unit_names *names, bool of_thread,
						   uint64_t address)
{
	const struct unit_variable *list = of_thread ? names->of_threads : names->variables;
	size_t low = SORTED_BOUND(at, 0, of_thread ? names->thread_count : names->variable_count,
				  list[at].address <= address);

	return low && address - list[low - 1].address < list[low - 1].size ? &list[low - 1] : NULL;
}

type_ref tally_unit_variable_named(const struct unit_names *names, const char *name)
{
	uint64_t hash = tally_hash_bytes(name, strnlen(name, TALLY_NAME_MOST));
	size_t low = SORTED_BOUND(at, 0, names->name_count, names->names[at].hash < hash);

	return low < names->name_count && names->names[low].hash == hash ? names->names[low].type
									 : 0;
}
