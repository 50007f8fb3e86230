#include "write/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/fs.h"
#include "base/text.h"

#define LINE_LIMIT  65536
#define NAMES_LIMIT 65536 /* no directory of facts has more entries */

static bool make_path(char path[PATH_MAX], const char *format, va_list args)
{
	int length = vsnprintf(path, PATH_MAX, format, args);

	return length > 0 && length < PATH_MAX;
}

static char *first_line(const char *path)
{
	char *text;
	size_t length;

	if (tally_fs_read(path, LINE_LIMIT, &text, NULL))
		return NULL;
	length = strcspn(text, "\n");
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	text[length] = 0;
	return text;
}

char *tally_file_line(const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = make_path(path, format, args);
	va_end(args);
	return fits ? first_line(path) : NULL;
}

bool tally_file_number(int64_t *ret, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = make_path(path, format, args);
	va_end(args);
	return fits && !tally_fs_read_number(path, ret);
}

static int name_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **tally_file_names(size_t *ret_count, const char *format, ...)
{
	char path[PATH_MAX];
	struct dirent *entry;
	char **names = NULL;
	size_t count = 0, room = 0;
	va_list args;
	bool fits;
	DIR *dir;

	va_start(args, format);
	fits = make_path(path, format, args);
	va_end(args);
	dir = fits ? opendir(path) : NULL;
	if (!dir)
		return NULL;
	while ((entry = readdir(dir)) && count < NAMES_LIMIT) {
		if (entry->d_name[0] == '.')
			continue;
		if (count + 1 >= room) {
			size_t more = room ? room * 2 : 32;
			char **grown = reallocarray(names, more, sizeof(*names));

			if (!grown)
				break;
			names = grown;
			room = more;
		}
		names[count] = strdup(entry->d_name);
		if (!names[count])
			break;
		names[++count] = NULL;
	}
	closedir(dir);
	if (count)
		qsort(names, count, sizeof(*names), name_order);
	*ret_count = count;
	if (!count) {
		free(names);
		return NULL;
	}
	return names;
}

void tally_file_names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

char *tally_file_value(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *at, *end;

		line += *line == '\n';
		if (strncmp(line, key, length))
			continue;
		at = line + length;
		while (*at == ' ' || *at == '\t')
			at++;
		if (*at++ != ':')
			continue;
		while (*at == ' ' || *at == '\t')
			at++;
		end = at + strcspn(at, "\n");
		while (end > at && isspace((unsigned char)end[-1]))
			end--;
		return strndup(at, (size_t)(end - at));
	}
	return NULL;
}

void tally_file_cpus(const char *root, uint32_t *ret_available, uint32_t *ret_online)
{
	static const char *const lists[2] = {"present", "online"};
	uint32_t found[2] = {0};

	for (int i = 0; i < 2; i++) {
		char *list = tally_file_line("%s/sys/devices/system/cpu/%s", root, lists[i]);
		uint32_t *cpus;
		size_t count;

		if (list && !tally_text_cpu_list(list, &cpus, &count)) {
			if (count)
				found[i] = i ? (uint32_t)count : cpus[count - 1] + 1;
			free(cpus);
		}
		free(list);
	}
	*ret_available = found[0];
	*ret_online = found[1];
}
