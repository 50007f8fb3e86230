/* Nothing in an archive is trusted: sizes are checked against the bytes that there are, a name is
 * only compared, and no member becomes a file with a name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/table.h"
#include "tar/expand.h"
#include "tar/unlinked.h"
#include "tar/tar.h"
#include "tar/tar_header.h"

#define NAME_MOST  4096U /* a longer one is cut, so that it is not found */
#define RUNS_MOST  65536U
#define HOLES_MOST ((uint64_t)64 << 30) /* bytes of a member with holes */

struct tally_tar {
	struct tally_mapped map;
	bool damaged;
	struct tally_strings names; /* number: index of the member */
	struct tally_tar_member *members;
	size_t room;
};

/* What extended headers say of the next member. */
struct extended {
	char name[NAME_MOST];
	uint64_t size, real_size;
	bool has_size, holes;
};

bool tally_tar_is_one(const uint8_t *bytes, size_t size)
{
	return size >= TAR_BLOCK && !memcmp(bytes + 257, "ustar", 5);
}

/* Puts what `map` expands to in its place. */
static int expand_map(struct tally_tar *tar, uint64_t most, const char *path,
		      struct tally_error *error)
{
	int fd, code = tally_expand(&tar->map, most, path, &fd, &tar->damaged, error);

	if (code)
		return code;
	tally_fs_unmap(&tar->map);
	code = tally_fs_map(fd, &tar->map);
	close(fd);
	return code;
}

/* --- headers --- */

/* Octal digits, or, with the first bit set, a number with its high byte first.  False: neither. */
static bool read_number(const char *field, size_t size, uint64_t *ret)
{
	const uint8_t *bytes = (const uint8_t *)field;
	uint64_t value = 0;
	size_t at = 0;

	if (bytes[0] & 0x80) {
		for (at = 1; at < size; at++) {
			if (value >> 55)
				return false;
			value = value << 8 | bytes[at];
		}
		*ret = value;
		return true;
	}
	while (at < size && field[at] == ' ')
		at++;
	for (; at < size && field[at] >= '0' && field[at] <= '7'; at++)
		value = value << 3 | (uint64_t)(field[at] - '0');
	*ret = value;
	return at == size || !field[at] || field[at] == ' ';
}

static bool decimal(const uint8_t **at, const uint8_t *end, char behind, uint64_t *ret)
{
	const uint8_t *digits = *at;
	uint64_t value = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
		if (value > UINT64_MAX / 16)
			return false;
		value = value * 10 + (uint64_t)(**at - '0');
	}
	if (*at == digits || *at == end || **at != (uint8_t)behind)
		return false;
	(*at)++;
	*ret = value;
	return true;
}

static void copy_name(const void *from, size_t size, char to[NAME_MOST])
{
	size_t length = strnlen(from, size);

	if (length >= NAME_MOST)
		length = NAME_MOST - 1;
	memcpy(to, from, length);
	to[length] = 0;
}

static bool is_key(const uint8_t *key, size_t length, const char *name)
{
	return length == strlen(name) && !memcmp(key, name, length);
}

/* Records "LENGTH KEY=VALUE\n". */
static void read_records(const uint8_t *at, const uint8_t *end, struct extended *to)
{
	while (at < end) {
		const uint8_t *start = at, *key, *value, *stop;
		uint64_t length;

		if (!decimal(&at, end, ' ', &length) || length > (uint64_t)(end - start) ||
		    length <= (uint64_t)(at - start))
			return;
		key = at;
		stop = start + length - 1; /* the line feed */
		value = memchr(key, '=', (size_t)(stop - key));
		at = start + length;
		if (!value)
			continue;
		value++;
		if (is_key(key, (size_t)(value - 1 - key), "path") && !to->holes)
			copy_name(value, (size_t)(stop - value), to->name);
		else if (is_key(key, (size_t)(value - 1 - key), "GNU.sparse.name"))
			copy_name(value, (size_t)(stop - value), to->name);
		else if (is_key(key, (size_t)(value - 1 - key), "size"))
			to->has_size = decimal(&value, stop + 1, '\n', &to->size);
		else if (is_key(key, (size_t)(value - 1 - key), "GNU.sparse.major"))
			to->holes = stop - value == 1 && *value == '1';
		else if (is_key(key, (size_t)(value - 1 - key), "GNU.sparse.realsize"))
			(void)decimal(&value, stop + 1, '\n', &to->real_size);
	}
}

