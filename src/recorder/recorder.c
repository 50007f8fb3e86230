/* A recording from its options to its file. */
#include <tally/recorder.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/pages.h"
#include "offcpu/off_cpu_rings.h"
#include "stacks/monotonic.h"
#include "write/kernel_copy.h"
#include "recorder/finish_command.h"
#include "recorder/priority.h"
#include "recorder/recorder_state.h"
#include "recorder/verbose.h"

#define NS_PER_MS      1000000LL
#define UNSEEN_NS      300000000LL
#define PASS_MS        1000 /* between two passes, at most: they are made at whole seconds */
#define PASS_STREAM_MS 100  /* the same for a stream, which may be read while it grows */
#define PASS_POLLING_MS \
	50 /* the same without pidfd_open(2), when the command's end must be polled for */

/* --- opening --- */

static int check_options(const struct tally_recorder_options *options, struct tally_error *error)
{
	if (options->command && !options->command[0])
		return tally_fail(error, -EINVAL, -1, "the command to run is empty");
	if (options->period && (options->frequency || options->max_frequency))
		return tally_fail(error, -EINVAL, -1,
				  "a period and a frequency exclude each other: give one of them");
	if (tally_schedule_check(options->ranges, options->range_count))
		return tally_fail(error, -EINVAL, -1,
				  "ranges of time begin before they end, one after the other");
	if (options->files && !strcmp(options->output ? options->output : "", "-"))
		return tally_fail(error, -EINVAL, -1,
				  "a stream is one file: name a file to switch");
	if (options->kernel_copy &&
	    (options->files || !strcmp(options->output ? options->output : "", "-")))
		return tally_fail(error, -EINVAL, -1,
				  "a copy of the kernel (--kcore) is in the folder of one "
				  "recording, not of a stream or of several files");
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
	if (!result && recorder->files.events && recorder->files.events->count)
		result = tally_trigger_open(options, recorder->files.events, &recorder->limits,
					    &recorder->targets, &recorder->notice,
					    &recorder->trigger, error);
	if (!result && options->verbose)
		tally_verbose_opened(&recorder->notice, &recorder->limits, &recorder->set);
	return result;
}

static int make_waiting(struct tally_recorder *recorder, struct tally_error *error)
{
	const struct tally_waiting_fds fds = {
	    .stop = recorder->stop_fd,
	    .command = recorder->workload.pid ? recorder->workload.pid_fd : -1,
	    .orders = recorder->orders.fd,
	};
	const struct tally_openset *trigger =
	    recorder->trigger.plan.count ? &recorder->trigger.set : NULL;

	if (tally_waiting_init(&recorder->waiting, &recorder->set, trigger, &fds))
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	return 0;
}

int tally_recorder_new(const struct tally_recorder_options *options, struct tally_recorder **ret,
		       struct tally_error *error)
{
	struct tally_recorder *recorder = calloc(1, sizeof(*recorder));
	int result, priority;

