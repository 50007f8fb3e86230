/* One cell of a report, for who draws the table himself. */
#include <errno.h>
#include <string.h>
#include <tally/report.h>
#include "report/report_field.h"
#include "report/shorten.h"

/* As snprintf(3). */
static int give(struct tally_buf *text, char *to, size_t room)
{
	int result = text->failed ? text->failed : (int)text->size;

	if (room) {
		size_t size = text->failed ? 0 : text->size < room ? text->size : room - 1;

		if (size)
			memcpy(to, text->data, size);
		to[size] = 0;
	}
	tally_buf_done(text);
	return result;
}

int tally_report_cell(const struct tally_profile *profile, const struct tally_profile_row *row,
		      const char *field, uint64_t whole, char *to, size_t room)
{
	struct report_field found;
	struct tally_buf text = {0};

	if (!tally_report_field_init(&found, profile, field))
		return -EINVAL;
	tally_report_field_text(&found, row, whole, &text);
	return give(&text, to, room);
}

const char *tally_report_title(const struct tally_profile *profile, const char *field)
{
	struct report_field found;

	return tally_report_field_init(&found, profile, field) ? found.title : NULL;
}

int tally_report_shorten(const char *name, size_t columns, char *to, size_t room)
{
	struct tally_buf text = {0};

	tally_shorten(&text, name, strlen(name), columns);
	return give(&text, to, room);
}
