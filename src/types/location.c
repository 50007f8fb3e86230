#include "types/location.h"

#include <dwarf.h>

/* Registers that hold addresses are below it, on all machines. */
#define REGISTERS_MOST 32

static struct location of_register(struct dwarf_cursor *cursor, uint64_t reg, int64_t offset,
				   enum location_kind kind)
{
	if (cursor->failed || reg >= REGISTERS_MOST)
		return (struct location){LOCATION_UNKNOWN, 0, 0};
	return (struct location){kind, (uint8_t)reg, offset};
}

/* The first operation alone. */
static struct location first(const struct dwarf_unit *unit, struct dwarf_cursor *cursor)
{
	uint8_t op = cursor_u8(cursor);
	uint64_t reg;

	if (op >= DW_OP_reg0 && op <= DW_OP_reg31)
		return of_register(cursor, op - DW_OP_reg0, 0, LOCATION_REGISTER);
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return of_register(cursor, op - DW_OP_breg0, cursor_sleb(cursor), LOCATION_BASED);
	switch (op) {
	case DW_OP_regx:
		return of_register(cursor, cursor_uleb(cursor), 0, LOCATION_REGISTER);
	case DW_OP_bregx:
		reg = cursor_uleb(cursor);
		return of_register(cursor, reg, cursor_sleb(cursor), LOCATION_BASED);
	case DW_OP_fbreg:
		return of_register(cursor, 0, cursor_sleb(cursor), LOCATION_FUNCTION);
	case DW_OP_call_frame_cfa:
		return of_register(cursor, 0, 0, LOCATION_FRAME);
	case DW_OP_addr:
		return of_register(cursor, 0, (int64_t)cursor_uint(cursor, unit->address_size),
				   LOCATION_ADDRESS);
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return of_register(cursor, 0, (int64_t)tally_dwarf_indexed(unit, cursor),
				   LOCATION_ADDRESS);
	case DW_OP_const4u:
		return of_register(cursor, 0, (int64_t)cursor_uint(cursor, 4), LOCATION_THREAD);
	case DW_OP_const8u:
		return of_register(cursor, 0, (int64_t)cursor_uint(cursor, 8), LOCATION_THREAD);
	default:
		return (struct location){LOCATION_UNKNOWN, 0, 0};
	}
}

/* What is behind it: nothing; "the value is this"; an offset that is added; "of this thread". */
struct location tally_location_parse(const struct dwarf_unit *unit, struct dwarf_bytes expression)
{
	const struct location unknown = {LOCATION_UNKNOWN, 0, 0};
	struct dwarf_cursor cursor = cursor_at(expression, 0, unit->file->swap);
	struct location found = first(unit, &cursor);
	bool whole = false, of_thread = found.kind == LOCATION_THREAD;

	while (found.kind != LOCATION_UNKNOWN && !whole && cursor_left(&cursor)) {
		switch (cursor_u8(&cursor)) {
		case DW_OP_plus_uconst:
			found.offset = (int64_t)((uint64_t)found.offset + cursor_uleb(&cursor));
			break;
		case DW_OP_stack_value: /* of a pointer: reg + offset; else of no use */
			if (found.kind != LOCATION_BASED)
				return unknown;
			found.kind = LOCATION_REGISTER;
			whole = true;
			break;
		case DW_OP_form_tls_address:
		case DW_OP_GNU_push_tls_address:
			if (!of_thread)
				return unknown;
			of_thread = false;
			break;
		default:
			return unknown;
		}
	}
	return cursor.failed || cursor_left(&cursor) || of_thread ? unknown : found;
}
