#include "dwarf/dwarf_ranges.h"

#include <dwarf.h>
#include <errno.h>

void tally_dwarf_place_take(struct dwarf_place *place, unsigned name,
			    const struct dwarf_value *value)
{
	switch (name) {
	case DW_AT_low_pc:
		place->has_low = true;
		place->low = *value;
		break;
	case DW_AT_high_pc:
		place->has_high = true;
		place->high = *value;
		break;
	case DW_AT_ranges:
		place->has_ranges = true;
		place->ranges = *value;
		break;
	default:
		break;
	}
}

struct walk {
	const struct dwarf_unit *unit;
	dwarf_range_fn visit;
	void *context;
};

static int give(const struct walk *walk, uint64_t low, uint64_t high)
{
	return walk->visit(walk->context, low, low < high ? high : low);
}

/* An entry that moves the base gives no range, and a list may have any number of them. */
static int give_base(const struct walk *walk, uint64_t base)
{
	return give(walk, base, base);
}

/* .debug_ranges: pairs of addresses that end with two zeros. */
static int walk_pairs(const struct walk *walk, uint64_t offset)
{
	const struct dwarf_unit *unit = walk->unit;
	unsigned size = unit->address_size;
	uint64_t base = unit->low, highest = size == 4 ? UINT32_MAX : UINT64_MAX;
	struct dwarf_cursor cursor =
	    dwarf_cursor_of(unit->addresses, DWARF_RANGES, offset + unit->range_base);

	for (;;) {
		uint64_t low = cursor_uint(&cursor, size), high = cursor_uint(&cursor, size);
		int error;

		if (cursor.failed)
			return -EBADMSG;
		if (!low && !high)
			return 0;
		if (low == highest) {
			base = high;
			error = give_base(walk, base);
		} else {
			error = give(walk, base + low, base + high);
		}
		if (error)
			return error;
	}
}

/* .debug_rnglists */
static int walk_list(const struct walk *walk, uint64_t offset)
{
	const struct dwarf_unit *unit = walk->unit;
	unsigned size = unit->address_size;
	struct dwarf_cursor cursor = dwarf_cursor_of(unit->file, DWARF_RNGLISTS, offset);
	uint64_t base = unit->low, low = 0, high = 0;

	for (;;) {
		uint8_t kind = cursor_u8(&cursor);
		int error;

		switch (kind) {
		case DW_RLE_end_of_list:
			return cursor.failed ? -EBADMSG : 0;
		case DW_RLE_base_addressx:
			base = tally_dwarf_indexed(unit, &cursor);
			break;
		case DW_RLE_base_address:
			base = cursor_uint(&cursor, size);
			break;
		case DW_RLE_startx_endx:
			low = tally_dwarf_indexed(unit, &cursor);
			high = tally_dwarf_indexed(unit, &cursor);
			break;
		case DW_RLE_startx_length:
			low = tally_dwarf_indexed(unit, &cursor);
			high = low + cursor_uleb(&cursor);
			break;
		case DW_RLE_offset_pair:
			low = base + cursor_uleb(&cursor);
			high = base + cursor_uleb(&cursor);
			break;
		case DW_RLE_start_end:
			low = cursor_uint(&cursor, size);
			high = cursor_uint(&cursor, size);
			break;
		case DW_RLE_start_length:
			low = cursor_uint(&cursor, size);
			high = low + cursor_uleb(&cursor);
			break;
		default:
			return -EBADMSG;
		}
		if (cursor.failed)
			return -EBADMSG;
		error = kind == DW_RLE_base_addressx || kind == DW_RLE_base_address
			    ? give_base(walk, base)
			    : give(walk, low, high);
		if (error)
			return error;
	}
}

static int walk_ranges(const struct walk *walk, const struct dwarf_value *value)
{
	const struct dwarf_unit *unit = walk->unit;
	uint64_t offset = value->number;

	if (value->class == CLASS_LIST) {
		struct dwarf_cursor cursor;

		if (offset > unit->file->sections[DWARF_RNGLISTS].size)
			return -EBADMSG;
		cursor = dwarf_cursor_of(unit->file, DWARF_RNGLISTS,
					 unit->list_base + offset * unit->offset_size);
		offset = cursor_uint(&cursor, unit->offset_size) + unit->list_base;
		return cursor.failed ? -EBADMSG : walk_list(walk, offset);
	}
	if (value->class != CLASS_CONSTANT)
		return -EBADMSG;
	return unit->version >= 5 ? walk_list(walk, offset + unit->list_part)
				  : walk_pairs(walk, offset);
}

int tally_dwarf_ranges(const struct dwarf_unit *unit, const struct dwarf_place *place,
		       dwarf_range_fn visit, void *context)
{
	const struct walk walk = {unit, visit, context};
	uint64_t low, high;

	if (place->has_low && place->has_high && tally_dwarf_address(unit, &place->low, &low)) {
		if (place->high.class == CLASS_CONSTANT)
			high = low + place->high.number;
		else if (!tally_dwarf_address(unit, &place->high, &high))
			return -EBADMSG;
		return give(&walk, low, high);
	}
	return place->has_ranges ? walk_ranges(&walk, &place->ranges) : 0;
}
