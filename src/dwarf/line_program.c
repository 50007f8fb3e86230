#include "dwarf/line_program.h"

#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"
#include "base/table.h"
#include "dwarf/lines_alt.h"
#include "dwarf/split_unit.h"
#include "dwarf/object_file.h"

/* A unit's head and first entry are not smaller. */
#define UNIT_LEAST 12

static int list_units(const struct dwarf_file *file, struct dwarf_unit_list *ret)
{
	size_t most = file->sections[DWARF_INFO].size / UNIT_LEAST + 1;
	uint64_t offset = 0;

	ret->file = file;
	for (;;) {
		struct dwarf_unit unit;
		uint64_t at = offset;
		int error = tally_dwarf_unit_next(file, &offset, &unit);

		if (error == -ENOENT || ret->count == most || ret->count == UINT32_MAX / 2)
			return 0;
		if (!array_next(&ret->offsets, &ret->room, ret->count, 64, sizeof(*ret->offsets)))
			return -ENOMEM;
		ret->offsets[ret->count++] = at;
	}
}

bool tally_dwarf_unit_around(const struct dwarf_unit_list *list, uint64_t offset,
			     struct dwarf_unit *ret)
{
	size_t from = SORTED_BOUND(middle, 0, list->count, list->offsets[middle] <= offset);
	uint64_t at;

	if (!from)
		return false;
	at = list->offsets[from - 1];
	return !tally_dwarf_unit_next(list->file, &at, ret) && offset < ret->end;
}

bool tally_line_program_is_code(const void *program, uint64_t address)
{
	const struct line_program *of = program;

	return tally_line_section(of->symbol_file, address) != 0;
}

/* Where the first section in memory begins. */
static uint64_t base_of(const struct tally_elf *elf)
{
	uint64_t base = UINT64_MAX;

	for (size_t i = 1; i < elf->section_count; i++) {
		const GElf_Shdr *header = &elf->sections[i].header;

		if (elf->sections[i].scn && header->sh_flags & SHF_ALLOC &&
		    header->sh_flags & SHF_EXECINSTR && header->sh_addr < base)
			base = header->sh_addr;
	}
	return base == UINT64_MAX ? 0 : base;
}

static int open_units(struct line_program *program, const struct tally_elf *elf)
{
	int error = tally_dwarf_file_read(&program->file, elf, false);

	if (error) {
		program->left_out = error == -EFBIG;
		return error == -ENOMEM ? error : 0;
	}
	program->has_units = true;
	error = list_units(&program->file, &program->units);
	if (error)
		return error;
	if (tally_lines_alt_named(elf)) {
		program->has_alternate =
		    tally_lines_alt_find(elf, &program->alternate_elf) &&
		    !tally_dwarf_file_read(&program->alternate, &program->alternate_elf, false);
		if (program->has_alternate)
			error = list_units(&program->alternate, &program->alternate_units);
		else
			program->lacks = true;
	}
	program->has_package =
	    !tally_split_package_open(elf, &program->package_elf) &&
	    !tally_dwarf_file_read(&program->package, &program->package_elf, true);
	return error;
}

int tally_line_program_open(struct line_program *program, const struct tally_elf *binary,
			    const struct tally_elf *debug)
{
	const struct tally_elf *elf = debug->elf ? debug : binary;
	int error;

	*program = (struct line_program){
	    .binary = *binary,
	    .debug = *debug,
	    .alternate_elf.fd = -1,
	    .package_elf.fd = -1,
	    .allowed = elf->allowed,
	};
	if (elf_is_object(&program->binary))
		tally_object_lay_out(&program->binary);
	if (elf_is_object(&program->debug))
		tally_object_lay_out(&program->debug);
	program->base = base_of(elf);
	program->symbol_file = debug->elf ? &program->debug : &program->binary;
	error = tally_line_symbols_read(&program->symbols, program->symbol_file);
	if (error) {
		program->binary = program->debug = (struct tally_elf){.fd = -1};
		tally_line_program_close(program);
	}
	return error;
}

int tally_line_program_open_units(struct line_program *program)
{
	if (!program->units_open)
		program->units_error = open_units(program, program->symbol_file);
	program->units_open = true;
	return program->units_error;
}

int tally_line_program_open_locations(struct line_program *program)
{
	int error = 0;

	if (!program->locations_open && program->has_units)
		error =
		    tally_dwarf_file_read_locations(&program->file, program->symbol_file, false);
	program->locations_open = true;
	return error;
}

void tally_line_program_close(struct line_program *program)
{
	tally_line_symbols_done(&program->symbols);
	free(program->units.offsets);
	free(program->alternate_units.offsets);
	tally_dwarf_file_done(&program->file);
	tally_dwarf_file_done(&program->alternate);
	tally_dwarf_file_done(&program->package);
	tally_elf_close(&program->alternate_elf);
	tally_elf_close(&program->package_elf);
	tally_elf_close(&program->binary);
	tally_elf_close(&program->debug);
}
