#include "image/kernel_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/bytes.h"

/* Changes with the layout, and with the rules by which tables are made. */
#define VERSION     1
#define GROUP_LIMIT 4097
#define FILE_LIMIT  ((uint64_t)1 << 30)
#define NAME_SIZE   64

static const char prefix[] = "kernel-";

struct head {
	char magic[8];
	uint32_t version, order; /* order: 0x01020304 as this machine writes it */
	struct tally_kernel_key key;
	uint64_t size; /* of the file */
	uint64_t text_start, stext_start;
	uint64_t text, text_size;     /* names, the last byte is NUL */
	uint64_t groups, group_count; /* array of struct group */
	uint64_t hidden;
};

struct group { /* offsets in the file */
	uint64_t count, starts, ends, names, infos;
	uint64_t outer;  /* 0: none */
	uint64_t module; /* its name in the text */
};

static const char magic[8] = "TALLYKS";

bool tally_kernel_cache_omits(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11);
}

/* Root with another user's home (sudo) must not leave files of root's there, nor follow links. */
static bool is_own(const char *path)
{
	struct stat stat_of;

	return !stat(path, &stat_of) && stat_of.st_uid == geteuid();
}

/* A cache folder that is not there yet will be made, where the home is ours. */
static bool is_own_cache(const char *cache, const char *home)
{
	struct stat stat_of;

	if (!stat(cache, &stat_of))
		return stat_of.st_uid == geteuid();
	return errno == ENOENT && home && is_own(home);
}

char *tally_kernel_cache_folder(const char *given)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	char *folder = NULL;
	int length = 0;

	if (given)
		return *given ? strdup(given) : NULL;
	if (cache && cache[0] == '/') { /* relative ones are void by the XDG specification */
		if (is_own_cache(cache, home))
			length = asprintf(&folder, "%s/tally", cache);
	} else if (home && home[0] == '/' && is_own(home)) {
		length = asprintf(&folder, "%s/.cache/tally", home);
	}
	return length < 0 ? NULL : folder;
}

static void name_of(const struct tally_kernel_key *key, char ret[NAME_SIZE])
{
	snprintf(ret, NAME_SIZE, "%s%016llx", prefix,
		 (unsigned long long)tally_hash_bytes(key, sizeof(*key)));
}

/* Ours, and nobody else's to write: what is in there names what people look at. */
static bool is_safe(int fd, mode_t type)
{
	struct stat stat_of;

	return !fstat(fd, &stat_of) && (stat_of.st_mode & S_IFMT) == type &&
	       stat_of.st_uid == geteuid() && !(stat_of.st_mode & (S_IWGRP | S_IWOTH));
}

static int open_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!is_safe(fd, S_IFDIR)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int make_folders(const char *folder)
{
	char *path = strdup(folder);
	int error = path ? 0 : -ENOMEM;

	for (char *at = path; path && at && *at;) {
		at = strchr(at + 1, '/');
		if (at)
			*at = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			error = -errno; /* that of the last one counts */
		else
			error = 0;
		if (at)
			*at = '/';
	}
	free(path);
	return error;
}

/* An array of the mapped file; NULL when it is not within it, or not aligned. */
static const void *array_at(const struct tally_mapped *mapped, uint64_t offset, uint64_t count,
			    size_t size, size_t align)
{
	if (offset % align || offset > mapped->size || count > (mapped->size - offset) / size)
		return NULL;
	return mapped->data + offset;
}

static bool take_group(const struct tally_mapped *mapped, const struct group *group,
		       const char *text, size_t text_size, struct tally_symbol_table *table)
{
	*table = (struct tally_symbol_table){
	    .starts = array_at(mapped, group->starts, group->count, 8, 8),
	    .ends = array_at(mapped, group->ends, group->count, 8, 8),
	    .names = array_at(mapped, group->names, group->count, 4, 4),
	    .infos = array_at(mapped, group->infos, group->count, 1, 1),
	    .outer = group->outer ? array_at(mapped, group->outer, group->count, 4, 4) : NULL,
	    .text = text,
	    .text_size = text_size,
	    .count = (size_t)group->count,
	};
	return table->starts && table->ends && table->names && table->infos &&
	       (!group->outer || table->outer) && group->count < INT32_MAX &&
	       group->module < text_size;
}

/* Ties the tables to the file; 0, -EBADMSG, -ENOMEM. */
static int take(const struct tally_kernel_key *key, struct tally_kallsyms *kallsyms)
{
	const struct tally_mapped *mapped = &kallsyms->mapped;
	const struct head *head = array_at(mapped, 0, 1, sizeof(*head), 8);
	const struct group *groups;
	const char *text;

	if (!head || memcmp(head->magic, magic, sizeof(magic)) != 0 || head->version != VERSION ||
	    head->order != 0x01020304 || memcmp(&head->key, key, sizeof(*key)) != 0 ||
	    head->size != mapped->size || head->group_count > GROUP_LIMIT)
		return -EBADMSG;
	kallsyms->text_start = head->text_start;
	kallsyms->stext_start = head->stext_start;
	kallsyms->hidden = head->hidden;
	if (!head->group_count)
		return head->hidden ? 0 : -EBADMSG;
	text = array_at(mapped, head->text, head->text_size, 1, 1);
	groups = array_at(mapped, head->groups, head->group_count, sizeof(*groups), 8);
	if (!text || !head->text_size || text[head->text_size - 1] || !groups || head->hidden)
		return -EBADMSG;
	kallsyms->tables = calloc(head->group_count, sizeof(*kallsyms->tables));
	kallsyms->modules = calloc(head->group_count, sizeof(*kallsyms->modules));
	if (!kallsyms->tables || !kallsyms->modules)
		return -ENOMEM;
	for (size_t i = 0; i < head->group_count; i++) {
		if (!take_group(mapped, &groups[i], text, (size_t)head->text_size,
				&kallsyms->tables[i]))
			return -EBADMSG;
		kallsyms->modules[i] = i ? text + groups[i].module : NULL;
	}
	kallsyms->group_count = (size_t)head->group_count;
	return 0;
}

