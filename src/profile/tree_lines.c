#include "profile/tree_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <linux/perf_event.h>
#include "base/bytes.h"
#include "base/map.h"
#include "profile/profile.h"
#include "resolve/frames.h"

struct tree_lines {
	uint32_t frame_count;
	uint32_t *stands;       /* by frame: that which stands for its line; 0: none was met */
	uint32_t *texts;        /* by frame: the number of its line */
	struct tally_map lines; /* a line in a function -> the first frame of it */
};

void tally_tree_lines_free(struct tree_lines *lines)
{
	if (!lines)
		return;
	free(lines->stands);
	free(lines->texts);
	tally_map_done(&lines->lines);
	free(lines);
}

/* Equal places of images that have one name are one node, as they are in other trees. */
static int take_frame(struct tally_profile *profile, struct tree_lines *lines, uint32_t frame)
{
	uint32_t place = places_find(&profile->places, frame);
	struct tally_frame_place placed;
	uint64_t key, *first;
	bool added;

	if (lines->stands[frame])
		return 0;
	if (tally_session_frame_line(profile->session, frame, &lines->texts[frame]))
		return -ENOMEM;
	tally_session_frame_placed(profile->session, frame, &placed);
	key = hash_mix(hash_u64(place),
		       profile->tree_key == TALLY_TREE_LINE ? lines->texts[frame] : placed.place);
	first = tally_map_put(&lines->lines, key, &added);
	if (!first)
		return -ENOMEM;
	if (added)
		*first = frame;
	lines->stands[frame] = (uint32_t)*first;
	return 0;
}

int tally_tree_lines_new(struct tally_profile *profile, struct tree_lines **ret)
{
	const struct tally_call_tree *tree = &profile->tree;
	struct tree_lines *lines = calloc(1, sizeof(*lines));
	struct tally_branch_end end;
	int result = lines ? 0 : -ENOMEM;

	if (lines) {
		lines->frame_count = profile->places.frame_count;
		lines->stands = calloc((size_t)lines->frame_count + 1, sizeof(*lines->stands));
		lines->texts = calloc((size_t)lines->frame_count + 1, sizeof(*lines->texts));
		if (!lines->stands || !lines->texts)
			result = -ENOMEM;
	}
	for (uint32_t i = 1; i < tree->count && !result; i++) {
		uint32_t frame = tree->frames[i];

		if (!tree->nodes[i].parent) /* a context */
			continue;
		tally_session_branch_end(profile->session, frame, &end, &frame);
		if (frame < lines->frame_count)
			result = take_frame(profile, lines, frame);
	}
	if (result)
		tally_tree_lines_free(lines);
	else
		*ret = lines;
	return result;
}

uint32_t tally_tree_lines_frame(const struct tally_profile *profile, uint32_t node)
{
	uint32_t frame = profile->tree.frames[node];
	struct tally_branch_end end;

	tally_session_branch_end(profile->session, frame, &end, &frame);
	return frame < profile->lines->frame_count ? profile->lines->stands[frame] : 0;
}

const char *tally_tree_lines_text(const struct tally_profile *profile, uint32_t frame)
{
	return frame < profile->lines->frame_count
		   ? tally_session_source(profile->session, profile->lines->texts[frame])
		   : "";
}

void tally_tree_branches_add(const struct tally_profile *profile, uint32_t node, uint64_t samples,
			     struct tally_branch_counts *counts)
{
	struct tally_branch_end end;
	uint32_t frame;

	if (!tally_session_branch_end(profile->session, profile->tree.frames[node], &end, &frame))
		return;
	if (!end.to) {
		counts->from += samples;
		counts->cycles += end.cycles * samples;
		counts->loops += end.loops * samples;
		counts->loop_cycles += end.loop_cycles * samples;
		return;
	}
	counts->to += samples;
	counts->predicted += end.predicted ? samples : 0;
	counts->aborts += end.abort ? samples : 0;
	counts->crosses_4k |= end.crosses == 1;
	counts->crosses_2m |= end.crosses >> 1;
	if (end.type == PERF_BR_COND && end.forward)
		counts->forward = true;
	else if (end.type == PERF_BR_COND)
		counts->backward = true;
	else if (end.type)
		counts->types |= 1ULL << end.type;
}
