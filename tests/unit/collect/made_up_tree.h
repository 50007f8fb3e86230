/* A folder that stands for the root of a machine, filled by the test. */
#ifndef TALLY_TEST_MADE_UP_TREE_H
#define TALLY_TEST_MADE_UP_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Writes root/path, making its folders. */
static inline void tree_write(const char *root, const char *path, const void *bytes, size_t size)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(whole, 0700);
		*at = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static inline void tree_text(const char *root, const char *path, const char *text)
{
	tree_write(root, path, text, strlen(text));
}

#endif
