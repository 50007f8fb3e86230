#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/regular.h"
#include "elf/build_id.h"
#include "jit/jit_file.h"

int tally_jit_open_kept(const char *cache, const uint8_t *id, uint8_t id_size, struct stat *ret)
{
	char text[TALLY_BUILD_ID_TEXT], *path;
	int fd;

	if (!cache || id_size < 2)
		return -ENOENT;
	tally_build_id_format(id, id_size, text);
	if (asprintf(&path, "%s/.build-id/%.2s/%s/elf", cache, text, text + 2) < 0)
		return -ENOMEM;
	fd = tally_regular_open(path, ret);
	free(path);
	if (fd < 0 || tally_regular_is_owned(ret))
		return fd;
	close(fd);
	return -ENOENT;
}

/* A copy in an archive. */
static int open_archived(const struct tally_jit_search *search, const char *path, const uint8_t *id,
			 uint8_t id_size, struct stat *ret)
{
	const struct tally_tar_member *member =
	    tally_archive_find(search->places, path, id, id_size, "elf");
	int fd = member ? tally_tar_member_open(member) : -ENOENT;

	if (fd >= 0 && fstat(fd, ret)) {
		close(fd);
		return -EIO;
	}
	return fd;
}

int tally_jit_open_dump(const struct tally_jit_search *search, uint32_t pid, const char *path,
			const uint8_t *id, uint8_t id_size, struct stat *ret)
{
	char *whole;
	int fd = open_archived(search, path, id, id_size, ret);

	if (fd < 0)
		fd = tally_jit_open_kept(search->cache, id, id_size, ret);
	if (fd < 0 && search->places && search->places->recording)
		return -ENOENT;
	if (fd < 0)
		fd = tally_jit_open_inside(search->root, pid, path, ret);
	if (fd >= 0 || fd == -EPERM)
		return fd;
	if (asprintf(&whole, "%s%s", search->symfs, path) < 0)
		return -ENOMEM;
	fd = tally_jit_open(search->root, pid, whole, ret);
	free(whole);
	return fd;
}
