#include "convert/frame_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/pool.h"
#include "image/inlines.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"
#include "session/run.h"

/* Frames that a thread looks up at a time. */
#define SHARE 256U

struct lines {
	struct convert *convert;
	const struct stack_table *stacks;
	struct frame_line *list;
};

/* A function that was inlined has no start of its own. */
static int find_line(const struct lines *lines, uint32_t frame, struct frame_line *ret)
{
	const struct tally_frames *frames = &tally_session_tables(lines->convert->session)->frames;
	const struct tally_frame facts = tally_frames_get(frames, frame);
	struct tally_image *image = tally_frames_image(frames, frame);
	struct tally_line line;
	int result;

	if (!image || facts.inlined)
		return 0;
	result = tally_image_line(image, facts.place, &line);
	if (!result && strcmp(line.file, "??") != 0)
		*ret = (struct frame_line){.file = line.file, .line = line.line};
	return result == -ENOENT ? 0 : result;
}

static int find_share(void *context, unsigned worker, size_t share)
{
	struct lines *lines = context;
	uint32_t at = (uint32_t)share * SHARE, end = at + SHARE;
	int result = 0;

	if (!worker && tally_session_interrupted(lines->convert->session))
		return -ECANCELED;
	for (; at < end && at < lines->stacks->frame_count && !result; at++)
		if (at)
			result = find_line(lines, lines->stacks->frames[at], &lines->list[at]);
	return result;
}

int tally_frame_lines_make(struct convert *convert, const struct stack_table *stacks,
			   struct frame_line **ret)
{
	struct lines lines = {.convert = convert, .stacks = stacks};
	int result = 0;

	lines.list = calloc(stacks->frame_count + 1ULL, sizeof(*lines.list));
	if (!lines.list)
		return -ENOMEM;
	if (!convert->options.no_lines)
		result =
		    tally_pool_run(tally_session_threads(convert->session),
				   (stacks->frame_count + SHARE - 1) / SHARE, find_share, &lines);
	if (result)
		free(lines.list);
	else
		*ret = lines.list;
	return result;
}
