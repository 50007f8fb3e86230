/* A folder of its own for a test that makes files, and programs made in it by the tools of the
 * machine. */
#ifndef TESTS_IMAGE_WORKDIR_H
#define TESTS_IMAGE_WORKDIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

struct workdir {
	char path[64];
};

static inline int workdir_make(void **state)
{
	static struct workdir workdir;

	memcpy(workdir.path, "/tmp/tally-image-XXXXXX", sizeof("/tmp/tally-image-XXXXXX"));
	*state = &workdir;
	return mkdtemp(workdir.path) ? 0 : -1;
}

/* Runs a shell command in the folder; its exit status. */
__attribute__((format(printf, 2, 3))) static inline int workdir_run(const struct workdir *workdir,
								    const char *format, ...)
{
	char command[4096], line[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "cd %s && { %s ; }", workdir->path, command);
	return system(line);
}

static inline int workdir_remove(void **state)
{
	const struct workdir *workdir = *state;

	return workdir_run(workdir, "rm -rf %s", workdir->path);
}

static inline void workdir_write(const struct workdir *workdir, const char *name, const char *text)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", workdir->path, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Skips the test when a tool is not on this machine. */
static inline void need_tool(const char *name)
{
	char command[256];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", name);
	if (system(command) != 0) {
		print_message("skipped: %s is not installed\n", name);
		skip();
	}
}

#endif
