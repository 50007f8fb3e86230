/* Rows of several profiles by the text of their keys. */
#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "base/map.h"
#include "base/table.h"
#include "diff/diff_state.h"
#include "session/across.h"

struct matching {
	struct tally_diff *diff;
	struct diff_event *event;
	struct tally_map by_key; /* hash of the texts -> row + 1 */
	struct tally_buf text;
};

/* The texts of a row's keys, each with its NUL.  0 or -ENOMEM. */
static int key_text(struct matching *matching, size_t recording,
		    const struct tally_profile_row *row)
{
	const struct tally_diff *diff = matching->diff;
	struct tally_buf *text = &matching->text;

	tally_buf_clear(text);
	for (size_t i = 0; i < diff->key_count; i++) {
		struct report_field field;

		if (tally_report_field_init(&field, diff->profiles[recording], diff->keys[i]))
			tally_report_field_plain(&field, row, 0, text);
		tally_buf_byte(text, 0);
	}
	return text->failed;
}

static int add_row(struct matching *matching, struct diff_row **ret)
{
	const struct tally_diff *diff = matching->diff;
	struct tally_arena *arena = &matching->diff->arena;
	struct diff_event *event = matching->event;
	struct diff_row row = {
	    .texts = tally_arena_alloc(arena, (diff->key_count + 1) * sizeof(*row.texts)),
	    .sides = tally_arena_alloc(arena, diff->recordings * sizeof(*row.sides)),
	};
	const char *at = (const char *)matching->text.data;

	if (!row.texts || !row.sides)
		return -ENOMEM;
	for (size_t i = 0; i < diff->key_count; i++) {
		row.texts[i] = tally_arena_strndup(arena, at, strlen(at));
		if (!row.texts[i])
			return -ENOMEM;
		at += strlen(at) + 1;
	}
	if (!array_next(&event->rows, &event->room, event->count, 256, sizeof(*event->rows)))
		return -ENOMEM;
	*ret = &event->rows[event->count++];
	**ret = row;
	return 0;
}

/* Rows of one recording with equal texts are added up: versions of a binary, for example. */
static void add_side(struct diff_side *side, const struct tally_profile_row *row)
{
	if (!side->present) {
		side->present = true;
		side->row = *row;
		return;
	}
	side->row.self += row->self;
	side->row.children += row->children;
	side->row.samples += row->samples;
}

static int match_recording(struct matching *matching, size_t recording)
{
	struct diff_event *event = matching->event;
	struct tally_profile_row row = {.size = sizeof(row)};
	uint32_t number = event->events[recording];
	int result = 0;

	for (uint64_t i = 0;
	     !result && number != UINT32_MAX &&
	     !tally_profile_row(matching->diff->profiles[recording], number, i, &row);
	     i++) {
		struct diff_row *found;
		uint64_t *slot;
		bool added;

		tally_session_frame_across(diff_session(matching->diff, recording), &row.frame);
		if (key_text(matching, recording, &row))
			return -ENOMEM;
		/* two keys of one 64-bit hash are taken for the same, which chance does not make */
		slot = tally_map_put(&matching->by_key,
				     tally_hash_bytes(matching->text.data, matching->text.size),
				     &added);
		if (!slot)
			return -ENOMEM;
		if (added) {
			result = add_row(matching, &found);
			*slot = event->count;
		}
		if (!result)
			add_side(&event->rows[*slot - 1].sides[recording], &row);
	}
	return result;
}

int tally_diff_match(struct tally_diff *diff, struct diff_event *event)
{
	struct matching matching = {.diff = diff, .event = event};
	int result = 0;

	for (size_t i = 0; i < diff->recordings && !result; i++)
		result = match_recording(&matching, i);
	for (size_t i = 0; i < event->count; i++)
		for (size_t at = 1; at < diff->recordings; at++) {
			struct diff_row *row = &event->rows[i];

			row->sides[at].status = !row->sides[0].present    ? TALLY_DIFF_NEW
						: !row->sides[at].present ? TALLY_DIFF_GONE
									  : TALLY_DIFF_BOTH;
		}
	tally_map_done(&matching.by_key);
	tally_buf_done(&matching.text);
	return result;
}
