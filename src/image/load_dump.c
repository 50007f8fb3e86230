/* Code that was made at run time, as the compiler's dump describes it.  One image is all of a dump,
 * and places are offsets in it: each function's bytes are at a place of their own, whatever
 * addresses they had one after the other. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include "image/dump_image.h"
#include "image/image_state.h"
#include "jit/jit_file.h"

static void explain(struct tally_image *image, int error, const struct stat *about)
{
	switch (error) {
	case -EPERM:
		tally_image_explain(image,
				    "%s is owned by user %u, who is neither root, nor this user, "
				    "nor the user of the process: not used",
				    image->path, (unsigned)about->st_uid);
		return;
	case -ENODEV:
		tally_image_explain(image, "%s is not a regular file: not opened", image->path);
		return;
	case -ENOEXEC:
		tally_image_explain(image, "%s is not a dump of compiled code (jitdump)",
				    image->path);
		return;
	default:
		tally_image_explain(image, "%s, which names code made at run time: %s", image->path,
				    strerror(-error));
	}
}

/* Their names are the dump's: see shown.c. */
static int add_symbols(const struct tally_jitdump *dump, struct tally_symbol_list *list)
{
	int error = tally_symbol_list_reserve(list, dump->code_count);

	for (size_t i = 0; i < dump->code_count && !error; i++) {
		const struct tally_jit_code *code = &dump->codes[i];

		error = tally_symbol_list_add(list, code->place, code->place + code->size, 0,
					      ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	}
	return error;
}

/* Places ascend from code to code, so a symbol has the number of its code, also when more come. */
static int make_table(struct tally_image *image)
{
	const struct tally_jitdump *dump = image->dump;
	struct tally_symbol_list list = {0};
	struct tally_symbol_table table = {0};
	int error = add_symbols(dump, &list);

	if (!error)
		error = tally_symbol_list_sort(&list);
	if (!error)
		error = tally_symbol_table_take_rows(&table, &list, "", 1);
	tally_symbol_list_done(&list);
	if (error) {
		tally_symbol_table_done(&table);
		return error;
	}
	tally_symbol_table_done(&image->own);
	image->own = table;
	return 0;
}

int tally_image_load_dump(struct tally_image *image)
{
	struct stat about = {0};
	const struct tally_image_store *store = image->store;
	const struct tally_jit_search search = {.root = store->options.root,
						.symfs = store->options.symfs,
						.cache = store->cache,
						.places = store->options.places};
	int fd = tally_jit_open_dump(&search, image->pid, image->path, image->build_id,
				     image->build_id_size, &about);
	int error = fd < 0 ? fd : tally_jitdump_open(fd, &image->dump);

	if (!error)
		error = make_table(image);
	if (error)
		explain(image, error, &about);
	else if (!image->own.count)
		tally_image_explain(image, "%s has no code", image->path);
	return error == -ENOMEM ? error : 0;
}

const struct tally_jitdump *tally_image_dump(struct tally_image *image)
{
	if (image->kind != TALLY_IMAGE_DUMP)
		return NULL;
	(void)tally_image_symbol_count(image); /* loads it */
	return image->dump;
}

static int read_on(struct tally_image *image)
{
	size_t before = image->own.count;
	int error = image->dump ? tally_jitdump_read_on(image->dump) : 0;

	if (error <= 0 || image->dump->code_count == before)
		return error;
	error = make_table(image);
	if (!error)
		error = tally_shown_grow(&image->shown, image->own.count);
	if (error)
		return error;
	tally_symbol_steps_done(&image->steps);
	tally_symbol_steps_init(&image->steps, image->table);
	return 0;
}

int tally_image_store_read_on(struct tally_image_store *store)
{
	int error = 0;

	for (size_t i = 0; i < store->count && error != -ENOMEM; i++) {
		struct tally_image *image = store->images[i];

		if (!image)
			continue;
		if (image->dump)
			error = read_on(image);
		else if (image->kind == TALLY_IMAGE_ANON && atomic_load(&image->loaded))
			error = tally_image_read_map_on(image);
	}
	return error == -ENOMEM ? error : 0;
}

int tally_image_dump_line(struct tally_image *image, uint64_t place, struct tally_line *ret)
{
	const struct tally_jitdump *dump = tally_image_dump(image);
	int64_t code = dump ? tally_jitdump_find(dump, place) : -ENOENT;
	const struct tally_jit_line *found = NULL;
	struct tally_jit_lines lines;
	uint64_t offset;
	int error;

	*ret = (struct tally_line){.file = "??", .address = place};
	if (code < 0)
		return -ENOENT;
	offset = place - dump->codes[code].place;
	ret->address = dump->codes[code].address + offset;
	error = tally_jitdump_lines(dump, (size_t)code, &lines);
	if (error)
		return error == -ENOMEM ? error : -ENOENT;
	for (size_t i = 0; i < lines.count; i++)
		if (lines.lines[i].offset <= offset &&
		    (!found || lines.lines[i].offset >= found->offset))
			found = &lines.lines[i];
	if (found) {
		int64_t id;

		pthread_mutex_lock(&image->lines_lock);
		id = tally_strings_intern(&image->dump_files, found->file, strlen(found->file));
		if (id >= 0)
			ret->file = image->dump_files.text[id];
		pthread_mutex_unlock(&image->lines_lock);
		ret->line = found->line;
		error = id < 0 ? -ENOMEM : 0;
	}
	tally_jit_lines_done(&lines);
	return error;
}