static void member_name(const struct tar_header *header, const struct extended *extended,
			char ret[NAME_MOST])
{
	size_t prefix = strnlen(header->prefix, sizeof(header->prefix));

	if (extended->name[0])
		copy_name(extended->name, sizeof(extended->name), ret);
	else if (prefix && !header->magic[5]) /* GNU's own format has other things there */
		snprintf(ret, NAME_MOST, "%.*s/%.*s", (int)prefix, header->prefix,
			 (int)sizeof(header->name), header->name);
	else
		copy_name(header->name, sizeof(header->name), ret);
}

/* PATH/ID/FILE, as a build-id cache has it, becomes .build-id/AB/CDEF.../FILE. */
static void name_by_id(char name[NAME_MOST])
{
	char *file = strrchr(name, '/'), *id;
	char text[128];
	size_t length;

	if (!file || file == name || strlen(file) > 32)
		return;
	id = memrchr(name, '/', (size_t)(file - name));
	id = id ? id + 1 : name;
	length = (size_t)(file - id);
	if (length < 4 || length > 40 || length % 2 || strspn(id, "0123456789abcdef") != length)
		return;
	/* ".build-id/AB/CDEF.../FILE" is that already */
	if (id - name == (ptrdiff_t)strlen(".build-id/AB/") && !strncmp(name, ".build-id/", 10))
		return;
	snprintf(text, sizeof(text), ".build-id/%.2s/%.*s%s", id, (int)length - 2, id + 2, file);
	copy_name(text, sizeof(text), name);
}

static int add_member(struct tally_tar *tar, char name[NAME_MOST],
		      const struct tally_tar_member *member)
{
	size_t before = tar->names.count;
	int64_t number;

	while (name[0] == '.' && name[1] == '/')
		memmove(name, name + 2, strlen(name + 2) + 1);
	name_by_id(name);
	number = tally_strings_intern(&tar->names, name, strlen(name));
	if (number < 0)
		return -ENOMEM;
	if (tar->names.count == before)
		return 0;
	if (!array_next(&tar->members, &tar->room, (size_t)number, 64, sizeof(*tar->members)))
		return -ENOMEM;
	tar->members[number] = *member;
	return 0;
}

static bool is_zero(const uint8_t *block)
{
	return !block[0] && !memcmp(block, block + 1, TAR_BLOCK - 1);
}

/* The member's header is at `at`; *at is behind it then.  1; 0: the archive ends; -EBADMSG;
 * -ENOMEM. */
static int read_one(struct tally_tar *tar, size_t *at, struct extended *extended)
{
	const struct tar_header *header;
	struct tally_tar_member member = {0};
	char name[NAME_MOST];
	uint64_t checksum, size, left;
	int code = 0;

	if (tar->map.size - *at < TAR_BLOCK) /* an empty one has no address */
		return *at == tar->map.size ? 0 : -EBADMSG;
	if (is_zero(tar->map.data + *at))
		return 0;
	header = (const void *)(tar->map.data + *at);
	if (memcmp(header->magic, "ustar", 5) != 0 ||
	    !read_number(header->checksum, sizeof(header->checksum), &checksum) ||
	    checksum != tar_checksum(header) ||
	    !read_number(header->size, sizeof(header->size), &size))
		return -EBADMSG;
	*at += TAR_BLOCK;
	left = tar->map.size - *at;
	member.bytes = tar->map.data + *at;
	if (extended->has_size && header->type != 'x' && header->type != 'L')
		size = extended->size;
	if (size > left) { /* cut: what is there is used */
		tar->damaged = true;
		size = left;
	}
	*at += size + 511 < left ? (size_t)align_up(size, TAR_BLOCK) : (size_t)left;
	if (header->type == 'x') {
		read_records(member.bytes, member.bytes + size, extended);
		return 1;
	}
	if (header->type == 'L') {
		copy_name(member.bytes, (size_t)size, extended->name);
		return 1;
	}
	if (header->type == '0' || header->type == '7' || !header->type) {
		member_name(header, extended, name);
		member.stored = size;
		member.holes = extended->holes;
		(void)read_number(header->mtime, sizeof(header->mtime), &member.time);
		member.size = extended->holes ? extended->real_size : size;
		code = add_member(tar, name, &member);
	}
	*extended = (struct extended){.holes = false};
	return code ? code : 1;
}

