/* Functions with another name and the same code. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/map.h"
#include "code/code_hash.h"
#include "diff/diff_state.h"
#include "image/code.h"
#include "image/code_space.h"
#include "image/image.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"

/* Shorter functions are often equal without being the same. */
#define INSTRUCTIONS_LEAST 6U
#define SAMPLES_LEAST      5U /* of a function that is worth the search */
#define CODE_MOST          ((uint64_t)1 << 18)
#define IMAGES_MOST        64U

/* The names of an image's functions. */
struct named {
	const struct tally_image *image;
	struct tally_map names;
};

struct renaming {
	struct tally_diff *diff;
	struct named images[IMAGES_MOST];
	size_t image_count;
};

static struct tally_image *image_of(const struct tally_diff *diff, size_t recording,
				    const struct diff_side *side)
{
	struct tally_frames *frames = &tally_session_tables(diff_session(diff, recording))->frames;

	return side->row.frame.image == UINT32_MAX || !side->row.frame.symbol
		   ? NULL
		   : tally_frames_image_at(frames, side->row.frame.image)->image;
}

static uint64_t name_hash(const char *name)
{
	return tally_hash_bytes(name, strlen(name));
}

/* Whether an image has a function of that name; -ENOMEM. */
static int has_name(struct renaming *renaming, struct tally_image *image, const char *name)
{
	struct named *named = NULL;

	for (size_t i = 0; i < renaming->image_count && !named; i++)
		if (renaming->images[i].image == image)
			named = &renaming->images[i];
	if (!named) {
		size_t count = tally_image_symbol_count(image);

		if (renaming->image_count == IMAGES_MOST)
			return 1; /* nothing is renamed then */
		named = &renaming->images[renaming->image_count++];
		*named = (struct named){.image = image};
		for (size_t i = 0; i < count; i++) {
			bool added;

			if (!tally_map_put(&named->names,
					   name_hash(tally_image_symbol(image, (int64_t)i)->name),
					   &added))
				return -ENOMEM;
		}
	}
	return tally_map_find(&named->names, name_hash(name)) != NULL;
}

/* False: the code cannot be read, or is too short to be known by. */
static bool hash_of(struct tally_image *image, uint64_t start, struct code_hash *ret)
{
	int64_t index = tally_image_find_symbol(image, start), got = 0;
	const struct tally_symbol *symbol = index < 0 ? NULL : tally_image_symbol(image, index);
	uint64_t size = symbol ? symbol->end - symbol->start : 0;
	struct tally_disassembler *disassembler = NULL;
	struct tally_code_space space;
	uint8_t *bytes;

	if (!size || size > CODE_MOST || tally_code_space_open(image, &space))
		return false;
	bytes = malloc(size);
	if (bytes && !tally_disassembler_new(&space.machine, false, &disassembler))
		got = tally_image_read(image, symbol->start, bytes, size);
	if (got == (int64_t)size)
		tally_code_hash(disassembler, bytes, size, ret);
	tally_disassembler_free(disassembler);
	tally_code_space_close(&space);
	free(bytes);
	return got == (int64_t)size && ret->instructions >= INSTRUCTIONS_LEAST;
}

/* A row of one recording alone. */
struct candidate {
	size_t row;
	const char *image_name;
	struct code_hash hash;
	unsigned equal; /* others of the same recording that have the hash */
};

/* Candidates of `side` whose names the image of the same name in `other` does not have. */
static int find_candidates(struct renaming *renaming, const struct diff_event *event, size_t side,
			   size_t other, enum tally_diff_status status, struct candidate *ret,
			   size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < event->count; i++) {
		const struct diff_row *row = &event->rows[i];
		const struct diff_side *from = &row->sides[side];
		size_t which = side ? side : other;
		struct tally_image *image, *there = NULL;
		struct candidate made = {.row = i};
		int known = 0;

		if (row->sides[which].status != status || !from->present ||
		    from->row.samples < SAMPLES_LEAST)
			continue;
		image = image_of(renaming->diff, side, from);
		if (!image)
			continue;
		made.image_name = from->row.frame.image_name;
		for (size_t at = 0; at < event->count && !there; at++) {
			const struct diff_side *to = &event->rows[at].sides[other];

			if (to->present && to->row.frame.image_name &&
			    !strcmp(to->row.frame.image_name, made.image_name))
				there = image_of(renaming->diff, other, to);
		}
		if (there)
			known = has_name(renaming, there, from->row.frame.symbol);
		if (known < 0)
			return known;
		if (there && !known && hash_of(image, from->row.frame.place, &made.hash))
			ret[count++] = made;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; at < count; at++)
			ret[i].equal += i != at && ret[i].hash.hash == ret[at].hash.hash;
	*ret_count = count;
	return 0;
}

static void join(struct diff_event *event, size_t recording, const struct candidate *old,
		 const struct candidate *new)
{
	struct diff_side *to = &event->rows[old->row].sides[recording];
	struct diff_side *from = &event->rows[new->row].sides[recording];

	*to = *from;
	to->status = TALLY_DIFF_RENAMED;
	to->name = from->row.frame.symbol;
	*from = (struct diff_side){.present = false};
}

/* Takes out the rows that no recording has any more. */
static void drop_empty(const struct tally_diff *diff, struct diff_event *event)
{
	size_t kept = 0;

	for (size_t i = 0; i < event->count; i++) {
		bool present = false;

		for (size_t at = 0; at < diff->recordings; at++)
			present |= event->rows[i].sides[at].present;
		if (present)
			event->rows[kept++] = event->rows[i];
	}
	event->count = kept;
}

int tally_diff_find_renamed(struct tally_diff *diff, struct diff_event *event, size_t recording)
{
	struct renaming *renaming = calloc(1, sizeof(*renaming));
	struct candidate *old = calloc(event->count + 1, sizeof(*old)),
			 *new = calloc(event->count + 1, sizeof(*new));
	size_t old_count = 0, new_count = 0;
	int result = renaming && old && new ? 0 : -ENOMEM;

	if (!result) {
		renaming->diff = diff;
		result = find_candidates(renaming, event, 0, recording, TALLY_DIFF_GONE, old,
					 &old_count);
	}
	if (!result && old_count)
		result =
		    find_candidates(renaming, event, recording, 0, TALLY_DIFF_NEW, new, &new_count);
	for (size_t i = 0; i < old_count && !result; i++)
		for (size_t at = 0; at < new_count; at++)
			if (!old[i].equal && !new[at].equal &&
			    old[i].hash.hash == new[at].hash.hash &&old[i].hash.instructions ==
				new[at].hash.instructions &&
			    !strcmp(old[i].image_name, new[at].image_name))
				join(event, recording, &old[i], &new[at]);
	drop_empty(diff, event);
	for (size_t i = 0; renaming && i < renaming->image_count; i++)
		tally_map_done(&renaming->images[i].names);
	free(renaming);
	free(old);
	free(new);
	return result;
}
