#include "annotate/line_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_lines(const char *file_a, uint32_t line_a, const char *file_b, uint32_t line_b)
{
	int files =
	    !file_a || !file_b ? (file_a != NULL) - (file_b != NULL) : strcmp(file_a, file_b);

	return files ? files : line_a < line_b ? -1 : line_a > line_b;
}

static int by_line(const void *left, const void *right, void *context)
{
	const struct listing_row *rows = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_lines(rows[a].file, rows[a].line, rows[b].file, rows[b].line);

	return order ? order : a < b ? -1 : a > b;
}

static int by_share(const void *left, const void *right)
{
	const struct line_sum *a = left, *b = right;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return compare_lines(a->file, a->line, b->file, b->line);
}

static bool has_samples(const struct tally_listing *listing, const struct listing_row *row)
{
	for (size_t i = 0; i < listing->annotation->event_count; i++)
		if (row->samples[i])
			return true;
	return false;
}

static void add_row(const struct tally_listing *listing, const struct listing_row *row,
		    struct line_sum *to)
{
	for (size_t i = 0; i < listing->annotation->event_count; i++) {
		to->samples[i] += row->samples[i];
		to->periods[i] += row->periods[i];
	}
	to->count++;
}

static void find_share(const struct tally_listing *listing, struct line_sum *line)
{
	for (size_t i = 0; i < listing->annotation->event_count; i++) {
		double share =
		    tally_annotation_percent(listing->annotation, listing->function,
					     TALLY_PERCENT_LOCAL_PERIOD, i, 0, line->periods[i]);

		if (share > line->share)
			line->share = share;
	}
}

/* Lines of the rows, which are sorted by line. */
static int make_lines(const struct tally_listing *listing, uint32_t row_count, struct line_sums *to)
{
	size_t events = listing->annotation->event_count;

	to->lines = calloc(row_count + 1, sizeof(*to->lines));
	to->numbers = calloc((size_t)row_count * 2 * events + 1, sizeof(*to->numbers));
	if (!to->lines || !to->numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < row_count; i++) {
		const struct listing_row *row = &listing->rows[to->rows[i]];
		struct line_sum *line = to->count ? &to->lines[to->count - 1] : NULL;

		if (!line || compare_lines(line->file, line->line, row->file, row->line)) {
			line = &to->lines[to->count];
			*line = (struct line_sum){
			    .file = row->file,
			    .line = row->line,
			    .first = i,
			    .samples = to->numbers + to->count * 2 * events,
			    .periods = to->numbers + (to->count * 2 + 1) * events,
			};
			to->count++;
		}
		add_row(listing, row, line);
	}
	for (size_t i = 0; i < to->count; i++)
		find_share(listing, &to->lines[i]);
	if (to->count)
		qsort(to->lines, to->count, sizeof(*to->lines), by_share);
	return 0;
}

int tally_line_sums_make(const struct tally_listing *listing, struct line_sums *ret)
{
	struct line_sums made = {.rows = malloc((listing->count + 1) * sizeof(*made.rows))};
	uint32_t count = 0;

	if (!made.rows)
		return -ENOMEM;
	for (size_t i = 0; i < listing->count; i++)
		if (has_samples(listing, &listing->rows[i]))
			made.rows[count++] = (uint32_t)i;
	if (count)
		qsort_r(made.rows, count, sizeof(*made.rows), by_line, listing->rows);
	if (make_lines(listing, count, &made)) {
		tally_line_sums_done(&made);
		return -ENOMEM;
	}
	*ret = made;
	return 0;
}

void tally_line_sums_done(struct line_sums *sums)
{
	free(sums->lines);
	free(sums->rows);
	free(sums->numbers);
	*sums = (struct line_sums){0};
}