static int read_all(struct tally_tar *tar)
{
	struct extended *extended = calloc(1, sizeof(*extended));
	size_t at = 0;
	int code = extended ? 1 : -ENOMEM;

	while (code > 0)
		code = read_one(tar, &at, extended);
	free(extended);
	if (code == -EBADMSG) {
		tar->damaged = true;
		code = 0;
	}
	for (size_t i = 0; i < tar->names.count; i++)
		tar->members[i].name = tar->names.text[i];
	return code;
}

int tally_tar_open(int fd, const char *path, uint64_t expand_most, struct tally_tar **ret,
		   struct tally_error *error)
{
	struct tally_tar *tar = calloc(1, sizeof(*tar));
	int code = tar ? tally_fs_map(fd, &tar->map) : -ENOMEM;

	if (error)
		error->code = 0;
	if (!code && tally_expand_command(tar->map.data, tar->map.size))
		code = expand_map(tar, expand_most, path, error);
	if (!code && !tally_tar_is_one(tar->map.data, tar->map.size))
		code = -ENOEXEC;
	if (!code)
		code = read_all(tar);
	if (!code && !tar->names.count)
		code = -ENOEXEC;
	if (!code) {
		*ret = tar;
		return 0;
	}
	tally_tar_close(tar);
	if (error && error->code)
		return code;
	return tally_fail(error, code, -1, "%s: %s", path,
			  code == -ENOEXEC ? "is not an archive (tar)" : strerror(-code));
}

void tally_tar_close(struct tally_tar *tar)
{
	if (!tar)
		return;
	tally_fs_unmap(&tar->map);
	tally_strings_done(&tar->names);
	free(tar->members);
	free(tar);
}

bool tally_tar_is_damaged(const struct tally_tar *tar)
{
	return tar->damaged;
}

size_t tally_tar_count(const struct tally_tar *tar)
{
	return tar->names.count;
}

const struct tally_tar_member *tally_tar_member(const struct tally_tar *tar, size_t index)
{
	return index < tar->names.count ? &tar->members[index] : NULL;
}

const struct tally_tar_member *tally_tar_find(const struct tally_tar *tar, const char *name)
{
	for (size_t i = 0; i < tar->names.count; i++)
		if (!strcmp(tar->names.text[i], name))
			return &tar->members[i];
	return NULL;
}

/* --- members --- */

/* "COUNT\nOFFSET\nSIZE\n...", filled up to a block; then the bytes. */
static int put_runs(const struct tally_tar_member *member, int fd)
{
	const uint8_t *at = member->bytes, *end = at + member->stored, *bytes;
	uint64_t count, offset = 0, size = 0, last = 0, begin;
	int code = 0;

	if (!decimal(&at, end, '\n', &count) || count > RUNS_MOST)
		return -EBADMSG;
	for (uint64_t i = 0; i < 2 * count; i++)
		if (!decimal(&at, end, '\n', &offset))
			return -EBADMSG;
	begin = align_up((uint64_t)(at - member->bytes), TAR_BLOCK);
	if (begin > member->stored)
		return -EBADMSG;
	bytes = member->bytes + begin;
	at = member->bytes;
	(void)decimal(&at, end, '\n', &count);
	for (uint64_t i = 0; i < count && !code; i++) {
		(void)decimal(&at, end, '\n', &offset);
		(void)decimal(&at, end, '\n', &size);
		if (offset < last || offset > member->size || size > member->size - offset ||
		    size > (uint64_t)(end - bytes))
			return -EBADMSG;
		code = tally_fs_write_at(fd, bytes, (size_t)size, offset);
		bytes += size;
		last = offset + size;
	}
	return code;
}

int tally_tar_member_open(const struct tally_tar_member *member)
{
	int fd = -1, code = member->size > HOLES_MOST ? -EBADMSG : 0;

	if (!code)
		fd = memfd_create("tally", MFD_CLOEXEC);
	if (!code && fd < 0)
		code = -errno;
	if (!code && member->holes)
		code = ftruncate(fd, (off_t)member->size) ? -errno : put_runs(member, fd);
	else if (!code)
		code = tally_fs_write(fd, member->bytes, (size_t)member->stored);
	if (!code && lseek(fd, 0, SEEK_SET) < 0)
		code = -errno;
	if (!code)
		return fd;
	if (fd >= 0)
		close(fd);
	return code;
}
