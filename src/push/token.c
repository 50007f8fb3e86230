/* A token from a file that others cannot read. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/push.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/fs.h"
#include "base/regular.h"

#define TOKEN_MOST 65536

static int refuse(struct tally_error *error, int code, const char *path, const char *why)
{
	return tally_fail(error, code, -1, "the token %s: %s", path, why);
}

/* Text between the white space at both ends; it must be one word of printable characters. */
static int take_word(char *text, size_t size)
{
	size_t start = 0;

	while (size && strchr(" \t\r\n", text[size - 1]))
		size--;
	while (start < size && strchr(" \t", text[start]))
		start++;
	for (size_t i = start; i < size; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 127)
			return -EINVAL;
	memmove(text, text + start, size - start);
	text[size - start] = '\0';
	return size > start ? 0 : -EINVAL;
}

int tally_push_token(const char *path, char **ret, struct tally_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;
	size_t size = 0;
	char *text = NULL;
	int result;

	if (fd < 0 || fstat(fd, &about)) {
		result = refuse(error, -errno, path, strerror(errno));
	} else if (!S_ISREG(about.st_mode)) {
		result = refuse(error, -EINVAL, path, "it is not a regular file");
	} else if (!tally_regular_is_owned(&about)) {
		result = refuse(error, -EPERM, path, "it must be owned by you or root");
	} else if (about.st_mode & 027) {
		result = refuse(error, -EPERM, path,
				"others can read it, or its group can write it: chmod 600");
	} else {
		result = tally_fs_read_open(fd, TOKEN_MOST, &text, &size);
		if (result)
			refuse(error, result, path, strerror(-result));
		else if ((result = take_word(text, size)))
			refuse(error, result, path, "it does not contain one word");
	}
	if (fd >= 0)
		close(fd);
	if (!result) {
		*ret = text;
		return 0;
	}
	if (text)
		explicit_bzero(text, size);
	free(text);
	return result;
}
