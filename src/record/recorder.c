/* A recording from its options to its file. */
#include <tally/recorder.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tally/abi.h>
#include <tally/data.h>
#include <tally/limits.h>
#include <tally/ring.h>
#include "base/pages.h"
#include "base/pool.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "file/live.h"
#include "offcpu/off_cpu_rings.h"
#include "record/priority.h"
#include "synth/build_ids.h"
#include "synth/describe.h"
#include "record/drain.h"
#include "record/drain_aux.h"
#include "collect/notice.h"
#include "collect/openset.h"
#include "collect/event_plan.h"
#include "record/finish_command.h"
#include "record/left_running.h"
#include "collect/targets.h"
#include "stacks/unwinder.h"
#include "record/verbose.h"
#include "record/writing.h"
#include "record/waiting.h"
#include "stacks/monotonic.h"
#include "record/tracing_data.h"
#include "collect/workload.h"
#include "write/writer.h"

#define NS_PER_MS        1000000LL
#define CHECKPOINT_NS    (1000 * NS_PER_MS)
#define CHECKPOINT_BYTES (64ULL << 20)
#define PASS_MS          1000 /* between two passes, at most */
#define PASS_STREAM_MS   100  /* the same for a stream, which may be read while it grows */
#define PASS_POLLING_MS \
	50 /* the same without pidfd_open(2), when the command's end must be polled for */

struct tally_recorder {
	struct tally_recorder_options options;
	const char *output;
	struct tally_notice notice;
	struct tally_limits limits;
	struct tally_targets targets;
	struct tally_workload workload;
	struct tally_plan plan;
	struct tally_openset set;
	struct tally_build_ids build_ids;
	struct tally_writer *writer;
	struct tally_writer *stacks_writer; /* of options.stacks_output */
	struct tally_unwinder *unwinder;    /* NULL: no chains are made here */
	struct tally_stack_counts stacks;
	struct tally_drain drain;
	struct tally_drain_aux aux;
	struct tally_recorder_rings rings;
	struct tally_writing writing;
	struct tally_left_running left_running;
	pid_t *running; /* that the command left running */
	size_t running_count;
	struct tally_waiting waiting;
	int stop_fd; /* an eventfd: written to by tally_recorder_stop() */
	atomic_bool snapshot_asked, stop_asked;
	atomic_int stop_signal;
	bool to_stdout;
	uint64_t wrote; /* bytes of the recording */
	int exec_error;
	bool kernel_hidden;    /* struct tally_recorder_result */
	int64_t enable_at;     /* ns; when the delay ends; 0: no delay */
	int64_t checkpoint_at; /* ns; when the last one was written */
	/* Of tally_recorder_start(). */
	int stream_fd; /* where the stream goes; below 0: it is not used, or the writer's */
	pthread_t thread;
	bool started, streams;
	struct tally_recorder_result result;
	struct tally_error error;
	int code;
};

#define STREAM_PIPE_SIZE (1 << 20)

/* --- opening --- */

static int check_options(const struct tally_recorder_options *options, struct tally_error *error)
{
	if (options->command && !options->command[0])
		return tally_fail(error, -EINVAL, -1, "the command to run is empty");
	if (options->period && (options->frequency || options->max_frequency))
		return tally_fail(error, -EINVAL, -1,
				  "a period and a frequency exclude each other: give one of them");
	if (options->delay_ms < -1)
		return tally_fail(error, -EINVAL, -1,
				  "a delay is some milliseconds, or -1 to never start, not %lld",
				  (long long)options->delay_ms);
	return 0;
}

