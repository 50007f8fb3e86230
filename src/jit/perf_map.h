/* Symbols of code made at run time, from the text files that JIT compilers write for perf. */
#ifndef TALLY_JIT_PERF_MAP_H
#define TALLY_JIT_PERF_MAP_H

#include <stddef.h>
#include "elf/symbol_table.h"

/* Lines "START SIZE name", hex, absolute addresses (Linux
 * tools/perf/Documentation/jit-interface.txt). Takes `text` over, malloc'ed and with a NUL
 * behind `size` bytes; the table keeps it for the names.  Where code was made anew at the same
 * place, the later line wins.  0, -ENOMEM, or -EOVERFLOW from 4 GB on. */
int tally_perf_map_parse(char *text, size_t size, struct tally_symbol_table *table);

#endif
