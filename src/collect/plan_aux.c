/* Source of the rules: perf-record(1), -S, --aux-sample and "EVENT DESCRIPTORS"; what perf 6.1
 * refuses; perf_event_open(2) for aux_output and aux_sample_size. */
#include "collect/plan_aux.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>
#include <tally/abi.h>
#include "base/fail.h"
#include "base/option_struct.h"
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define AREA_USUAL        (4u << 20)
#define AREA_LIMITED      (128u << 10) /* where little memory may be locked */
#define SAMPLE_MOST       (60u << 10)  /* a record has less than 64 KiB */
#define LEAST_OVERWRITTEN 4096         /* of areas that are overwritten */

static const struct tally_aux_kind *kind_of(const struct tally_event *event)
{
	return tally_aux_kind_find(event->pmu, &event->attr);
}

void tally_plan_aux_chain(const struct tally_recorder_options *options,
			  struct tally_chain_plan *chain)
{
	const struct tally_event_list *list = options->events;
	struct tally_recorder_rings rings = {.size = sizeof(rings)};
	bool keep = !tally_options_take(&rings, sizeof(rings), options->rings) && rings.threads;

	for (size_t i = 0; list && i < list->count; i++)
		keep |= kind_of(&list->events[i]) != NULL;
	if (!keep)
		return;
	chain->keep |= chain->how == TALLY_CHAIN_STACK;
	if (chain->how == TALLY_CHAIN_AUTO && !chain->keep)
		chain->how = TALLY_CHAIN_FRAME_POINTERS;
}

static int take_rings(const struct tally_recorder_options *options,
		      struct tally_recorder_rings *ret, struct tally_error *error)
{
	int result = tally_options_take(ret, sizeof(*ret), options->rings);

	return result
		   ? tally_fail(error, result, -1,
				"options of rings that this version of libtally does not support")
		   : 0;
}

static const char *what_is_here(const char *root, char room[256])
{
	char names[200];

	if (!*tally_aux_kinds_here(root, names, sizeof(names)))
		return "this machine has no hardware that writes one (intel_pt, intel_bts, "
		       "arm_spe_0, cs_etm, ...)";
	snprintf(room, 256, "here it is one of %s", names);
	return room;
}

/* Options and terms that mean nothing without a trace. */
static int refuse_without(const struct tally_recorder_rings *rings,
			  const struct tally_event_list *list, struct tally_error *error)
{
	char room[256];

	if (rings->aux_snapshot)
		return tally_fail(
		    error, -EINVAL, -1,
		    "snapshots (-S) are of traces: record an event that writes one, as "
		    "-e intel_pt//; %s",
		    what_is_here("", room));
	if (rings->aux_sample)
		return tally_fail(
		    error, -EINVAL, -1,
		    "samples of a trace (--aux-sample) need an event that writes one, "
		    "as -e '{intel_pt//,cycles}'; %s",
		    what_is_here("", room));
	if (rings->aux_pages)
		return tally_fail(error, -EINVAL, -1,
				  "an AUX area (-m ,PAGES) is for an event that writes a trace; %s",
				  what_is_here("", room));
	for (size_t i = 0; list && i < list->count; i++) {
		const struct tally_event *event = &list->events[i];

		if (event->attr.aux_sample_size)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s: aux-sample-size needs an event that writes a trace as "
			    "the leader of its group; %s",
			    event->name, what_is_here("", room));
		if (event->terms.given & TALLY_TERM_AUX_OUTPUT && event->terms.aux_output)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s: aux-output puts samples into the trace of the leader of "
			    "its group; %s",
			    event->name, what_is_here("", room));
		if (event->attr.aux_action)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s: aux-action starts, pauses or resumes the trace of an event, "
			    "which leads its group; %s",
			    event->name, what_is_here("", room));
		if (event->terms.driver)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s: terms with @ name where a trace of CoreSight (cs_etm) "
			    "goes to; leave them out",
			    event->name);
	}
	return 0;
}

/* The one event that writes a trace; list->count: there is none. */
static int find_event(const struct tally_event_list *list, size_t *ret, struct tally_error *error)
{
	size_t found = list->count;

	for (size_t i = 0; i < list->count; i++) {
		if (!kind_of(&list->events[i]))
			continue;
		if (found < list->count)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s and %s both write a trace: record one of them at a time",
			    list->events[found].name, list->events[i].name);
		found = i;
	}
	*ret = found;
	return 0;
}