static int prepare(struct tally_recorder *recorder, struct tally_error *error)
{
	const struct tally_recorder_options *options = &recorder->options;
	struct tally_targets_asked asked = {
	    .root = "",
	    .command = recorder->workload.pid,
	    .pids = options->pids,
	    .pid_count = options->pid_count,
	    .tids = options->tids,
	    .tid_count = options->tid_count,
	    .parents = options->parents,
	    .parent_count = options->parent_count,
	    .by_uid = options->by_uid,
	    .uid = options->uid,
	    .system_wide = options->system_wide,
	    .cpus = options->cpus,
	    .cpu_count = options->cpu_count,
	    .per_thread = options->per_thread,
	};
	struct tally_ring_sizes sizes;
	size_t online;
	int result;

	result = tally_targets_make(&asked, &recorder->targets, error);
	if (result)
		return result;
	result = tally_plan_make(options, &recorder->limits, &recorder->targets, &recorder->notice,
				 &recorder->plan, error);
	if (result)
		return result;
	online = (size_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
	if (options->per_thread)
		online = MAX(online, recorder->targets.tid_count);
	sizes = tally_ring_sizes_choose(&recorder->limits, &recorder->plan, online,
					options->ring_pages, memory_size());
	result = tally_openset_open(&recorder->set, &recorder->targets, &recorder->plan,
				    &recorder->limits, &sizes, &recorder->notice, error);
	if (!result)
		result = tally_writing_init(&recorder->writing, &recorder->rings, &recorder->set,
					    recorder->to_stdout, error);
	if (!result && options->verbose)
		tally_verbose_opened(&recorder->notice, &recorder->limits, &recorder->set);
	return result;
}

int tally_recorder_new(const struct tally_recorder_options *options, struct tally_recorder **ret,
		       struct tally_error *error)
{
	struct tally_recorder *recorder = calloc(1, sizeof(*recorder));
	int result, priority;

	if (!recorder)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	recorder->stop_fd = recorder->stream_fd = -1;
	recorder->workload.pid_fd = recorder->workload.go_fd = recorder->workload.failed_fd = -1;
	tally_build_ids_init(&recorder->build_ids);
	result = tally_options_take(&recorder->options, sizeof(recorder->options), options);
	if (result) {
		tally_fail(error, result, -1,
			   "options that this version of libtally does not support");
		goto failed;
	}
	result =
	    tally_options_take(&recorder->rings, sizeof(recorder->rings), recorder->options.rings);
	if (result) {
		tally_fail(error, result, -1,
			   "options of rings that this version of libtally does not support");
		goto failed;
	}
	recorder->output = recorder->options.output ? recorder->options.output : "perf.data";
	recorder->to_stdout = !strcmp(recorder->output, "-");
	recorder->notice =
	    (struct tally_notice){recorder->options.notice, recorder->options.notice_context};
	result = check_options(&recorder->options, error);
	if (result)
		goto failed;
	recorder->limits.size = sizeof(recorder->limits);
	tally_limits_read(NULL, &recorder->limits);
	recorder->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (recorder->stop_fd < 0) {
		result = tally_fail(error, -errno, -1, "eventfd: %s", strerror(errno));
		goto failed;
	}
	/* The child first: it inherits the limits and priority as they are now, and no descriptors.
	 */
	if (recorder->options.command) {
		result = tally_workload_hold(recorder->options.command, recorder->to_stdout,
					     &recorder->workload, error);
		if (result)
			goto failed;
	}
	priority = tally_priority_raise();
	result = prepare(recorder, error);
	setpriority(PRIO_PROCESS, 0, priority);
	if (!result && tally_waiting_init(&recorder->waiting, &recorder->set, recorder->stop_fd,
					  recorder->workload.pid ? recorder->workload.pid_fd : -1))
		result = tally_fail(error, -ENOMEM, -1, "out of memory");
	if (result)
		goto failed;
	*ret = recorder;
	return 0;
failed:
	tally_recorder_free(recorder);
	return result;
}

void tally_recorder_free(struct tally_recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->started) {
		tally_recorder_stop(recorder, 0);
		pthread_join(recorder->thread, NULL);
	}
	if (recorder->stream_fd >= 0)
		close(recorder->stream_fd);
	tally_workload_done(&recorder->workload);
	tally_writing_done(&recorder->writing);
	tally_drain_done(&recorder->drain);
	tally_unwinder_free(recorder->unwinder);
	if (recorder->writer)
		tally_writer_close(recorder->writer, NULL);
	if (recorder->stacks_writer)
		tally_writer_close(recorder->stacks_writer, NULL);
	tally_openset_close(&recorder->set);
	tally_plan_done(&recorder->plan);
	tally_targets_done(&recorder->targets);
	tally_build_ids_done(&recorder->build_ids);
	tally_left_running_done(&recorder->left_running);
	free(recorder->running);
	if (recorder->stop_fd >= 0)
		close(recorder->stop_fd);
	tally_waiting_done(&recorder->waiting);
	free(recorder);
}

