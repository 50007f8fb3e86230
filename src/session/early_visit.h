/* The second pass over groups: each is shown once; the samples of phases in which something changed
 * are found by tally_early_visit_again() and read again. */
#ifndef TALLY_SESSION_EARLY_VISIT_H
#define TALLY_SESSION_EARLY_VISIT_H

#include "resolve/resolver.h"
#include "session/run.h"
#include "session/session.h"

/* The fields that a group keeps. */
#define EARLY_FIELDS ((uint64_t)(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD))

/* The state of a thread during a phase. */
struct early_view {
	const struct tally_space *space;
	uint32_t comm, era, kernel_era, thread;
	bool changes; /* it does not: read again */
};

struct early_again {
	uint32_t pid, tid;
	uint64_t first_offset, last_offset;
};

struct early_visit {
	struct tally_session *session;
	struct early_view **views; /* by part, then by phase */
	/* Of all parts, by thread and then in the file's order. */
	struct early_again *again;
	size_t again_count;
	uint32_t *again_pieces; /* of the session, which hold any of them */
	size_t again_piece_count;
	size_t *first_run; /* by part and one beyond: groups are shared out in runs */
	size_t run_count;
	uint64_t some_tids[4]; /* a bit for each tid that is read again, by its hash */
};

int tally_early_visit_init(struct early_visit *visit, struct tally_session *session);
void tally_early_visit_done(struct early_visit *visit);
bool tally_early_visit_again(const struct early_visit *visit, uint32_t pid, uint32_t tid,
			     uint64_t offset);
/* Shows the groups of a run, and frees them; `want` by event: the fields that its samples have. */
int tally_early_visit_run(const struct early_visit *visit, size_t run, const uint64_t *want,
			  tally_show_sample_fn show, void *context, unsigned worker,
			  struct tally_resolver *resolver);

static inline bool early_visit_again(const struct early_visit *visit, uint32_t pid, uint32_t tid,
				     uint64_t offset)
{
	return visit->some_tids[tid / 64 % 4] >> (tid % 64) & 1 &&
	       tally_early_visit_again(visit, pid, tid, offset);
}

#endif
