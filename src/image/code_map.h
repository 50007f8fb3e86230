/* Where the code of a binary is in its file, and where its table of functions is: how functions
 * are found where there are no symbols. */
#ifndef TALLY_IMAGE_CODE_MAP_H
#define TALLY_IMAGE_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include "elf/elf_file.h"

struct tally_image;

/* A run of code, by places (file offsets). */
struct tally_code_span {
	uint64_t start, end;
	uint32_t stub; /* bytes of each stub of a PLT; 0: it is none */
};

struct tally_code_map {
	unsigned word;    /* bytes of an address: 4 or 8; 0: the image cannot be read */
	uint16_t machine; /* EM_*; EM_NONE: unknown */
	bool is_64_bit, big_endian;
	struct tally_elf_load *loads;
	size_t load_count;
	struct tally_code_span *spans;
	size_t span_count;
	/* .eh_frame_hdr: a place, its bytes, the address there; size 0: there is none. */
	uint64_t table_place, table_size, table_address;
	uint64_t allowed; /* bytes that what is made of the file may take */
};

/* For tally_code_map_done().  Of files of another byte order only the machine and the segments are
 * read.  0 or -ENOMEM. */
int tally_image_code_map(struct tally_image *image, struct tally_code_map *ret);
void tally_code_map_done(struct tally_code_map *map);

/* The segment that holds a place, or an address; NULL: none does. */
const struct tally_elf_load *tally_code_map_load(const struct tally_code_map *map, uint64_t place);
const struct tally_elf_load *tally_code_map_load_at(const struct tally_code_map *map,
						    uint64_t address);
/* The run of code that holds a place; NULL: none does. */
const struct tally_code_span *tally_code_map_span(const struct tally_code_map *map, uint64_t place);

/* Where the symbol before a place that none was found for ends; 0: there is none before. */
uint64_t tally_image_gap_start(const struct tally_image *image, uint64_t place);

#endif
