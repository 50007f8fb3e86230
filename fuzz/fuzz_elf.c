/* A whole ELF file, loaded the way a mapped binary is: build-id, sections, symbols, stubs, names.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "elf/build_id.h"
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const char *path)
{
	struct tally_image_options options = {.size = sizeof(options),
					      .debug_root = "/nonexistent"};
	struct tally_image_key key = {.path = path};
	struct tally_image_store *store;
	struct tally_image *image;
	size_t count;

	if (tally_image_store_new(&options, &store))
		return;
	image = tally_image_get(store, &key);
	count = image ? tally_image_symbol_count(image) : 0;
	for (size_t i = 0; i < count; i++) {
		const struct tally_symbol *symbol = tally_image_symbol(image, (int64_t)i);

		if (symbol->end < symbol->start ||
		    tally_image_find_symbol(image, symbol->start) < 0)
			abort();
	}
	if (image && !count && !tally_image_why_no_symbols(image))
		abort();
	tally_image_store_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	uint8_t id[20], id_size;
	char path[64];

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		tally_image_read_build_id(path, id, &id_size);
		ask(path);
	}
	close(fd);
	return 0;
}
