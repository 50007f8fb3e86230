/* perf report --total-cycles.  A block's own cycles, which its share is of, are those of the
 * longest block that ends where it does; "Sampled Cycles" are those of all of them.  Source:
 * util/block-info.c of perf 6.1. */
#include "report/report_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "cycles/cycles.h"
#include "profile/profile.h"

#define COLUMNS 6

struct block_column {
	const char *title;
	size_t width;
	void (*put)(const struct tally_cycles *cycles, const struct cycle_block *block,
		    uint64_t averages, struct tally_buf *to);
};

static uint64_t average(const struct cycle_block *block)
{
	return block->all_cycles / block->all;
}

static void put_share(const struct tally_cycles *cycles, const struct cycle_block *block,
		      uint64_t averages, struct tally_buf *to)
{
	(void)averages;
	tally_cell_percent(to, tally_cell_share(block->cycles, cycles->cycles));
}

/* As perf shortens it. */
static void put_number(uint64_t number, struct tally_buf *to)
{
	if (number >= 1000000)
		tally_buf_printf(to, "%.1fM", (double)number / 1e6);
	else if (number >= 1000)
		tally_buf_printf(to, "%.1fK", (double)number / 1e3);
	else
		tally_cell_u64(to, number);
}

static void put_cycles(const struct tally_cycles *cycles, const struct cycle_block *block,
		       uint64_t averages, struct tally_buf *to)
{
	(void)cycles;
	(void)averages;
	put_number(block->all_cycles, to);
}

static void put_average_share(const struct tally_cycles *cycles, const struct cycle_block *block,
			      uint64_t averages, struct tally_buf *to)
{
	(void)cycles;
	tally_cell_percent(to, tally_cell_share(average(block), averages));
}

static void put_average(const struct tally_cycles *cycles, const struct cycle_block *block,
			uint64_t averages, struct tally_buf *to)
{
	(void)cycles;
	(void)averages;
	put_number(average(block), to);
}

static void put_range(const struct tally_cycles *cycles, const struct cycle_block *block,
		      uint64_t averages, struct tally_buf *to)
{
	const struct cycle_function *function = &cycles->functions[block->function];
	size_t start = to->size;
	bool known;

	(void)averages;
	tally_buf_byte(to, '[');
	known = tally_cycles_line(cycles, function, block->start, to);
	tally_buf_text(to, " -> ");
	if (known && tally_cycles_line(cycles, function, block->end, to)) {
		tally_buf_byte(to, ']');
		return;
	}
	if (to->failed)
		return;
	to->size = start;
	tally_buf_printf(to, "[%7x -> %7x]", block->start, block->end);
}

static void put_image(const struct tally_cycles *cycles, const struct cycle_block *block,
		      uint64_t averages, struct tally_buf *to)
{
	(void)averages;
	tally_cell_name(to, cycles->functions[block->function].frame.image_name);
}

static const struct block_column columns[COLUMNS] = {
    {"Sampled Cycles%", 15, put_share},       {"Sampled Cycles", 14, put_cycles},
    {"Avg Cycles%", 11, put_average_share},   {"Avg Cycles", 10, put_average},
    {"[Program Block Range]", 21, put_range}, {"Shared Object", 13, put_image},
};

static int compare(const void *left, const void *right)
{
	const struct cycle_block *a = *(const struct cycle_block *const *)left;
	const struct cycle_block *b = *(const struct cycle_block *const *)right;

	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The blocks of at least this share, in order. */
static const struct cycle_block **choose(const struct tally_cycles *cycles, double percent_limit,
					 size_t *ret_count, uint64_t *ret_averages)
{
	const struct cycle_block **list =
	    calloc(cycles->block_count + 1, sizeof(const struct cycle_block *));

	*ret_count = 0;
	*ret_averages = 0;
	for (size_t i = 0; list && i < cycles->block_count; i++) {
		const struct cycle_block *block = &cycles->blocks[i];

		*ret_averages += average(block);
		if (100 * (double)block->cycles >= percent_limit * (double)cycles->cycles)
			list[(*ret_count)++] = block;
	}
	if (list && *ret_count)
		qsort(list, *ret_count, sizeof(*list), compare);
	return list;
}

static void put_titles(const size_t *widths, const char *separator, struct tally_buf *to)
{
	tally_buf_byte(to, '#');
	for (size_t i = 0; i < COLUMNS; i++) {
		tally_buf_text(to, !i ? " " : separator ? separator : "  ");
		if (!separator)
			tally_cell_spaces(to, widths[i] - strlen(columns[i].title));
		tally_buf_text(to, columns[i].title);
	}
	tally_buf_byte(to, '\n');
	if (separator)
		return;
	tally_buf_byte(to, '#');
	for (size_t i = 0; i < COLUMNS; i++) {
		tally_buf_text(to, i ? "  " : " ");
		for (size_t k = 0; k < widths[i]; k++)
			tally_buf_byte(to, '.');
	}
	tally_buf_text(to, "\n#\n");
}

/* The text of a cell; its columns. */
static size_t make_cell(const struct tally_cycles *cycles, const struct cycle_block *block,
			uint64_t averages, size_t column, struct tally_buf *cell)
{
	tally_buf_clear(cell);
	columns[column].put(cycles, block, averages, cell);
	return tally_cell_columns((const char *)cell->data, cell->size);
}

static void put_rows(const struct tally_cycles *cycles, const struct cycle_block **list,
		     size_t count, uint64_t averages, const struct tally_report_options *options,
		     struct tally_buf *to)
{
	size_t widths[COLUMNS];
	struct tally_buf cell = {0};

	for (size_t i = 0; i < COLUMNS; i++)
		widths[i] = columns[i].width;
	for (size_t i = 0; i < count && !options->separator; i++)
		for (size_t k = 0; k < COLUMNS; k++) {
			size_t width = make_cell(cycles, list[i], averages, k, &cell);

			widths[k] = width > widths[k] ? width : widths[k];
		}
	if (!options->quiet)
		put_titles(widths, options->separator, to);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < COLUMNS; k++) {
			size_t width = make_cell(cycles, list[i], averages, k, &cell);

			if (options->separator && k)
				tally_buf_text(to, options->separator);
			if (!options->separator)
				tally_cell_spaces(to, 2 + widths[k] - width);
			tally_buf_add(to, cell.data, cell.size);
		}
		tally_buf_byte(to, '\n');
	}
	if (cell.failed)
		to->failed = cell.failed;
	tally_buf_done(&cell);
}

int tally_report_blocks(const struct tally_profile *profile,
			const struct tally_report_options *options, struct tally_buf *to)
{
	const struct tally_cycles *cycles = profile->cycles;
	const struct cycle_block **list;
	uint64_t averages;
	size_t count;

	if (!cycles) {
		tally_buf_text(to, "# No cycles: the recording has no branch stacks (-b), or the "
				   "processor wrote none into them\n");
		return to->failed;
	}
	if (!options->quiet) {
		tally_buf_text(to, "# Cycles of branches: ");
		tally_cell_u64(to, cycles->cycles);
		tally_buf_text(to, "\n#\n");
	}
	list = choose(cycles, options->percent_limit, &count, &averages);
	if (!list)
		return -ENOMEM;
	put_rows(cycles, list, count, averages, options, to);
	free(list);
	return to->failed;
}
