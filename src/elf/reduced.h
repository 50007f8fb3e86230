/* A binary without the bytes that symbols, lines and unwinding do not need. */
#ifndef TALLY_ELF_REDUCED_H
#define TALLY_ELF_REDUCED_H

#include "elf/elf_file.h"
#include "tar/tar.h"

struct tally_elf_reduced { /* all zero is none */
	int fd;            /* the copy, with holes: all that is left is where it was */
	uint64_t size;
	struct tally_tar_run *runs; /* what is left, ascending */
	size_t run_count;
};

/* What is left out besides what nobody reads (.debug_loc and their like, .comment). */
#define TALLY_REDUCED_CODE  1U /* code and constants: all but stubs and tables of functions */
#define TALLY_REDUCED_LINES 2U /* source lines and inlined functions */

/* Sections that are left out become SHT_NOBITS, so that nobody takes the holes for their bytes.  Of
 * a file without sections nothing is left out.  0; -ENODATA: it is in memory; -errno. */
int tally_elf_reduce(const struct tally_elf *elf, unsigned leave_out,
		     struct tally_elf_reduced *ret);
void tally_elf_reduced_done(struct tally_elf_reduced *reduced);

/* Whether a section of code has no bytes in the file though it should. */
static inline bool elf_section_left_out(const struct tally_elf_section *section)
{
	return section->scn && section->header.sh_type == SHT_NOBITS &&
	       (section->header.sh_flags & SHF_EXECINSTR) && (section->header.sh_flags & SHF_ALLOC);
}

#endif
