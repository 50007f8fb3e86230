#include "write/part_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/fail.h"
#include "write/file_bytes.h"
#include "write/pack.h"

struct tally_part {
	char *path;
	int fd;
	uint64_t end;
	struct file_pack *pack;
	struct tally_buf packed;
	uint64_t pack_in, pack_out;
};

static void free_part(struct tally_part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	tally_pack_free(part->pack);
	tally_buf_done(&part->packed);
	free(part->path);
	free(part);
}

static int fail(const struct tally_part *part, int code, struct tally_error *error)
{
	return tally_fail(
	    error, code, (int64_t)part->end,
	    "%s: cannot be written beyond %llu bytes: %s; the part before that can be "
	    "read",
	    part->path, (unsigned long long)part->end, strerror(-code));
}

int tally_part_open(const char *folder, unsigned number, int compress_level,
		    struct tally_part **ret, struct tally_error *error)
{
	struct tally_part *part = calloc(1, sizeof(*part));
	int code = 0;

	if (!part || asprintf(&part->path, "%s/data.%u", folder, number) < 0) {
		free(part);
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", folder);
	}
	part->fd = open(part->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (part->fd < 0)
		code = tally_fail(error, -errno, -1, "%s: cannot be created: %s", part->path,
				  strerror(errno));
	if (!code && compress_level && tally_pack_new(compress_level, &part->pack))
		code = tally_fail(error, -ENOMEM, -1, "%s: out of memory", part->path);
	if (code) {
		free_part(part);
		return code;
	}
	*ret = part;
	return 0;
}

int tally_part_append(struct tally_part *part, const struct iovec *iov, int count,
		      struct tally_error *error)
{
	struct iovec packed;
	uint64_t wrote;
	int code = 0;

	if (part->pack) {
		tally_buf_clear(&part->packed);
		code = tally_pack_add(part->pack, iov, count, &part->packed);
		for (int i = 0; i < count; i++)
			part->pack_in += iov[i].iov_len;
		part->pack_out += part->packed.size;
		packed = (struct iovec){part->packed.data, part->packed.size};
		iov = &packed;
		count = 1;
	}
	if (code)
		return fail(part, code, error);
	code = tally_file_write_all(part->fd, iov, count, part->end, &wrote);
	if (code)
		wrote = tally_file_whole_records(part->fd, part->end, wrote);
	part->end += wrote;
	/* Nothing but whole records may be left. */
	if (code && ftruncate(part->fd, (off_t)part->end))
		return fail(part, -errno, error);
	return code ? fail(part, code, error) : 0;
}

uint64_t tally_part_size(const struct tally_part *part)
{
	return part->end;
}

void tally_part_packed(const struct tally_part *part, uint64_t *ret_in, uint64_t *ret_out)
{
	*ret_in = part->pack_in;
	*ret_out = part->pack_out;
}

int tally_part_close(struct tally_part *part, struct tally_error *error)
{
	int code = 0;

	if (!part)
		return 0;
	if (close(part->fd))
		code = fail(part, -errno, error);
	part->fd = -1;
	free_part(part);
	return code;
}
