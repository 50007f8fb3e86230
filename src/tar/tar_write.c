#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "base/fs.h"
#include "tar/deflate.h"
#include "tar/tar.h"
#include "tar/tar_header.h"

#define ROOM ((size_t)256 * 1024)

struct tally_tar_writer {
	int fd, failed;
	uint64_t time;
	struct tally_deflate *deflate; /* NULL: not compressed */
	char *room;
};

int tally_tar_writer_new(int fd, bool compressed, uint64_t time, struct tally_tar_writer **ret)
{
	struct tally_tar_writer *writer = calloc(1, sizeof(*writer));
	int code = 0;

	if (!writer)
		return -ENOMEM;
	writer->fd = fd;
	writer->time = time >> 33 ? 0 : time;
	writer->room = malloc(ROOM);
	if (!writer->room)
		code = -ENOMEM;
	if (!code && compressed)
		code = tally_deflate_new(fd, &writer->deflate);
	if (code) {
		tally_tar_writer_free(writer);
		return code;
	}
	*ret = writer;
	return 0;
}

void tally_tar_writer_free(struct tally_tar_writer *writer)
{
	if (!writer)
		return;
	tally_deflate_free(writer->deflate);
	free(writer->room);
	free(writer);
}

static void put(struct tally_tar_writer *writer, const void *bytes, size_t size)
{
	if (writer->failed || !size)
		return;
	writer->failed = writer->deflate ? tally_deflate_add(writer->deflate, bytes, size, false)
					 : tally_fs_write(writer->fd, bytes, size);
}

static void put_zeros(struct tally_tar_writer *writer, uint64_t size)
{
	static const char zeros[2 * TAR_BLOCK];

	put(writer, zeros, (size_t)size);
}

/* Up to the next block. */
static void fill(struct tally_tar_writer *writer, uint64_t size)
{
	put_zeros(writer, align_up(size, TAR_BLOCK) - size);
}

static void put_header(struct tally_tar_writer *writer, const char *name, uint64_t size, char type)
{
	struct tar_header header = {.type = type};

	memcpy(header.name, name, strnlen(name, sizeof(header.name)));
	memcpy(header.mode, "0000600", 8);
	memcpy(header.uid, "0000000", 8);
	memcpy(header.gid, "0000000", 8);
	snprintf(header.mtime, sizeof(header.mtime), "%011llo", (unsigned long long)writer->time);
	memcpy(header.magic, "ustar", 6);
	memcpy(header.version, "00", 2);
	/* A larger one is in the extended header, which is the one that counts. */
	snprintf(header.size, sizeof(header.size), "%011llo",
		 (unsigned long long)(size >> 33 ? 0 : size));
	snprintf(header.checksum, sizeof(header.checksum), "%06o", tar_checksum(&header));
	header.checksum[7] = ' ';
	put(writer, &header, sizeof(header));
}

/* "LENGTH KEY=VALUE\n", of which the length is a part. */
static void add_record(struct tally_buf *to, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, length = rest + 1;
	char digits[24];

	while ((size_t)snprintf(digits, sizeof(digits), "%zu", length) + rest > length)
		length++;
	tally_buf_printf(to, "%zu %s=%s\n", length, key, value);
}

static void add_number(struct tally_buf *to, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_record(to, key, text);
}

/* The headers of a member; `stored` are the bytes that follow. */
static void begin(struct tally_tar_writer *writer, const char *name, uint64_t stored, bool holes,
		  uint64_t size)
{
	struct tally_buf extended = {0};

	if (holes) {
		add_number(&extended, "GNU.sparse.major", 1);
		add_number(&extended, "GNU.sparse.minor", 0);
		add_record(&extended, "GNU.sparse.name", name);
		add_number(&extended, "GNU.sparse.realsize", size);
	} else if (strlen(name) > 100) {
		add_record(&extended, "path", name);
	}
	if (stored >> 33)
		add_number(&extended, "size", stored);
	if (extended.failed)
		writer->failed = -ENOMEM;
	if (extended.size) {
		put_header(writer, "pax", extended.size, 'x');
		put(writer, extended.data, extended.size);
		fill(writer, extended.size);
	}
	tally_buf_done(&extended);
	put_header(writer, name, stored, '0');
}

static void put_file(struct tally_tar_writer *writer, int fd, uint64_t offset, uint64_t size)
{
	while (size && !writer->failed) {
		size_t want = size < ROOM ? (size_t)size : ROOM;
		ssize_t got = pread(fd, writer->room, want, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			writer->failed = got ? -errno : -EIO; /* it became shorter */
			return;
		}
		put(writer, writer->room, (size_t)got);
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
}

static void add_holes(struct tally_tar_writer *writer, const char *name, int fd, uint64_t size,
		      const struct tally_tar_run *runs, size_t run_count)
{
	struct tally_buf list = {0};
	uint64_t kept = 0;

	tally_buf_printf(&list, "%zu\n", run_count);
	for (size_t i = 0; i < run_count; i++) {
		tally_buf_printf(&list, "%llu\n%llu\n", (unsigned long long)runs[i].offset,
				 (unsigned long long)runs[i].size);
		kept += runs[i].size;
	}
	tally_buf_zero(&list, align_up(list.size, TAR_BLOCK) - list.size);
	if (list.failed)
		writer->failed = -ENOMEM;
	begin(writer, name, list.size + kept, true, size);
	put(writer, list.data, list.size);
	for (size_t i = 0; i < run_count; i++)
		put_file(writer, fd, runs[i].offset, runs[i].size);
	fill(writer, kept);
	tally_buf_done(&list);
}

int tally_tar_add_file(struct tally_tar_writer *writer, const char *name, int fd, uint64_t size,
		       const struct tally_tar_run *runs, size_t run_count)
{
	if (run_count) {
		add_holes(writer, name, fd, size, runs, run_count);
	} else {
		begin(writer, name, size, false, size);
		put_file(writer, fd, 0, size);
		fill(writer, size);
	}
	return writer->failed;
}

int tally_tar_add_bytes(struct tally_tar_writer *writer, const char *name, const void *bytes,
			size_t size)
{
	begin(writer, name, size, false, size);
	put(writer, bytes, size);
	fill(writer, size);
	return writer->failed;
}

int tally_tar_writer_end(struct tally_tar_writer *writer)
{
	put_zeros(writer, 2ULL * TAR_BLOCK);
	if (!writer->failed && writer->deflate)
		writer->failed = tally_deflate_add(writer->deflate, NULL, 0, true);
	return writer->failed;
}