static void wake(struct tally_recorder *recorder)
{
	uint64_t one = 1;
	int before = errno;

	/* It fails only when the counter is full, and then the reader is awake anyway. */
	if (write(recorder->stop_fd, &one, sizeof(one)) < 0)
		errno = before;
}

void tally_recorder_stop(struct tally_recorder *recorder, int signal)
{
	atomic_store(&recorder->stop_signal, signal);
	atomic_store(&recorder->stop_asked, true);
	wake(recorder);
}

void tally_recorder_snapshot(struct tally_recorder *recorder)
{
	atomic_store(&recorder->snapshot_asked, true);
	wake(recorder);
}

int tally_recorder_exec_error(const struct tally_recorder *recorder)
{
	return recorder->exec_error;
}

/* --- starting --- */

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
	    .folder = recorder->rings.threads && !stacks,
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

static int open_writers(struct tally_recorder *recorder, struct tally_error *error)
{
	const char *stacks = recorder->options.stacks_output;
	int result = open_writer(recorder, recorder->streams ? NULL : recorder->output, false,
				 &recorder->writer, error);

	if (result)
		return result;
	recorder->stream_fd = -1;
	return stacks && tally_plan_unwinds(&recorder->plan)
		   ? open_writer(recorder, stacks, true, &recorder->stacks_writer, error)
		   : 0;
}

static int start_unwinder(struct tally_recorder *recorder, const struct tally_buf *records,
			  struct tally_error *error)
{
	const struct tally_unwinder_options options = {
	    .plan = &recorder->plan,
	    .writer = recorder->writer,
	    .stacks = recorder->stacks_writer,
	    .checkpoint_ns = CHECKPOINT_NS,
	    .checkpoint_bytes = CHECKPOINT_BYTES,
	};
	int result;

	if (!tally_plan_unwinds(&recorder->plan))
		return 0;
	result =
	    tally_unwinder_new(&options, records->data, records->size, &recorder->unwinder, error);
	if (!result)
		recorder->drain.unwinder = recorder->unwinder;
	return result;
}

