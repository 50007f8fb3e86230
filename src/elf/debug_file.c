/* The order is perf's, and decides if there are several such files.  gdb's manual ("Separate Debug
 * Files") describes the debuglink, its CRC and the build-id tree. */
#include "elf/debug_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/deflate_blocks.h"
#include "base/fs.h"
#include "elf/build_id.h"

/* Files without a build-id are old, and not so large. */
#define CRC_MOST ((uint64_t)1 << 30)

struct link {       /* .gnu_debuglink */
	char *name; /* of the file, without folder; NULL: none */
	uint32_t crc;
};

static int read_link(const struct tally_elf *elf, struct link *ret)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".gnu_debuglink", SHT_NULL);
	size_t size, at;
	uint32_t crc;
	char *data;

	if (!section || tally_elf_read(elf, section, &data, &size))
		return -ENOENT;
	at = align_up(strlen(data) + 1, 4);
	if (!*data || at + 4 > size ||
	    strchr(data, '/')) { /* a name, without a path out of the folder */
		free(data);
		return -ENOENT;
	}
	crc = load_u32(data + at);
	ret->crc = elf->header.e_ident[EI_DATA] == ELFDATA2MSB ? __builtin_bswap32(crc) : crc;
	ret->name = data;
	return 0;
}

static bool crc_fits(const struct tally_elf *elf, uint32_t crc)
{
	struct tally_mapped mapped;
	bool fits;

	if (elf->size > CRC_MOST || tally_fs_map(elf->fd, &mapped))
		return false;
	fits = tally_crc32(0, mapped.data, mapped.size) == crc;
	tally_fs_unmap(&mapped);
	return fits;
}

/* Takes a candidate when it is of the same build and has what is looked for, else closes it. */
static int take(const struct tally_debug_search *search, struct tally_elf *elf,
		const struct link *link, bool symtab, struct tally_elf *ret)
{
	uint8_t id[20], id_size;

	tally_elf_build_id(elf, id, &id_size);
	if (search->build_id_size) {
		if (!id_size ||
		    !tally_build_id_equal(id, id_size, search->build_id, search->build_id_size))
			goto unfit;
	} else if (!link || !crc_fits(elf, link->crc)) {
		goto unfit;
	}
	if (symtab && !tally_elf_find(elf, ".symtab", SHT_SYMTAB))
		goto unfit;
	elf->places = search->places;
	*ret = *elf;
	return 0;
unfit:
	tally_elf_close(elf);
	return -ENOENT;
}

static int try_file(const struct tally_debug_search *search, const char *path,
		    const struct link *link, bool symtab, struct tally_elf *ret)
{
	struct tally_elf elf;

	return tally_elf_open(path, &elf) ? -ENOENT : take(search, &elf, link, symtab, ret);
}

