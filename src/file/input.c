/* Opens what a path names: a file or the files of a directory are mapped; input that can be read
 * only once is first copied to a file. */
#include "file/data_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/table.h"
#include "file/live.h"
#include "file/spool.h"
#include "tar/expand.h"

/* No perf starts more threads than this. */
#define PARTS_MOST 65536U

static bool is_magic(const uint8_t *bytes, size_t size)
{
	return size >= FILE_HEADER_PIPE_SIZE &&
	       (!memcmp(bytes, "PERFILE2", 8) || !memcmp(bytes, "2ELIFREP", 8) ||
		!memcmp(bytes, "PERFFILE", 8));
}

/* If it is not a recording, only its start is read, as it may have no end. */
static int keep_stream(struct tally_data *data, int fd, struct tally_error *error)
{
	struct file_spool *spool;
	uint8_t magic[FILE_HEADER_PIPE_SIZE];
	int code = tally_spool_open(data->path, "the data from the pipe", &spool, error);

	if (code)
		return code;
	data->stream = spool;
	code = tally_spool_take(spool, fd, sizeof(magic), &data->options);
	if (!code && pread(spool->fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	    is_magic(magic, sizeof(magic)))
		code = tally_spool_take(spool, fd, UINT64_MAX, &data->options);
	if (!code)
		code = tally_spool_finish(spool);
	if (code)
		return tally_spool_fail(spool, code, data->path, error);
	data->file = spool->map;
	return 0;
}

static int map_file(struct tally_data *data, int fd, struct tally_error *error)
{
	int code = tally_fs_map(fd, &data->file);
	struct rlimit limit;

	if (code == -ENOMEM && !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		return tally_fail(error, code, -1,
				  "%s: the file is mapped, and RLIMIT_AS allows this program %llu "
				  "kB of memory and mappings together: raise it (ulimit -v)",
				  data->path, (unsigned long long)limit.rlim_cur / 1024);
	return code ? tally_fail(error, code, -1, "%s: cannot be mapped: %s", data->path,
				 strerror(-code))
		    : 0;
}

/* Puts what a compressed file expands to in its place. */
static int expand(struct tally_data *data, struct tally_error *error)
{
	struct stat about;
	bool damaged;
	int fd, code = tally_expand(&data->file, data->options.expand_most, data->path, &fd,
				    &damaged, error);

	if (code)
		return code;
	if (!fstat(data->fd, &about))
		data->modified = about.st_mtime;
	tally_fs_unmap(&data->file);
	data->file = (struct tally_mapped){.size = 0};
	close(data->fd);
	data->fd = fd;
	code = map_file(data, fd, error);
	if (code || !damaged)
		return code;
	if (!data->file.size)
		return tally_fail(
		    error, -EBADMSG, -1,
		    "%s: the compressed file was cut, or is damaged: nothing of it can "
		    "be read",
		    data->path);
	tally_file_damage(data, 0, 0, "the compressed file was cut, or is damaged");
	return 0;
}

/* --- directories and archives --- */

/* N of "data.N", written as a number is; below 0: another name. */
static int64_t part_number(const char *name)
{
	uint64_t number = 0;

	if (strncmp(name, "data.", 5) != 0 || !name[5] || (name[5] == '0' && name[6]))
		return -1;
	for (const char *at = name + 5; *at; at++) {
		if (*at < '0' || *at > '9' || number > PARTS_MOST)
			return -1;
		number = number * 10 + (uint64_t)(*at - '0');
	}
	return number > PARTS_MOST ? -1 : (int64_t)number;
}

static int by_number(const void *a, const void *b)
{
	const struct file_part *one = a, *two = b;

	return one->number < two->number ? -1 : one->number > two->number;
}

/* The map is the data's, also when it fails. */
static int add_part(struct tally_data *data, const struct tally_mapped *map, const char *name,
		    size_t *room, struct tally_error *error)
{
	struct file_part part = {.map = *map, .number = (unsigned)part_number(name)};

	if (!array_next(&data->parts, room, data->part_count, 16, sizeof(*data->parts)) ||
	    asprintf(&part.name, "%s: ", name) < 0) {
		if (!data->archive)
			tally_fs_unmap(&part.map);
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", data->path);
	}
	data->parts[data->part_count++] = part;
	return 0;
}

static int map_part(struct tally_data *data, int folder, const char *name, size_t *room,
		    struct tally_error *error)
{
	struct tally_mapped map;
	int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int code = fd < 0 ? -errno : tally_fs_map(fd, &map);

	if (fd >= 0)
		close(fd);
	if (code)
		return tally_fail(error, code, -1, "%s/%s: cannot be read: %s", data->path, name,
				  code == -ESPIPE ? "no regular file" : strerror(-code));
	return add_part(data, &map, name, room, error);
}

static void sort_parts(struct tally_data *data)
{
	if (data->part_count)
		qsort(data->parts, data->part_count, sizeof(*data->parts), by_number);
}

static int open_parts(struct tally_data *data, DIR *folder, struct tally_error *error)
{
	struct dirent *entry;
	size_t room = 0;
	int code = 0;

	while (!code && (entry = readdir(folder)))
		if (part_number(entry->d_name) >= 0)
			code = map_part(data, dirfd(folder), entry->d_name, &room, error);
	sort_parts(data);
	return code;
}

#define IN_ARCHIVE "perf.data"

/* The files of a directory, as an archive has them: perf.data/data and perf.data/data.N. */
static int take_parts(struct tally_data *data, struct tally_error *error)
{
	size_t count = tally_tar_count(data->archive), room = 0;
	const char folder[] = IN_ARCHIVE "/";
	int code = 0;

	for (size_t i = 0; !code && i < count; i++) {
		const struct tally_tar_member *member = tally_tar_member(data->archive, i);
		const struct tally_mapped map = {.data = member->bytes,
						 .size = (size_t)member->stored};
		const char *name = member->name + sizeof(folder) - 1;

		if (!strncmp(member->name, folder, sizeof(folder) - 1) && !member->holes &&
		    part_number(name) >= 0)
			code = add_part(data, &map, name, &room, error);
	}
	sort_parts(data);
	return code;
}

/* Puts the recording of the archive that was mapped in its place. */
static int take_archive(struct tally_data *data, struct tally_error *error)
{
	const struct tally_tar_member *member;
	struct tally_tar *archive;
	int code = tally_tar_open(data->fd, data->path, data->options.expand_most, &archive, error);

	if (code)
		return code;
	tally_fs_unmap(&data->file);
	data->file = (struct tally_mapped){.size = 0};
	data->archive = archive;
	member = tally_tar_find(archive, IN_ARCHIVE);
	if (!member) {
		member = tally_tar_find(archive, IN_ARCHIVE "/data");
		data->kind = TALLY_DATA_DIRECTORY;
	}
	if (!member || member->holes)
		return tally_fail(error, -EBADMSG, -1,
				  "%s: an archive without a recording (perf.data); one of `perf "
				  "archive` holds binaries alone: name the recording, and the "
				  "archive with --debug-dir",
				  data->path);
	data->file = (struct tally_mapped){.data = member->bytes, .size = (size_t)member->stored};
	data->modified = (int64_t)member->time;
	return data->kind == TALLY_DATA_DIRECTORY ? take_parts(data, error) : 0;
}

static int open_folder(struct tally_data *data, int fd, struct tally_error *error)
{
	DIR *folder = fdopendir(fd);
	int code = 0;

	if (!folder) {
		code = -errno;
		close(fd);
		return tally_fail(error, code, -1, "%s: cannot be read: %s", data->path,
				  strerror(-code));
	}
	data->kind = TALLY_DATA_DIRECTORY;
	data->fd = openat(dirfd(folder), "data", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (data->fd < 0)
		code = tally_fail(error, errno == ENOENT ? -EISDIR : -errno, -1,
				  "%s: a directory whose file \"data\" cannot be opened: %s; name "
				  "a recording, a file or a directory as perf record --threads "
				  "makes it",
				  data->path, strerror(errno));
	if (!code)
		code = map_file(data, data->fd, error);
	if (!code)
		code = open_parts(data, folder, error);
	closedir(folder);
	return code;
}

/* A recording belongs to its owner, and most are made with sudo. */
static int refuse_open(const char *path, int code, struct tally_error *error)
{
	struct passwd room, *user = NULL;
	char text[1024], number[32];
	const char *command;
	struct stat about;

	if (code != -EACCES)
		return tally_fail(error, code, -1, "%s: cannot be opened: %s%s", path,
				  strerror(-code),
				  code == -ENOENT ? "; record first, or name the file" : "");
	if (stat(path, &about))
		return tally_fail(error, code, -1,
				  "%s: cannot be opened: %s: you may not enter a folder of its "
				  "path; run this with sudo, or copy the file",
				  path, strerror(-code));
	snprintf(number, sizeof(number), "user %u", (unsigned)about.st_uid);
	if (getpwuid_r(about.st_uid, &room, text, sizeof(text), &user))
		user = NULL;
	command = about.st_uid == geteuid() ? "chmod u+r" : "sudo chown $(id -u)";
	return tally_fail(error, code, -1,
			  "%s: cannot be opened: %s: it belongs to %s, and its mode does not let "
			  "you read it: `%s %s` gives it to you, or run this with sudo",
			  path, strerror(-code), user ? user->pw_name : number, command, path);
}

int tally_file_input_map(struct tally_data *data, struct tally_error *error)
{
	return map_file(data, data->fd, error);
}

int tally_file_input_open(struct tally_data *data, struct tally_error *error)
{
	bool standard = !strcmp(data->path, "-");
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			  : open(data->path, O_RDONLY | O_CLOEXEC);
	struct stat about;

	if (fd < 0 || fstat(fd, &about)) {
		int code = -errno;

		if (fd >= 0)
			close(fd);
		return refuse_open(data->path, code, error);
	}
	if (S_ISDIR(about.st_mode))
		return open_folder(data, fd, error);
	data->fd = fd;
	/* Standard input that was already read from is only the rest of a file. */
	if (S_ISREG(about.st_mode) && lseek(fd, 0, SEEK_CUR) <= 0) {
		int code = map_file(data, fd, error);

		if (!code && tally_expand_command(data->file.data, data->file.size))
			code = expand(data, error);
		if (!code && !is_magic(data->file.data, data->file.size) &&
		    tally_tar_is_one(data->file.data, data->file.size))
			code = take_archive(data, error);
		return code;
	}
	return data->options.live ? tally_live_open(data, error) : keep_stream(data, fd, error);
}

void tally_file_input_close(struct tally_data *data)
{
	for (size_t i = 0; i < data->part_count; i++) {
		if (!data->archive)
			tally_fs_unmap(&data->parts[i].map);
		free(data->parts[i].name);
	}
	free(data->parts);
	if (data->archive)
		tally_tar_close(data->archive); /* the file is part of it */
	else if (data->stream)
		tally_spool_close(data->stream);
	else
		tally_fs_unmap(&data->file);
	if (data->fd >= 0)
		close(data->fd);
}
