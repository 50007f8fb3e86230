#include "collect/event_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>
#include <tally/abi.h>
#include "base/fail.h"
#include "collect/plan_aux.h"
#include "collect/plan_fields.h"
#include "collect/plan_off_cpu.h"
#include "collect/plan_target.h"
#include "collect/plan_terms.h"

#define DEFAULT_FREQUENCY 4000        /* Hz, perf's */
#define FORMAT_LOST       (1ULL << 4) /* PERF_FORMAT_LOST, Linux 6.0 */

/* Every sample and trailer has the event's id at a known place: so records of several events can
 * share a ring. */
#define COMMON_FIELDS                                                                   \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

struct making {
	const struct tally_recorder_options *options;
	const struct tally_targets *targets;
	struct tally_chain_plan chain; /* of all events */
	uint64_t frequency;
	bool inherit;
	bool data_maps; /* data maps too: for stacks that are unwound later */
	bool deferred;  /* chains of user space may come later, as records of their own */
};

static bool is_hardware(const struct tally_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	       attr->type != PERF_TYPE_BREAKPOINT;
}

/* What BPF programs write: each is a sample. */
static bool is_bpf_output(const struct tally_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

static void complete_common(const struct making *making, struct tally_attr *attr)
{
	attr->sample_type |= COMMON_FIELDS;
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->inherit = making->inherit;
	attr->read_format |= PERF_FORMAT_ID | FORMAT_LOST;
	/* A command counts from its exec on; other targets are enabled when all is open. */
	attr->enable_on_exec = making->targets->command;
	if (making->options->use_clockid) {
		attr->use_clockid = 1;
		attr->clockid = making->options->clockid;
	}
}

static void complete_sampling(const struct making *making, struct tally_planned *event)
{
	const struct tally_recorder_options *options = making->options;
	struct tally_attr *attr = &event->attr;
	bool each_hit = event->each_hit || attr->type == PERF_TYPE_TRACEPOINT ||
			attr->type == PERF_TYPE_BREAKPOINT || is_bpf_output(attr);

	complete_common(making, attr);
	if (options->delay_ms)
		attr->enable_on_exec = 0;
	if (attr->type == PERF_TYPE_TRACEPOINT || is_bpf_output(attr))
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (attr->sample_period) {
		/* period= or freq= of the event */
	} else if (options->period) {
		attr->sample_period = options->period;
	} else if (each_hit && !options->frequency && !options->max_frequency) {
		attr->sample_period = 1;
	} else {
		attr->freq = 1;
		attr->sample_freq = making->frequency;
	}
	/* With PERIOD in sample_type, the kernel ignores the period of a software event and makes
	 * each event a sample. Source: perf_swevent_event() of kernel/events/core.c. */
	if (!attr->freq && attr->sample_period > 1)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	tally_plan_fields(options, event);
	/* Guests are left out, as in perf. Precise events of several PMUs cannot leave them out. */
	if (is_hardware(attr) && !attr->exclude_host && !attr->exclude_guest && !attr->precise_ip &&
	    !event->precise_max)
		attr->exclude_guest = 1;
	if (event->precise_max)
		attr->precise_ip = 3;
}

/* Members of a group whose leader samples are read with it. */
static void complete_group(struct tally_plan *plan, const struct tally_event_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct tally_event *leader = &list->events[list->events[i].leader];
		struct tally_attr *attr = &plan->events[i].attr;

		if (list->events[i].leader != i) {
			attr->disabled = 0; /* runs when its leader runs */
			attr->enable_on_exec = 0;
		}
		if (!leader->sample_read)
			continue;
		attr->sample_type |= PERF_SAMPLE_READ;
		if (tally_event_alone(list, i))
			continue;
		attr->read_format |= PERF_FORMAT_GROUP;
		attr->inherit = 0; /* the kernel has no sums of inherited groups to read */
		if (list->events[i].leader != i) {
			attr->freq = 0;
			attr->sample_period = 0;
		}
	}
}

/* The side-band. User space only, so that it needs no rights. MMAP2 carries the build-id, except
 * when CPUs are recorded. There the kernel writes the records of CPUs first, and leaves the bit of
 * misc that means "has a build-id" set in records that it writes to others afterwards: every perf
 * record that runs at the same time would take numbers for ids, and perf 6.1 crashes. Source:
 * perf_event_open(2), the attr's bits mmap to build_id; perf_event_mmap_output() of
 * kernel/events/core.c. */
