/* Where the functions of a binary begin and end, for code without symbols: by its call frame
 * information, its PLT, or the symbols around.
 *
 * Sources: Linux Standard Base 5.0, 10.6 (.eh_frame and .eh_frame_hdr). */
#ifndef TALLY_UNWIND_FUNCTIONS_H
#define TALLY_UNWIND_FUNCTIONS_H

#include <stdint.h>

struct tally_functions;
struct tally_image;

struct tally_function {
	uint64_t start, end; /* [start, end), file offsets */
	uint64_t address;    /* of the start, by the file's own addresses */
};

/* Reads what the image has; of a large binary only the table of starts. The image is borrowed.
 * Finding is thread safe. NULL: out of memory. */
struct tally_functions *tally_functions_new(struct tally_image *image);
void tally_functions_free(struct tally_functions *functions);

/* The function around a place without a symbol. 0, or -ENOENT: unknown. */
int tally_functions_find(const struct tally_functions *functions, uint64_t place,
			 struct tally_function *ret);
/* A place as an address of the file. */
uint64_t tally_functions_address(const struct tally_functions *functions, uint64_t place);

#endif
