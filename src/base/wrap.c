#include "base/wrap.h"

#include <string.h>
#include "base/cell.h"

static void add_line(struct tally_buf *to, const char *line, size_t length, size_t width)
{
	static const char further[] = "#   ";
	size_t used = 0, at = 0;

	while (at < length) {
		size_t blanks = strspn(line + at, " "), word, columns;

		blanks = blanks < length - at ? blanks : length - at;
		word = strcspn(line + at + blanks, " \n");
		columns = tally_cell_columns(line + at, blanks + word);
		if (at && used + columns > width && used > sizeof(further)) {
			tally_buf_text(to, "\n");
			tally_buf_text(to, further);
			used = sizeof(further) - 1 + columns - blanks;
			tally_buf_add(to, line + at + blanks, word);
		} else {
			tally_buf_add(to, line + at, blanks + word);
			used += columns;
		}
		at += blanks + word;
	}
	tally_buf_byte(to, '\n');
}

void tally_report_wrap(struct tally_buf *text, size_t from, size_t width)
{
	struct tally_buf wrapped = {0};

	if (!width || text->failed || from >= text->size)
		return;
	tally_buf_byte(text, '\0');
	for (size_t at = from; at + 1 < text->size;) {
		const char *line = (const char *)text->data + at;
		size_t length = strcspn(line, "\n");

		add_line(&wrapped, line, length, width);
		at += length + 1;
	}
	text->size = from;
	tally_buf_add(text, wrapped.data, wrapped.size);
	if (wrapped.failed)
		text->failed = wrapped.failed;
	tally_buf_done(&wrapped);
}
