/* The files of a recording: opened, filled and completed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "base/fail.h"
#include "stacks/monotonic.h"
#include "record/tracing_data.h"
#include "synth/describe.h"
#include "write/kernel_copy.h"
#include "recorder/recorder_state.h"
#include "recorder/verbose.h"

#define CHECKPOINT_BYTES (64ULL << 20)
/* Of copies of stacks in memory: who reads a stream keeps what it reads, too. */
#define WAITING_MOST      ((size_t)256 << 20)
#define WAITING_OF_STREAM ((size_t)64 << 20)

/* `stacks`: for samples as the rings have them. */
static int open_writer(struct tally_recorder *recorder, const char *output, bool stacks,
		       struct tally_writer **ret, struct tally_error *error)
{
	struct tally_writer_event *events;
	struct tally_writer_options options = {
	    .size = sizeof(options),
	    .cmdline = recorder->options.cmdline,
	    .cmdline_count = recorder->options.cmdline_count,
	    .compress_level = recorder->options.compress_level,
	    .folder = (recorder->rings.threads || recorder->options.kernel_copy) && !stacks,
	    .alone = !recorder->rings.threads,
	};
	struct tally_buf tracing = {0};
	int result;

	events = calloc(recorder->plan.count, sizeof(*events));
	if (!events)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	for (size_t i = 0; i < recorder->plan.count; i++) {
		const struct tally_planned *from = &recorder->plan.events[i];

		events[i] = (struct tally_writer_event){
		    .attr = stacks ? tally_plan_stacks_attr(from) : tally_plan_file_attr(from),
		    .name = from->name,
		    .ids = from->ids,
		    .id_count = from->id_count,
		    .leader = from->leader,
		};
		options.has_clockid |= from->attr.use_clockid;
		if (from->points) /* a pointer of this process means nothing in a file */
			events[i].attr.config1 = 0;
	}
	result = tally_tracing_data_make(&recorder->plan, NULL, "", &tracing, error);
	if (!result) {
		options.tracing_data = tracing.data;
		options.tracing_data_size = tracing.size;
		result = output ? tally_writer_open(output, events, recorder->plan.count, &options,
						    ret, error)
				: tally_writer_open_stream(recorder->stream_fd, "the live stream",
							   events, recorder->plan.count, &options,
							   ret, error);
	}
	tally_buf_done(&tracing);
	free(events);
	return result;
}

int tally_recorder_open_files(struct tally_recorder *recorder, struct tally_error *error)
{
	const char *stacks = recorder->options.stacks_output;
	int result = open_writer(recorder, recorder->streams ? NULL : recorder->output, false,
				 &recorder->writer, error);

	if (result)
		return result;
	recorder->stream_fd = -1;
	recorder->taken.ended = false;
	if (recorder->options.kernel_copy) {
		result = tally_kernel_copy_make("", recorder->output, error);
		if (result)
			return result;
	}
	recorder->switch_at =
	    recorder->files.most_ns ? monotonic_ns() + (int64_t)recorder->files.most_ns : 0;
	/* Samples of overwritten rings come last, and are older than what rounds would end. */
	if (tally_openset_overwrites(&recorder->set))
		tally_writer_without_rounds(recorder->writer);
	return stacks && tally_plan_unwinds(&recorder->plan)
		   ? open_writer(recorder, stacks, true, &recorder->stacks_writer, error)
		   : 0;
}

static int open_held(void *context, const uint8_t *id, uint8_t id_size)
{
	return tally_build_ids_open_held(context, id, id_size);
}

void tally_recorder_use_unwinder(struct tally_recorder *recorder)
{
	recorder->drain.unwinder = recorder->unwinder;
	recorder->drain.walk.see_code = tally_unwinder_see_code;
	recorder->drain.walk.see_code_context = recorder->unwinder;
}

static int start_unwinder(struct tally_recorder *recorder, const struct tally_buf *records,
			  struct tally_error *error)
{
	const struct tally_unwinder_options options = {
	    .plan = &recorder->plan,
	    .writer = recorder->writer,
	    .stacks = recorder->stacks_writer,
	    .checkpoint_ns = TALLY_CHECKPOINT_NS,
	    .checkpoint_bytes = CHECKPOINT_BYTES,
	    .waiting_most = recorder->streams ? WAITING_OF_STREAM : WAITING_MOST,
	    .open_held = open_held,
	    .held = &recorder->build_ids,
	};
	int result;

	if (!tally_plan_unwinds(&recorder->plan))
		return 0;
	result =
	    tally_unwinder_new(&options, records->data, records->size, &recorder->unwinder, error);
	if (!result)
		tally_recorder_use_unwinder(recorder);
	return result;
}

struct tally_describe tally_recorder_describing(struct tally_recorder *recorder)
{
	return (struct tally_describe){
	    .options = &recorder->options,
	    .plan = &recorder->plan,
	    .targets = &recorder->targets,
	    .command = recorder->workload.pid,
	    .build_ids = recorder->file_ids,
	    .text = &recorder->kernel_text,
	};
}

