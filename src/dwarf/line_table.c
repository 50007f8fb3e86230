/* Source: DWARF 5, 6.2. */
#include "dwarf/line_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "dwarf/address_order.h"

struct reader {
	const struct line_reading *reading;
	struct line_table *table;
	struct dwarf_cursor cursor;
	uint8_t offset_size;
	uint64_t left; /* of what is allowed */
	int error;
};

/* Makes room for one more of an array; false: out of memory, or of what is allowed. */
static bool has_room(struct reader *reader, void *array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room : 32;

	if (count < *room)
		return true;
	if (more * size > reader->left) {
		reader->error = -EFBIG;
		return false;
	}
	if (!array_resize(array, *room + more, size)) {
		reader->error = -ENOMEM;
		return false;
	}
	reader->left -= more * size;
	*room += more;
	return true;
}

static void add_folder(struct reader *reader, const char *name)
{
	struct line_table *table = reader->table;

	if (has_room(reader, &table->folders, table->folder_count, &table->folder_room,
		     sizeof(*table->folders)))
		table->folders[table->folder_count++] = name;
}

static void add_file(struct reader *reader, const char *name, uint64_t folder)
{
	struct line_table *table = reader->table;

	if (has_room(reader, &table->files, table->file_count, &table->file_room,
		     sizeof(*table->files)))
		table->files[table->file_count++] = (struct line_file){name, folder};
}

/* --- the head --- */

struct value {
	const char *text;
	uint64_t number;
};

static struct value read_value(struct reader *reader, uint64_t form)
{
	const struct dwarf_bytes *sections = reader->reading->file->sections;
	struct dwarf_cursor *cursor = &reader->cursor;
	struct value value = {0};

	switch (form) {
	case DW_FORM_string:
		value.text = cursor_text(cursor);
		break;
	case DW_FORM_line_strp:
		value.text = dwarf_text_at(sections[DWARF_LINE_STR],
					   cursor_uint(cursor, reader->offset_size));
		break;
	case DW_FORM_strp:
		value.text =
		    dwarf_text_at(sections[DWARF_STR], cursor_uint(cursor, reader->offset_size));
		break;
	case DW_FORM_udata:
		value.number = cursor_uleb(cursor);
		break;
	case DW_FORM_data1:
		value.number = cursor_u8(cursor);
		break;
	case DW_FORM_data2:
		value.number = cursor_uint(cursor, 2);
		break;
	case DW_FORM_data4:
		value.number = cursor_uint(cursor, 4);
		break;
	case DW_FORM_data8:
		value.number = cursor_uint(cursor, 8);
		break;
	case DW_FORM_data16:
		cursor_take(cursor, 16);
		break;
	case DW_FORM_block:
		cursor_take(cursor, cursor_uleb(cursor));
		break;
	default:
		cursor->failed = true;
		break;
	}
	return value;
}

struct form {
	uint64_t content, form;
};

/* Version 5: each entry has the forms that stand in front. */
static void read_entries(struct reader *reader, bool files)
{
	struct dwarf_cursor *cursor = &reader->cursor;
	struct form forms[256];
	uint8_t form_count = cursor_u8(cursor);
	uint64_t count;

	for (unsigned i = 0; i < form_count; i++) {
		forms[i].content = cursor_uleb(cursor);
		forms[i].form = cursor_uleb(cursor);
	}
	count = cursor_uleb(cursor);
	if (count && !form_count)
		cursor->failed = true;
	for (uint64_t i = 0; i < count && !cursor->failed && !reader->error; i++) {
		const uint8_t *start = cursor->at;
		const char *name = NULL;
		uint64_t folder = 0;

		for (unsigned k = 0; k < form_count; k++) {
			struct value value = read_value(reader, forms[k].form);

			if (forms[k].content == DW_LNCT_path)
				name = value.text;
			else if (forms[k].content == DW_LNCT_directory_index)
				folder = value.number;
		}
		if (cursor->at == start) /* entries of no bytes may be any number */
			cursor->failed = true;
		else if (files)
			add_file(reader, name, folder);
		else
			add_folder(reader, name);
	}
}

/* Versions 2 to 4: texts, the last of them empty. */
static void read_texts(struct reader *reader)
{
	struct dwarf_cursor *cursor = &reader->cursor;
	const char *name;

	while (!reader->error && (name = cursor_text(cursor)) && *name)
		add_folder(reader, name);
	while (!reader->error && (name = cursor_text(cursor)) && *name) {
		uint64_t folder = cursor_uleb(cursor);

		cursor_uleb(cursor);
		cursor_uleb(cursor);
		add_file(reader, name, folder);
	}
}

/* --- the program --- */

struct program {
	uint8_t opcode_base, line_range, step, most_operations;
	int8_t line_base;
	const uint8_t *lengths;
};

