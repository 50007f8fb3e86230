#include "dwarf/lines_dwarf.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a unit takes, libdw's part too. */
#define UNIT_COST 640U
/* At most so many units without address ranges are searched for an address. */
#define UNPLACED_MOST 4096U

bool tally_line_units_exist(const struct tally_elf *elf)
{
	static const char *const names[] = {".debug_info", ".zdebug_info"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct tally_elf_section *section = tally_elf_find(elf, names[i], SHT_NULL);

		if (section && section->header.sh_type != SHT_NOBITS && section->header.sh_size)
			return true;
	}
	return false;
}

static int add_unplaced(struct tally_line_units *units, uint32_t index)
{
	if (units->unplaced_count == units->unplaced_room) {
		size_t room = units->unplaced_room ? units->unplaced_room * 2 : 16;
		void *grown = reallocarray(units->unplaced, room, sizeof(*units->unplaced));

		if (!grown)
			return -ENOMEM;
		units->unplaced = grown;
		units->unplaced_room = room;
	}
	units->unplaced[units->unplaced_count++] = index;
	return 0;
}

static int add_unit(struct tally_line_units *units, Dwarf_Die *die, Dwarf_Off end)
{
	uint32_t index = (uint32_t)units->count;
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t at = 0;
	bool placed = false;
	int error = 0;

	if (units->count == units->room) {
		size_t room = units->room ? units->room * 2 : 64;
		void *grown = room < UINT32_MAX
				  ? reallocarray(units->list, room, sizeof(*units->list))
				  : NULL;

		if (!grown)
			return -ENOMEM;
		units->list = grown;
		units->room = room;
	}
	if (!budget_take(&units->budget, UNIT_COST))
		return -EFBIG;
	units->list[units->count++] =
	    (struct tally_line_unit){.die = dwarf_dieoffset(die), .end = end};
	while (!error && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		placed |= low < high;
		if (!budget_take(&units->budget, 2 * sizeof(struct tally_span)))
			return -EFBIG;
		error = tally_spans_add(&units->spans, low, high, index);
	}
	return error || placed ? error : add_unplaced(units, index);
}

static int read_units(struct tally_line_units *units)
{
	Dwarf_Off at = 0, next;
	size_t header;
	int error = 0;

	while (!error && !dwarf_nextcu(units->dwarf, at, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die die;

		if (next <= at)
			break;
		if (dwarf_offdie(units->dwarf, at + header, &die) &&
		    dwarf_tag(&die) != DW_TAG_type_unit)
			error = add_unit(units, &die, next);
		at = next;
	}
	return error;
}

/* A section that libdw has expanded by now. */
static struct tally_lines_text text_of(const struct tally_elf *elf, const char *name)
{
	for (size_t i = 1; i < elf->section_count; i++) {
		const struct tally_elf_section *section = &elf->sections[i];
		const char *of = section->name;
		Elf_Data *data;

		of += !strncmp(of, ".z", 2) ? 2 : *of == '.';
		if (!section->scn || strcmp(of, name) != 0)
			continue;
		data = elf_getdata(section->scn, NULL);
		return data && data->d_buf ? (struct tally_lines_text){data->d_buf, data->d_size}
					   : (struct tally_lines_text){0};
	}
	return (struct tally_lines_text){0};
}

static int open_dwarf(struct tally_line_units *units, const struct tally_elf *elf)
{
	const uint16_t one = 1;
	bool little = *(const uint8_t *)&one == 1;

	if (!tally_lines_fit(elf)) {
		units->budget.spent = true;
		return -ENOENT;
	}
	units->dwarf = dwarf_begin_elf(elf->elf, DWARF_C_READ, NULL);
	if (!units->dwarf)
		return -ENOENT;
	units->foreign = (elf->header.e_ident[EI_DATA] == ELFDATA2LSB) != little;
	units->sections.line = text_of(elf, "debug_line");
	units->sections.line_str = text_of(elf, "debug_line_str");
	units->sections.str = text_of(elf, "debug_str");
	return tally_lines_alt_open(&units->alt, units->dwarf, elf);
}

int tally_line_units_open(struct tally_line_units *units, const struct tally_elf *elf)
{
	int error;

	*units = (struct tally_line_units){.budget.left = elf->allowed, .alt.elf.fd = -1};
	if (!tally_line_units_exist(elf))
		return -ENOENT;
	error = open_dwarf(units, elf);
	if (!error)
		error = read_units(units);
	if (error) {
		bool spent = units->budget.spent;

		tally_line_units_done(units);
		units->budget.spent = spent;
		return error == -EFBIG ? -ENOENT : error;
	}
	tally_spans_finish(&units->spans);
	return 0;
}

void tally_line_units_done(struct tally_line_units *units)
{
	for (size_t i = 0; i < units->count; i++) {
		free(units->list[i].functions);
		tally_spans_done(&units->list[i].spans);
	}
	free(units->list);
	free(units->unplaced);
	tally_spans_done(&units->spans);
	if (units->dwarf)
		dwarf_end(units->dwarf);
	tally_lines_alt_close(&units->alt);
	*units = (struct tally_line_units){.alt.elf.fd = -1};
}

/* The smallest range; of equal ones that of the later entry, which is the inner one. */
static struct tally_line_function *innermost(struct tally_line_unit *unit, uint64_t address)
{
	const struct tally_span *best = NULL;

	uint32_t looked_at = 0;

	for (const struct tally_span *span = tally_spans_first(&unit->spans, address, &looked_at);
	     span; span = tally_spans_next(&unit->spans, span, address, &looked_at)) {
		uint64_t size = span->high - span->low;

		if (!best || size < best->high - best->low ||
		    (size == best->high - best->low && span->index > best->index))
			best = span;
	}
	return best ? &unit->functions[best->index] : NULL;
}

/* The last row at or before the address, unless a run of code ends there. */
static bool find_row(const struct tally_line_unit *unit, uint64_t address,
		     struct tally_line_found *ret)
{
	size_t from = 0, to = unit->line_count;
	Dwarf_Addr at;
	bool ends;
	int line;
	Dwarf_Line *row;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (dwarf_lineaddr(dwarf_onesrcline(unit->lines, middle), &at))
			return false;
		if (at <= address)
			from = middle + 1;
		else
			to = middle;
	}
	row = from ? dwarf_onesrcline(unit->lines, from - 1) : NULL;
	if (!row || dwarf_lineendsequence(row, &ends) || ends || dwarf_lineno(row, &line))
		return false;
	ret->file = dwarf_linesrc(row, NULL, NULL);
	ret->named = true;
	ret->line = line > 0 ? (uint32_t)line : 0;
	return true;
}

