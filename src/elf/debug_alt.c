#include "elf/debug_alt.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "elf/build_id.h"
#include "elf/debug_file.h"

/* A name, and 20 bytes of a build-id at most. */
#define LINK_MOST (PATH_MAX + 32)

static int try_path(const char *path, const uint8_t *id, uint8_t size, struct tally_elf *ret)
{
	uint8_t found[20], found_size;

	if (tally_elf_open(path, ret))
		return -ENOENT;
	tally_elf_build_id(ret, found, &found_size);
	if (found_size && tally_build_id_equal(found, found_size, id, size))
		return 0;
	tally_elf_close(ret);
	return -ENOENT;
}

/* A relative name is one beside the file.  Source: dwz(1). */
static int by_name(const struct tally_elf *elf, const char *name, const uint8_t *id, uint8_t size,
		   struct tally_elf *ret)
{
	char path[PATH_MAX], link[32], *slash;
	ssize_t length = 0;

	if (strnlen(name, PATH_MAX) == PATH_MAX)
		return -ENOENT;
	if (name[0] == '/')
		return try_path(name, id, size, ret);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", elf->fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return -ENOENT;
	path[length] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + strlen(name) >= sizeof(path))
		return -ENOENT;
	memcpy(slash + 1, name, strlen(name) + 1);
	return try_path(path, id, size, ret);
}

static const struct tally_elf_section *link_of(const struct tally_elf *elf)
{
	const struct tally_elf_section *section =
	    tally_elf_find(elf, ".gnu_debugaltlink", SHT_PROGBITS);

	return section && section->header.sh_size <= LINK_MOST ? section : NULL;
}

bool tally_debug_alt_named(const struct tally_elf *elf)
{
	return link_of(elf) != NULL;
}

/* The name with its NUL, then the id.  The name is the caller's to free(). */
static int read_link(const struct tally_elf *elf, char **ret_name, const uint8_t **ret_id,
		     uint8_t *ret_id_size)
{
	const struct tally_elf_section *section = link_of(elf);
	size_t size, length;
	char *name;

	if (!section || tally_elf_read(elf, section, &name, &size))
		return -ENOENT;
	length = strnlen(name, size);
	if (length + 3 > size || size - length - 1 > 20) {
		free(name);
		return -ENOENT;
	}
	*ret_name = name;
	*ret_id = (const uint8_t *)name + length + 1;
	*ret_id_size = (uint8_t)(size - length - 1);
	return 0;
}

bool tally_debug_alt_id(const struct tally_elf *elf, uint8_t ret[20], uint8_t *ret_size)
{
	const uint8_t *id;
	uint8_t size;
	char *name;

	if (read_link(elf, &name, &id, &size))
		return false;
	memcpy(ret, id, size);
	*ret_size = size;
	free(name);
	return true;
}

int tally_debug_alt_open(const struct tally_elf *elf, struct tally_elf *ret)
{
	const uint8_t *id;
	uint8_t id_size;
	char *name;
	int error = read_link(elf, &name, &id, &id_size);

	if (error)
		return error;
	error = tally_debug_file_by_id(elf->places, id, id_size, ret);
	if (error)
		error = by_name(elf, name, id, id_size, ret);
	free(name);
	return error;
}
