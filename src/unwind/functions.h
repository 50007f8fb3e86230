/* Where the functions of a binary begin and end, for code that no symbol names: as its call frame
 * information says, its PLT, or the symbols around.
 *
 * Sources: Linux Standard Base 5.0, 10.6 (.eh_frame and .eh_frame_hdr). */
#ifndef TALLY_UNWIND_FUNCTIONS_H
#define TALLY_UNWIND_FUNCTIONS_H

#include <stdint.h>

struct tally_functions;
struct tally_image;

struct tally_function {
	uint64_t start, end; /* [start, end), file offsets */
	uint64_t address;    /* of the start, as the file's own addresses count */
};

/* Reads what the image has; of a large binary only the table of starts.  The image is borrowed.
 * Finding is thread safe.  NULL: out of memory. */
struct tally_functions *tally_functions_new(struct tally_image *image);
void tally_functions_free(struct tally_functions *functions);

/* The function around a place that has no symbol.  0, or -ENOENT: nothing says where it is. */
int tally_functions_find(const struct tally_functions *functions, uint64_t place,
			 struct tally_function *ret);
/* A place as the file's own addresses count. */
uint64_t tally_functions_address(const struct tally_functions *functions, uint64_t place);

#endif