static int find_in(struct tally_line_units *units, uint32_t index, uint64_t address,
		   struct tally_line_found *ret)
{
	struct tally_line_unit *unit = &units->list[index];
	struct tally_line_found found = {.unit = unit};
	int error = tally_line_unit_read(units, unit);
	bool line;

	if (error)
		return error;
	if (unit->useless)
		return -ENOENT;
	line = find_row(unit, address, &found);
	found.function = innermost(unit, address);
	if (!line && !found.function)
		return -ENOENT;
	if (found.function)
		tally_line_function_read(units->dwarf, unit, found.function);
	*ret = found;
	return 0;
}

/* The units that say they hold the address, in the order of the file. */
static int find_placed(struct tally_line_units *units, uint64_t address,
		       struct tally_line_found *ret)
{
	uint32_t looked_at = 0;

	for (uint64_t after = 0;;) {
		uint64_t next = UINT64_MAX;
		int error;

		for (const struct tally_span *span =
			 tally_spans_first(&units->spans, address, &looked_at);
		     span; span = tally_spans_next(&units->spans, span, address, &looked_at))
			if (span->index >= after && span->index < next)
				next = span->index;
		if (next == UINT64_MAX)
			return -ENOENT;
		error = find_in(units, (uint32_t)next, address, ret);
		if (error != -ENOENT)
			return error;
		after = next + 1;
	}
}

int tally_line_units_find(struct tally_line_units *units, uint64_t address,
			  struct tally_line_found *ret)
{
	int error = find_placed(units, address, ret);

	for (size_t i = 0; i < units->unplaced_count && i < UNPLACED_MOST && error == -ENOENT; i++)
		error = find_in(units, units->unplaced[i], address, ret);
	return error;
}

struct tally_line_function *tally_line_caller(struct tally_line_units *units,
					      struct tally_line_unit *unit,
					      const struct tally_line_function *function)
{
	struct tally_line_function *caller;

	if (!function->inlined || !function->caller || function->caller > unit->count)
		return NULL;
	caller = &unit->functions[function->caller - 1];
	tally_line_function_read(units->dwarf, unit, caller);
	return caller;
}
