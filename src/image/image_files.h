/* The files that the symbols and lines of images came from: what an archive takes along. */
#ifndef TALLY_IMAGE_IMAGE_FILES_H
#define TALLY_IMAGE_IMAGE_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include "elf/elf_file.h"
#include "image/image.h"

struct tally_image_file {
	/* How an archive names it: tally_archive_name(). */
	const char *path;
	uint8_t id[20], id_size;
	const char *leaf;
	/* Its bytes: of `elf`, or, when that is NULL, these. */
	const struct tally_elf *elf;
	const void *bytes;
	size_t size;
};

/* Borrowed during the visit.  Not 0 ends it, and is returned. */
typedef int (*tally_image_file_fn)(void *context, const struct tally_image_file *file);

/* Visits the files of an image whose symbols were asked for; of one that was not, none.  0, what
 * `visit` gave, or -ENOMEM.  Not while other threads use the image. */
int tally_image_each_file(struct tally_image *image, tally_image_file_fn visit, void *context);

/* What this machine lacks of a binary's files. */
struct tally_image_lacks {
	uint8_t id[20], id_size;         /* of the build */
	bool symbols, lines;             /* no file has a .symtab, or debug information */
	bool binary;                     /* nor is the binary itself here */
	uint8_t shared[20], shared_size; /* of the file that its debug information shares with
					  * others; 0: it names none, or that is here */
};
/* Of a binary, without loading its symbols.  False: it is of another kind, or of an unknown build.
 */
bool tally_image_find_lacks(const struct tally_image *image, struct tally_image_lacks *ret);

/* All images, in order of arrival; NULL: one that was forgotten. */
size_t tally_image_store_count(const struct tally_image_store *store);
struct tally_image *tally_image_store_at(const struct tally_image_store *store, size_t index);
/* How many there are without the forgotten ones. */
size_t tally_image_store_held(const struct tally_image_store *store);

#endif
