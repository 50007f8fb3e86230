#include <errno.h>
#include <tally/report.h>
#include "base/buf.h"
#include "output/cell.h"
#include "session/resolve.h"

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

int tally_report_missing(const struct tally_session *session, FILE *to)
{
	struct lines lines = {0};
	int result;

	tally_session_each_missing(session, add, &lines);
	result = lines.text.failed ? lines.text.failed : lines.count;
	errno = 0;
	if (result > 0 && fwrite(lines.text.data, 1, lines.text.size, to) != lines.text.size)
		result = errno ? -errno : -EIO;
	tally_buf_done(&lines.text);
	return result;
}
