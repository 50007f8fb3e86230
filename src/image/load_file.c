/* Symbols of a binary that is a file, wherever they are kept. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/own_pid.h"
#include "elf/build_id.h"
#include "elf/debug_file.h"
#include "elf/debugdata.h"
#include "elf/elf_file.h"
#include "elf/elf_symbols.h"
#include "elf/go_table.h"
#include "image/image_state.h"
#include "elf/plt.h"

/* The number of symbols added; a table that is missing or damaged adds none.  Or -ENOMEM. */
static int64_t add(struct tally_image *image, struct tally_symbol_list *list,
		   const struct tally_elf *elf, uint32_t type, const struct tally_elf *runtime)
{
	struct tally_elf_places places = {.runtime = runtime};
	int64_t count = tally_elf_symbols_add(elf, type, &places, list);

	if (count == -EFBIG)
		tally_image_leave_out(image, &image->left_out, "symbols", elf->allowed);
	return count < 0 && count != -ENOMEM ? 0 : count;
}

static int finish_list(struct tally_image *image, struct tally_symbol_list *list,
		       const struct tally_elf *runtime)
{
	bool demangled = !image->store->options.no_demangle;
	int error = tally_symbol_list_sort(list);
	uint64_t allowed;

	if (error)
		return error;
	allowed = image->budget.left += runtime->allowed;
	tally_symbol_list_finish(list, demangled ? &image->budget.left : NULL);
	error = tally_plt_add(runtime, demangled, &image->budget, list);
	if (image->budget.spent)
		tally_image_leave_out(image, &image->left_out, "names of stubs", allowed);
	if (!error) /* the stubs go where they belong */
		error = tally_symbol_list_sort(list);
	return error ? error : tally_symbol_table_take(&image->own, list);
}

int64_t tally_image_take_elf(struct tally_image *image, const struct tally_elf *elf)
{
	struct tally_symbol_list list = {0};
	int64_t count = add(image, &list, elf, SHT_SYMTAB, elf);

	if (!count)
		count = add(image, &list, elf, SHT_DYNSYM, elf);
	if (count > 0) {
		int error = finish_list(image, &list, elf);

		if (error)
			count = error;
	}
	tally_symbol_list_done(&list);
	return count;
}

/* A binary with a compressed small table: that has what .dynsym does not, and the other way round.
 */
static int64_t add_debugdata(struct tally_image *image, struct tally_symbol_list *list,
			     const struct tally_elf *binary)
{
	struct tally_elf small;
	char *memory;
	int64_t count;
	int error = tally_debugdata_open(binary, &small, &memory);

	if (error == -EFBIG)
		tally_image_leave_out(image, &image->left_out, "symbols in .gnu_debugdata",
				      binary->allowed);
	if (error)
		return error;
	count = add(image, list, &small, SHT_SYMTAB, binary);
	tally_elf_close(&small);
	free(memory);
	return count;
}

struct opened {
	struct tally_elf elf;
	char *path;
	int error;    /* of the file at the image's path: 0 when elf is that */
	bool changed; /* it opened, and was of another build */
	bool copied;  /* elf is open all the same: a copy of the binary */
	uint8_t id_size, id[20];
};

/* Opens a candidate for the binary; one of another build is closed again and remembered. */
static void try_path(const struct tally_image *image, struct opened *opened, const char *format,
		     ...) __attribute__((format(printf, 3, 4)));

static void try_path(const struct tally_image *image, struct opened *opened, const char *format,
		     ...)
{
	va_list args;
	char *path;
	int error;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	if (!path) {
		opened->error = -ENOMEM;
		return;
	}
	error = tally_elf_open(path, &opened->elf);
	opened->elf.places = image->store->options.places;
	if (!opened->changed)
		opened->error = error;
	if (!error) {
		opened->error = 0;
		tally_elf_build_id(&opened->elf, opened->id, &opened->id_size);
		opened->changed = image->build_id_size &&
				  !tally_build_id_equal(opened->id, opened->id_size,
							image->build_id, image->build_id_size);
		if (opened->changed) {
			tally_elf_close(&opened->elf);
			opened->error = -ESTALE;
		}
	}
	free(opened->path);
	opened->path = path;
}

/* One that somebody holds open; and no more after that, as its path is none that others can open.
 */
