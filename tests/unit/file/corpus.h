/* The corpus of recordings by others, row by row of its manifest. */
#ifndef TALLY_TESTS_CORPUS_H
#define TALLY_TESTS_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

struct corpus_row {       /* borrowed during the visit */
	const char *path; /* of the file, usable as it is */
	const char *format, *arch, *kernel, *attr_size, *events, *counts, *notes;
};

/* False when TALLY_CORPUS is not set or has no manifest. */
bool corpus_each(void (*visit)(const struct corpus_row *row, void *context), void *context);
/* The number behind "TYPE=" in the counts of a row; 0 when it is not there. */
uint64_t corpus_count(const char *counts, const char *type);

#endif
