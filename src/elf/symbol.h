/* One symbol of a binary or of the kernel. */
#ifndef TALLY_ELF_SYMBOL_H
#define TALLY_ELF_SYMBOL_H

#include <stdint.h>

struct tally_symbol {
	uint64_t start, end; /* [start, end), file offsets; kernel: addresses */
	const char *name;    /* demangled as asked; untrusted; lives as long as the image */
	uint8_t binding;     /* STB_* */
	uint8_t type;        /* STT_* */
};

#endif
