#include "dwarf/dwarf_unit.h"

#include <dwarf.h>
#include <errno.h>

int tally_dwarf_unit_next(const struct dwarf_file *file, uint64_t *offset, struct dwarf_unit *ret)
{
	struct dwarf_cursor cursor = dwarf_cursor_of(file, DWARF_INFO, *offset);
	struct dwarf_unit unit = {.file = file, .offset = *offset, .addresses = file};
	uint64_t length;

	if (!cursor_left(&cursor))
		return -ENOENT;
	length = cursor_length(&cursor, &unit.offset_size);
	if (cursor.failed)
		return -ENOENT;
	cursor.end = cursor.at + length;
	unit.end = (uint64_t)(cursor.end - file->sections[DWARF_INFO].data);
	*offset = unit.end;
	unit.version = (uint16_t)cursor_uint(&cursor, 2);
	if (unit.version < 2 || unit.version > 5)
		return -EBADMSG;
	unit.type = DW_UT_compile;
	if (unit.version == 5) {
		unit.type = cursor_u8(&cursor);
		unit.address_size = cursor_u8(&cursor);
	}
	unit.abbreviations = cursor_uint(&cursor, unit.offset_size);
	if (unit.version < 5)
		unit.address_size = cursor_u8(&cursor);
	switch (unit.type) {
	case DW_UT_skeleton:
	case DW_UT_split_compile:
		unit.id = cursor_uint(&cursor, 8);
		break;
	case DW_UT_type:
	case DW_UT_split_type:
		cursor_take(&cursor, 8U + unit.offset_size);
		break;
	case DW_UT_compile:
	case DW_UT_partial:
		break;
	default:
		return -EBADMSG;
	}
	if (cursor.failed || (unit.address_size != 4 && unit.address_size != 8))
		return -EBADMSG;
	unit.entries = (uint64_t)(cursor.at - file->sections[DWARF_INFO].data);
	*ret = unit;
	return 0;
}

static struct dwarf_bytes strings_of(const struct dwarf_unit *unit)
{
	return unit->file->sections[DWARF_STR];
}

/* A string by its number.  Source: DWARF 5, 7.26. */
static const char *indexed_text(const struct dwarf_unit *unit, uint64_t index)
{
	struct dwarf_bytes offsets = unit->file->sections[DWARF_STR_OFFSETS];
	struct dwarf_cursor cursor;

	if (index > offsets.size)
		return NULL;
	cursor = dwarf_cursor_of(unit->file, DWARF_STR_OFFSETS,
				 unit->string_base + index * unit->offset_size);
	index = cursor_uint(&cursor, unit->offset_size);
	return cursor.failed ? NULL : dwarf_text_at(strings_of(unit), index);
}

static struct dwarf_value constant(uint64_t number)
{
	return (struct dwarf_value){.class = CLASS_CONSTANT, .number = number};
}

static struct dwarf_value text(const char *string)
{
	return (struct dwarf_value){.class = CLASS_TEXT, .text = string};
}

static struct dwarf_value numbered(enum dwarf_class class, uint64_t number)
{
	return (struct dwarf_value){.class = class, .number = number};
}

static struct dwarf_value block(struct dwarf_cursor *cursor, uint64_t size)
{
	const uint8_t *bytes = cursor_take(cursor, size);

	return bytes ? (struct dwarf_value){.class = CLASS_BLOCK, .number = size, .block = bytes}
		     : (struct dwarf_value){0};
}

/* In the same unit. */
static struct dwarf_value reference(const struct dwarf_unit *unit, uint64_t offset)
{
	return (struct dwarf_value){.class = CLASS_REFERENCE, .number = unit->offset + offset};
}

