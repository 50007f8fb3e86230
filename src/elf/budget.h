/* The memory that may still be used for one binary: see elf_allowed(). */
#ifndef TALLY_ELF_BUDGET_H
#define TALLY_ELF_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct tally_budget {
	uint64_t left; /* bytes */
	bool spent;    /* something was refused */
};

static inline bool budget_take(struct tally_budget *budget, uint64_t bytes)
{
	if (bytes > budget->left) {
		budget->spent = true;
		return false;
	}
	budget->left -= bytes;
	return true;
}

#endif
