#include "key/key_parallel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <tally/data.h>
#include <tally/session.h>
#include "base/fail.h"
#include "base/map.h"
#include "base/sorted.h"
#include "base/table.h"

/* A slot is what at most one thread runs in: with SWITCH records, which are of the recorded threads
 * alone, the thread itself; with SWITCH_CPU_WIDE records the CPU. */
struct change {
	uint64_t time;
	uint32_t slot;
	bool runs;
};

/* From `time` on so many threads ran. */
struct step {
	uint64_t time;
	uint64_t running;
};

struct key_parallel {
	struct step *steps; /* the first is of time 0 */
	size_t count;
};

struct changes {
	struct change *list;
	size_t count, room;
	bool cpu_wide, switches;
	struct tally_map cpus; /* the newest change of each, also one that was dropped */
};

static int add(struct changes *changes, uint64_t time, uint32_t slot, bool runs)
{
	if (!array_next(&changes->list, &changes->room, changes->count, 1024,
			sizeof(*changes->list)))
		return -ENOMEM;
	changes->list[changes->count++] = (struct change){time, slot, runs};
	return 0;
}

/* From thread to thread, as most switches of a busy CPU are, changes nothing. */
static int add_of_cpu(struct changes *changes, uint64_t time, uint32_t cpu, bool runs)
{
	bool added, same;
	uint64_t *newest = tally_map_put(&changes->cpus, cpu, &added);

	if (!newest)
		return -ENOMEM;
	same = !added && *newest >> 1 <= time && (*newest & 1) == runs;
	*newest = time << 1 | runs;
	return same ? 0 : add(changes, time, cpu, runs);
}

static int take(struct changes *changes, const struct tally_body *body)
{
	const struct tally_sample_id *id = &body->id;
	bool out = body->misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (!(id->present & PERF_SAMPLE_TIME))
		return 0;
	switch (body->type) {
	case PERF_RECORD_SWITCH:
		if (!(id->present & PERF_SAMPLE_TID))
			return 0;
		changes->switches = true;
		return add(changes, id->time, id->tid, !out);
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (!(id->present & PERF_SAMPLE_CPU))
			return 0;
		changes->switches = changes->cpu_wide = true;
		/* Thread 0 of each CPU is the idle one. */
		return add_of_cpu(changes, id->time, id->cpu,
				  out ? body->switch_cpu_wide.next_prev_tid != 0 : id->tid != 0);
	case PERF_RECORD_EXIT: /* after its counters were taken off, so no switch follows */
		return changes->cpu_wide ? 0 : add(changes, body->task.time, body->task.tid, false);
	default:
		return 0;
	}
}

static int read_changes(struct tally_data *data, struct changes *changes, struct tally_error *error)
{
	struct tally_record record;
	struct tally_body body;
	int more;

	body.size = sizeof(body);
	tally_data_rewind(data);
	while ((more = tally_data_next_record(data, &record, error)) > 0) {
		int event;

		if (record.type != PERF_RECORD_SWITCH &&
		    record.type != PERF_RECORD_SWITCH_CPU_WIDE && record.type != PERF_RECORD_EXIT)
			continue;
		event = tally_data_event_of(data, &record);
		if (tally_record_decode(
			&tally_data_event(data, event < 0 ? 0 : (size_t)event)->layout, &record,
			&body, NULL) < 0)
			continue;
		more = take(changes, &body);
		if (more)
			return more;
	}
	return more;
}

static int compare(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (int)a->runs - (int)b->runs;
}

/* What leaves its slot first ran in it from the beginning. */
static int count_first(const struct changes *changes, struct tally_map *states, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < changes->count; i++) {
		bool added;
		uint64_t *state = tally_map_put(states, changes->list[i].slot, &added);

		if (!state)
			return -ENOMEM;
		if (!added)
			continue;
		/* Of a CPU it is not known who ran before: most likely what runs now. */
		*state = changes->cpu_wide ? changes->list[i].runs : !changes->list[i].runs;
		*ret += *state;
	}
	return 0;
}

static int make_steps(struct changes *changes, struct key_parallel *parallel)
{
	struct tally_map states = {0};
	uint64_t running;
	int result;

	qsort(changes->list, changes->count, sizeof(*changes->list), compare);
	result = count_first(changes, &states, &running);
	parallel->steps = calloc(changes->count + 1, sizeof(*parallel->steps));
	if (!parallel->steps)
		result = -ENOMEM;
	if (!result)
		parallel->steps[parallel->count++] = (struct step){0, running};
	for (size_t i = 0; i < changes->count && !result; i++) {
		const struct change *change = &changes->list[i];
		uint64_t *state = tally_map_find(&states, change->slot);

		if (*state == change->runs)
			continue;
		*state = change->runs;
		running += change->runs ? 1 : (uint64_t)-1;
		parallel->steps[parallel->count++] = (struct step){change->time, running};
	}
	tally_map_done(&states);
	return result;
}

int tally_key_parallel_new(struct tally_session *session, struct key_parallel **ret,
			   struct tally_error *error)
{
	struct key_parallel *parallel = calloc(1, sizeof(*parallel));
	struct changes changes = {0};
	int result =
	    parallel ? read_changes(tally_session_data(session), &changes, error) : -ENOMEM;

	if (!result && !changes.switches)
		result = tally_fail(error, -ENOENT, -1,
				    "the recording has no context switches with times, so nobody "
				    "knows how many threads ran at once: record with "
				    "--switch-events");
	if (!result)
		result = make_steps(&changes, parallel);
	free(changes.list);
	tally_map_done(&changes.cpus);
	if (result) {
		tally_key_parallel_free(parallel);
		return result;
	}
	*ret = parallel;
	return 0;
}

void tally_key_parallel_free(struct key_parallel *parallel)
{
	if (!parallel)
		return;
	free(parallel->steps);
	free(parallel);
}

uint64_t tally_key_parallel_at(const struct key_parallel *parallel, uint64_t time)
{
	size_t behind = SORTED_BOUND(at, 1, parallel->count, parallel->steps[at].time <= time);
	uint64_t running = parallel->steps[behind - 1].running;

	return running ? running : 1;
}