int tally_recorder_describe(struct tally_recorder *recorder, bool late, struct tally_error *error)
{
	struct tally_describe describe = tally_recorder_describing(recorder);
	bool write = late == recorder->options.describe_last || (!late && describe.command);
	struct tally_buf records = {0};
	struct iovec iovec;
	int result = late ? 0 : tally_drain_aux_describe(&recorder->set, &records);

	if (late)
		describe.command = 0;
	result = result
		     ? tally_fail(error, result, -1, "the trace cannot be described: %s",
				  strerror(-result))
		     : tally_describe_running(&describe, &records, &recorder->kernel_hidden, error);
	if (result >= 0 && recorder->options.verbose && write)
		tally_verbose_described(&recorder->notice, &records);
	iovec = (struct iovec){records.data, records.size};
	if (!result && write)
		result = tally_writer_append(recorder->writer, &iovec, 1, error);
	if (result >= 0 && write && recorder->stacks_writer)
		result = tally_writer_append(recorder->stacks_writer, &iovec, 1, error);
	if (result >= 0 && !late)
		result = start_unwinder(recorder, &records, error);
	tally_buf_done(&records);
	return result < 0 ? result : 0;
}

/* The older part of a flight recorder's side-band goes. */
static int turn_side(struct tally_recorder *recorder, struct tally_error *error)
{
	struct tally_side_kept *kept = &recorder->side_kept;
	struct tally_describe describe = tally_recorder_describing(recorder);
	struct tally_buf running = {0};
	bool hidden;
	int result;

	describe.left_running = &recorder->left_running;
	describe.time = tally_side_kept_latest(kept, &recorder->drain.walk.sideband_layout);
	result = tally_describe_running(&describe, &running, &hidden, error);
	if (!result)
		tally_side_kept_turn(kept, &running);
	tally_buf_done(&running);
	return result;
}

int tally_recorder_pass(struct tally_recorder *recorder, struct tally_error *error)
{
	struct tally_drain *drain = &recorder->drain;
	int result = tally_drain_pass(drain, error);
	int64_t now = monotonic_ns();
	bool checkpoint;

	if (!result)
		result = tally_drain_aux_pass(&recorder->aux, error);
	if (!result)
		result = tally_writing_check(&recorder->writing, error);
	if (!result && drain->side_kept && tally_side_kept_is_full(drain->side_kept))
		result = turn_side(recorder, error);
	if (result)
		return result;
	checkpoint = !monotonic_same(now, recorder->checkpoint_at, TALLY_CHECKPOINT_NS) ||
		     drain->since_mark >= CHECKPOINT_BYTES;
	if (checkpoint)
		recorder->checkpoint_at = now;
	return tally_drain_round(drain, checkpoint, error);
}

static int close_writer(struct tally_recorder *recorder, struct tally_writer **which,
			struct tally_error *error)
{
	struct tally_writer *writer = *which;
	int result =
	    recorder->options.no_build_ids ? 0 : tally_build_ids_write(recorder->file_ids, writer);

	if (result)
		return tally_fail(error, result, -1, "build-ids: %s", strerror(-result));
	if (recorder->taken.samples)
		tally_writer_set_sample_time(writer, recorder->taken.first_time,
					     recorder->taken.last_time);
	tally_writer_set_stacks(writer, &recorder->stacks);
	*which = NULL;
	return tally_writer_close(writer, error);
}

int tally_recorder_finish_chains(struct tally_recorder *recorder, struct tally_error *error)
{
	int result;

	if (!recorder->drain.unwinder)
		return 0;
	result = tally_unwinder_finish(recorder->unwinder, &recorder->stacks, error);
	tally_stack_counts_add(&recorder->all_stacks, &recorder->stacks);
	recorder->drain.unwinder = NULL;
	recorder->drain.walk.see_code = NULL;
	return result;
}

void tally_recorder_end_samples(struct tally_recorder *recorder)
{
	struct tally_walk_counts *counts = &recorder->drain.walk.counts;

	recorder->taken = (struct tally_recorder_taken){
	    .ended = true,
	    .samples = counts->samples,
	    .first_time = counts->first_time,
	    .last_time = counts->last_time,
	};
	counts->first_time = counts->last_time = 0;
}

int tally_recorder_finish_file(struct tally_recorder *recorder, struct tally_error *error)
{
	int result = 0;

	if (!recorder->taken.ended)
		tally_recorder_end_samples(recorder);
	if (recorder->stacks_writer)
		result = close_writer(recorder, &recorder->stacks_writer, error);
	if (!result) /* what a thread has yet to write counts, too */
		result = tally_writer_catch_up(recorder->writer, error);
	if (result)
		return result;
	recorder->wrote = tally_writer_size(recorder->writer);
	return close_writer(recorder, &recorder->writer, error);
}
