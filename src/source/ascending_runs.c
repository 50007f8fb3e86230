#include "source/ascending_runs.h"

#include <stdlib.h>
#include "base/table.h"
#include "source/order.h"
#include "source/scan.h"

void tally_run_finder_init(struct run_finder *finder, const struct tally_source *source)
{
	size_t bytes = source->total_bytes / RUNS_WANTED;

	*finder = (struct run_finder){.round = {.least = UINT64_MAX}};
	finder->bytes = bytes < RUN_BYTES_LEAST  ? RUN_BYTES_LEAST
			: bytes > RUN_BYTES_MOST ? RUN_BYTES_MOST
						 : bytes;
	finder->most = source->total_bytes / finder->bytes * 4 + 4096;
	finder->on = !source->sums_early && !tally_order_in_file(source) &&
		     tally_order_same_places(source, &finder->sample_at, &finder->trailer_back);
	/* The first sample begins one. */
	finder->piece = SIZE_MAX;
}

void tally_run_finder_done(struct run_finder *finder)
{
	free(finder->list);
	free(finder->rounds);
	*finder = (struct run_finder){0};
}

void tally_run_finder_end(struct run_finder *finder)
{
	struct ascending_run *open = finder->count ? &finder->list[finder->count - 1] : NULL;

	if (finder->piece == SIZE_MAX || !open)
		return;
	open->last = finder->time;
	finder->on &= finder->time != UINT64_MAX;
	open->place |= (finder->end - finder->start) / 8;
	if (open->first < finder->round.least)
		finder->round.least = open->first;
	if (open->last > finder->round.most)
		finder->round.most = open->last;
	finder->piece = SIZE_MAX;
}

int tally_run_finder_begin(struct run_finder *finder, uint64_t time, size_t piece, size_t at)
{
	tally_run_finder_end(finder);
	/* Samples without a time come where they stand; places have so many bits. */
	if (!time || time == UINT64_MAX || (at + RUN_BYTES_MOST) >> 3 >> ORDER_OFFSET_BITS ||
	    finder->count == finder->most) {
		finder->on = false;
		return 0;
	}
	if (!array_next(&finder->list, &finder->room, finder->count, 1024, sizeof(*finder->list)))
		return -ENOMEM;
	finder->list[finder->count++] = (struct ascending_run){
	    .first = time,
	    .place = (uint64_t)piece << (ORDER_SIZE_BITS + ORDER_OFFSET_BITS) |
		     (uint64_t)(at / 8) << ORDER_SIZE_BITS,
	};
	finder->time = time;
	finder->piece = piece;
	finder->start = finder->end = at;
	return 0;
}

int tally_run_finder_round(struct run_finder *finder)
{
	tally_run_finder_end(finder);
	if (!array_next(&finder->rounds, &finder->round_room, finder->round_count, 64,
			sizeof(*finder->rounds)))
		return -ENOMEM;
	finder->rounds[finder->round_count++] = finder->round;
	finder->round = (struct run_round){.least = UINT64_MAX};
	return 0;
}

/* Rounds on their way, across the parts of the file. */
struct proof {
	struct run_round round;
	uint64_t before, last; /* the greatest time up to the round before the last, up to the last
				*/
	bool holds;
};

static void add_round(struct proof *proof, const struct run_round *part)
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
	proof->round = (struct run_round){.least = UINT64_MAX};
}

static bool sorted_by_time(const struct tally_source *source, const struct scan *scans,
			   size_t count)
{
	struct proof proof = {.round = {.least = UINT64_MAX}, .holds = true};

	for (size_t i = 0; i < count; i++) {
		const struct run_finder *finder = &scans[i].runs;

		if (!finder->on)
			return false;
		for (size_t k = 0; k < finder->round_count; k++) {
			add_round(&proof, &finder->rounds[k]);
			end_round(&proof);
		}
		add_round(&proof, &finder->round);
	}
	end_round(&proof);
	/* Directories have no rounds. */
	return proof.holds || tally_data_total_order(source->data);
}

int tally_ascending_runs_take(struct tally_source *source, struct scan *scans, size_t count)
{
	size_t total = 0, piece = 0;

	for (size_t i = 0; i < count; i++) {
		tally_run_finder_end(&scans[i].runs);
		total += scans[i].runs.count;
	}
	if (!sorted_by_time(source, scans, count) || total >= UINT32_MAX)
		return 0;
	source->runs = malloc((total + 1) * sizeof(*source->runs));
	if (!source->runs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct run_finder *finder = &scans[i].runs;

		for (size_t k = 0; k < finder->count; k++) {
			struct ascending_run *to = &source->runs[source->run_count++];

			*to = finder->list[k];
			to->place += (uint64_t)piece << (ORDER_SIZE_BITS + ORDER_OFFSET_BITS);
		}
		piece += scans[i].piece_count;
	}
	source->run_time_at = count ? scans[0].runs.sample_at : -1;
	return 0;
}
