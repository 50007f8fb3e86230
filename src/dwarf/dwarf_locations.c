#include "dwarf/dwarf_locations.h"

#include <dwarf.h>
#include <errno.h>

struct walk {
	const struct dwarf_unit *unit;
	dwarf_location_fn visit;
	void *context;
};

static int give(const struct walk *walk, uint64_t low, uint64_t high, struct dwarf_bytes expression)
{
	if (high <= low)
		return walk->visit(walk->context, low, low, (struct dwarf_bytes){0});
	return walk->visit(walk->context, low, high, expression);
}

static struct dwarf_bytes expression_at(struct dwarf_cursor *cursor, uint64_t size)
{
	const uint8_t *bytes = cursor_take(cursor, size);

	return bytes ? (struct dwarf_bytes){bytes, (size_t)size} : (struct dwarf_bytes){0};
}

/* .debug_loc: pairs of addresses, each with an expression, that end with two zeros. */
static int walk_pairs(const struct walk *walk, uint64_t offset)
{
	const struct dwarf_unit *unit = walk->unit;
	unsigned size = unit->address_size;
	uint64_t base = unit->low, highest = size == 4 ? UINT32_MAX : UINT64_MAX;
	struct dwarf_cursor cursor = dwarf_cursor_of(unit->file, DWARF_LOC, offset);

	for (;;) {
		uint64_t low = cursor_uint(&cursor, size), high = cursor_uint(&cursor, size);
		struct dwarf_bytes expression = {0};
		int error;

		if (cursor.failed)
			return -EBADMSG;
		if (!low && !high)
			return 0;
		if (low == highest) {
			base = high;
			error = give(walk, base, base, expression);
		} else {
			expression = expression_at(&cursor, cursor_uint(&cursor, 2));
			error = cursor.failed ? -EBADMSG
					      : give(walk, base + low, base + high, expression);
		}
		if (error)
			return error;
	}
}

/* gcc's, which says which of several states of variables a debugger may show.  Source: gcc's
 * include/dwarf2.h. */
#define LIST_VIEW_PAIR 9

struct list_state {
	uint64_t base, low, high;
	bool has_expression;
};

/* False: the list ends. */
static bool next_entry(const struct dwarf_unit *unit, struct dwarf_cursor *cursor,
		       struct list_state *state)
{
	unsigned size = unit->address_size;
	uint8_t kind = cursor_u8(cursor);

	state->has_expression = true;
	switch (kind) {
	case DW_LLE_base_addressx:
		state->base = tally_dwarf_indexed(unit, cursor);
		state->has_expression = false;
		break;
	case DW_LLE_base_address:
		state->base = cursor_uint(cursor, size);
		state->has_expression = false;
		break;
	case LIST_VIEW_PAIR:
		cursor_uleb(cursor);
		cursor_uleb(cursor);
		state->has_expression = false;
		break;
	case DW_LLE_startx_endx:
		state->low = tally_dwarf_indexed(unit, cursor);
		state->high = tally_dwarf_indexed(unit, cursor);
		break;
	case DW_LLE_startx_length:
		state->low = tally_dwarf_indexed(unit, cursor);
		state->high = state->low + cursor_uleb(cursor);
		break;
	case DW_LLE_offset_pair:
		state->low = state->base + cursor_uleb(cursor);
		state->high = state->base + cursor_uleb(cursor);
		break;
	case DW_LLE_default_location:
		state->low = 0;
		state->high = UINT64_MAX;
		break;
	case DW_LLE_start_end:
		state->low = cursor_uint(cursor, size);
		state->high = cursor_uint(cursor, size);
		break;
	case DW_LLE_start_length:
		state->low = cursor_uint(cursor, size);
		state->high = state->low + cursor_uleb(cursor);
		break;
	default:
		cursor->failed |= kind != DW_LLE_end_of_list;
		return false;
	}
	return true;
}

/* .debug_loclists */
static int walk_list(const struct walk *walk, uint64_t offset)
{
	struct dwarf_cursor cursor = dwarf_cursor_of(walk->unit->file, DWARF_LOCLISTS, offset);
	struct list_state state = {.base = walk->unit->low};
	int error = 0;

	while (!error && next_entry(walk->unit, &cursor, &state)) {
		struct dwarf_bytes expression = {0};

		if (state.has_expression)
			expression = expression_at(&cursor, cursor_uleb(&cursor));
		else
			state.low = state.high = state.base;
		error = cursor.failed ? -EBADMSG : give(walk, state.low, state.high, expression);
	}
	return error ? error : cursor.failed ? -EBADMSG : 0;
}

int tally_dwarf_locations(const struct dwarf_unit *unit, const struct dwarf_value *value,
			  dwarf_location_fn visit, void *context)
{
	const struct walk walk = {unit, visit, context};
	struct dwarf_cursor cursor;
	uint64_t offset = value->number;

	switch (value->class) {
	case CLASS_BLOCK:
		return visit(context, 0, UINT64_MAX, (struct dwarf_bytes){value->block, offset});
	case CLASS_CONSTANT:
		return unit->version >= 5 ? walk_list(&walk, offset) : walk_pairs(&walk, offset);
	case CLASS_LOCATIONS:
		if (offset > unit->file->sections[DWARF_LOCLISTS].size)
			return -EBADMSG;
		cursor = dwarf_cursor_of(unit->file, DWARF_LOCLISTS,
					 unit->location_base + offset * unit->offset_size);
		offset = cursor_uint(&cursor, unit->offset_size) + unit->location_base;
		return cursor.failed ? -EBADMSG : walk_list(&walk, offset);
	default:
		return 0;
	}
}
