#include "pushed_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "say.h"

/* The line of a recording, the caller's to free(); NULL with errno. */
static char *line_of(const char *recording)
{
	char *path = realpath(recording, NULL), *line = NULL;
	struct stat about;

	if (!path)
		return NULL;
	if (strchr(path, '\n'))
		errno = EINVAL;
	else if (!stat(path, &about) &&
		 asprintf(&line, "%lld %lld%09ld %s", (long long)about.st_size,
			  (long long)about.st_mtim.tv_sec, (long)about.st_mtim.tv_nsec, path) < 0)
		line = NULL;
	free(path);
	return line;
}

/* Whether the recording that a line names is unchanged. */
static bool is_true(const char *line)
{
	const char *path = strchr(line, ' ');
	bool same;
	char *now;

	path = path ? strchr(path + 1, ' ') : NULL;
	now = path ? line_of(path + 1) : NULL;
	same = now && !strcmp(now, line);
	free(now);
	return same;
}

static int add_line(struct cli_pushed *pushed, char *line)
{
	char **lines = reallocarray(pushed->lines, pushed->count + 1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	pushed->lines = lines;
	pushed->lines[pushed->count++] = line;
	return 0;
}

static int take_lines(struct cli_pushed *pushed, FILE *from, size_t *ret_gone)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int result = 0;

	while (!result && (length = getline(&line, &room, from)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (!is_true(line)) {
			(*ret_gone)++;
			continue;
		}
		result = add_line(pushed, line);
		if (!result)
			line = NULL;
		room = line ? room : 0;
	}
	free(line);
	return result;
}

/* Lines of recordings that are gone are not kept for ever. */
static int rewrite(const struct cli_pushed *pushed)
{
	char *part;
	FILE *to;
	int result = 0, fd;

	if (asprintf(&part, "%s.%ld", pushed->path, (long)getpid()) < 0)
		return -ENOMEM;
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!to)
		result = -errno;
	for (size_t i = 0; to && i < pushed->count; i++)
		fprintf(to, "%s\n", pushed->lines[i]);
	if (to && (fflush(to) || fsync(fd)))
		result = -errno;
	if (to && fclose(to) && !result)
		result = -errno;
	if (!result && rename(part, pushed->path))
		result = -errno;
	if (result && fd >= 0)
		unlink(part);
	free(part);
	return result;
}

static int fail(const char *command, const struct cli_pushed *pushed, int result)
{
	cli_say(command, "%s: %s", pushed->path ? pushed->path : "the list of what was pushed",
		strerror(-result));
	return CLI_FAILED;
}

int cli_pushed_read(const char *command, const char *folder, struct cli_pushed *ret)
{
	size_t gone = 0;
	FILE *from;
	int result = 0;

	*ret = (struct cli_pushed){.path = NULL};
	if (asprintf(&ret->path, "%s/pushed", folder) < 0) {
		ret->path = NULL;
		return fail(command, ret, -ENOMEM);
	}
	from = fopen(ret->path, "re");
	if (!from)
		return errno == ENOENT ? 0 : fail(command, ret, -errno);
	result = take_lines(ret, from, &gone);
	fclose(from);
	if (!result && gone)
		result = rewrite(ret);
	return result ? fail(command, ret, result) : 0;
}

bool cli_pushed_has(const struct cli_pushed *pushed, const char *recording)
{
	char *line = line_of(recording);
	bool found = false;

	for (size_t i = 0; line && i < pushed->count && !found; i++)
		found = !strcmp(pushed->lines[i], line);
	free(line);
	return found;
}

int cli_pushed_add(const char *command, struct cli_pushed *pushed, const char *recording)
{
	char *line = line_of(recording);
	int result = line ? 0 : -errno, fd = -1;

	if (!result) {
		fd = open(pushed->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
			  0600);
		if (fd < 0 || dprintf(fd, "%s\n", line) < 0 || fsync(fd))
			result = -errno;
	}
	if (fd >= 0)
		close(fd);
	if (!result)
		result = add_line(pushed, line);
	if (!result)
		return 0;
	free(line);
	return fail(command, pushed, result);
}

void cli_pushed_done(struct cli_pushed *pushed)
{
	for (size_t i = 0; i < pushed->count; i++)
		free(pushed->lines[i]);
	free(pushed->lines);
	free(pushed->path);
	*pushed = (struct cli_pushed){.path = NULL};
}
