/* Names that compilers which run with the program give to their code. */
#ifndef TALLY_JIT_COMPILED_NAME_H
#define TALLY_JIT_COMPILED_NAME_H

#include <stddef.h>

/* V8 puts a mark before a function's name that says which of its compilers made the code:
 * "JS:*name file:1:2".  Where the mark is; 0: there is none. */
size_t tally_compiled_name(const char *name);

#endif