static int try_printf(const struct tally_debug_search *search, const struct link *link, bool symtab,
		      struct tally_elf *ret, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static int try_printf(const struct tally_debug_search *search, const struct link *link, bool symtab,
		      struct tally_elf *ret, const char *format, ...)
{
	char *path;
	va_list args;
	int error;

	va_start(args, format);
	error = vasprintf(&path, format, args);
	va_end(args);
	if (error < 0)
		return -ENOENT;
	error = try_file(search, path, link, symtab, ret);
	free(path);
	return error;
}

/* Bytes of the folder of the recorded path. */
static int folder_of(const struct tally_debug_search *search)
{
	const char *slash = strrchr(search->path, '/');

	return slash ? (int)(slash - search->path) : 0;
}

static int by_link(const struct tally_debug_search *search, const struct link *link,
		   struct tally_elf *ret)
{
	const char *slash = search->opened ? strrchr(search->opened, '/') : NULL;
	int length = slash ? (int)(slash - search->opened) : 0, error = -ENOENT;

	if (!link->name)
		return -ENOENT;
	if (slash)
		error = try_printf(search, link, true, ret, "%.*s/%s", length, search->opened,
				   link->name);
	if (error && slash)
		error = try_printf(search, link, true, ret, "%.*s/.debug/%s", length,
				   search->opened, link->name);
	if (error)
		error = try_printf(search, link, true, ret, "%s%s%.*s/%s", search->symfs,
				   search->debug_root, folder_of(search), search->path, link->name);
	return error;
}

static int by_build_id(const struct tally_debug_search *search, const char *before,
		       const char *folder, bool symtab, struct tally_elf *ret)
{
	char id[TALLY_BUILD_ID_TEXT];

	if (search->build_id_size < 2)
		return -ENOENT;
	tally_build_id_format(search->build_id, search->build_id_size, id);
	return try_printf(search, NULL, symtab, ret, "%s%s/.build-id/%.2s/%s.debug", before, folder,
			  id, id + 2);
}

/* In a cache of binaries as perf keeps it. */
static int by_cache(const struct tally_debug_search *search, const char *cache, bool symtab,
		    const char *file, struct tally_elf *ret)
{
	char id[TALLY_BUILD_ID_TEXT];

	if (search->build_id_size < 2 || !cache)
		return -ENOENT;
	tally_build_id_format(search->build_id, search->build_id_size, id);
	return try_printf(search, NULL, symtab, ret, "%s/.build-id/%.2s/%s/%s", cache, id, id + 2,
			  file);
}

/* Its writer decides what is printed. */
static int owned(int error, struct tally_elf *ret)
{
	if (!error && ret->owner && ret->owner != geteuid()) {
		tally_elf_close(ret);
		return -ENOENT;
	}
	return error;
}

static int by_usual_cache(const struct tally_debug_search *search, bool symtab, const char *file,
			  struct tally_elf *ret)
{
	return owned(by_cache(search, search->cache, symtab, file, ret), ret);
}

/* In what a client of debuginfod fetched, earlier: "debuginfo" or "executable". */
static int by_fetched(const struct tally_debug_search *search, bool symtab, const char *file,
		      struct tally_elf *ret)
{
	char id[TALLY_BUILD_ID_TEXT];

	if (search->build_id_size < 2 || !search->places || !search->places->fetched)
		return -ENOENT;
	tally_build_id_format(search->build_id, search->build_id_size, id);
	return owned(
	    try_printf(search, NULL, symtab, ret, "%s/%s/%s", search->places->fetched, id, file),
	    ret);
}

/* One of an archive that has no build-id was chosen by the path when that was written. */
static int by_archive(const struct tally_debug_search *search, bool symtab, const char *leaf,
		      struct tally_elf *ret)
{
	const struct tally_tar_member *member = tally_archive_find(
	    search->places, search->path, search->build_id, search->build_id_size, leaf);
	struct tally_elf elf;
	int fd = member ? tally_tar_member_open(member) : -ENOENT;

	if (fd < 0 || tally_elf_open_fd(fd, &elf))
		return -ENOENT;
	if (search->build_id_size)
		return take(search, &elf, NULL, symtab, ret);
	if (symtab && !tally_elf_find(&elf, ".symtab", SHT_SYMTAB)) {
		tally_elf_close(&elf);
		return -ENOENT;
	}
	elf.places = search->places;
	*ret = elf;
	return 0;
}

/* In a folder that was named, whichever of the two layouts it has. */
static int by_folder(const struct tally_debug_search *search, const struct link *link,
		     const char *folder, struct tally_elf *ret)
{
	int error = by_build_id(search, "", folder, true, ret);

	if (error)
		error = by_cache(search, folder, true, "debug", ret);
	if (error)
		error = by_cache(search, folder, true, "elf", ret);
	if (error && link->name)
		error = try_printf(search, link, true, ret, "%s%.*s/%s", folder, folder_of(search),
				   search->path, link->name);
	if (error && link->name)
		error = try_printf(search, link, true, ret, "%s/%s", folder, link->name);
	if (error)
		error = try_printf(search, NULL, true, ret, "%s%s.debug", folder, search->path);
	return error ? try_printf(search, NULL, true, ret, "%s%s", folder, search->path) : 0;
}

static int search_all(const struct tally_debug_search *search, const struct link *link,
		      struct tally_elf *ret)
{
	size_t folders = search->places ? search->places->folder_count : 0;
	int error = by_archive(search, true, "debug", ret);

	for (size_t i = 0; error && i < folders; i++)
		error = by_folder(search, link, search->places->folders[i], ret);
	if (error)
		error = by_link(search, link, ret);
	if (error)
		error = by_usual_cache(search, true, "elf", ret);
	if (error)
		error = by_usual_cache(search, true, "debug", ret);
	if (error)
		error = try_printf(search, NULL, true, ret, "%s%s%s.debug", search->symfs,
				   search->debug_root, search->path);
	if (error)
		error = try_printf(search, NULL, true, ret, "%s%s%s", search->symfs,
				   search->debug_root, search->path);
	if (error)
		error = by_build_id(search, search->symfs, search->debug_root, true, ret);
	return error ? by_fetched(search, true, "debuginfo", ret) : 0;
}

int tally_debug_file_open(const struct tally_debug_search *search, struct tally_elf *ret)
{
	struct link link = {0};
	int error;

	if (!search->binary || read_link(search->binary, &link))
		link.name = NULL;
	error = search_all(search, &link, ret);
	free(link.name);
	return error;
}

int tally_debug_file_archived(const struct tally_debug_search *search, struct tally_elf *ret)
{
	return search->places && search->places->recording ? by_archive(search, false, "elf", ret)
							   : -ENOENT;
}

int tally_debug_file_cached(const struct tally_debug_search *search, struct tally_elf *ret)
{
	size_t folders = search->places ? search->places->folder_count : 0;
	int error = search->build_id_size ? by_archive(search, false, "elf", ret) : -ENOENT;

	for (size_t i = 0; error && i < folders; i++) {
		error = by_cache(search, search->places->folders[i], false, "elf", ret);
		if (error)
			error = try_printf(search, NULL, false, ret, "%s%s",
					   search->places->folders[i], search->path);
	}
	if (error)
		error = by_usual_cache(search, false, "elf", ret);
	return error ? by_fetched(search, false, "executable", ret) : 0;
}

int tally_debug_file_by_id(const struct tally_debug_places *places, const uint8_t *id,
			   uint8_t id_size, struct tally_elf *ret)
{
	struct tally_debug_search search = {.symfs = "",
					    .debug_root = "/usr/lib/debug",
					    .places = places,
					    .path = "",
					    .build_id_size = id_size};
	size_t folders = places ? places->folder_count : 0;
	int error;

	if (id_size < 2 || id_size > 20)
		return -ENOENT;
	memcpy(search.build_id, id, id_size);
	error = by_archive(&search, false, "debug", ret);
	for (size_t i = 0; error && i < folders; i++) {
		error = by_build_id(&search, "", places->folders[i], false, ret);
		if (error)
			error = by_cache(&search, places->folders[i], false, "debug", ret);
	}
	if (error)
		error = by_build_id(&search, "", search.debug_root, false, ret);
	return error ? by_fetched(&search, false, "debuginfo", ret) : 0;
}

void tally_debug_file_where(const struct tally_debug_search *search, struct tally_buf *to)
{
	char id[TALLY_BUILD_ID_TEXT];

	if (!search->build_id_size) {
		tally_buf_printf(to, "no debug file (it has no build-id by which to find one)");
		return;
	}
	tally_build_id_format(search->build_id, search->build_id_size, id);
	tally_buf_printf(to, "no debug file for build-id %s under %s%s", id, search->symfs,
			 search->debug_root);
}