int tally_kernel_cache_read(const char *folder, const struct tally_kernel_key *key,
			    struct tally_kallsyms *ret)
{
	struct tally_kallsyms made = {0};
	char name[NAME_SIZE];
	int at = open_folder(folder), fd, error;

	if (at < 0)
		return at;
	name_of(key, name);
	fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	error = fd < 0 ? -errno : 0;
	close(at);
	if (fd < 0)
		return error;
	error = is_safe(fd, S_IFREG) ? tally_fs_map(fd, &made.mapped) : -EPERM;
	close(fd);
	if (!error)
		error = take(key, &made);
	if (error)
		tally_kallsyms_done(&made);
	else
		*ret = made;
	return error;
}

struct writer {
	int fd, error;
	uint64_t at;
};

/* Where the piece begins, 8-aligned. */
static uint64_t put(struct writer *writer, const void *bytes, size_t size)
{
	uint64_t start = align_up(writer->at, 8);

	if (!writer->error && start + size > FILE_LIMIT)
		writer->error = -EFBIG;
	if (!writer->error)
		writer->error = tally_fs_write_at(writer->fd, bytes, size, start);
	writer->at = start + size;
	return start;
}

static struct group put_group(struct writer *writer, const struct tally_symbol_table *table)
{
	size_t count = table->count;

	return (struct group){
	    .count = count,
	    .starts = put(writer, table->starts, count * sizeof(*table->starts)),
	    .ends = put(writer, table->ends, count * sizeof(*table->ends)),
	    .names = put(writer, table->names, count * sizeof(*table->names)),
	    .infos = put(writer, table->infos, count * sizeof(*table->infos)),
	    .outer = table->outer ? put(writer, table->outer, count * sizeof(*table->outer)) : 0,
	};
}

static int write_all(int fd, const struct tally_kernel_key *key,
		     const struct tally_kallsyms *kallsyms)
{
	struct writer writer = {.fd = fd, .at = sizeof(struct head)};
	struct head head = {.version = VERSION,
			    .order = 0x01020304,
			    .key = *key,
			    .text_start = kallsyms->text_start,
			    .stext_start = kallsyms->stext_start,
			    .hidden = kallsyms->hidden};
	struct group *groups = calloc(kallsyms->group_count + 1, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	memcpy(head.magic, magic, sizeof(magic));
	for (size_t i = 0; i < kallsyms->group_count; i++) {
		const char *module = kallsyms->modules[i];

		if (module && tally_kernel_cache_omits(module))
			continue;
		groups[head.group_count] = put_group(&writer, &kallsyms->tables[i]);
		groups[head.group_count++].module =
		    module ? (uint64_t)(module - kallsyms->text) : 0;
	}
	if (head.group_count) {
		head.text_size = kallsyms->text_size;
		head.text = put(&writer, kallsyms->text, kallsyms->text_size);
		head.groups = put(&writer, groups, head.group_count * sizeof(*groups));
	}
	free(groups);
	head.size = writer.at;
	return writer.error ? writer.error : tally_fs_write_at(fd, &head, sizeof(head), 0);
}

/* Files of other boots and of other modules, and what killed writers left, when old enough to be no
 * other's work of now. */
static void remove_others(int at, const char *name)
{
	int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(folder))) {
		struct stat stat_of;
		struct timespec now;

		if (strncmp(entry->d_name, prefix, sizeof(prefix) - 1) != 0 ||
		    !strcmp(entry->d_name, name) ||
		    fstatat(at, entry->d_name, &stat_of, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(stat_of.st_mode) || stat_of.st_uid != geteuid())
			continue;
		clock_gettime(CLOCK_REALTIME, &now);
		if (!strchr(entry->d_name, '.') || now.tv_sec - stat_of.st_mtim.tv_sec > 600)
			unlinkat(at, entry->d_name, 0);
	}
	closedir(folder);
}

int tally_kernel_cache_write(const char *folder, const struct tally_kernel_key *key,
			     const struct tally_kallsyms *kallsyms)
{
	char name[NAME_SIZE], part[NAME_SIZE + 32];
	int at, fd, error = make_folders(folder);
	uint64_t random;

	at = open_folder(folder);
	if (at < 0)
		return error ? error : at;
	name_of(key, name);
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)gettid();
	snprintf(part, sizeof(part), "%s.%016llx", name, (unsigned long long)random);
	fd = openat(at, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = fd < 0 ? -errno : write_all(fd, key, kallsyms);
	if (fd >= 0) {
		if (close(fd) && !error)
			error = -errno;
		if (!error && renameat(at, part, at, name))
			error = -errno;
		if (error)
			unlinkat(at, part, 0);
		else
			remove_others(at, name);
	}
	close(at);
	return error;
}
