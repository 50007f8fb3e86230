/* Names for the procedure linkage table: the stubs through which a binary calls shared functions.
 */
#ifndef TALLY_ELF_PLT_H
#define TALLY_ELF_PLT_H

#include "elf/budget.h"
#include "elf/elf_file.h"
#include "elf/symbol_list.h"

/* Adds `name@plt` for the stubs of .plt, .plt.sec and .plt.got.  `list` is the finished list of the
 * same image: it names the targets of stubs without a symbol (IRELATIVE).  Of a file with damaged
 * tables, or if the budget does not allow all names, some are left out.  0 or -ENOMEM. */
int tally_plt_add(const struct tally_elf *elf, bool demangled, struct tally_budget *budget,
		  struct tally_symbol_list *list);

#endif
