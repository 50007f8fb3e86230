/* The second pass over lumps: each is shown once; the samples of stints in which something changed
 * are found by redo_holds() and read again. */
#ifndef TALLY_SESSION_LUMP_VISIT_H
#define TALLY_SESSION_LUMP_VISIT_H

#include "session/resolver.h"

/* The fields that a lump keeps. */
#define LUMP_FIELDS ((uint64_t)(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD))

/* What holds for a stint all the time. */
struct lump_view {
	const struct tally_space *space;
	uint32_t comm, era, kernel_era, thread;
	bool changes; /* it does not: read again */
};

struct lump_redo {
	uint32_t pid, tid;
	uint64_t first_offset, last_offset;
};

struct lump_visit {
	struct tally_session *session;
	struct lump_view **views; /* by part, then by stint */
	/* Of all parts, by thread and then in the file's order. */
	struct lump_redo *redo;
	size_t redo_count;
	uint32_t *redo_pieces; /* of the session, which hold any of them */
	size_t redo_piece_count;
	size_t *first_run; /* by part and one beyond: lumps are shared out in runs */
	size_t run_count;
	uint64_t some_tids[4]; /* a bit for each tid that is read again, by its hash */
};

int tally_lump_visit_init(struct lump_visit *visit, struct tally_session *session);
void tally_lump_visit_done(struct lump_visit *visit);
bool tally_lump_visit_again(const struct lump_visit *visit, uint32_t pid, uint32_t tid,
			    uint64_t offset);
/* Shows the lumps of a run, and frees them; `want` by event: the fields that its samples have. */
int tally_lump_visit_run(const struct lump_visit *visit, size_t run, const uint64_t *want,
			 tally_sample_fn show, void *context, unsigned worker,
			 struct tally_resolver *resolver);

static inline bool lump_visit_again(const struct lump_visit *visit, uint32_t pid, uint32_t tid,
				    uint64_t offset)
{
	return visit->some_tids[tid / 64 % 4] >> (tid % 64) & 1 &&
	       tally_lump_visit_again(visit, pid, tid, offset);
}

#endif