struct state {
	uint64_t address, operation, file;
	uint32_t line;
	bool left_out, begun; /* of a sequence: whether its code is not part of the program */
};

static void begin_sequence(struct state *state)
{
	*state = (struct state){.file = 1, .line = 1};
}

static void advance(const struct program *program, struct state *state, uint64_t by)
{
	if (program->most_operations <= 1) {
		state->address += by * program->step;
		return;
	}
	by += state->operation;
	state->address += program->step * (by / program->most_operations);
	state->operation = by % program->most_operations;
}

static void add_row(struct reader *reader, struct state *state, bool goes_on)
{
	const struct line_reading *reading = reader->reading;
	struct line_table *table = reader->table;

	if (!state->begun) {
		state->begun = true;
		state->left_out =
		    reading->is_code && !reading->is_code(reading->context, state->address);
	}
	if (state->left_out || !has_room(reader, &table->rows, table->row_count, &table->row_room,
					 sizeof(*table->rows)))
		return;
	if (table->row_count >= INT32_MAX) {
		reader->error = -EFBIG;
		return;
	}
	table->rows[table->row_count] = (struct line_row){
	    .address = state->address,
	    .file = (state->file < LINE_FILE_MOST ? (uint32_t)state->file : LINE_FILE_MOST) &
		    LINE_FILE_MOST,
	    .goes_on = goes_on,
	    .line = state->line,
	};
	table->row_count++;
}

static void run_extended(struct reader *reader, struct state *state)
{
	struct dwarf_cursor *cursor = &reader->cursor;
	uint64_t size = cursor_uleb(cursor);
	const uint8_t *bytes = cursor_take(cursor, size);
	struct dwarf_cursor inner = {
	    .at = bytes, .end = bytes ? bytes + size : NULL, .swap = cursor->swap};

	if (!bytes || !size)
		return;
	switch (cursor_u8(&inner)) {
	case DW_LNE_end_sequence:
		add_row(reader, state, false);
		begin_sequence(state);
		break;
	case DW_LNE_set_address:
		if (size == 5 || size == 9)
			state->address = cursor_uint(&inner, (unsigned)size - 1);
		state->operation = 0;
		break;
	case DW_LNE_define_file: {
		const char *name = cursor_text(&inner);

		if (name)
			add_file(reader, name, cursor_uleb(&inner));
		break;
	}
	default:
		break;
	}
}

