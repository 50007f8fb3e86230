/* Recordings to be damaged: of each kind one, small, the same bytes each time. */
#ifndef TALLY_TESTS_MADE_H
#define TALLY_TESTS_MADE_H

#include <stddef.h>

#define MADE_COUNT 10

/* What the recording is, for messages; NULL: this one cannot be made here (without libzstd). */
const char *made_write(size_t which, const char *path);

#endif
