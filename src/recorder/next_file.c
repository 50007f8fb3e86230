/* From one file to the next, while the rings are emptied all the time: that what runs is described,
 * the last chains of the old file are made, its build-ids are read, and files are completed,
 * renamed and made, takes longer than the rings have room for, when the machine or a disk is busy.
 * Another thread does all of that; what passes find meanwhile waits in memory. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/pages.h"
#include "base/pool.h"
#include "recorder/recorder_state.h"
#include "stacks/monotonic.h"

/* How long one pass comes after another, unless the kernel wakes up the recorder, or a ring was a
 * quarter full; and how often it is looked whether the others are ready. */
#define PASS_NS 50000000LL
#define LOOK_MS 5
#define FILLS   64 /* of 256 */

/* What waits in memory for the next file, at most; then the rings have to do. */
#define WAITING_MOST (128u << 20)

struct next_file {
	struct tally_recorder *recorder;
	struct tally_describe describe;
	struct tally_build_ids ids, old_ids;
	struct tally_buf running; /* what runs, as the new file has it */
	/* Copies of the side-band: of the time in which that was described, which is in both files;
	 * and of that which is in the new one alone. */
	struct tally_buf side, late;
	struct tally_buf waiting; /* records that came since then, without chains to be made */
	bool hidden;
	int result;
	struct tally_error error;
	atomic_bool done; /* the work of the other thread */
};

static bool is_done(void *context)
{
	struct next_file *next = context;

	return atomic_load(&next->done);
}

static bool has_made_chains(void *context)
{
	return tally_unwinder_is_done(context);
}

/* Makes passes until something is done by another thread. 0 or -errno with words. */
static int pass_until(struct tally_recorder *recorder, bool (*ended)(void *context), void *context,
		      struct tally_error *error)
{
	struct tally_drain *drain = &recorder->drain;
	int64_t passed = monotonic_ns();
	int result = 0;

	while (!ended(context) && !result) {
		bool full = tally_waiting_rings(&recorder->waiting, LOOK_MS);

		if ((!full && drain->fullest < FILLS && monotonic_ns() - passed < PASS_NS) ||
		    (drain->waiting && drain->waiting->size >= WAITING_MOST))
			continue;
		result = tally_drain_pass(drain, error);
		if (!result)
			result = tally_drain_round(drain, false, error);
		passed = monotonic_ns();
	}
	return result;
}

/* Has the work done by another thread, and makes passes meanwhile. */
static int pass_during(struct next_file *next, void *(*work)(void *context),
		       struct tally_error *error)
{
	pthread_t thread;
	bool started;
	int result;

	atomic_store(&next->done, false);
	started = !tally_thread_start_quiet(&thread, work, next);
	if (!started)
		work(next);
	result = pass_until(next->recorder, is_done, next, error);
	if (started)
		pthread_join(thread, NULL);
	if (!result && next->result && error)
		*error = next->error;
	return result ? result : next->result;
}

static void *describe_main(void *context)
{
	struct next_file *next = context;

	next->result =
	    tally_describe_running(&next->describe, &next->running, &next->hidden, &next->error);
	atomic_store(&next->done, true);
	return NULL;
}

/* What runs is described by another thread. */
static int describe(struct next_file *next, struct tally_error *error)
{
	struct tally_recorder *recorder = next->recorder;
	int result = tally_drain_aux_describe(&recorder->set, &next->running);

	if (result)
		return tally_fail(error, result, -1, "the trace cannot be described: %s",
				  strerror(-result));
	next->describe = tally_recorder_describing(recorder);
	next->describe.left_running = &recorder->left_running;
	next->describe.build_ids = &next->ids;
	recorder->drain.side_copy = &next->side;
	result = pass_during(next, describe_main, error);
	recorder->drain.side_copy = NULL;
	return result;
}

/* What the rings hold goes to the old file, and the side-band to both. */
static int last_pass(struct tally_recorder *recorder, struct next_file *next,
		     struct tally_error *error)
{
	int result;

	recorder->drain.side_copy = &next->side;
	result = tally_recorder_pass(recorder, error);
	recorder->drain.side_copy = NULL;
	if (!result)
		result = tally_drain_kept(&recorder->drain, false, error);
	tally_buf_add(&next->running, next->side.data, next->side.size);
	return result;
}

/* The last chains of the old file. Blocks that passes put meanwhile, and until the unwinder turns,
 * are for the new one. */
static int finish_chains(struct tally_recorder *recorder, struct next_file *next,
			 struct tally_error *error)
{
	int result;

	if (!recorder->drain.unwinder)
		return 0;
	tally_unwinder_end(recorder->unwinder);
	recorder->drain.side_copy = &next->late;
	result = pass_until(recorder, has_made_chains, recorder->unwinder, error);
	recorder->drain.side_copy = NULL;
	if (!result)
		result = tally_unwinder_finish(recorder->unwinder, &recorder->stacks, error);
	tally_stack_counts_add(&recorder->all_stacks, &recorder->stacks);
	return result;
}

