#include "dwarf/lines_cost.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "base/bytes.h"
#include "elf/elf_file.h"

/* What libdw 0.188 takes of memory: of each row while it reads them, and after that. */
#define ROW_WHILE 144U
#define ROW_AFTER 48U
#define FILE_COST 96U

struct reading {
	const uint8_t *at, *end;
	bool failed, is_long;
};

static const uint8_t *take(struct reading *reading, uint64_t size)
{
	const uint8_t *at = reading->at;

	if (reading->failed || size > (uint64_t)(reading->end - at)) {
		reading->failed = true;
		return NULL;
	}
	reading->at += size;
	return at;
}

static uint64_t fixed(struct reading *reading, unsigned size)
{
	const uint8_t *at = take(reading, size);

	return at ? load_uint(at, size) : 0;
}

static uint64_t leb(struct reading *reading)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = fixed(reading, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/* The length of a text; longer ones are no paths. */
static uint64_t text(struct reading *reading)
{
	size_t left = (size_t)(reading->end - reading->at);
	size_t length =
	    strnlen((const char *)reading->at, left < TALLY_NAME_MOST ? left : TALLY_NAME_MOST);

	if (reading->failed || length == left || length == TALLY_NAME_MOST)
		reading->failed = true;
	else
		reading->at += length + 1;
	return length;
}

static uint64_t text_at(struct reading *reading, const struct tally_lines_text *section)
{
	uint64_t offset = fixed(reading, reading->is_long ? 8 : 4);
	struct reading other = {0};
	uint64_t length;

	if (reading->failed || offset >= section->size) {
		reading->failed = true;
		return 0;
	}
	other.at = section->bytes + offset;
	other.end = section->bytes + section->size;
	length = text(&other);
	reading->failed |= other.failed;
	return length;
}

/* Passes a value over; of a text its length. */
static uint64_t value(struct reading *reading, const struct tally_lines_sections *sections,
		      uint64_t form)
{
	switch (form) {
	case DW_FORM_string:
		return text(reading);
	case DW_FORM_line_strp:
		return text_at(reading, &sections->line_str);
	case DW_FORM_strp:
		return text_at(reading, &sections->str);
	case DW_FORM_udata:
		leb(reading);
		return 0;
	case DW_FORM_data1:
		fixed(reading, 1);
		return 0;
	case DW_FORM_data2:
		fixed(reading, 2);
		return 0;
	case DW_FORM_data4:
		fixed(reading, 4);
		return 0;
	case DW_FORM_data8:
		fixed(reading, 8);
		return 0;
	case DW_FORM_data16:
		take(reading, 16);
		return 0;
	case DW_FORM_block:
		take(reading, leb(reading));
		return 0;
	default:
		reading->failed = true;
		return 0;
	}
}

struct names { /* of folders, or of files */
	uint64_t count, longest, total;
};

static void add_name(struct names *names, uint64_t length)
{
	names->count++;
	names->total += length;
	if (length > names->longest)
		names->longest = length;
}

/* Version 5: each entry has the forms that stand in front. */
static void read_entries(struct reading *reading, const struct tally_lines_sections *sections,
			 struct names *ret)
{
	uint8_t forms[256];
	uint64_t form_count = fixed(reading, 1), count;

	for (uint64_t i = 0; i < form_count; i++) {
		uint64_t form;

		leb(reading);
		form = leb(reading);
		reading->failed |= form > UINT8_MAX;
		forms[i] = (uint8_t)form;
	}
	count = leb(reading);
	if (count && !form_count)
		reading->failed = true;
	for (uint64_t i = 0; i < count && !reading->failed; i++) {
		uint64_t length = 0;

		for (uint64_t form = 0; form < form_count; form++)
			length += value(reading, sections, forms[form]);
		add_name(ret, length);
	}
}

/* Versions 2 to 4: texts, the last of them empty; of files three numbers behind each. */
static void read_texts(struct reading *reading, bool files, struct names *ret)
{
	uint64_t length;

	while (!reading->failed && (length = text(reading))) {
		add_name(ret, length);
		for (int i = 0; files && i < 3; i++)
			leb(reading);
	}
}

/* Source: DWARF 5, 6.2.5: what makes a row, and how long each instruction is. */
static uint64_t count_rows(struct reading *program, uint64_t opcode_base, const uint8_t *lengths,
			   struct names *files)
{
	uint64_t rows = 0;

	while (!program->failed && program->at < program->end) {
		uint64_t code = fixed(program, 1);

		if (code >= opcode_base) {
			rows++;
		} else if (!code) {
			const uint8_t *extended = take(program, leb(program));

			if (!extended || extended == program->at)
				continue;
			rows += *extended == DW_LNE_end_sequence;
			files->count += *extended == DW_LNE_define_file;
		} else if (code == DW_LNS_fixed_advance_pc) {
			take(program, 2);
		} else {
			rows += code == DW_LNS_copy;
			for (uint8_t i = 0; i < lengths[code - 1]; i++)
				leb(program);
		}
	}
	return rows;
}

int tally_lines_cost(const struct tally_lines_sections *sections, uint64_t offset,
		     unsigned address_size, uint64_t *ret_while, uint64_t *ret_after)
{
	struct reading reading = {0};
	struct names folders = {0}, files = {0};
	uint64_t length, version, opcode_base, rows, paths;
	const uint8_t *program, *lengths;

	if (offset >= sections->line.size)
		return -EBADMSG;
	reading.at = sections->line.bytes;
	reading.end = sections->line.bytes + sections->line.size;
	reading.at += offset;
	length = fixed(&reading, 4);
	reading.is_long = length == UINT32_MAX;
	if (reading.is_long)
		length = fixed(&reading, 8);
	if (reading.failed || length > (uint64_t)(reading.end - reading.at))
		return -EBADMSG;
	reading.end = reading.at + length;
	version = fixed(&reading, 2);
	if (version < 2 || version > 5)
		return -EBADMSG;
	if (version == 5 && (fixed(&reading, 1) != address_size || fixed(&reading, 1)))
		return -EBADMSG;
	length = fixed(&reading, reading.is_long ? 8 : 4);
	if (reading.failed || length > (uint64_t)(reading.end - reading.at))
		return -EBADMSG;
	program = reading.at + length;
	take(&reading, version >= 4 ? 5 : 4);
	opcode_base = fixed(&reading, 1);
	lengths = take(&reading, opcode_base ? opcode_base - 1 : 0);
	if (version == 5) {
		read_entries(&reading, sections, &folders);
		read_entries(&reading, sections, &files);
	} else {
		read_texts(&reading, false, &folders);
		read_texts(&reading, true, &files);
	}
	if (reading.failed || !opcode_base || program < reading.at)
		return -EBADMSG;
	reading.at = program;
	rows = count_rows(&reading, opcode_base, lengths, &files);
	/* Each file's path has its folder in front; the counts are bounded by the section's size,
	 * so that nothing here overflows. */
	paths = folders.count * FILE_COST + folders.total +
		files.count * (folders.longest + FILE_COST) + files.total;
	*ret_while = rows * ROW_WHILE + paths;
	*ret_after = rows * ROW_AFTER + paths;
	return 0;
}
