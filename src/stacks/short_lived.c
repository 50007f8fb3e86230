#include "stacks/short_lived.h"

#include <errno.h>
#include <tally/abi.h>
#include "base/bytes.h"

/* Bits of a process. */
#define BEGAN 1U
#define ENDED 2U
#define KEPT  4U

void tally_short_lived_done(struct tally_short_lived *pids)
{
	tally_map_done(&pids->pids);
}

static int note(struct tally_short_lived *pids, uint32_t pid, uint64_t bits)
{
	bool added;
	uint64_t *known = tally_map_put(&pids->pids, pid, &added);

	if (known)
		*known |= bits;
	return known ? 0 : -ENOMEM;
}

int tally_short_lived_sampled(struct tally_short_lived *pids, uint32_t pid)
{
	return note(pids, pid, KEPT);
}

/* Source: enum perf_event_type of perf_event.h: behind the header, MMAP, MMAP2 and COMM have pid,
 * tid; FORK and EXIT have pid, ppid, tid, ptid. */
struct task {
	uint32_t type, pid, ppid, tid;
	bool process; /* FORK and EXIT: not one of its other threads */
};

static struct task task_of(const uint8_t *record)
{
	struct task task = {.type = load_u32(record), .pid = load_u32(record + 8)};

	if (task.type == PERF_RECORD_FORK || task.type == PERF_RECORD_EXIT) {
		task.ppid = load_u32(record + 12);
		task.tid = load_u32(record + 16);
		task.process =
		    task.type == PERF_RECORD_FORK ? task.pid != task.ppid : task.pid == task.tid;
	}
	return task;
}

int tally_short_lived_record(struct tally_short_lived *pids, const uint8_t *record, bool early)
{
	struct task task = task_of(record);
	const uint64_t *known;

	if (task.type == PERF_RECORD_FORK && task.process) {
		/* A number that had another process before is left alone. */
		known = tally_map_find(&pids->pids, task.pid);
		return note(pids, task.pid, known ? KEPT : BEGAN);
	}
	/* With several threads the first one may end before the others. */
	if (task.type == PERF_RECORD_FORK)
		return note(pids, task.pid, KEPT);
	if (task.type == PERF_RECORD_EXIT && task.process)
		return note(pids, task.pid, early ? ENDED : KEPT);
	return 0;
}

static bool is_skipped(const struct tally_short_lived *pids, uint32_t pid)
{
	const uint64_t *known = tally_map_find(&pids->pids, pid);

	return known && *known == (BEGAN | ENDED);
}

void tally_short_lived_fork(struct tally_short_lived *pids, const uint8_t *record)
{
	struct task task = task_of(record);

	if (task.type != PERF_RECORD_FORK || !is_skipped(pids, task.ppid) ||
	    is_skipped(pids, task.pid))
		return;
	/* It is known, so this takes no memory. */
	(void)note(pids, task.ppid, KEPT);
}

bool tally_short_lived_skips(const struct tally_short_lived *pids, const uint8_t *record)
{
	return is_skipped(pids, task_of(record).pid);
}
