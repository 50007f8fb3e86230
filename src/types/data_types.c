#include "types/data_types.h"

#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"
#include "dwarf/line_index.h"
#include "types/data_types_state.h"
#include "types/type_shape.h"

/* Bytes of the places of a path. */
#define PATH_COST 64

struct data_types *tally_data_types_new(const struct data_types_options *options)
{
	struct data_types *types = calloc(1, sizeof(*types));

	if (!types)
		return NULL;
	types->options = *options;
	if (tally_insn_reader_new(&options->machine, &types->insns))
		types->insns = NULL;
	pthread_mutex_init(&types->lock, NULL);
	return types;
}

void tally_data_types_free(struct data_types *types)
{
	if (!types)
		return;
	while (types->units) {
		struct unit_known *unit = types->units;

		types->units = unit->next;
		tally_unit_names_done(&unit->names);
		free(unit);
	}
	tally_global_symbols_done(&types->globals);
	tally_type_table_done(&types->table);
	tally_type_reader_done(&types->reader);
	tally_insn_reader_free(types->insns);
	tally_arena_done(&types->arena);
	tally_map_done(&types->by_address);
	tally_map_done(&types->by_start);
	tally_map_done(&types->paths);
	pthread_mutex_destroy(&types->lock);
	free(types);
}

/* --- questions --- */

/* At the first question about a unit that is known. */
static int take_program(struct data_types *types, const struct line_program *program)
{
	types->program = program;
	tally_type_reader_init(&types->reader, program, program->allowed);
	return tally_global_symbols_read(&types->globals, program->symbol_file);
}

/* Makes `types->unit` that at the offset. */
static int choose_unit(struct data_types *types, uint64_t offset)
{
	struct unit_known *unit = types->units;

	while (unit && unit->offset != offset)
		unit = unit->next;
	if (!unit) {
		unit = calloc(1, sizeof(*unit));
		if (!unit)
			return -ENOMEM;
		unit->offset = offset;
		(void)tally_unit_names_read(&types->reader, offset, &unit->names);
		unit->next = types->units;
		types->units = unit;
	}
	types->unit = unit;
	return 0;
}

static int find_part(struct data_types *types, uint64_t address, struct function_part **ret)
{
	const struct line_program *program;
	uint64_t unit = 0;
	int error = types->options.index
			? tally_line_index_unit(types->options.index, address, &program, &unit)
			: -ENOENT;

	if (error == -ENOENT) {
		*ret = NULL;
		return 0;
	}
	if (!error && !types->program)
		error = take_program(types, program);
	if (!error)
		error = choose_unit(types, unit);
	if (error)
		return error;
	*ret = tally_function_part(types, address);
	return types->reader.no_memory ? -ENOMEM : 0;
}

static struct data_access answer_at(const struct function_part *part, uint64_t address)
{
	uint32_t low = SORTED_BOUND(at, 0, part->count, part->places[at] < address - part->low);

	if (low < part->count && part->places[low] == address - part->low)
		return part->found[low];
	return (struct data_access){.outcome = part->outcome};
}

int tally_data_types_find(struct data_types *types, uint64_t address, uint64_t place,
			  struct data_access *ret)
{
	struct function_part *part = NULL;
	uint64_t *known;
	bool added = false;
	int error = 0;

	pthread_mutex_lock(&types->lock);
	types->shift = address - place;
	known = tally_map_put(&types->by_address, address, &added);
	if (!known)
		error = -ENOMEM;
	else if (!added)
		part = (struct function_part *)(uintptr_t)*known;
	else
		error = find_part(types, address, &part);
	if (added && !error)
		*tally_map_find(&types->by_address, address) = (uintptr_t)part;
	if (!error)
		*ret = part ? answer_at(part, address)
			    : (struct data_access){.outcome = ACCESS_NO_DEBUG};
	pthread_mutex_unlock(&types->lock);
	return error;
}

/* --- types --- */

static const struct table_type *type_at(const struct data_types *types, uint32_t type)
{
	return type < types->table.count ? &types->table.types[type] : NULL;
}

const char *tally_data_type_name(struct data_types *types, uint32_t type)
{
	const char *name;

	pthread_mutex_lock(&types->lock);
	name = type_at(types, type) ? types->table.names.text[type] : "";
	pthread_mutex_unlock(&types->lock);
	return name;
}

uint64_t tally_data_type_size(struct data_types *types, uint32_t type)
{
	uint64_t size;

	pthread_mutex_lock(&types->lock);
	size = type_at(types, type) ? type_at(types, type)->size : 0;
	pthread_mutex_unlock(&types->lock);
	return size;
}

/* The lock is held. */
static const char *make_path(struct data_types *types, const struct table_type *type,
			     uint64_t offset)
{
	struct tally_buf text = {0};
	char *kept = NULL;

	types->reader.steps = NAME_STEPS;
	tally_type_path(&types->reader, type->type, offset, &text);
	if (!text.failed && text.size && budget_take(&types->reader.budget, text.size + PATH_COST))
		kept = tally_arena_strndup(&types->arena, (const char *)text.data, text.size);
	tally_buf_done(&text);
	return kept ? kept : "";
}

const char *tally_data_type_path(struct data_types *types, uint32_t type, int64_t offset)
{
	const struct table_type *found;
	const char *path = "";
	uint64_t *known;
	bool added;

	if (offset < 0 || offset > UINT32_MAX)
		return path;
	pthread_mutex_lock(&types->lock);
	found = type_at(types, type);
	known = found
		    ? tally_map_put(&types->paths, (uint64_t)type << 32 | (uint64_t)offset, &added)
		    : NULL;
	if (known && added)
		*known = (uintptr_t)make_path(types, found, (uint64_t)offset);
	if (known)
		path = (const char *)(uintptr_t)*known;
	pthread_mutex_unlock(&types->lock);
	return path;
}
