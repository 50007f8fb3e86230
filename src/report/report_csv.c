/* Rows as comma-separated values: a line of names, then a line for each row of each event, with the
 * event's name first.  A value with a separator, a quote or a line end is put in quotes, in which
 * quotes are doubled.  Lines end with a newline only.  Source: RFC 4180. */
#include <string.h>
#include "base/cell.h"
#include "report/report_format.h"
#include "report/report_rows.h"
#include "report/report_table.h"

#define FLUSH_SIZE ((size_t)1 << 16)

/* Adds the cell, in quotes if it needs them, and empties it. */
static void put_cell(struct tally_buf *to, struct tally_buf *cell, const char *separator)
{
	const char *text = tally_buf_str(cell);

	if (!strpbrk(text, "\"\r\n") && !(*separator && strstr(text, separator))) {
		tally_buf_add(to, text, cell->size);
	} else {
		tally_buf_byte(to, '"');
		for (size_t i = 0; i < cell->size; i++) {
			if (text[i] == '"')
				tally_buf_byte(to, '"');
			tally_buf_byte(to, cell->data[i]);
		}
		tally_buf_byte(to, '"');
	}
	if (cell->failed)
		to->failed = cell->failed;
	tally_buf_clear(cell);
}

static void put_names(const struct report_table *table, const char *separator, struct tally_buf *to)
{
	tally_buf_text(to, "event");
	for (size_t i = 0; i < table->field_count; i++) {
		tally_buf_text(to, separator);
		tally_buf_text(to, table->fields[i].name);
	}
	tally_buf_byte(to, '\n');
}

static int put_rows(const struct report_table *table, const char *separator, struct tally_buf *to,
		    FILE *file)
{
	struct tally_buf cell = {0};
	int result = 0;

	for (uint64_t at = 0; at < table->row_count && !result; at++) {
		struct tally_profile_row row = report_table_row(table, at);

		tally_cell_name(&cell, table->facts.name);
		put_cell(to, &cell, separator);
		for (size_t i = 0; i < table->field_count; i++) {
			tally_buf_text(to, separator);
			tally_report_field_plain(&table->fields[i], &row, table->facts.total,
						 &cell);
			put_cell(to, &cell, separator);
		}
		tally_buf_byte(to, '\n');
		if (to->size >= FLUSH_SIZE)
			result = tally_report_write_out(to, file);
	}
	tally_buf_done(&cell);
	return result;
}

static int write_csv(const struct tally_profile *profile,
		     const struct tally_report_options *options, FILE *to)
{
	struct tally_report_options all = *options;
	struct report_table table = {.profile = profile, .options = &all};
	const char *separator = options->separator ? options->separator : ",";
	struct tally_buf text = {0};
	int result;

	all.show_samples = all.show_total_period = true;
	result = tally_report_table_fields(&table);
	if (!result && !options->quiet)
		put_names(&table, separator, &text);
	for (size_t i = 0; i < tally_profile_event_count(profile) && !result; i++) {
		result = tally_report_table_rows(&table, i);
		if (!result)
			result = put_rows(&table, separator, &text, to);
	}
	if (!result)
		result = tally_report_write_out(&text, to);
	tally_report_table_done(&table);
	tally_buf_done(&text);
	return result;
}

const struct report_format tally_report_format_csv = {
    .name = "csv",
    .help = "comma-separated values for other programs: a line of names, then a line for each row",
    .write = write_csv,
};
