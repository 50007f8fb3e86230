/* Binaries that are made to exhaust or to block the program that reads them, a few hundred bytes to
 * some megabytes each. */
#ifndef TALLY_TESTS_HOSTILE_H
#define TALLY_TESTS_HOSTILE_H

#include <stddef.h>
#include <stdint.h>

/* What is written, and how large: `scale` of 1000 is what made readers of binaries fail. */
struct hostile {
	const char *folder; /* for what stands beside the binary: FIFOs, links */
	const char *path;   /* the binary's own */
	uint64_t random;
	uint64_t scale;
	uint64_t code;     /* the binary's code as a file offset, */
	uint64_t code_end; /* for samples */
};

size_t hostile_count(void);
const char *hostile_name(size_t which);
/* Writes it to hostile->path, and sets the rest. */
void hostile_write(size_t which, struct hostile *hostile);
uint64_t hostile_draw(struct hostile *hostile, uint64_t most);

#endif