int tally_recorder_name_file(struct tally_recorder *recorder, struct tally_error *error)
{
	const struct tally_recorder_files *files = &recorder->files;

	recorder->file_count++;
	return files->timestamp || files->switches
		   ? tally_file_series_add(&recorder->series, &recorder->path, error)
		   : 0;
}

/* Completes and renames the old file, and begins the new one: what runs. */
static int change_files(struct next_file *next, struct tally_error *error)
{
	struct tally_recorder *recorder = next->recorder;
	struct iovec iovec = {next->running.data, next->running.size};
	int result = 0;

	if (recorder->options.describe_last && !recorder->file_count)
		result = tally_recorder_describe(recorder, true, error);
	if (!result)
		result = tally_recorder_finish_file(recorder, error);
	if (!result)
		result = tally_recorder_name_file(recorder, error);
	if (!result)
		result = tally_recorder_open_files(recorder, error);
	if (!result)
		result = tally_writer_append(recorder->writer, &iovec, 1, error);
	if (result >= 0 && recorder->stacks_writer)
		result = tally_writer_append(recorder->stacks_writer, &iovec, 1, error);
	return result < 0 ? result : 0;
}

static void *change_main(void *context)
{
	struct next_file *next = context;

	next->result = change_files(next, &next->error);
	atomic_store(&next->done, true);
	return NULL;
}

/* Maps of processes that began while the others were described, or after that. */
static void note_maps(struct tally_recorder *recorder, const struct tally_buf *side)
{
	const struct tally_ring_bytes bytes = {.first = side->data, .first_size = side->size};

	tally_walk_mappings(&recorder->drain.walk, &bytes, 0);
}

/* The binaries' call frame information is read once, not for each file; nor are processes
 * described to the unwinder again, unless records of them were lost. */
static int go_on_unwinding(struct tally_recorder *recorder, const struct tally_buf *running,
			   struct tally_error *error)
{
	uint64_t lost = recorder->drain.walk.counts.sideband_lost;
	bool anew = lost != recorder->sideband_lost;
	int result;

	if (!recorder->unwinder)
		return 0;
	recorder->sideband_lost = lost;
	result = tally_unwinder_turn(recorder->unwinder, recorder->writer, recorder->stacks_writer,
				     anew ? running : NULL, error);
	if (!result)
		tally_recorder_use_unwinder(recorder);
	return result;
}

/* From here on what is mapped is noted for the new file: first what came while the old one ended.
 */
static void turn_build_ids(struct tally_recorder *recorder, struct next_file *next)
{
	next->old_ids = recorder->build_ids;
	recorder->build_ids = next->ids;
	recorder->file_ids = &next->old_ids;
	note_maps(recorder, &next->side);
	note_maps(recorder, &next->late);
}

static int turn(struct tally_recorder *recorder, struct next_file *next, struct tally_error *error)
{
	uint64_t samples;
	int result;

	tally_recorder_end_samples(recorder);
	samples = recorder->taken.samples - recorder->samples_before;
	result = finish_chains(recorder, next, error);
	turn_build_ids(recorder, next);
	if (!result) {
		recorder->drain.waiting = recorder->drain.unwinder ? NULL : &next->waiting;
		result = pass_during(next, change_main, error);
		if (result) /* its last block was written */
			recorder->drain.unwinder = NULL;
	}
	recorder->drain.waiting = NULL;
	recorder->file_ids = &recorder->build_ids;
	tally_build_ids_done(&next->old_ids);
	if (result)
		return result;
	recorder->samples_before += samples;
	tally_notice_send(&recorder->notice, "%s: %llu samples", recorder->path,
			  (unsigned long long)samples);
	recorder->aux.writer = recorder->writer;
	result = tally_drain_turn(&recorder->drain, recorder->writer, &next->waiting, error);
	return result < 0 ? result : go_on_unwinding(recorder, &next->running, error);
}

static void next_file_done(struct next_file *next)
{
	tally_buf_done(&next->running);
	tally_buf_done(&next->side);
	tally_buf_done(&next->late);
	tally_buf_done(&next->waiting);
}

/* What runs is described first, and then the old file gets what the rings have: so no process is
 * missing in the new one.  It gets the side-band of that time, too. */
int tally_recorder_next_file(struct tally_recorder *recorder, struct tally_error *error)
{
	struct next_file next = {.recorder = recorder};
	int result;

	tally_build_ids_init(&next.ids);
	result = describe(&next, error);
	if (!result)
		result = last_pass(recorder, &next, error);
	if (result)
		tally_build_ids_done(&next.ids);
	else
		result = turn(recorder, &next, error);
	next_file_done(&next);
	/* Free memory between what stays in use does not go back by itself: in days that adds up.
	 */
	memory_give_back();
	return result;
}

bool tally_recorder_next_due(struct tally_recorder *recorder)
{
	const struct tally_recorder_files *files = &recorder->files;

	return (files->most_bytes && tally_writer_size(recorder->writer) >= files->most_bytes) ||
	       (recorder->switch_at && monotonic_ns() >= recorder->switch_at) ||
	       (recorder->trigger.plan.count && tally_trigger_hit(&recorder->trigger));
}