	if (!recorder)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	recorder->stop_fd = recorder->stream_fd = recorder->orders.fd = -1;
	recorder->workload.pid_fd = recorder->workload.go_fd = recorder->workload.failed_fd = -1;
	tally_build_ids_init(&recorder->build_ids);
	recorder->file_ids = &recorder->build_ids;
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
	recorder->path = recorder->output;
	recorder->to_stdout = !strcmp(recorder->output, "-");
	recorder->notice =
	    (struct tally_notice){recorder->options.notice, recorder->options.notice_context};
	result = check_options(&recorder->options, error);
	if (result)
		goto failed;
	result =
	    tally_options_take(&recorder->files, sizeof(recorder->files), recorder->options.files);
	if (result) {
		tally_fail(error, result, -1,
			   "options of files that this version of libtally does not support");
		goto failed;
	}
	if (recorder->files.switches && recorder->options.rings &&
	    (recorder->options.rings->threads || recorder->options.rings->behind)) {
		result =
		    tally_fail(error, -EINVAL, -1,
			       "several files need one thread that writes: leave out --threads "
			       "and --aio, or --switch-output");
		goto failed;
	}
	recorder->series =
	    (struct tally_file_series){.path = recorder->output, .keep = recorder->files.keep};
	if (recorder->files.switches || recorder->files.timestamp) {
		result = tally_file_series_check(&recorder->series, error);
		if (result)
			goto failed;
	}
	if (recorder->options.range_count)
		recorder->options.delay_ms = -1; /* until the first one begins */
	recorder->limits.size = sizeof(recorder->limits);
	tally_limits_read(NULL, &recorder->limits);
	recorder->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (recorder->stop_fd < 0 || tally_orders_init(&recorder->orders)) {
		result = tally_fail(error, -errno, -1, "eventfd: %s", strerror(errno));
		goto failed;
	}
	/* The child first: it inherits the limits and priority as they are now, and no descriptors.
	 */
	if (recorder->options.command) {
		/* The start fails for one that does not exist; no notice of events before that. */
		recorder->exec_error = -tally_workload_find(recorder->options.command[0]);
		if (recorder->exec_error)
			recorder->notice = (struct tally_notice){0};
		result = tally_workload_hold(recorder->options.command, recorder->to_stdout,
					     &recorder->workload, error);
		if (result)
			goto failed;
	}
	priority = tally_priority_raise();
	result = prepare(recorder, error);
	setpriority(PRIO_PROCESS, 0, priority);
	if (!result)
		result = make_waiting(recorder, error);
	if (result)
		goto failed;
	*ret = recorder;
	return 0;
failed:
	tally_recorder_free(recorder);
	return result;
}

/* Frees what only a recording under way needs.  Stays: what the result points to, and the events,
 * which may be asked for and enabled until the recorder is freed. */
static void end(struct tally_recorder *recorder)
{
	tally_workload_done(&recorder->workload);
	tally_writing_done(&recorder->writing);
	tally_drain_done(&recorder->drain);
	tally_side_kept_done(&recorder->side_kept);
	tally_unwinder_free(recorder->unwinder);
	recorder->unwinder = NULL;
	if (recorder->writer)
		tally_writer_close(recorder->writer, NULL);
	if (recorder->stacks_writer)
		tally_writer_close(recorder->stacks_writer, NULL);
	recorder->writer = recorder->stacks_writer = NULL;
	tally_left_running_done(&recorder->left_running);
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
	end(recorder);
	tally_trigger_close(&recorder->trigger);
	tally_openset_close(&recorder->set);
	tally_plan_done(&recorder->plan);
	tally_targets_done(&recorder->targets);
	tally_build_ids_done(&recorder->build_ids);
	free(recorder->running);
	if (recorder->stop_fd >= 0)
		close(recorder->stop_fd);
	tally_waiting_done(&recorder->waiting);
	tally_orders_done(&recorder->orders);
	tally_file_series_done(&recorder->series);
	free(recorder);
}

void tally_recorder_stop(struct tally_recorder *recorder, int signal)
{
	uint64_t one = 1;
	int before = errno;

	atomic_store(&recorder->stop_signal, signal);
	/* It fails only when the counter is full, and then the reader is awake anyway. */
	if (write(recorder->stop_fd, &one, sizeof(one)) < 0)
		errno = before;
}

void tally_recorder_switch(struct tally_recorder *recorder)
{
	tally_orders_ask(&recorder->orders, TALLY_ORDER_SWITCH);
}

void tally_recorder_snapshot(struct tally_recorder *recorder)
{
	tally_orders_ask(&recorder->orders, TALLY_ORDER_SNAPSHOT);
}

void tally_recorder_enable(struct tally_recorder *recorder)
{
	tally_orders_ask(&recorder->orders, TALLY_ORDER_ENABLE);
}

void tally_recorder_disable(struct tally_recorder *recorder)
{
	tally_orders_ask(&recorder->orders, TALLY_ORDER_DISABLE);
}

const char *tally_recorder_event_name(const struct tally_recorder *recorder, size_t event)
{
	const struct tally_plan *plan = &recorder->plan;

	return event < tally_plan_sideband(plan) ? plan->events[event].name : NULL;
}