static void try_held(const struct tally_image *image, struct opened *opened)
{
	const struct tally_image_options *options = &image->store->options;
	int fd = options->open_held(options->held, image->build_id, image->build_id_size);

	if (fd < 0)
		return;
	opened->changed = false;
	try_path(image, opened, "/proc/self/fd/%d", fd);
	close(fd);
}

static void open_binary(const struct tally_image *image, const char *file, struct opened *opened)
{
	const struct tally_image_options *options = &image->store->options;

	/* of an archived recording only what a build-id proves to be the same */
	if (file[0] != '/' || (!image->build_id_size && tally_image_is_archived(image->store)))
		return;
	try_path(image, opened, "%s%s", options->symfs, file);
	/* a container's file: seen through the process, while it lives */
	if ((opened->error == -ENOENT || opened->error == -ESTALE) && image->pid &&
	    !*options->symfs)
		try_path(image, opened, "%s/proc/%u/root%s", options->root, own_pid(image->pid),
			 file);
	if (opened->error && options->open_held && image->build_id_size)
		try_held(image, opened);
}

/* Opens the binary, named `file`, wherever a copy of it is, and fills in where its debug file is
 * looked for. The image's reasons are those of the file at its path. */
static void open_any(const struct tally_image *image, const char *file, struct opened *opened,
		     struct tally_debug_search *search)
{
	const struct tally_image_store *store = image->store;

	*search = (struct tally_debug_search){.symfs = store->options.symfs,
					      .debug_root = store->options.debug_root,
					      .cache = store->cache,
					      .places = store->options.places,
					      .path = file,
					      .build_id_size = image->build_id_size};
	memcpy(search->build_id, image->build_id, 20);
	*opened = (struct opened){.elf = {.fd = -1}, .error = -ENOENT};
	opened->copied = !tally_debug_file_archived(search, &opened->elf);
	if (!opened->copied)
		open_binary(image, file, opened);
	if (!opened->copied && !opened->error && !image->build_id_size) {
		search->build_id_size = opened->id_size;
		memcpy(search->build_id, opened->id, 20);
	}
	if (!opened->copied && opened->error)
		opened->copied = !tally_debug_file_cached(search, &opened->elf);
	if (!opened->copied && opened->error)
		return;
	search->binary = &opened->elf;
	search->opened = opened->path;
}

static void explain_missing(struct tally_image *image, const struct opened *opened)
{
	char recorded[TALLY_BUILD_ID_TEXT], found[TALLY_BUILD_ID_TEXT];
	size_t length = strlen(image->path);
	const char *symfs = image->store->options.symfs;

	tally_build_id_format(image->build_id, image->build_id_size, recorded);
	tally_build_id_format(opened->id, opened->id_size, found);
	if (opened->changed)
		tally_image_explain(
		    image,
		    "%s%s changed since the recording: its build-id is %s, recorded was "
		    "%s",
		    symfs, image->path, *found ? found : "none", recorded);
	else if (opened->error == -ENOENT && length > 10 &&
		 !strcmp(image->path + length - 10, " (deleted)"))
		tally_image_explain(image, "%s was deleted or replaced while it ran", image->path);
	else if (opened->error == -ENOENT)
		tally_image_explain(
		    image, "%s%s does not exist on this machine%s", symfs, image->path,
		    *symfs ? "" : "; if its files are elsewhere, say where with --symfs");
	else if (opened->error == -EACCES || opened->error == -EPERM)
		tally_image_explain(image, "%s%s may not be read by this user: read as root", symfs,
				    image->path);
	else if (opened->error == -ENOEXEC)
		tally_image_explain(image, "%s%s is not an ELF binary", symfs, image->path);
	else if (opened->error == -ENODEV)
		tally_image_explain(image, "%s%s is not a regular file: not opened", symfs,
				    image->path);
	else
		tally_image_explain(image, "%s%s: %s", symfs, image->path,
				    strerror(-opened->error));
}

