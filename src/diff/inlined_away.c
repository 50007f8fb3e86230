/* Functions that only the baseline has as functions: their code may be in their callers now, where
 * debug information names it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/map.h"
#include "diff/diff_state.h"
#include "diff/significance.h"
#include "image/image.h"
#include "image/inlines.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"

#define SAMPLES_LEAST 5U
/* Equal programs have the same inlined functions: by chance they differ less than this. */
#define P_MOST 1e-4

struct counting {
	struct tally_diff *diff;
	struct diff_event *event;
	size_t recording;
	struct tally_map wanted;  /* hash of image and name -> row + 1 */
	struct tally_map callers; /* number of a frame -> row + 1 */
	struct tally_map pairs;   /* row << 32 | row of the caller -> samples in the recording */
	uint64_t *before, *now; /* by row: samples in the baseline's callers, and the recording's */
};

static uint64_t hash_of(const char *image_name, const char *name)
{
	return hash_mix(tally_hash_bytes(image_name, strlen(image_name)),
			tally_hash_bytes(name, strlen(name)));
}

/* The rows that may have been inlined; 0: there are none; -ENOMEM. */
static int find_wanted(struct counting *counting)
{
	int count = 0;

	for (size_t i = 0; i < counting->event->count; i++) {
		const struct diff_row *row = &counting->event->rows[i];
		const struct tally_frame *frame = &row->sides[0].row.frame;
		uint64_t *slot;
		bool added;

		if (row->sides[counting->recording].status != TALLY_DIFF_GONE ||
		    row->sides[0].row.samples < SAMPLES_LEAST || !frame->symbol)
			continue;
		slot = tally_map_put(&counting->wanted, hash_of(frame->image_name, frame->symbol),
				     &added);
		if (!slot)
			return -ENOMEM;
		*slot = i + 1;
		count++;
	}
	return count;
}

/* Rows by their functions in the recording. */
static int find_callers(struct counting *counting)
{
	for (size_t i = 0; i < counting->event->count; i++) {
		const struct diff_side *side = &counting->event->rows[i].sides[counting->recording];
		uint64_t *slot;
		bool added;

		if (!side->present || !side->row.frame.symbol)
			continue;
		slot = tally_map_put(&counting->callers,
				     hash_of(side->row.frame.image_name, side->row.frame.symbol),
				     &added);
		if (!slot)
			return -ENOMEM;
		if (added)
			*slot = i + 1;
	}
	return 0;
}

static int add_pair(struct counting *counting, uint64_t row, uint64_t caller, uint64_t samples)
{
	bool added;
	uint64_t *slot = tally_map_put(&counting->pairs, row << 32 | caller, &added);

	if (!slot)
		return -ENOMEM;
	*slot += samples;
	return 0;
}

/* A caller has the samples of a function now that the function had before. */
static void take_pair(struct counting *counting, uint64_t pair, uint64_t samples)
{
	const struct diff_row *row = &counting->event->rows[pair >> 32];
	struct diff_side *caller =
	    &counting->event->rows[(uint32_t)pair].sides[counting->recording];

	if (row->sides[counting->recording].status != TALLY_DIFF_INLINED)
		return;
	caller->absorbed += samples;
	caller->moved += (uint64_t)((double)row->sides[0].row.samples * (double)samples /
				    (double)counting->now[pair >> 32]);
}

/* Adds the samples of a place to the functions that were inlined there. */
static int count_place(struct counting *counting, size_t recording, const struct place_sum *sum)
{
	struct tally_session *session = diff_session(counting->diff, recording);
	struct tally_frames *frames = &tally_session_tables(session)->frames;
	struct tally_frame frame = tally_session_frame(session, sum->frame);
	struct tally_image *image = tally_frames_image(frames, sum->frame);
	const struct tally_inline *inlines;
	const uint64_t *caller;
	size_t count = 0;

	if (!image || !frame.symbol || tally_image_kind(image) != TALLY_IMAGE_FILE)
		return 0;
	if (tally_image_inlines(image, sum->place, &inlines, &count))
		return -ENOMEM;
	for (size_t i = 0; i + 1 < count; i++) {
		const uint64_t *row =
		    tally_map_find(&counting->wanted, hash_of(frame.image_name, inlines[i].name));

		if (!row)
			continue;
		if (!recording) {
			counting->before[*row - 1] += sum->samples;
			return 0;
		}
		counting->now[*row - 1] += sum->samples;
		caller =
		    tally_map_find(&counting->callers, hash_of(frame.image_name, frame.symbol));
		return caller ? add_pair(counting, *row - 1, *caller - 1, sum->samples) : 0;
	}
	return 0;
}

static int count_recording(struct counting *counting, size_t recording, struct tally_error *error)
{
	const struct tally_diff_options *options = &counting->diff->options;
	const struct tally_annotation_options all = {.size = sizeof(all),
						     .time = options->time,
						     .cpus = options->cpus,
						     .cpu_count = options->cpu_count};
	struct diff_reading *reading = &counting->diff->readings[recording];
	const struct place_sums *sums = &reading->places;
	int result = 0;

	if (!reading->has_places)
		result = tally_place_sums_make(diff_session(counting->diff, recording), &all,
					       &reading->places, error);
	reading->has_places |= !result;
	for (size_t i = 0; i < sums->count && !result; i++)
		if (sums->sums[i].event == counting->event->events[recording])
			result = count_place(counting, recording, &sums->sums[i]);
	return result;
}

static void take(struct counting *counting)
{
	struct tally_diff *diff = counting->diff;
	struct diff_event *event = counting->event;
	double of_before = (double)tally_diff_facts(diff, event, 0).samples,
	       of_now = (double)tally_diff_facts(diff, event, counting->recording).samples;

	for (size_t i = 0; i < event->count; i++) {
		struct diff_side *side = &event->rows[i].sides[counting->recording];

		if (side->status != TALLY_DIFF_GONE || !counting->now[i] ||
		    (double)counting->now[i] / of_now < (double)counting->before[i] / of_before ||
		    tally_significance(counting->before[i], counting->now[i], of_before, of_now,
				       diff->options.noise / 100, 1) > P_MOST)
			continue;
		side->status = TALLY_DIFF_INLINED;
		side->inlined = counting->now[i];
	}
	for (size_t i = 0; i < counting->pairs.room; i++)
		if (counting->pairs.slots[i].key)
			take_pair(counting, counting->pairs.slots[i].key,
				  counting->pairs.slots[i].value);
	if (counting->pairs.has_zero)
		take_pair(counting, 0, counting->pairs.zero_value);
}

int tally_diff_find_inlined(struct tally_diff *diff, struct diff_event *event, size_t recording,
			    struct tally_error *error)
{
	struct counting counting = {
	    .diff = diff,
	    .event = event,
	    .recording = recording,
	    .before = calloc(event->count + 1, sizeof(uint64_t)),
	    .now = calloc(event->count + 1, sizeof(uint64_t)),
	};
	int result = counting.before && counting.now ? 0 : -ENOMEM;

	if (!result)
		result = find_wanted(&counting);
	if (result > 0) {
		result = find_callers(&counting);
		if (!result)
			result = count_recording(&counting, recording, error);
		if (!result)
			result = count_recording(&counting, 0, error);
		if (!result)
			take(&counting);
	}
	tally_map_done(&counting.wanted);
	tally_map_done(&counting.callers);
	free(counting.before);
	free(counting.now);
	tally_map_done(&counting.pairs);
	return result;
}