int tally_recorder_enable_event(struct tally_recorder *recorder, size_t event, bool on)
{
	return event < tally_plan_sideband(&recorder->plan)
		   ? tally_openset_enable_event(&recorder->set, event, on)
		   : -EINVAL;
}

int tally_recorder_sync(struct tally_recorder *recorder)
{
	return tally_orders_wait(&recorder->orders);
}

int tally_recorder_exec_error(const struct tally_recorder *recorder)
{
	return recorder->exec_error;
}

/* --- starting --- */

static int start_command(struct tally_recorder *recorder, struct tally_error *error)
{
	const char *name = recorder->options.command[0];
	int result = tally_workload_start(&recorder->workload);

	if (!result)
		return 0;
	recorder->exec_error = -result;
	return tally_workload_explain(name, result, error);
}

/* Whether all samples are in overwritten rings, and the records of processes need not be in the
 * file before these are. */
static bool keeps_side(const struct tally_recorder *recorder)
{
	const struct tally_openset *set = &recorder->set;
	bool kept = tally_openset_overwrites(set) && !recorder->drain.off_cpu &&
		    !recorder->plan.aux.kind && !recorder->rings.threads && !recorder->to_stdout &&
		    !recorder->streams;

	for (size_t i = 0; i < set->ring_count; i++)
		kept &= i % TALLY_RING_KINDS != TALLY_RING_SAMPLES || !set->rings[i];
	return kept;
}