static void explain_stripped(struct tally_image *image, const struct tally_debug_search *search,
			     int64_t debugdata)
{
	struct tally_buf where = {0};

	tally_debug_file_where(search, &where);
	if (debugdata == -ENOTSUP)
		tally_buf_text(&where,
			       "; its .gnu_debugdata cannot be read, built without liblzma");
	else if (debugdata == -EBADMSG)
		tally_buf_text(&where, "; its .gnu_debugdata is damaged");
	tally_image_explain(image, "%s is stripped%s, and there is %s", image->path,
			    image->stripped ? " down to the names that it exports" : "",
			    tally_buf_str(&where));
	tally_buf_done(&where);
}

/* The table of a stripped Go program; the number added, or -ENOMEM. */
static int64_t add_go(struct tally_image *image, struct tally_symbol_list *list,
		      const struct tally_elf *binary)
{
	int64_t count = tally_go_symbols_add(binary, list);

	if (count == -EFBIG)
		tally_image_leave_out(image, &image->left_out, "symbols", binary->allowed);
	return count < 0 && count != -ENOMEM ? 0 : count;
}

/* The first source that has a .symtab, else .gnu_debugdata with .dynsym, else .dynsym, with Go's
 * table of functions where there is one. */
static int64_t take(struct tally_image *image, const struct tally_debug_search *search)
{
	const struct tally_elf *binary = search->binary;
	struct tally_elf debug = {.fd = -1};
	struct tally_symbol_list list = {0};
	int64_t count = 0, small, go;
	int error = 0;

	if (binary)
		count = add(image, &list, binary, SHT_SYMTAB, binary);
	if (!count && !tally_debug_file_open(search, &debug)) {
		count = add(image, &list, &debug, SHT_SYMTAB, binary ? binary : &debug);
		image->budget.left = debug.allowed;
	}
	if (!count && binary) {
		small = add_debugdata(image, &list, binary);
		count = small == -ENOMEM ? small : add(image, &list, binary, SHT_DYNSYM, binary);
		go = count < 0 ? 0 : add_go(image, &list, binary);
		image->stripped = small <= 0 && count > 0 && !go;
		if (count >= 0 && small > 0)
			count += small;
		count = go < 0 ? go : count < 0 ? count : count + go;
		if (!count || image->stripped)
			explain_stripped(image, search, small);
	}
	if (count > 0)
		error = finish_list(image, &list, binary ? binary : &debug);
	tally_elf_close(&debug);
	tally_symbol_list_done(&list);
	return error ? error : count;
}

int tally_image_load_file(struct tally_image *image)
{
	struct tally_debug_search search;
	struct opened opened;
	int64_t count;

	if (image->store->options.no_symbols)
		return 0;
	open_any(image, image->path, &opened, &search);
	if (opened.error && !(opened.copied && tally_image_is_archived(image->store)))
		explain_missing(image, &opened);
	if (search.binary) {
		tally_elf_build_id(&opened.elf, image->found_id, &image->found_id_size);
		image->is_32_bit = opened.elf.header.e_ident[EI_CLASS] == ELFCLASS32;
	}
	count = take(image, &search);
	if (search.binary)
		tally_elf_close(&opened.elf);
	free(opened.path);
	return count == -ENOMEM ? -ENOMEM : 0;
}

int tally_image_open_binary(const struct tally_image *image, struct tally_elf *ret)
{
	struct tally_debug_search search;
	struct opened opened;

	*ret = (struct tally_elf){.fd = -1};
	open_any(image, image->path, &opened, &search);
	if (search.binary)
		*ret = opened.elf;
	free(opened.path);
	return search.binary ? 0 : -ENOENT;
}

int tally_image_open_files(const struct tally_image *image, struct tally_elf *ret_binary,
			   struct tally_elf *ret_debug)
{
	return tally_image_open_files_at(image, image->path, ret_binary, ret_debug);
}

int tally_image_open_files_at(const struct tally_image *image, const char *path,
			      struct tally_elf *ret_binary, struct tally_elf *ret_debug)
{
	struct tally_debug_search search;
	struct opened opened;

	*ret_binary = *ret_debug = (struct tally_elf){.fd = -1};
	open_any(image, path, &opened, &search);
	if (search.binary)
		*ret_binary = opened.elf;
	if (!search.binary || !tally_elf_find(ret_binary, ".debug_info", SHT_PROGBITS))
		(void)tally_debug_file_open(&search, ret_debug);
	free(opened.path);
	return ret_binary->elf || ret_debug->elf ? 0 : -ENOENT;
}