struct dwarf_value tally_dwarf_value(const struct dwarf_unit *unit, struct dwarf_cursor *cursor,
				     const struct abbreviation_field *field)
{
	unsigned offset_size = unit->offset_size, form = field->form;

	if (form == DW_FORM_indirect) {
		uint64_t found = cursor_uleb(cursor);

		if (found == DW_FORM_indirect || found == DW_FORM_implicit_const ||
		    found > UINT16_MAX) {
			cursor->failed = true;
			return (struct dwarf_value){0};
		}
		form = (unsigned)found;
	}
	switch (form) {
	case DW_FORM_addr:
		return numbered(CLASS_ADDRESS, cursor_uint(cursor, unit->address_size));
	case DW_FORM_data1:
	case DW_FORM_flag:
		return constant(cursor_u8(cursor));
	case DW_FORM_data2:
		return constant(cursor_uint(cursor, 2));
	case DW_FORM_data4:
		return constant(cursor_uint(cursor, 4));
	case DW_FORM_data8:
		return constant(cursor_uint(cursor, 8));
	case DW_FORM_udata:
		return constant(cursor_uleb(cursor));
	case DW_FORM_sdata:
		return constant((uint64_t)cursor_sleb(cursor));
	case DW_FORM_implicit_const:
		return constant((uint64_t)field->constant);
	case DW_FORM_flag_present:
		return constant(1);
	case DW_FORM_sec_offset:
		return constant(cursor_uint(cursor, offset_size));
	case DW_FORM_string:
		return text(cursor_text(cursor));
	case DW_FORM_strp:
		return text(dwarf_text_at(strings_of(unit), cursor_uint(cursor, offset_size)));
	case DW_FORM_line_strp:
		return text(dwarf_text_at(unit->file->sections[DWARF_LINE_STR],
					  cursor_uint(cursor, offset_size)));
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return text(indexed_text(unit, cursor_uleb(cursor)));
	case DW_FORM_strx1:
		return text(indexed_text(unit, cursor_u8(cursor)));
	case DW_FORM_strx2:
		return text(indexed_text(unit, cursor_uint(cursor, 2)));
	case DW_FORM_strx3:
		return text(indexed_text(unit, cursor_uint(cursor, 3)));
	case DW_FORM_strx4:
		return text(indexed_text(unit, cursor_uint(cursor, 4)));
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		return numbered(CLASS_INDEX, cursor_uleb(cursor));
	case DW_FORM_addrx1:
		return numbered(CLASS_INDEX, cursor_u8(cursor));
	case DW_FORM_addrx2:
		return numbered(CLASS_INDEX, cursor_uint(cursor, 2));
	case DW_FORM_addrx3:
		return numbered(CLASS_INDEX, cursor_uint(cursor, 3));
	case DW_FORM_addrx4:
		return numbered(CLASS_INDEX, cursor_uint(cursor, 4));
	case DW_FORM_block1:
		return block(cursor, cursor_u8(cursor));
	case DW_FORM_block2:
		return block(cursor, cursor_uint(cursor, 2));
	case DW_FORM_block4:
		return block(cursor, cursor_uint(cursor, 4));
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return block(cursor, cursor_uleb(cursor));
	case DW_FORM_loclistx:
		return numbered(CLASS_LOCATIONS, cursor_uleb(cursor));
	case DW_FORM_rnglistx:
		return numbered(CLASS_LIST, cursor_uleb(cursor));
	case DW_FORM_ref1:
		return reference(unit, cursor_u8(cursor));
	case DW_FORM_ref2:
		return reference(unit, cursor_uint(cursor, 2));
	case DW_FORM_ref4:
		return reference(unit, cursor_uint(cursor, 4));
	case DW_FORM_ref8:
		return reference(unit, cursor_uint(cursor, 8));
	case DW_FORM_ref_udata:
		return reference(unit, cursor_uleb(cursor));
	case DW_FORM_ref_addr: /* of an address's size in version 2 */
		return numbered(
		    CLASS_REFERENCE,
		    cursor_uint(cursor, unit->version == 2 ? unit->address_size : offset_size));
	case DW_FORM_GNU_ref_alt:
		return numbered(CLASS_ALTERNATE, cursor_uint(cursor, offset_size));
	case DW_FORM_ref_sup4:
		return numbered(CLASS_ALTERNATE, cursor_uint(cursor, 4));
	case DW_FORM_ref_sup8:
		return numbered(CLASS_ALTERNATE, cursor_uint(cursor, 8));
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return numbered(CLASS_ALT_TEXT, cursor_uint(cursor, offset_size));
	default:
		tally_dwarf_skip(unit, cursor, form);
		return (struct dwarf_value){0};
	}
}

int tally_dwarf_form_size(const struct dwarf_unit *unit, uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr:
		return unit->version == 2 ? unit->address_size : unit->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return unit->offset_size;
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_block:
	case DW_FORM_exprloc:
	case DW_FORM_string:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_rnglistx:
	case DW_FORM_loclistx:
	case DW_FORM_GNU_str_index:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_indirect:
		return -1;
	default:
		return -2;
	}
}

void tally_dwarf_skip(const struct dwarf_unit *unit, struct dwarf_cursor *cursor, uint64_t form)
{
	int size = tally_dwarf_form_size(unit, form);

	if (size >= 0) {
		cursor_take(cursor, (uint64_t)size);
		return;
	}
	switch (form) {
	case DW_FORM_block1:
		cursor_take(cursor, cursor_u8(cursor));
		break;
	case DW_FORM_block2:
		cursor_take(cursor, cursor_uint(cursor, 2));
		break;
	case DW_FORM_block4:
		cursor_take(cursor, cursor_uint(cursor, 4));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		cursor_take(cursor, cursor_uleb(cursor));
		break;
	case DW_FORM_string:
		cursor_text(cursor);
		break;
	case DW_FORM_indirect:
		form = cursor_uleb(cursor);
		if (form == DW_FORM_indirect || form == DW_FORM_implicit_const)
			cursor->failed = true;
		else
			tally_dwarf_skip(unit, cursor, form);
		break;
	default:
		if (size == -1)
			cursor_uleb(cursor);
		else
			cursor->failed = true;
		break;
	}
}

bool tally_dwarf_address(const struct dwarf_unit *unit, const struct dwarf_value *value,
			 uint64_t *ret)
{
	struct dwarf_cursor cursor;
	uint64_t address;

	if (value->class == CLASS_ADDRESS) {
		*ret = value->number;
		return true;
	}
	if (value->class != CLASS_INDEX ||
	    value->number > unit->addresses->sections[DWARF_ADDR].size)
		return false;
	cursor = dwarf_cursor_of(unit->addresses, DWARF_ADDR,
				 unit->address_base + value->number * unit->address_size);
	address = cursor_uint(&cursor, unit->address_size);
	if (cursor.failed)
		return false;
	*ret = address;
	return true;
}

uint64_t tally_dwarf_indexed(const struct dwarf_unit *unit, struct dwarf_cursor *cursor)
{
	struct dwarf_value value = numbered(CLASS_INDEX, cursor_uleb(cursor));
	uint64_t address = 0;

	if (!tally_dwarf_address(unit, &value, &address))
		cursor->failed = true;
	return address;
}