static int start(struct tally_recorder *recorder, struct tally_error *error)
{
	int64_t delay = recorder->options.delay_ms;
	int result = 0;

	/* A command that does not exist is reported before an old recording is renamed. */
	if (recorder->exec_error)
		return tally_workload_explain(recorder->options.command[0], -recorder->exec_error,
					      error);
	if (recorder->options.kernel_copy)
		result = tally_kernel_copy_check("", error);
	if (!result)
		result = tally_recorder_open_files(recorder, error);
	if (result)
		return result;
	if (tally_drain_init(&recorder->drain, &recorder->set, recorder->writer,
			     &recorder->build_ids))
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (tally_off_cpu_new(&recorder->set, recorder->options.off_cpu_least_ns,
			      &recorder->drain.off_cpu))
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (keeps_side(recorder)) {
		recorder->drain.side_kept = &recorder->side_kept;
		recorder->side_kept.most = tally_side_kept_most(&recorder->set);
	}
	recorder->aux = (struct tally_drain_aux){.set = &recorder->set, .writer = recorder->writer};
	if (recorder->targets.command || ((recorder->files.switches || recorder->drain.side_kept) &&
					  !recorder->targets.system_wide)) {
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
	result = tally_recorder_describe(recorder, false, error);
	if (result)
		return result;
	if (!recorder->targets.command && !delay)
		tally_openset_enable(&recorder->set, TALLY_RING_SAMPLES);
	tally_trigger_enable(&recorder->trigger);
	if (recorder->options.command)
		result = start_command(recorder, error);
	recorder->aux.running = !delay;
	tally_schedule_init(&recorder->schedule, recorder->options.ranges,
			    recorder->options.range_count, delay, monotonic_ns());
	recorder->checkpoint_at = monotonic_ns() - TALLY_CHECKPOINT_NS;
	return result;
}

/* --- running --- */

/* The shorter of `wait` ms and the time until `due`, ns; below 0: it is never due. */
static int64_t until(int64_t wait, int64_t due)
{
	int64_t left = due < 0 ? wait : (due - monotonic_ns() + NS_PER_MS - 1) / NS_PER_MS;

	return MAX(MIN(wait, left), 0);
}

/* Timeout of poll(2), ms. */
static int poll_timeout(const struct tally_recorder *recorder)
{
	int64_t wait =
	    recorder->workload.pid && recorder->workload.pid_fd < 0 ? PASS_POLLING_MS : PASS_MS;

	if (recorder->to_stdout || recorder->streams)
		wait = MIN(wait, PASS_STREAM_MS);
	wait = until(wait, monotonic_ns() + monotonic_left(wait * NS_PER_MS));
	wait = until(wait, tally_schedule_next(&recorder->schedule));
	return (int)until(wait, recorder->switch_at ? recorder->switch_at : -1);
}

static void take_samples(struct tally_recorder *recorder, bool on)
{
	recorder->aux.running = on;
	if (on) {
		tally_openset_enable(&recorder->set, TALLY_RING_SAMPLES);
		return;
	}
	tally_openset_disable(&recorder->set, TALLY_RING_SAMPLES);
	if (recorder->drain.off_cpu)
		tally_blocked_forget(recorder->drain.off_cpu->blocked);
}

/* After a pass: does what is asked, and what is due. */
static int follow(struct tally_recorder *recorder, struct tally_error *error)
{
	const struct tally_recorder_options *options = &recorder->options;
	unsigned asked = tally_orders_take(&recorder->orders);
	int result = 0;

	if (asked & (TALLY_ORDER_ENABLE | TALLY_ORDER_DISABLE))
		take_samples(recorder, asked & TALLY_ORDER_ENABLE);
	if (asked & TALLY_ORDER_SNAPSHOT)
		result = tally_drain_kept(&recorder->drain, false, error);
	if (!result && asked & TALLY_ORDER_SNAPSHOT)
		result = tally_drain_aux_snapshot(&recorder->aux, false, error);
	if (!result && recorder->files.switches &&
	    (asked & TALLY_ORDER_SWITCH || tally_recorder_next_due(recorder)))
		result = tally_recorder_next_file(recorder, error);
	if (!result)
		tally_orders_finish(&recorder->orders);
	recorder->limit_reached =
	    options->most_bytes && tally_writer_size(recorder->writer) >= options->most_bytes;
	return result;
}

/* As tally_waiting_poll(), with looks in between: at once when the first records came to the
 * side-band, and then at intervals until nothing more comes. */
static int wait_for_pass(struct tally_recorder *recorder)
{
	struct tally_waiting *waiting = &recorder->waiting;
	const struct tally_plan *plan = &recorder->plan;
	int left = poll_timeout(recorder), some = tally_look_interval(plan), ready;
	bool woken = plan->events[tally_plan_sideband(plan)].attr.watermark, calm = woken;
	int64_t due = monotonic_ns() + left * NS_PER_MS;
	enum tally_looked seen;

	do {
		ready = tally_waiting_poll(waiting, MIN(left, calm ? TALLY_LOOK_MOST_MS : some));
		if (ready < 0 || (ready && !(woken && tally_waiting_only_side(waiting))))
			break;
		seen = tally_look(&recorder->drain);
		calm = woken && !ready && seen == TALLY_LOOKED_NOTHING;
		tally_waiting_leave_side(waiting, woken && !calm);
		ready = seen == TALLY_LOOKED_FULL;
		left = (int)until(left, due);
	} while (!ready && left > 0);
	tally_waiting_leave_side(waiting, false);
	return ready;
}

/* The kernel ends all events of a thread that execs a program with other rights: begin_new_exec()
 * of fs/exec.c, for users without a right to it.  Then the command runs on, and is not ended by us.
 */
static bool command_runs_unseen(struct tally_recorder *recorder, int64_t *since)
{
	int64_t now = monotonic_ns();

	if (!recorder->targets.command || !recorder->workload.pid)
		return false;
	if (!*since) /* usually it is about to end */
		*since = now;
	if (*since > 0 && now - *since > UNSEEN_NS) {
		tally_notice_send(
		    &recorder->notice,
		    "%s is not recorded any more: it, or a program that it started in "
		    "its place, has other rights (set-uid), and the kernel does not show "
		    "such programs to this user; waiting for its end (record it as root)",
		    recorder->options.command[0]);
		*since = -1;
	}
	return true;
}

static int record(struct tally_recorder *recorder, struct tally_error *error)
{
	int64_t unseen = 0;

	for (;;) {
		int ready = wait_for_pass(recorder);
		bool living, ended;
		int result, turn;

		if (ready < 0)
			return tally_fail(error, ready, -1, "poll: %s", strerror(-ready));
		turn = tally_schedule_pass(&recorder->schedule, monotonic_ns());
		if (turn)
			take_samples(recorder, turn > 0);
		/* Checked before the pass, so that the pass reads the last records of what has
		 * ended. */
		living = (ready <= 0 && !unseen) || tally_waiting_living(&recorder->waiting) ||
			 command_runs_unseen(recorder, &unseen);
		ended = tally_workload_check(&recorder->workload);
		if (tally_waiting_stopped(&recorder->waiting) || ended || !living)
			return 0;
		result = tally_recorder_pass(recorder, error);
		if (!result)
			result = follow(recorder, error);
		if (result || recorder->limit_reached)
			return result;
	}
}

/* --- ending --- */

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
	    .stacks = recorder->all_stacks,
	    .aux_bytes = recorder->aux.bytes,
	    .aux_cut = counts->aux_cut,
	    .aux_gaps = counts->aux_gaps,
	    .path = recorder->path,
	    .file_count = recorder->file_count,
	    .limit_reached = recorder->limit_reached,
	    .held = recorder->build_ids.held.list,
	    .held_count = recorder->build_ids.held.count,
	};
	if (recorder->targets.command &&
	    !tally_left_running_find(&recorder->left_running, "", &recorder->running,
				     &recorder->running_count)) {
		ret->running = recorder->running;
		ret->running_count = recorder->running_count;
	}
	ret->bytes = recorder->wrote + recorder->writing.part_bytes;
	if (!recorder->to_stdout && !recorder->rings.threads && !recorder->options.kernel_copy &&
	    !recorder->streams && !stat(ret->path, &status))
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
		result = tally_recorder_pass(recorder, error);
	if (!result && recorder->rings.aux_at_end)
		result = tally_drain_aux_snapshot(&recorder->aux, true, error);
	if (!result)
		result = tally_drain_blocked(&recorder->drain, error);
	if (!result)
		result = tally_recorder_finish_chains(recorder, error);
	if (!result)
		result = tally_drain_kept(&recorder->drain, true, error);
	if (result)
		return result;
	if (recorder->options.describe_last && !recorder->file_count)
		result = tally_recorder_describe(recorder, true, error);
	if (result)
		return result;
	lost = tally_openset_lost(&recorder->set);
	result = tally_recorder_finish_file(recorder, error);
	if (!result)
		result = tally_recorder_name_file(recorder, error);
	if (result)
		return result;
	tally_finish_command(&recorder->workload, recorder->stop_fd,
			     atomic_load(&recorder->stop_signal));
	if (recorder->options.verbose)
		tally_verbose_drained(&recorder->notice, &recorder->drain);
	fill_result(recorder, lost, ret);
	return 0;
}

/* Whether two sentences differ by numbers at most, as the sizes that a file could grow to. */
static bool same_words(const char *a, const char *b)
{
	const char *digits = "0123456789";

	for (;; a++, b++) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* After a failure: saves what can be saved. An error of that is appended to the line of the first
 * one, if it says something else. */
static void save(struct tally_recorder *recorder, struct tally_error *error)
{
	struct tally_error second = {0};
	size_t length;

	(void)tally_writing_finish(&recorder->writing, &recorder->drain, NULL);
	(void)tally_recorder_finish_chains(recorder, NULL);
	if (!recorder->writer || !recorder->drain.walk.joined ||
	    !tally_recorder_finish_file(recorder, &second))
		return;
	if (!error || same_words(second.text, error->text))
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
	if (recorder->ran)
		return tally_fail(error, -EALREADY, -1, "this recorder has run already");
	recorder->ran = true;
	priority = tally_priority_raise();
	result = run(recorder, &own, error);
	if (result)
		save(recorder, error);
	setpriority(PRIO_PROCESS, 0, priority);
	tally_orders_end(&recorder->orders);
	end(recorder);
	return result ? result : tally_result_copy(ret, sizeof(own), &own);
}