/* --- what the samples of others have of the trace --- */

/* The trace starts paused by its own event, and others of its group pause and resume it. */
static int check_action(const struct tally_event_list *list, size_t index, size_t trace,
			struct tally_error *error)
{
	const struct tally_event *event = &list->events[index];
	bool led = event->leader == trace && index != trace;

	if (event->attr.aux_start_paused && index != trace)
		return tally_fail(error, -EINVAL, -1,
				  "%s: aux-action=start-paused is for the event that writes the "
				  "trace: %s",
				  event->name, list->events[trace].name);
	if ((event->attr.aux_pause || event->attr.aux_resume) && !led)
		return tally_fail(error, -EINVAL, -1,
				  "%s: aux-action=%s is for events of the group that the trace's "
				  "event leads: {%s,...}",
				  event->name, event->attr.aux_pause ? "pause" : "resume",
				  list->events[trace].name);
	return 0;
}

static int take_samples(const struct tally_recorder_rings *rings,
			const struct tally_event_list *list, struct tally_plan *plan,
			uint32_t *ret_most, struct tally_error *error)
{
	size_t outputs = 0;

	*ret_most = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct tally_event *event = &list->events[i];
		struct tally_attr *attr = &plan->events[i].attr;
		bool led = event->leader == plan->aux.event && i != plan->aux.event;
		uint32_t size = attr->aux_sample_size;
		int result = check_action(list, i, plan->aux.event, error);

		if (result)
			return result;
		if (!(event->terms.given & TALLY_TERM_AUX_SAMPLE_SIZE) && led)
			size = rings->aux_sample;
		outputs += attr->aux_output;
		if (attr->aux_output && (!led || outputs > 1))
			return tally_fail(error, -EINVAL, -1,
					  "%s: aux-output is for one event, of the group that the "
					  "trace's event leads: {%s,...}",
					  event->name, list->events[plan->aux.event].name);
		if (!size)
			continue;
		if (!led)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s: its samples can have a part of the trace only in the "
			    "group that the trace's event leads: {%s,...}",
			    event->name, list->events[plan->aux.event].name);
		if (size > SAMPLE_MOST)
			return tally_fail(error, -EINVAL, -1,
					  "%s: a sample has at most %u bytes of a trace, not %u",
					  event->name, SAMPLE_MOST, size);
		attr->aux_sample_size = size;
		attr->sample_type |= PERF_SAMPLE_AUX;
		*ret_most = MAX(*ret_most, size);
	}
	if (rings->aux_sample && !*ret_most)
		return tally_fail(error, -EINVAL, -1,
				  "--aux-sample needs other events in the group of %s: {%s,cycles}",
				  list->events[plan->aux.event].name,
				  list->events[plan->aux.event].name);
	return 0;
}

/* --- the area --- */

static size_t pages_of(uint64_t bytes)
{
	size_t pages = 1, page = (size_t)sysconf(_SC_PAGESIZE);

	while (pages * page < bytes)
		pages *= 2;
	return pages;
}

static int choose_area(const struct tally_recorder_rings *rings, const struct tally_limits *limits,
		       uint32_t sample_most, struct tally_aux_plan *aux, struct tally_error *error)
{
	bool limited = !limits->ipc_lock && limits->paranoid > -1;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
	size_t least = aux->mode == TALLY_AUX_WHOLE
			   ? aux->kind->least_bytes
			   : MIN(aux->kind->least_bytes, (size_t)LEAST_OVERWRITTEN);

	aux->pages = rings->aux_pages;
	aux->snapshot_size = rings->aux_newest;
	if (!aux->pages && aux->mode == TALLY_AUX_SAMPLED)
		aux->pages = pages_of(sample_most);
	else if (!aux->pages && aux->snapshot_size)
		aux->pages = pages_of(aux->snapshot_size);
	else if (!aux->pages)
		aux->pages =
		    pages_of(MAX(limited ? AREA_LIMITED : AREA_USUAL, aux->kind->least_bytes));
	bytes = aux->pages * page;
	if (aux->pages & (aux->pages - 1) || bytes < least)
		return tally_fail(error, -EINVAL, -1,
				  "an AUX area of %s has a power of two of pages, at least %zu (-m "
				  ",PAGES), not %zu",
				  aux->pmu, pages_of(least), aux->pages);
	if (MAX(aux->snapshot_size, sample_most) > bytes)
		return tally_fail(
		    error, -EINVAL, -1,
		    "a snapshot or sample of %zu bytes does not fit into an AUX area of "
		    "%zu: make that larger (-m ,PAGES)",
		    (size_t)MAX(aux->snapshot_size, sample_most), bytes);
	return 0;
}

