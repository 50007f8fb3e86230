/* Source lines, inlined functions and types of accesses of an ELF file with debug information: of
 * the start and the middle of its symbols, and of places all over the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "image/data_accesses.h"
#include "image/image.h"
#include "image/inlines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SYMBOLS 64
#define PLACES  64
#define INSNS   64 /* bytes of a function that instructions may begin at */

static volatile size_t sink;

static int take_member(void *context, const struct data_member *member)
{
	(void)context;
	sink += strlen(member->type) + member->size;
	return 0;
}

static void ask_type(struct tally_image *image, uint64_t place)
{
	struct data_types *types = NULL;
	struct data_access access;

	if (tally_image_data_access(image, place, &access, &types) ||
	    access.outcome != ACCESS_FOUND)
		return;
	sink += strlen(tally_data_type_name(types, access.type));
	sink += strlen(tally_data_type_path(types, access.type, access.offset));
	(void)tally_data_type_layout(types, access.type, take_member, NULL);
}

static void ask_of(struct tally_image *image, uint64_t place)
{
	const struct tally_inline *inlines, *again;
	struct tally_line line = {0};
	size_t count, count_again;

	if (!tally_image_line(image, place, &line))
		sink += strlen(line.file);
	ask_type(image, place);
	if (tally_image_inlines(image, place, &inlines, &count))
		return;
	for (size_t i = 0; i < count; i++)
		sink += strlen(inlines[i].name) + strlen(inlines[i].file) + inlines[i].line;
	if (tally_image_inlines(image, place, &again, &count_again) || count != count_again ||
	    (count && again != inlines))
		abort();
}

static void ask(const char *path, size_t size)
{
	struct tally_image_options options = {
	    .size = sizeof(options), .debug_root = "/nonexistent", .build_id_dir = "/nonexistent"};
	struct tally_image_key key = {.path = path};
	struct tally_image_store *store;
	struct tally_image *image;
	size_t count;

	if (tally_image_store_new(&options, &store))
		return;
	image = tally_image_get(store, &key);
	count = image ? tally_image_symbol_count(image) : 0;
	for (size_t i = 0; i < count && i < SYMBOLS; i++) {
		const struct tally_symbol *symbol = tally_image_symbol(image, (int64_t)i);

		ask_of(image, symbol->start);
		ask_of(image, symbol->start + (symbol->end - symbol->start) / 2);
		for (uint64_t at = 0; at < INSNS && at < symbol->end - symbol->start; at++)
			ask_type(image, symbol->start + at);
	}
	for (size_t i = 0; image && i < PLACES; i++)
		ask_of(image, size / PLACES * i);
	tally_image_store_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ask(path, size);
	}
	close(fd);
	return 0;
}