/* Appends records that describe what runs already; `late`: those that were left for the end. */
static int describe_running(struct tally_recorder *recorder, bool late, struct tally_error *error)
{
	const struct tally_describe describe = {
	    .options = &recorder->options,
	    .plan = &recorder->plan,
	    .targets = &recorder->targets,
	    .command = late ? 0 : recorder->workload.pid,
	    .build_ids = &recorder->build_ids,
	};
	bool write = late == recorder->options.describe_last || (!late && describe.command);
	struct tally_buf records = {0};
	struct iovec iovec;
	int result = late ? 0 : tally_drain_aux_describe(&recorder->set, &records);

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

static int start_command(struct tally_recorder *recorder, struct tally_error *error)
{
	const char *name = recorder->options.command[0];
	int result = tally_workload_start(&recorder->workload);

	if (!result)
		return 0;
	recorder->exec_error = -result;
	return tally_workload_explain(name, result, error);
}

static int start(struct tally_recorder *recorder, struct tally_error *error)
{
	int64_t delay = recorder->options.delay_ms;
	int result;

	/* A command that does not exist is reported before an old recording is renamed. */
	if (recorder->options.command) {
		result = tally_workload_find(recorder->options.command[0]);
		if (result) {
			recorder->exec_error = -result;
			return tally_workload_explain(recorder->options.command[0], result, error);
		}
	}
	result = open_writers(recorder, error);
	if (result)
		return result;
	if (tally_drain_init(&recorder->drain, &recorder->set, recorder->writer,
			     &recorder->build_ids))
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (tally_off_cpu_new(&recorder->set, recorder->options.off_cpu_least_ns,
			      &recorder->drain.off_cpu))
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	recorder->aux = (struct tally_drain_aux){.set = &recorder->set, .writer = recorder->writer};
	if (recorder->targets.command) {
		if (tally_left_running_init(&recorder->left_running))
			return tally_fail(error, -ENOMEM, -1, "out of memory");
		recorder->drain.walk.left_running = &recorder->left_running;
	}
	if (recorder->rings.threads)
		tally_waiting_leave_samples(&recorder->waiting);
	result = tally_writing_start(&recorder->writing, &recorder->drain, recorder->output,
				     recorder->options.compress_level, recorder->stop_fd, error);
	if (result)
		return result;
	/* The side-band is enabled before procfs is read: a process that starts in between is
	 * described twice, not never. */
	if (!recorder->targets.command)
		tally_openset_enable(&recorder->set, TALLY_RING_SIDEBAND);
	result = describe_running(recorder, false, error);
	if (result)
		return result;
	if (!recorder->targets.command && !delay)
		tally_openset_enable(&recorder->set, TALLY_RING_SAMPLES);
	if (recorder->options.command)
		result = start_command(recorder, error);
	recorder->aux.running = !delay;
	if (delay > 0)
		recorder->enable_at = monotonic_ns() + delay * NS_PER_MS;
	recorder->checkpoint_at = monotonic_ns();
	return result;
}

/* --- running --- */

/* Timeout of poll(2), ms. */
static int poll_timeout(const struct tally_recorder *recorder)
{
	int64_t wait =
	    recorder->workload.pid && recorder->workload.pid_fd < 0 ? PASS_POLLING_MS : PASS_MS;

	if (recorder->to_stdout || recorder->streams)
		wait = MIN(wait, PASS_STREAM_MS);
	if (recorder->enable_at) {
		int64_t left = (recorder->enable_at - monotonic_ns() + NS_PER_MS - 1) / NS_PER_MS;

		wait = MAX(MIN(wait, left), 0);
	}
	return (int)wait;
}

static int pass(struct tally_recorder *recorder, struct tally_error *error)
{
	struct tally_drain *drain = &recorder->drain;
	int result = tally_drain_pass(drain, error);
	int64_t now = monotonic_ns();
	bool checkpoint;

	if (!result)
		result = tally_drain_aux_pass(&recorder->aux, error);
	if (!result)
		result = tally_writing_check(&recorder->writing, error);
	if (result)
		return result;
	checkpoint =
	    now - recorder->checkpoint_at >= CHECKPOINT_NS || drain->since_mark >= CHECKPOINT_BYTES;
	if (checkpoint)
		recorder->checkpoint_at = now;
	return tally_drain_round(drain, checkpoint, error);
}

/* After a poll: whether somebody asked to stop.  What else was asked is done after the pass. */
static bool stop_asked(struct tally_recorder *recorder)
{
	uint64_t times;

	if (!tally_waiting_asked(&recorder->waiting))
		return false;
	if (!atomic_load(&recorder->stop_asked) &&
	    read(recorder->stop_fd, &times, sizeof(times)) < 0)
		return false; /* it was read before */
	return atomic_load(&recorder->stop_asked);
}

static int record(struct tally_recorder *recorder, struct tally_error *error)
{
	for (;;) {
		int ready = tally_waiting_poll(&recorder->waiting, poll_timeout(recorder));
		bool living, ended;
		int result;

		if (ready < 0)
			return tally_fail(error, ready, -1, "poll: %s", strerror(-ready));
		if (recorder->enable_at && monotonic_ns() >= recorder->enable_at) {
			tally_openset_enable(&recorder->set, TALLY_RING_SAMPLES);
			recorder->aux.running = true;
			recorder->enable_at = 0;
		}
		/* Checked before the pass, so that the pass reads the last records of what has
		 * ended. */
		living = ready <= 0 || tally_waiting_living(&recorder->waiting);
		ended = tally_workload_check(&recorder->workload);
		if (stop_asked(recorder) || ended || !living)
			return 0;
		result = pass(recorder, error);
		if (!result && atomic_exchange(&recorder->snapshot_asked, false))
			result = tally_drain_aux_snapshot(&recorder->aux, false, error);
		if (result)
			return result;
	}
}

/* --- ending --- */

static int close_writer(struct tally_recorder *recorder, struct tally_writer **which,
			struct tally_error *error)
{
	const struct tally_walk_counts *counts = &recorder->drain.walk.counts;
	struct tally_writer *writer = *which;
	int result = recorder->options.no_build_ids
			 ? 0
			 : tally_build_ids_write(&recorder->build_ids, writer);

	if (result)
		return tally_fail(error, result, -1, "build-ids: %s", strerror(-result));
	if (counts->samples)
		tally_writer_set_sample_time(writer, counts->first_time, counts->last_time);
	tally_writer_set_stacks(writer, &recorder->stacks);
	*which = NULL;
	return tally_writer_close(writer, error);
}

/* Until the last chain is in the file. */
static int finish_unwinder(struct tally_recorder *recorder, struct tally_error *error)
{
	int result;

	if (!recorder->drain.unwinder)
		return 0;
	result = tally_unwinder_finish(recorder->unwinder, &recorder->stacks, error);
	recorder->drain.unwinder = NULL;
	return result;
}

static int finish_file(struct tally_recorder *recorder, struct tally_error *error)
{
	int result = 0;

	if (recorder->stacks_writer)
		result = close_writer(recorder, &recorder->stacks_writer, error);
	if (result)
		return result;
	recorder->wrote = tally_writer_size(recorder->writer);
	return close_writer(recorder, &recorder->writer, error);
}

static void fill_result(struct tally_recorder *recorder, uint64_t lost,
			struct tally_recorder_result *ret)
{
	const struct tally_walk_counts *counts = &recorder->drain.walk.counts;
	struct stat status;

	*ret = (struct tally_recorder_result){
	    .samples = counts->samples,
	    .lost = MAX(counts->lost, lost) + (counts->bad_bytes != 0),
	    .throttled = counts->throttled,
	    .sideband_lost = counts->sideband_lost,
	    .wait_status = recorder->workload.pid ? recorder->workload.status : -1,
	    .ended_by = atomic_load(&recorder->stop_signal),
	    .kernel_hidden = recorder->kernel_hidden,
	    .stacks = recorder->stacks,
	    .aux_bytes = recorder->aux.bytes,
	    .aux_cut = counts->aux_cut,
	    .aux_gaps = counts->aux_gaps,
	    .held = recorder->build_ids.held.list,
	    .held_count = recorder->build_ids.held.count,
	};
	if (!tally_left_running_find(&recorder->left_running, "", &recorder->running,
				     &recorder->running_count)) {
		ret->running = recorder->running;
		ret->running_count = recorder->running_count;
	}
	ret->bytes = recorder->wrote + recorder->writing.part_bytes;
	if (!recorder->to_stdout && !recorder->rings.threads && !recorder->streams &&
	    !stat(recorder->output, &status))
		ret->bytes = (uint64_t)status.st_size;
}

static int set_priority(const struct tally_recorder *recorder, struct tally_error *error)
{
	unsigned wanted = recorder->options.realtime;
	int result;

	if (!wanted) {
		if (tally_plan_unwinds(&recorder->plan))
			tally_priority_first(true);
		return 0;
	}
	result = tally_priority_realtime(wanted);
	return result ? tally_fail(error, result, -1,
				   "the real-time priority %u cannot be set: %s; it needs "
				   "CAP_SYS_NICE or a higher RLIMIT_RTPRIO (ulimit -r)",
				   wanted, strerror(-result))
		      : 0;
}

static int run(struct tally_recorder *recorder, struct tally_recorder_result *ret,
	       struct tally_error *error)
{
	bool unwinds = tally_plan_unwinds(&recorder->plan);
	uint64_t lost;
	int result;

	result = set_priority(recorder, error);
	if (result)
		return result;
	result = start(recorder, error);
	if (!result)
		result = record(recorder, error);
	if (unwinds || recorder->options.realtime)
		tally_priority_first(false);
	if (result)
		return result;
	recorder->aux.running = false;
	tally_openset_disable(&recorder->set, TALLY_RING_SAMPLES);
	tally_openset_disable(&recorder->set, TALLY_RING_SIDEBAND);
	result = tally_writing_finish(&recorder->writing, &recorder->drain, error);
	if (!result)
		result = pass(recorder, error);
	if (!result && recorder->rings.aux_at_end)
		result = tally_drain_aux_snapshot(&recorder->aux, true, error);
	if (!result)
		result = tally_drain_blocked(&recorder->drain, error);
	if (!result)
		result = finish_unwinder(recorder, error);
	if (!result)
		result = tally_drain_kept(&recorder->drain, error);
	if (result)
		return result;
	if (recorder->options.describe_last)
		result = describe_running(recorder, true, error);
	if (result)
		return result;
	lost = tally_openset_lost(&recorder->set);
	result = finish_file(recorder, error);
	if (result)
		return result;
	tally_finish_command(&recorder->workload, recorder->stop_fd,
			     atomic_load(&recorder->stop_signal));
	if (recorder->options.verbose)
		tally_verbose_drained(&recorder->notice, &recorder->drain);
	fill_result(recorder, lost, ret);
	return 0;
}

/* After a failure: saves what can be saved. An error of that is appended to the line of the first
 * one. */
static void save(struct tally_recorder *recorder, struct tally_error *error)
{
	struct tally_error second = {0};
	size_t length;

	(void)tally_writing_finish(&recorder->writing, &recorder->drain, NULL);
	(void)finish_unwinder(recorder, NULL);
	if (!recorder->writer || !recorder->drain.walk.joined || !finish_file(recorder, &second))
		return;
	if (!error)
		return;
	length = strlen(error->text);
	snprintf(error->text + length, sizeof(error->text) - length, "; %s", second.text);
}

int tally_recorder_run(struct tally_recorder *recorder, struct tally_recorder_result *ret,
		       struct tally_error *error)
{
	struct tally_recorder_result own = {.size = sizeof(own)};
	int result, priority;

	if (!tally_result_is_sized(ret))
		return tally_fail(error, -EINVAL, -1, "the size of the result is not set");
	if (recorder->writer || recorder->drain.walk.joined)
		return tally_fail(error, -EALREADY, -1, "this recorder has run already");
	priority = tally_priority_raise();
	result = run(recorder, &own, error);
	if (result)
		save(recorder, error);
	setpriority(PRIO_PROCESS, 0, priority);
	return result ? result : tally_result_copy(ret, sizeof(own), &own);
}

/* --- in a thread of its own --- */

static void *run_started(void *context)
{
	struct tally_recorder *recorder = context;

	recorder->code = tally_recorder_run(recorder, &recorder->result, &recorder->error);
	/* Nothing more comes, whatever was the reason. */
	if (recorder->stream_fd >= 0)
		close(recorder->stream_fd);
	recorder->stream_fd = -1;
	return NULL;
}

int tally_recorder_start(struct tally_recorder *recorder, struct tally_data **ret,
			 struct tally_error *error)
{
	int fds[2], code;

	if (recorder->started || recorder->writer || recorder->drain.walk.joined)
		return tally_fail(error, -EALREADY, -1, "this recorder has run already");
	if (recorder->rings.threads)
		return tally_fail(error, -EINVAL, -1, "several threads write files, not a stream");
	if (pipe2(fds, O_CLOEXEC))
		return tally_fail(error, -errno, -1, "pipe: %s", strerror(errno));
	fcntl(fds[0], F_SETPIPE_SZ, STREAM_PIPE_SIZE);
	recorder->stream_fd = fds[1];
	recorder->streams = true;
	recorder->result.size = sizeof(recorder->result);
	/* Without SIGPIPE, should the reader go away. */
	code = tally_thread_start_quiet(&recorder->thread, run_started, recorder);
	recorder->started = !code;
	if (code) {
		close(fds[0]);
		return tally_fail(error, code, -1, "no thread to record in: %s", strerror(-code));
	}
	code = tally_data_open_live(fds[0], "the live stream", ret, error);
	if (!code)
		return 0;
	/* Without a stream the recording failed, and its own words say why. */
	tally_recorder_stop(recorder, 0);
	pthread_join(recorder->thread, NULL);
	recorder->started = false;
	if (recorder->code)
		code = tally_fail(error, recorder->code, recorder->error.position, "%s",
				  recorder->error.text);
	return code;
}

int tally_recorder_finish(struct tally_recorder *recorder, struct tally_recorder_result *ret,
			  struct tally_error *error)
{
	if (!recorder->started)
		return tally_fail(error, -EINVAL, -1, "this recorder was not started");
	pthread_join(recorder->thread, NULL);
	recorder->started = false;
	if (recorder->code)
		return tally_fail(error, recorder->code, recorder->error.position, "%s",
				  recorder->error.text);
	return tally_result_copy(ret, sizeof(recorder->result), &recorder->result);
}
