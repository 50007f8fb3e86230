#include "annotate/source_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

#define TAB 8U

/* As objdump has it: folders are taken from the front, and the prefix put there. */
static char *with_prefix(const struct source_lines *lines, const char *path)
{
	const char *at = path;
	char *made;

	for (unsigned i = 0; i < lines->prefix_strip; i++) {
		const char *slash = strchr(at + 1, '/');

		if (!slash)
			break;
		at = slash;
	}
	return asprintf(&made, "%s%s", lines->prefix, at) < 0 ? NULL : made;
}

const char *tally_source_lines_find(struct source_lines *lines, const char *path, uint32_t line,
				    size_t *ret_length)
{
	const char *text;
	char *made = NULL;
	bool found;

	if (lines->none)
		return NULL;
	if (lines->prefix && *path == '/')
		made = with_prefix(lines, path);
	found = tally_source_files_line(&lines->files, made ? made : path, line, &text, ret_length);
	free(made);
	while (found && *ret_length && text[*ret_length - 1] == '\r')
		--*ret_length;
	return found ? text : NULL;
}

void tally_source_lines_put(struct tally_buf *to, const char *text, size_t length)
{
	size_t column = 0, from = 0;

	for (size_t i = 0; i <= length; i++) {
		if (i < length && text[i] != '\t')
			continue;
		tally_text_add_escaped(to, text + from, i - from);
		column += i - from;
		for (size_t end = i < length ? (column / TAB + 1) * TAB : column; column < end;
		     column++)
			tally_buf_byte(to, ' ');
		from = i + 1;
	}
}
