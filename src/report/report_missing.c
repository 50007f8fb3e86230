#include <errno.h>
#include <tally/report.h>
#include "base/buf.h"
#include "base/cell.h"
#include "session/numbers.h"

struct lines {
	struct tally_buf text;
	int count;
};

static void add(void *context, const char *image_path, const char *why)
{
	struct lines *lines = context;

	tally_cell_name(&lines->text, image_path);
	tally_buf_text(&lines->text, ": ");
	tally_cell_name(&lines->text, why);
	tally_buf_byte(&lines->text, '\n');
	lines->count++;
}

static void add_line(void *context, const char *line)
{
	struct lines *lines = context;

	tally_cell_name(&lines->text, line);
	tally_buf_byte(&lines->text, '\n');
	lines->count++;
}

static int write_lines(struct lines *lines, FILE *to)
{
	int result = lines->text.failed ? lines->text.failed : lines->count;

	errno = 0;
	if (result > 0 && fwrite(lines->text.data, 1, lines->text.size, to) != lines->text.size)
		result = errno ? -errno : -EIO;
	tally_buf_done(&lines->text);
	return result;
}

int tally_report_missing(const struct tally_session *session, FILE *to)
{
	struct lines lines = {0};

	tally_session_each_missing(session, add, &lines);
	return write_lines(&lines, to);
}

int tally_report_left_out(const struct tally_session *session, FILE *to)
{
	struct lines lines = {0};

	tally_session_each_left_out(session, add_line, &lines);
	return write_lines(&lines, to);
}
