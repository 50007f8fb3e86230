#include "base/fold.h"

#include <string.h>
#include "base/cell.h"

static void put_words(struct tally_buf *to, const char *text, size_t size, unsigned width,
		      unsigned at, unsigned left)
{
	const char *end = text + size;
	bool begun = false;

	while (text < end) {
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		size_t length = (size_t)((blank ? blank : end) - text);
		size_t columns = tally_cell_columns(text, length);

		if (begun && width && at + 1 + columns > width) {
			tally_buf_byte(to, '\n');
			tally_cell_spaces(to, left);
			at = left;
			begun = false;
		}
		if (begun) {
			tally_buf_byte(to, ' ');
			at++;
		}
		tally_buf_add(to, text, length);
		at += (unsigned)columns;
		begun = true;
		for (text += length; text < end && *text == ' ';)
			text++;
	}
}

void tally_fold(struct tally_buf *to, const char *text, unsigned width, unsigned at, unsigned left)
{
	put_words(to, text, strlen(text), width, at, left);
}

void tally_fold_lines(struct tally_buf *to, const char *text, unsigned width)
{
	while (*text) {
		size_t length = strcspn(text, "\n"), indent = strspn(text, " ");

		if (indent > length)
			indent = length;
		if (length > indent)
			tally_cell_spaces(to, indent);
		put_words(to, text + indent, length - indent, width, (unsigned)indent,
			  (unsigned)indent + 1);
		text += length;
		if (*text) {
			tally_buf_byte(to, '\n');
			text++;
		}
	}
}
