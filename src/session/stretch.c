#include "session/stretch.h"

#include <stdlib.h>
#include "base/table.h"
#include "session/order.h"
#include "session/scan.h"

void tally_stretch_notes_init(struct stretch_notes *notes, const struct tally_session *session)
{
	size_t bytes = session->total_bytes / STRETCH_WANTED;

	*notes = (struct stretch_notes){.round = {.least = UINT64_MAX}};
	notes->bytes = bytes < STRETCH_LEAST  ? STRETCH_LEAST
		       : bytes > STRETCH_MOST ? STRETCH_MOST
					      : bytes;
	notes->most = session->total_bytes / notes->bytes * 4 + 4096;
	notes->on = !session->options.lump && !tally_order_in_file(session) &&
		    tally_order_same_places(session, &notes->sample_at, &notes->trailer_back);
	/* The first sample begins one. */
	notes->piece = SIZE_MAX;
}

void tally_stretch_notes_done(struct stretch_notes *notes)
{
	free(notes->list);
	free(notes->rounds);
	*notes = (struct stretch_notes){0};
}

void tally_stretch_end(struct stretch_notes *notes)
{
	struct session_stretch *open = notes->count ? &notes->list[notes->count - 1] : NULL;

	if (notes->piece == SIZE_MAX || !open)
		return;
	open->last = notes->time;
	notes->on &= notes->time != UINT64_MAX;
	open->place |= (notes->end - notes->start) / 8;
	if (open->first < notes->round.least)
		notes->round.least = open->first;
	if (open->last > notes->round.most)
		notes->round.most = open->last;
	notes->piece = SIZE_MAX;
}

int tally_stretch_begin(struct stretch_notes *notes, uint64_t time, size_t piece, size_t at)
{
	tally_stretch_end(notes);
	/* Samples without a time come where they stand; places have so many bits. */
	if (!time || time == UINT64_MAX || (at + STRETCH_MOST) >> 3 >> ORDER_OFFSET_BITS ||
	    notes->count == notes->most) {
		notes->on = false;
		return 0;
	}
	if (notes->count == notes->room) {
		size_t room = notes->room ? notes->room * 2 : 1024;

		if (!array_resize(&notes->list, room, sizeof(*notes->list)))
			return -ENOMEM;
		notes->room = room;
	}
	notes->list[notes->count++] = (struct session_stretch){
	    .first = time,
	    .place = (uint64_t)piece << (ORDER_SIZE_BITS + ORDER_OFFSET_BITS) |
		     (uint64_t)(at / 8) << ORDER_SIZE_BITS,
	};
	notes->time = time;
	notes->piece = piece;
	notes->start = notes->end = at;
	return 0;
}

int tally_stretch_round(struct stretch_notes *notes)
{
	tally_stretch_end(notes);
	if (notes->round_count == notes->round_room) {
		size_t room = notes->round_room ? notes->round_room * 2 : 64;

		if (!array_resize(&notes->rounds, room, sizeof(*notes->rounds)))
			return -ENOMEM;
		notes->round_room = room;
	}
	notes->rounds[notes->round_count++] = notes->round;
	notes->round = (struct stretch_round){.least = UINT64_MAX};
	return 0;
}

/* Rounds on their way, across the parts of the file. */
struct proof {
	struct stretch_round round;
	uint64_t before, last; /* the greatest time up to the round before the last, up to the last
				*/
	bool holds;
};

static void add_round(struct proof *proof, const struct stretch_round *part)
{
	if (part->least < proof->round.least)
		proof->round.least = part->least;
	if (part->most > proof->round.most)
		proof->round.most = part->most;
}

/* A round's end releases what is not younger than some record before the last round's end; so only
 * a sample that is older than one two rounds before can come after younger ones. */
static void end_round(struct proof *proof)
{
	proof->holds &= proof->round.least >= proof->before;
	proof->before = proof->last;
	if (proof->round.most > proof->last)
		proof->last = proof->round.most;
	proof->round = (struct stretch_round){.least = UINT64_MAX};
}

static bool sorted_by_time(const struct tally_session *session, const struct scan *scans,
			   size_t count)
{
	struct proof proof = {.round = {.least = UINT64_MAX}, .holds = true};

	for (size_t i = 0; i < count; i++) {
		const struct stretch_notes *notes = &scans[i].stretches;

		if (!notes->on)
			return false;
		for (size_t k = 0; k < notes->round_count; k++) {
			add_round(&proof, &notes->rounds[k]);
			end_round(&proof);
		}
		add_round(&proof, &notes->round);
	}
	end_round(&proof);
	/* Directories have no rounds. */
	return proof.holds || tally_data_total_order(session->data);
}

int tally_stretches_take(struct tally_session *session, struct scan *scans, size_t count)
{
	size_t total = 0, piece = 0;

	for (size_t i = 0; i < count; i++) {
		tally_stretch_end(&scans[i].stretches);
		total += scans[i].stretches.count;
	}
	if (!sorted_by_time(session, scans, count) || total >= UINT32_MAX)
		return 0;
	session->stretches = malloc((total + 1) * sizeof(*session->stretches));
	if (!session->stretches)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct stretch_notes *notes = &scans[i].stretches;

		for (size_t k = 0; k < notes->count; k++) {
			struct session_stretch *to = &session->stretches[session->stretch_count++];

			*to = notes->list[k];
			to->place += (uint64_t)piece << (ORDER_SIZE_BITS + ORDER_OFFSET_BITS);
		}
		piece += scans[i].piece_count;
	}
	session->stretch_time_at = count ? scans[0].stretches.sample_at : -1;
	return 0;
}
