#include "image/image_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fs.h"
#include "elf/build_id.h"
#include "elf/debug_alt.h"
#include "image/image_state.h"
#include "jit/jitdump.h"

size_t tally_image_store_count(const struct tally_image_store *store)
{
	return store->count;
}

struct tally_image *tally_image_store_at(const struct tally_image_store *store, size_t index)
{
	return store->images[index];
}

size_t tally_image_store_held(const struct tally_image_store *store)
{
	return store->count - store->forgotten;
}

static void name_file(const struct tally_image *image, const char *leaf,
		      struct tally_image_file *file)
{
	file->path = image->path;
	file->leaf = leaf;
	file->id_size = image->build_id_size;
	memcpy(file->id, image->build_id, sizeof(file->id));
}

/* The file that the debug information of `elf` shares with others. */
static int each_alt(const struct tally_elf *elf, tally_image_file_fn visit, void *context)
{
	struct tally_image_file file = {.path = "", .leaf = "debug"};
	struct tally_elf alt;
	int result;

	if (!elf->elf || tally_debug_alt_open(elf, &alt))
		return 0;
	tally_elf_build_id(&alt, file.id, &file.id_size);
	file.elf = &alt;
	result = visit(context, &file);
	tally_elf_close(&alt);
	return result;
}

static int each_of_file(const struct tally_image *image, tally_image_file_fn visit, void *context)
{
	struct tally_elf binary, debug;
	struct tally_image_file file = {0};
	int result = 0;

	if (tally_image_open_files(image, &binary, &debug))
		return 0;
	if (binary.elf) {
		name_file(image, "elf", &file);
		file.elf = &binary;
		result = visit(context, &file);
	}
	if (!result && debug.elf) {
		name_file(image, "debug", &file);
		file.elf = &debug;
		result = visit(context, &file);
	}
	if (!result)
		result = each_alt(&binary, visit, context);
	if (!result)
		result = each_alt(&debug, visit, context);
	tally_elf_close(&binary);
	tally_elf_close(&debug);
	return result;
}

static bool has_section(const struct tally_elf *elf, const char *name)
{
	return elf->elf && tally_elf_find(elf, name, SHT_NULL);
}

bool tally_image_find_lacks(const struct tally_image *image, struct tally_image_lacks *ret)
{
	struct tally_image_lacks lacks = {.id_size = image->build_id_size};
	struct tally_elf binary, debug, alt;

	if (image->kind != TALLY_IMAGE_FILE)
		return false;
	memcpy(lacks.id, image->build_id, sizeof(lacks.id));
	(void)tally_image_open_files(image, &binary, &debug);
	if (!lacks.id_size && binary.elf)
		tally_elf_build_id(&binary, lacks.id, &lacks.id_size);
	lacks.binary = !binary.elf;
	lacks.symbols = !has_section(&binary, ".symtab") && !has_section(&debug, ".symtab");
	lacks.lines = !has_section(&binary, ".debug_info") && !has_section(&debug, ".debug_info");
	if (debug.elf && tally_debug_alt_id(&debug, lacks.shared, &lacks.shared_size) &&
	    !tally_debug_alt_open(&debug, &alt)) {
		tally_elf_close(&alt);
		lacks.shared_size = 0;
	}
	tally_elf_close(&binary);
	tally_elf_close(&debug);
	*ret = lacks;
	return lacks.id_size != 0;
}

static int each_of_vdso(const struct tally_image *image, tally_image_file_fn visit, void *context)
{
	struct tally_image_file file = {0};
	struct tally_elf elf;
	char *data;
	int result = tally_image_open_vdso(image, &elf, &data, &file.size);

	if (result)
		return result == -ENOMEM ? result : 0;
	name_file(image, "vdso", &file);
	file.bytes = data;
	result = visit(context, &file);
	tally_elf_close(&elf);
	free(data);
	return result;
}

/* The kernel and its modules are one file, named as the kernel. */
static int each_of_kernel(const struct tally_image *image, tally_image_file_fn visit, void *context)
{
	struct tally_image_file file = {.path = "[kernel.kallsyms]", .leaf = "kallsyms"};
	char *text;
	int result =
	    tally_image_kallsyms_text(image->store, &text, &file.size, file.id, &file.id_size);

	if (result)
		return result == -ENOMEM ? result : 0;
	file.bytes = text;
	result = visit(context, &file);
	free(text);
	return result;
}

static int each_of_dump(const struct tally_image *image, tally_image_file_fn visit, void *context)
{
	struct tally_image_file file = {0};
	struct tally_mapped map;
	int result;

	if (!image->dump || tally_fs_map(image->dump->fd, &map))
		return 0;
	name_file(image, "elf", &file); /* as the build-id cache calls every copy */
	file.bytes = map.data;
	file.size = map.size;
	result = visit(context, &file);
	tally_fs_unmap(&map);
	return result;
}

/* A map is written anew, wherever its symbols came from, and called by the process as the recording
 * has it. */
static int each_of_memory(const struct tally_image *image, tally_image_file_fn visit, void *context)
{
	struct tally_image_file file = {.leaf = "map"};
	struct tally_buf text = {0};
	char path[64];
	int result = 0;

	for (size_t i = 0; i < image->table->count; i++) {
		struct tally_symbol symbol = tally_symbol_table_get(image->table, i);

		tally_buf_printf(&text, "%llx %llx %s\n", (unsigned long long)symbol.start,
				 (unsigned long long)(symbol.end - symbol.start), symbol.name);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", image->pid);
	file.path = path;
	file.bytes = text.data;
	file.size = text.size;
	if (text.failed)
		result = -ENOMEM;
	else if (text.size)
		result = visit(context, &file);
	tally_buf_done(&text);
	return result;
}

int tally_image_each_file(struct tally_image *image, tally_image_file_fn visit, void *context)
{
	if (!atomic_load_explicit(&image->loaded, memory_order_acquire))
		return 0;
	switch (image->kind) {
	case TALLY_IMAGE_FILE:
		return each_of_file(image, visit, context);
	case TALLY_IMAGE_VDSO:
		return each_of_vdso(image, visit, context);
	case TALLY_IMAGE_KERNEL:
	case TALLY_IMAGE_MODULE:
		return each_of_kernel(image, visit, context);
	case TALLY_IMAGE_DUMP:
		return each_of_dump(image, visit, context);
	case TALLY_IMAGE_ANON:
		return each_of_memory(image, visit, context);
	}
	return 0;
}
