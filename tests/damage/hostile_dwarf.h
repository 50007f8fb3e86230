/* Debug and call frame information that is made to exhaust a reader: sections to be added to a
 * binary whose code is known.  `scale` as in hostile.h. */
#ifndef TALLY_TESTS_HOSTILE_DWARF_H
#define TALLY_TESTS_HOSTILE_DWARF_H

#include "elf_made.h"
#include "hostile.h"

/* A unit with inlined functions whose names are in another file. */
void hostile_dwarf_alt(struct elf_made *elf, uint64_t code, uint64_t code_end);
void hostile_functions(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_functions_packed(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_rows(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_rows_packed(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_files(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_origins(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_siblings(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_depth(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_units(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_bases(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_cfi_commons(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_cfi_sets(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_cfi_expressions(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
void hostile_cfi_packed(struct hostile *hostile, struct elf_made *elf, uint64_t scale);
/* A compressed small table of so many bytes; without liblzma nothing. */
void hostile_debugdata(struct elf_made *elf, uint64_t size);

#endif