static void complete_sideband(const struct making *making, struct tally_planned *event)
{
	struct tally_attr *attr = &event->attr;

	*attr = (struct tally_attr){.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
	complete_common(making, attr);
	attr->sample_period = 1;
	attr->exclude_kernel = attr->exclude_hv = 1;
	attr->mmap = attr->mmap2 = 1;
	attr->build_id = !making->targets->system_wide;
	attr->comm = attr->comm_exec = attr->task = 1;
	attr->ksymbol = attr->bpf_event = 1;
	attr->mmap_data = making->data_maps;
	attr->defer_output = making->deferred;
	tally_plan_fields_sideband(making->options, event);
}

/* Bytes of side-band: of a program that starts, some mappings. */
#define SIDEBAND_WAKES 256

/* Who looks at what processes map is woken for it, unless a record of each switch would wake it,
 * too. */
static void wake_for_sideband(struct tally_attr *sideband)
{
	if (sideband->context_switch)
		return;
	sideband->watermark = 1;
	sideband->wakeup_watermark = SIDEBAND_WAKES;
}

/* All events of a ring must have one clock: the side-band takes that of the events. Source:
 * perf_event_set_output() of kernel/events/core.c. */
static int choose_clock(struct tally_plan *plan, struct tally_error *error)
{
	const struct tally_planned *first = &plan->events[0];
	struct tally_attr *sideband = &plan->events[plan->count - 1].attr;

	for (size_t i = 1; i + 1 < plan->count; i++) {
		const struct tally_planned *other = &plan->events[i];

		if (other->attr.use_clockid == first->attr.use_clockid &&
		    (!first->attr.use_clockid || other->attr.clockid == first->attr.clockid))
			continue;
		return tally_fail(error, -EINVAL, -1,
				  "%s and %s have different clocks (attr.use_clockid, "
				  "attr.clockid): give all events of a recording the same",
				  first->name, other->name);
	}
	sideband->use_clockid = first->attr.use_clockid;
	sideband->clockid = first->attr.clockid;
	return 0;
}

static uint64_t choose_frequency(const struct tally_recorder_options *options,
				 const struct tally_limits *limits,
				 const struct tally_notice *notice)
{
	uint64_t most = limits->max_sample_rate > 0 ? (uint64_t)limits->max_sample_rate : 1;
	uint64_t wish = options->frequency ? options->frequency : DEFAULT_FREQUENCY;

	if (options->max_frequency) {
		tally_notice_send(notice, "sampling at %llu Hz, kernel.perf_event_max_sample_rate",
				  (unsigned long long)most);
		return most;
	}
	if (wish <= most)
		return wish;
	tally_notice_send(notice,
			  "sampling at %llu Hz instead of %llu, the machine's limit; raise it with "
			  "`sudo sysctl kernel.perf_event_max_sample_rate=%llu`",
			  (unsigned long long)most, (unsigned long long)wish,
			  (unsigned long long)wish);
	return most;
}

static bool is_probe(const struct tally_event *event)
{
	return event->probe ||
	       (event->pmu && (!strcmp(event->pmu, "uprobe") || !strcmp(event->pmu, "kprobe")));
}

static int complete_terms(const struct making *making, const struct tally_event *from,
			  struct tally_planned *to, struct tally_error *error)
{
	struct tally_event event = *from;
	struct tally_chain_plan chain;
	int result;

	if (making->options->overwrite && !(event.terms.given & TALLY_TERM_OVERWRITE)) {
		event.terms.given |= TALLY_TERM_OVERWRITE;
		event.terms.overwrite = true;
	}
	result = tally_plan_terms(&event, &making->chain, &to->attr, &chain, error);

	if (result)
		return result;
	if (to->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		tally_plan_fields_chained(making->options, &to->attr);
	if (!(to->attr.sample_type & PERF_SAMPLE_STACK_USER) || chain.keep)
		return 0;
	to->unwinds = true;
	to->chain_named = chain.named;
	to->stack_given = chain.stack_size;
	to->stack_needed = chain.how == TALLY_CHAIN_STACK;
	return 0;
}

static int copy_events(const struct making *making, struct tally_plan *plan,
		       const struct tally_event_list *list, struct tally_error *error)
{
	int result;

	for (size_t i = 0; i < list->count; i++) {
		const struct tally_event *from = &list->events[i];
		struct tally_planned *to = &plan->events[i];

		to->attr = from->attr;
		/* -c overrides the period of a vendor table, as in perf */
		if (from->terms.given & TALLY_TERM_WEAK && making->options->period)
			to->attr.sample_period = 0;
		to->leader = from->leader;
		to->precise_max = from->precise_max;
		to->privilege_given = from->privilege_given;
		to->each_hit = is_probe(from);
		to->points = from->probe;
		to->cgroup = from->cgroup;
		to->name = strdup(from->name);
		if (!to->name)
			return tally_fail(error, -ENOMEM, -1, "out of memory");
		complete_sampling(making, to);
		result = complete_terms(making, from, to, error);
		if (!result && from->filter)
			result = tally_plan_filter(from, to, error);
		if (result)
			return result;
	}
	complete_group(plan, list);
	return 0;
}

/* The last but one: the side-band is behind it. */
static int add_off_cpu(const struct making *making, const struct tally_limits *limits,
		       const struct tally_notice *notice, struct tally_plan *plan,
		       struct tally_error *error)
{
	bool sees = tally_off_cpu_sees_stacks(limits);
	struct tally_planned *to = &plan->events[plan->count - 2];
	struct making own = *making;
	int result;

	own.chain = tally_off_cpu_chain(&making->chain);
	to->off_cpu = true;
	to->leader = (uint32_t)(plan->count - 2);
	to->privilege_given = true;
	to->name = strdup(TALLY_OFF_CPU_NAME);
	if (!to->name)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	complete_common(making, &to->attr);
	if (making->options->delay_ms)
		to->attr.enable_on_exec = 0;
	result = complete_terms(&own, &(struct tally_event){.name = to->name}, to, error);
	if (result)
		return result;
	to->attr.write_backward = 0; /* its rings are read all the time */
	tally_off_cpu_attr(sees, making->frequency, &to->attr);
	to->attr.use_clockid = plan->events[0].attr.use_clockid;
	to->attr.clockid = plan->events[0].attr.clockid;
	if (!sees)
		tally_notice_send(
		    notice,
		    "%s: the stack of a blocked thread is that of its last sample "
		    "before, as kernel.perf_event_paranoid is %d; `sudo sysctl "
		    "kernel.perf_event_paranoid=1` gives the one that it blocked with",
		    to->name, limits->paranoid);
	return 0;
}

/* The default: cycles, as precise as possible. */
static int default_event(const struct making *making, struct tally_plan *plan,
			 struct tally_error *error)
{
	struct tally_planned *to = &plan->events[0];

	to->attr =
	    (struct tally_attr){.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
	to->precise_max = true;
	to->name = strdup("cycles:P");
	complete_sampling(making, to);
	return to->name ? complete_terms(making, &(struct tally_event){.name = to->name}, to, error)
			: tally_fail(error, -ENOMEM, -1, "out of memory");
}

int tally_plan_make(const struct tally_recorder_options *options, const struct tally_limits *limits,
		    const struct tally_targets *targets, const struct tally_notice *notice,
		    struct tally_plan *ret, struct tally_error *error)
{
	const struct tally_event_list *list = options->events;
	bool given = list && list->count;
	bool threads_alone = options->tid_count && !options->pid_count; /* as perf record -t */
	struct making making = {
	    .options = options,
	    .targets = targets,
	    .inherit = !options->no_inherit && !options->per_thread && !threads_alone,
	    .chain = {.how = options->callchain ? TALLY_CHAIN_AUTO : TALLY_CHAIN_NONE,
		      .keep = options->keep_stacks},
	};
	struct tally_plan plan = {.count = (given ? list->count : 1) + options->off_cpu + 1};
	int result = 0;

	for (size_t i = 0; given && i < list->count; i++)
		if (list->events[i].probe && !list->events[i].probe->resolved)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s: its address is not resolved; call tally_probe_resolve() first",
			    list->events[i].name);
	result = tally_plan_fields_check(options, limits, error);
	if (result)
		return result;
	plan.events = calloc(plan.count, sizeof(*plan.events));
	if (!plan.events)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	making.frequency = choose_frequency(options, limits, notice);
	for (size_t i = 0; i < plan.count; i++)
		plan.events[i].cgroup_fd = plan.events[i].filter_fd = -1;
	if (options->call_graph)
		result = tally_chain_parse(options->call_graph, &making.chain, error);
	tally_plan_aux_chain(options, &making.chain);
	if (!result && options->branch_filter && making.chain.how == TALLY_CHAIN_BRANCHES)
		result = tally_fail(error, -EINVAL, -1,
				    "branch stacks and call chains by lbr exclude each other: the "
				    "processor records one of them");
	tally_plan_fields_chain(options, &making.chain);
	if (!result)
		result = given ? copy_events(&making, &plan, list, error)
			       : default_event(&making, &plan, error);
	if (!result && options->off_cpu)
		result = add_off_cpu(&making, limits, notice, &plan, error);
	if (!result) {
		struct tally_planned *sideband = &plan.events[plan.count - 1];

		sideband->leader = (uint32_t)(plan.count - 1);
		sideband->privilege_given = true;
		for (size_t i = 0; i + 1 < plan.count; i++) {
			const struct tally_planned *event = &plan.events[i];

			making.data_maps |= event->attr.sample_stack_user &&
					    (!event->unwinds || options->stacks_output);
			making.deferred |=
			    event->attr.defer_callchain || (event->unwinds && !event->stack_needed);
		}
		complete_sideband(&making, sideband);
		sideband->name = strdup("dummy:u");
		if (!sideband->name)
			result = tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	if (!result)
		result = tally_plan_aux(options, limits, targets, &plan, error);
	if (!result)
		result = choose_clock(&plan, error);
	if (!result)
		wake_for_sideband(&plan.events[tally_plan_sideband(&plan)].attr);
	if (result) {
		tally_plan_done(&plan);
		return result;
	}
	*ret = plan;
	return 0;
}

struct tally_attr tally_plan_stacks_attr(const struct tally_planned *event)
{
	struct tally_attr attr = event->attr;

	if (event->off_cpu)
		tally_off_cpu_file_attr(&attr);
	return attr;
}

struct tally_attr tally_plan_file_attr(const struct tally_planned *event)
{
	struct tally_attr attr = tally_plan_stacks_attr(event);

	if (event->unwinds)
		tally_plan_frame_pointers(&attr);
	return attr;
}

void tally_plan_done(struct tally_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->events[i].cgroup_fd >= 0)
			close(plan->events[i].cgroup_fd);
		if (plan->events[i].filter_fd >= 0)
			close(plan->events[i].filter_fd);
		free(plan->events[i].name);
		free(plan->events[i].ids);
	}
	free(plan->events);
	*plan = (struct tally_plan){0};
}

const struct tally_attr *tally_plan_timed(const struct tally_plan *plan)
{
	/* All fields before it are the same in all events: see COMMON_FIELDS. */
	for (size_t i = 0; i + 1 < plan->count; i++)
		if (!(plan->events[i].attr.sample_type & PERF_SAMPLE_TIME))
			return NULL;
	return &plan->events[0].attr;
}

#define COPIES_LEAST 32 /* in a ring */
/* How late a ring may be read: on busy CPUs, those who may not raise their priority are. */
#define LATE_MS 15

static uint64_t copies_least(const struct tally_plan *plan)
{
	uint64_t rate = 0;

	for (size_t i = 0; i + 1 < plan->count; i++)
		if (plan->events[i].unwinds && plan->events[i].attr.freq)
			rate += plan->events[i].attr.sample_freq;
	return MAX(rate * LATE_MS / 1000, COPIES_LEAST);
}

uint32_t tally_plan_fit_stacks(struct tally_plan *plan, size_t ring_bytes)
{
	uint32_t size = TALLY_STACK_USUAL, chosen = 0;
	uint64_t least = copies_least(plan);

	while (size > TALLY_STACK_KEPT && ring_bytes / size < least)
		size = size == TALLY_STACK_USUAL ? 32768 : size / 2;
	for (size_t i = 0; i + 1 < plan->count; i++) {
		struct tally_planned *event = &plan->events[i];

		if (!event->unwinds || event->stack_given || event->attr.sample_stack_user <= size)
			continue;
		event->attr.sample_stack_user = size;
		chosen = size;
	}
	return chosen;
}

uint64_t tally_plan_rate(const struct tally_plan *plan)
{
	uint64_t rate = 0;

	for (size_t i = 0; i + 1 < plan->count; i++) {
		const struct tally_attr *attr = &plan->events[i].attr;

		if (plan->events[i].off_cpu)
			continue; /* it has a ring of its own */
		if (!attr->freq) {
			if (attr->sample_period)
				return 0;
			continue; /* samples with its leader */
		}
		/* 64 bytes of header and fixed fields, and a deep call chain. */
		rate += attr->sample_freq *
			(64 + (attr->sample_type & PERF_SAMPLE_CALLCHAIN ? 1024 : 0) +
			 attr->sample_stack_user + (attr->sample_type & PERF_SAMPLE_RAW ? 128 : 0));
	}
	return rate;
}
