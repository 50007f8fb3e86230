/* The order is perf's; it decides where several files would do.  gdb's manual ("Separate Debug
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
#include "base/fs.h"
#include "elf/build_id.h"

/* Files without a build-id are old, and not as large. */
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
	    strchr(data, '/')) { /* a name, not a way out of the folder */
		free(data);
		return -ENOENT;
	}
	crc = load_u32(data + at);
	ret->crc = elf->header.e_ident[EI_DATA] == ELFDATA2MSB ? __builtin_bswap32(crc) : crc;
	ret->name = data;
	return 0;
}

/* The CRC-32 of zlib and Ethernet (polynomial edb88320, reflected), bit tables made here. */
static uint32_t crc32_of(const uint8_t *data, size_t size)
{
	uint32_t table[256], crc = ~0U;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320U : 0);
	}
	for (size_t i = 0; i < size; i++)
		crc = table[(crc ^ data[i]) & 255] ^ crc >> 8;
	return ~crc;
}

static bool crc_fits(const struct tally_elf *elf, uint32_t crc)
{
	struct tally_mapped mapped;
	bool fits;

	if (elf->size > CRC_MOST || tally_fs_map(elf->fd, &mapped))
		return false;
	fits = crc32_of(mapped.data, mapped.size) == crc;
	tally_fs_unmap(&mapped);
	return fits;
}

/* Opens a candidate when it is of the same build and has what is looked for. */
static int try_file(const struct tally_debug_search *search, const char *path,
		    const struct link *link, bool symtab, struct tally_elf *ret)
{
	struct tally_elf elf;
	uint8_t id[20], id_size;

	if (tally_elf_open(path, &elf))
		return -ENOENT;
	tally_elf_build_id(&elf, id, &id_size);
	if (search->build_id_size) {
		if (!id_size ||
		    !tally_build_id_equal(id, id_size, search->build_id, search->build_id_size))
			goto unfit;
	} else if (!link || !crc_fits(&elf, link->crc)) {
		goto unfit;
	}
	if (symtab && !tally_elf_find(&elf, ".symtab", SHT_SYMTAB))
		goto unfit;
	*ret = elf;
	return 0;
unfit:
	tally_elf_close(&elf);
	return -ENOENT;
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

static int by_link(const struct tally_debug_search *search, struct tally_elf *ret)
{
	const char *slash = search->opened ? strrchr(search->opened, '/') : NULL;
	const char *folder = search->opened;
	struct link link = {0};
	int length, at_root, error;

	if (!slash || !search->binary || read_link(search->binary, &link))
		return -ENOENT;
	length = (int)(slash - folder);
	slash = strrchr(search->path, '/');
	at_root = slash ? (int)(slash - search->path) : 0;
	error = try_printf(search, &link, true, ret, "%.*s/%s", length, folder, link.name);
	if (error)
		error = try_printf(search, &link, true, ret, "%.*s/.debug/%s", length, folder,
				   link.name);
	if (error)
		error = try_printf(search, &link, true, ret, "%s%s%.*s/%s", search->symfs,
				   search->debug_root, at_root, search->path, link.name);
	free(link.name);
	return error;
}

static int by_build_id(const struct tally_debug_search *search, struct tally_elf *ret)
{
	char id[TALLY_BUILD_ID_TEXT];

	if (search->build_id_size < 2)
		return -ENOENT;
	tally_build_id_format(search->build_id, search->build_id_size, id);
	return try_printf(search, NULL, true, ret, "%s%s/.build-id/%.2s/%s.debug", search->symfs,
			  search->debug_root, id, id + 2);
}

static int by_cache(const struct tally_debug_search *search, bool symtab, const char *file,
		    struct tally_elf *ret)
{
	char id[TALLY_BUILD_ID_TEXT];
	int error;

	if (search->build_id_size < 2 || !search->cache)
		return -ENOENT;
	tally_build_id_format(search->build_id, search->build_id_size, id);
	error = try_printf(search, NULL, symtab, ret, "%s/.build-id/%.2s/%s/%s", search->cache, id,
			   id + 2, file);
	if (!error && ret->owner &&
	    ret->owner != geteuid()) { /* its writer decides what is printed */
		tally_elf_close(ret);
		error = -ENOENT;
	}
	return error;
}

int tally_debug_file_open(const struct tally_debug_search *search, struct tally_elf *ret)
{
	int error = by_link(search, ret);

	if (error)
		error = by_cache(search, true, "elf", ret);
	if (error)
		error = by_cache(search, true, "debug", ret);
	if (error)
		error = try_printf(search, NULL, true, ret, "%s%s%s.debug", search->symfs,
				   search->debug_root, search->path);
	if (error)
		error = try_printf(search, NULL, true, ret, "%s%s%s", search->symfs,
				   search->debug_root, search->path);
	return error ? by_build_id(search, ret) : 0;
}

int tally_debug_file_cached(const struct tally_debug_search *search, struct tally_elf *ret)
{
	return by_cache(search, false, "elf", ret);
}

void tally_debug_file_where(const struct tally_debug_search *search, struct tally_buf *to)
{
	char id[TALLY_BUILD_ID_TEXT];

	if (!search->build_id_size) {
		tally_buf_printf(to, "no debug file (it has no build-id to look one up by)");
		return;
	}
	tally_build_id_format(search->build_id, search->build_id_size, id);
	tally_buf_printf(to, "no debug file for build-id %s under %s%s", id, search->symfs,
			 search->debug_root);
}