static void run_standard(struct reader *reader, const struct program *program, struct state *state,
			 uint8_t code)
{
	struct dwarf_cursor *cursor = &reader->cursor;

	switch (code) {
	case DW_LNS_copy:
		add_row(reader, state, true);
		break;
	case DW_LNS_advance_pc:
		advance(program, state, cursor_uleb(cursor));
		break;
	case DW_LNS_advance_line:
		state->line += (uint32_t)cursor_sleb(cursor);
		break;
	case DW_LNS_set_file:
		state->file = cursor_uleb(cursor);
		break;
	case DW_LNS_const_add_pc:
		advance(program, state, (255U - program->opcode_base) / program->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		state->address += cursor_uint(cursor, 2);
		state->operation = 0;
		break;
	default:
		for (uint8_t i = 0; i < program->lengths[code - 1]; i++)
			cursor_uleb(cursor);
		break;
	}
}

static void run_program(struct reader *reader, const struct program *program)
{
	struct dwarf_cursor *cursor = &reader->cursor;
	struct state state;

	begin_sequence(&state);
	while (cursor_left(cursor) && !reader->error) {
		uint8_t code = cursor_u8(cursor);

		if (code >= program->opcode_base) {
			uint8_t adjusted = (uint8_t)(code - program->opcode_base);

			advance(program, &state, adjusted / program->line_range);
			state.line +=
			    (uint32_t)(program->line_base + adjusted % program->line_range);
			add_row(reader, &state, true);
		} else if (!code) {
			run_extended(reader, &state);
		} else {
			run_standard(reader, program, &state, code);
		}
	}
}

static int read_table(struct reader *reader)
{
	struct dwarf_cursor *cursor = &reader->cursor;
	struct line_table *table = reader->table;
	struct program program = {.most_operations = 1};
	uint64_t length = cursor_length(cursor, &reader->offset_size);
	const uint8_t *start;

	if (cursor->failed)
		return -EBADMSG;
	cursor->end = cursor->at + length;
	table->version = (uint16_t)cursor_uint(cursor, 2);
	if (cursor->failed || table->version < 2 || table->version > 5)
		return -EBADMSG;
	if (table->version == 5 &&
	    (cursor_u8(cursor) != reader->reading->address_size || cursor_u8(cursor)))
		return -EBADMSG;
	length = cursor_uint(cursor, reader->offset_size);
	if (cursor->failed || length > cursor_left(cursor))
		return -EBADMSG;
	start = cursor->at + length;
	program.step = cursor_u8(cursor);
	if (table->version >= 4)
		program.most_operations = cursor_u8(cursor);
	cursor_u8(cursor); /* default_is_stmt */
	program.line_base = (int8_t)cursor_u8(cursor);
	program.line_range = cursor_u8(cursor);
	program.opcode_base = cursor_u8(cursor);
	program.lengths = cursor_take(cursor, program.opcode_base ? program.opcode_base - 1U : 0);
	if (cursor->failed || !program.opcode_base || !program.line_range)
		return -EBADMSG;
	if (table->version == 5) {
		read_entries(reader, false);
		read_entries(reader, true);
	} else {
		read_texts(reader);
	}
	if (reader->error)
		return reader->error;
	if (cursor->failed)
		return -EBADMSG;
	cursor->at = start;
	if (!reader->reading->without_rows)
		run_program(reader, &program);
	return reader->error;
}

int tally_line_table_read(const struct line_reading *reading, struct line_table *ret)
{
	struct reader reader = {
	    .reading = reading,
	    .table = ret,
	    .left = reading->allowed,
	    .cursor = dwarf_cursor_of(reading->file, DWARF_LINE, reading->offset),
	};

	*ret = (struct line_table){.unit_folder = reading->unit_folder};
	return read_table(&reader);
}

void tally_line_table_done(struct line_table *table)
{
	free(table->folders);
	free(table->files);
	free(table->rows);
	free(table->order);
	*table = (struct line_table){0};
}

/* By address; the end of a sequence before what begins there; the later row last. */
static int compare(const void *a, const void *b, void *context)
{
	const uint64_t *one = a, *other = b;
	const struct line_row *rows = context, *row = &rows[*one], *next = &rows[*other];

	if (row->address != next->address)
		return row->address < next->address ? -1 : 1;
	if (row->goes_on != next->goes_on)
		return row->goes_on ? 1 : -1;
	return *one < *other ? -1 : *one > *other;
}

/* A unit's rows are within 2 GB: sequences are in any order, and in each they ascend.  False: they
 * are not, and nothing was done. */
static bool sort_by_digits(const struct line_table *table, uint64_t *order)
{
	size_t count = table->row_count;
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t address = table->rows[i].address;

		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	if (high - low >= UINT32_MAX / 2)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = ((table->rows[i].address - low) << 1 | table->rows[i].goes_on) << 32 | i;
	tally_address_sort(order, order + count, count);
	return true;
}

int tally_line_table_sort(struct line_table *table)
{
	const struct line_row *rows = table->rows;
	size_t count = table->row_count, kept = 0;
	uint64_t *order = calloc(count + 1, 2 * sizeof(*order));

	if (!order)
		return -ENOMEM;
	table->order = order;
	if (count && !sort_by_digits(table, order)) {
		for (size_t i = 0; i < count; i++)
			order[i] = i;
		qsort_r(order, count, sizeof(*order), compare, table->rows);
	}
	for (size_t i = 0; i < count; i++) {
		const struct line_row *row = &rows[(uint32_t)order[i]];
		const struct line_row *last = kept ? &rows[(uint32_t)order[kept - 1]] : NULL;

		if (last && last->address == row->address)
			last = --kept ? &rows[(uint32_t)order[kept - 1]] : NULL;
		if (last && last->goes_on == row->goes_on &&
		    (!row->goes_on || (last->line == row->line && last->file == row->file)))
			continue;
		order[kept++] = order[i];
	}
	table->order_count = kept;
	return 0;
}

size_t tally_line_table_path(const struct line_table *table, uint64_t file, char *ret, size_t size)
{
	bool from_zero = table->version >= 5; /* else 0 is no file, and the unit's own folder */
	uint64_t at = from_zero ? file : file - 1;
	const char *name = at < table->file_count ? table->files[at].name : NULL;
	const char *folder = NULL, *below = NULL;
	int length;

	if (!name) {
		length = snprintf(ret, size, "<unknown>");
	} else if (*name == '/') {
		length = snprintf(ret, size, "%s", name);
	} else {
		at = from_zero ? table->files[at].folder : table->files[at].folder - 1;
		if (at < table->folder_count)
			below = table->folders[at];
		if (!below || *below != '/')
			folder = table->unit_folder;
		if (!folder) {
			folder = below;
			below = NULL;
		}
		length = !folder  ? snprintf(ret, size, "%s", name)
			 : !below ? snprintf(ret, size, "%s/%s", folder, name)
				  : snprintf(ret, size, "%s/%s/%s", folder, below, name);
	}
	return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}
