#include "file/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fail.h"
#include "tar/unlinked.h"

#define ROOM ((size_t)256 * 1024)

int tally_spool_open(const char *path, const char *why, struct file_spool **ret,
		     struct tally_error *error)
{
	struct file_spool *spool = calloc(1, sizeof(*spool));
	int fd;

	if (spool)
		spool->room = malloc(ROOM);
	if (!spool || !spool->room) {
		free(spool);
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", path);
	}
	fd = tally_unlinked_open();
	if (fd < 0) {
		free(spool->room);
		free(spool);
		return tally_fail(error, fd, -1,
				  "%s: no file for %s can be made in %s: %s; set TMPDIR to a "
				  "folder that can be written to",
				  path, why, tally_unlinked_folder(), strerror(-fd));
	}
	spool->fd = fd;
	spool->why = why;
	*ret = spool;
	return 0;
}

static int flush(struct file_spool *spool)
{
	int code = tally_fs_write(spool->fd, spool->room, spool->held);

	spool->held = 0;
	return code;
}

int tally_spool_add(struct file_spool *spool, const void *bytes, size_t size)
{
	int code = 0;

	if (size > ROOM - spool->held || size > ROOM / 2)
		code = flush(spool);
	spool->size += size;
	if (code)
		return code;
	if (size > ROOM / 2)
		return tally_fs_write(spool->fd, bytes, size);
	memcpy(spool->room + spool->held, bytes, size);
	spool->held += size;
	return 0;
}

int tally_spool_take(struct file_spool *spool, int fd, uint64_t limit,
		     const struct tally_data_options *options)
{
	int code = flush(spool);

	while (!code && limit) {
		ssize_t got = read(fd, spool->room, limit < ROOM ? (size_t)limit : ROOM);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : 0;
		spool->size += (uint64_t)got;
		limit -= (uint64_t)got;
		code = tally_fs_write(spool->fd, spool->room, (size_t)got);
		if (!code && options->progress &&
		    options->progress(options->progress_context, spool->size, 0))
			code = -ECANCELED;
	}
	return code;
}

int tally_spool_finish(struct file_spool *spool)
{
	int code = flush(spool);

	if (code)
		return code;
	free(spool->room);
	spool->room = NULL;
	return tally_fs_map(spool->fd, &spool->map);
}

int tally_spool_fail(const struct file_spool *spool, int code, const char *path,
		     struct tally_error *error)
{
	if (code == -ENOMEM)
		return tally_fail(error, code, -1, "%s: out of memory", path);
	if (code == -ECANCELED)
		return tally_fail(error, code, -1, "%s: interrupted", path);
	if (code == -ENOSPC || code == -EFBIG || code == -EDQUOT)
		return tally_fail(error, code, -1,
				  "%s: no room in %s for %s (%llu bytes so far); set TMPDIR to a "
				  "folder that has more",
				  path, tally_unlinked_folder(), spool->why,
				  (unsigned long long)spool->size);
	return tally_fail(error, code, -1, "%s: %s cannot be kept in %s: %s", path, spool->why,
			  tally_unlinked_folder(), strerror(-code));
}

void tally_spool_drop(const struct file_spool *spool, uint64_t from, uint64_t to)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	from = (from + page - 1) & ~(page - 1);
	to &= ~(page - 1);
	if (from < to)
		(void)!fallocate(spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
				 (off_t)(to - from));
}

void tally_spool_close(struct file_spool *spool)
{
	if (!spool)
		return;
	tally_fs_unmap(&spool->map);
	close(spool->fd);
	free(spool->room);
	free(spool);
}
