#include "cycles/cycles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "cycles/block_code.h"
#include "image/inlines.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"

/* The sums of one end are side by side, those of the earliest start first: the longest block
 * counts, and one without a start only where no other is known, as in perf. */
static size_t make_block(const struct block_sum *sums, size_t count, struct cycle_block *ret)
{
	const struct block_sum *first = sums;
	size_t taken;

	ret->has_start = first->start != BLOCK_NO_START;
	ret->start = ret->has_start ? first->start : 0;
	ret->end = first->end;
	ret->count = first->count;
	ret->cycles = first->cycles;
	ret->all = ret->all_cycles = 0;
	for (taken = 0;
	     taken < count && sums[taken].frame == first->frame && sums[taken].end == first->end;
	     taken++) {
		ret->all += sums[taken].count;
		ret->all_cycles += sums[taken].cycles;
	}
	return taken;
}

static int by_frame(const void *left, const void *right)
{
	const struct cycle_function *a = left, *b = right;

	if (a->frame.image != b->frame.image)
		return a->frame.image < b->frame.image ? -1 : 1;
	return a->frame.place < b->frame.place ? -1 : a->frame.place > b->frame.place;
}

static void make_blocks(const struct tally_session *session, struct tally_cycles *cycles,
			const struct block_sum *sums, size_t count)
{
	for (size_t i = 0; i < count;) {
		struct cycle_function *function = &cycles->functions[cycles->function_count++];
		uint32_t frame = sums[i].frame;

		*function = (struct cycle_function){.frame = tally_session_frame(session, frame),
						    .number = frame,
						    .size = sums[i].size,
						    .first = cycles->block_count};
		while (i < count && sums[i].frame == frame)
			i +=
			    make_block(&sums[i], count - i, &cycles->blocks[cycles->block_count++]);
		function->count = cycles->block_count - function->first;
	}
}

/* Counts instructions from the end of the function to its start.  A block counts as far as none
 * behind it had its instructions. */
static void measure(struct cycle_function *function, const struct cycle_block *blocks,
		    struct block_code *code)
{
	double cycles = 0, instructions = 0;
	uint32_t covered = 0;

	for (size_t i = function->count; i-- > 0;) {
		const struct cycle_block *block = &blocks[function->first + i];
		uint32_t all, news;

		if (!block->has_start)
			continue;
		news = tally_block_code_cover(code, block->start, block->end, &all);
		if (!news)
			continue;
		cycles += (double)block->cycles;
		instructions += (double)all * (double)block->count;
		covered += news;
	}
	function->ipc = cycles > 0 ? instructions / cycles : 0;
	function->coverage = code->count ? (double)covered / code->count : 0;
}

static int measure_all(struct tally_session *session, struct tally_cycles *cycles)
{
	struct block_code code = {0};
	int result = 0;

	for (size_t i = 0; i < cycles->function_count && result != -ENOMEM; i++) {
		struct cycle_function *function = &cycles->functions[i];

		result = tally_block_code_read(&code, session, function->number,
					       function->frame.place, function->size);
		if (!result)
			measure(function, cycles->blocks, &code);
	}
	tally_block_code_done(&code);
	return result == -ENOMEM ? result : 0;
}

static void number_blocks(struct tally_cycles *cycles)
{
	for (size_t i = 0; i < cycles->function_count; i++) {
		const struct cycle_function *function = &cycles->functions[i];

		for (size_t k = 0; k < function->count; k++)
			cycles->blocks[function->first + k].function = (uint32_t)i;
	}
}

int tally_cycles_new(struct tally_session *session, struct block_sums *sums,
		     struct tally_cycles **ret)
{
	struct tally_cycles *cycles = calloc(1, sizeof(*cycles));
	struct block_sum *list = NULL;
	size_t count = 0;
	int result = cycles ? tally_block_sums_take(sums, &list, &count, &cycles->cycles) : -ENOMEM;

	if (!result) {
		cycles->blocks = calloc(count + 1, sizeof(*cycles->blocks));
		cycles->functions = calloc(count + 1, sizeof(*cycles->functions));
		result = cycles->blocks && cycles->functions ? 0 : -ENOMEM;
	}
	if (!result) {
		make_blocks(session, cycles, list, count);
		result = measure_all(session, cycles);
	}
	free(list);
	if (result) {
		tally_cycles_free(cycles);
		return result;
	}
	if (cycles->function_count)
		qsort(cycles->functions, cycles->function_count, sizeof(*cycles->functions),
		      by_frame);
	number_blocks(cycles);
	cycles->session = session;
	*ret = cycles;
	return 0;
}

void tally_cycles_free(struct tally_cycles *cycles)
{
	if (!cycles)
		return;
	free(cycles->blocks);
	free(cycles->functions);
	free(cycles);
}

bool tally_cycles_line(const struct tally_cycles *cycles, const struct cycle_function *function,
		       uint32_t offset, struct tally_buf *to)
{
	struct tally_image *image =
	    tally_frames_image(&tally_session_tables(cycles->session)->frames, function->number);
	struct tally_line line;
	const char *name;

	if (!image || tally_image_line(image, function->frame.place + offset, &line) ||
	    !line.line || !strcmp(line.file, "??"))
		return false;
	name = strrchr(line.file, '/');
	tally_cell_name(to, name ? name + 1 : line.file);
	tally_buf_byte(to, ':');
	tally_cell_u64(to, line.line);
	return true;
}

const struct cycle_function *tally_cycles_function(const struct tally_cycles *cycles,
						   const struct tally_frame *frame)
{
	const struct cycle_function of = {.frame = *frame};

	return frame->symbol && cycles->function_count
		   ? bsearch(&of, cycles->functions, cycles->function_count,
			     sizeof(*cycles->functions), by_frame)
		   : NULL;
}