/* The ratio of the processor's clocks, for decoders.  Source: Intel SDM, CPUID leaf 15H. */
static void read_clock_ratio(struct tally_aux_plan *aux)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a = 0, b = 0, c = 0, d = 0;

	if (__get_cpuid(0x15, &a, &b, &c, &d)) {
		aux->tsc_ctc[0] = b;
		aux->tsc_ctc[1] = a;
	}
#else
	(void)aux;
#endif
}

/* No samples come from the trace's event itself: fields of samples are not asked for. */
static void strip(struct tally_planned *event)
{
	event->attr.sample_type &= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				   PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	event->attr.branch_sample_type = 0;
	event->attr.sample_regs_user = 0;
	event->attr.sample_stack_user = 0;
	event->attr.sample_max_stack = 0;
	event->attr.defer_callchain = 0;
	event->attr.exclude_callchain_user = 0;
	event->unwinds = false;
}

static int prepare(const struct tally_recorder_rings *rings, const struct tally_limits *limits,
		   const struct tally_targets *targets, const struct tally_event_list *list,
		   struct tally_plan *plan, struct tally_error *error)
{
	struct tally_aux_plan *aux = &plan->aux;
	const struct tally_event *from = &list->events[aux->event];
	struct tally_planned *event = &plan->events[aux->event];
	const struct tally_aux_event asked = {
	    .name = from->name,
	    .driver = from->terms.driver,
	    .period_given = from->terms.given & TALLY_TERM_PERIOD,
	};
	uint32_t sample_most;
	int result;

	aux->kind = kind_of(from);
	aux->root = "";
	snprintf(aux->pmu, sizeof(aux->pmu), "%s", from->pmu);
	aux->per_cpu = !targets->per_thread;
	aux->by_task = !targets->system_wide;
	aux->cpus = targets->cpus;
	aux->cpu_count = targets->cpu_count;
	read_clock_ratio(aux);
	if (aux->kind->per_thread_only && aux->per_cpu)
		return tally_fail(error, -EINVAL, -1,
				  "%s traces single threads, not CPUs: add --per-thread",
				  from->name);
	if (aux->kind->per_cpu_only && !aux->per_cpu)
		return tally_fail(error, -EINVAL, -1, "%s traces CPUs here: leave out --per-thread",
				  from->name);
	if (event->attr.use_clockid && aux->kind->no_clockid)
		return tally_fail(
		    error, -EINVAL, -1,
		    "%s: its trace has times of the processor's clock, which can only be "
		    "compared with perf's own: leave out -k",
		    from->name);
	result = take_samples(rings, list, plan, &sample_most, error);
	if (result)
		return result;
	if (sample_most && rings->aux_snapshot)
		return tally_fail(error, -EINVAL, -1,
				  "a trace is given in snapshots (-S) or in samples, not both");
	if (sample_most && !aux->kind->samples)
		return tally_fail(error, -EOPNOTSUPP, -1,
				  "%s: samples cannot have parts of this trace", from->name);
	aux->mode = rings->aux_snapshot ? TALLY_AUX_SNAPSHOT
		    : sample_most       ? TALLY_AUX_SAMPLED
					: TALLY_AUX_WHOLE;
	result = choose_area(rings, limits, sample_most, aux, error);
	if (result)
		return result;
	strip(event);
	result = aux->kind->prepare(aux, &asked, &event->attr, error);
	if (!result && aux->wants_switches)
		plan->events[tally_plan_sideband(plan)].attr.context_switch = 1;
	return result;
}

int tally_plan_aux(const struct tally_recorder_options *options, const struct tally_limits *limits,
		   const struct tally_targets *targets, struct tally_plan *plan,
		   struct tally_error *error)
{
	struct tally_recorder_rings rings = {.size = sizeof(rings)};
	const struct tally_event_list *list = options->events;
	int result = take_rings(options, &rings, error);

	if (result)
		return result;
	if (!list || !list->count)
		return refuse_without(&rings, NULL, error);
	result = find_event(list, &plan->aux.event, error);
	if (result)
		return result;
	return plan->aux.event == list->count ? refuse_without(&rings, list, error)
					      : prepare(&rings, limits, targets, list, plan, error);
}
