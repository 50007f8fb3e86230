#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/pattern.h"
#include "base/pool.h"
#include "cycles/cycles.h"
#include "profile/side_sums.h"
#include "profile/sink.h"
#include "profile/tree_lines.h"
#include "profile/tree_rows.h"
#include "session/numbers.h"
#include "session/run.h"
#include "profile/caller_lines.h"

#define AHEAD 8

static int no_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "not enough memory for the profile");
}

static bool has_chains(const struct tally_profile *profile, size_t event)
{
	return tally_data_event(tally_session_data(profile->session), event)->attr.sample_type &
	       (PERF_SAMPLE_CALLCHAIN | (profile->branch_history ? PERF_SAMPLE_BRANCH_STACK : 0));
}

/* All that was made of samples. */
static void forget(struct tally_profile *profile)
{
	tally_rows_done(&profile->rows);
	tally_places_done(&profile->places);
	tally_call_tree_done(&profile->tree);
	tally_tree_lines_free(profile->lines);
	profile->lines = NULL;
	tally_contexts_done(&profile->contexts);
	free(profile->sums);
	profile->sums = NULL;
	free(profile->sides);
	profile->sides = NULL;
}

/* Making a profile of what was read. */
struct making {
	struct tally_profile *profile;
	const struct profile_plan *plan;
	struct profile_worker worker;
	struct tally_place_ranks ranks;
};

static int take_calls(struct making *making)
{
	struct tally_profile *profile = making->profile;
	struct profile_worker *worker = &making->worker;
	int result = 0;

	profile->contexts = worker->contexts;
	worker->contexts = (struct tally_contexts){0};
	profile->sums = worker->sums;
	worker->sums = NULL;
	if (making->plan->options->callchains)
		result =
		    tally_call_tree_make(&worker->calls, profile->session, profile->contexts.count,
					 profile->tree_samples, &profile->tree);
	if (!result && making->plan->options->callchains &&
	    (profile->tree_key != TALLY_TREE_FUNCTION || tally_caller_lines_wanted(profile)))
		result = tally_call_tree_keep_frames(&profile->tree);
	return result;
}

static int take_places(struct making *making)
{
	struct tally_profile *profile = making->profile;
	int result = tally_places_init(&profile->places, profile->session);

	if (!result)
		result =
		    tally_place_ranks_make(&profile->places, profile->keys.symbol, &making->ranks);
	return result;
}

/* Without call chains there is nothing to do beside the places. */
static unsigned making_threads(const struct making *making)
{
	return making->plan->options->callchains ? tally_session_threads(making->profile->session)
						 : 1;
}

static int make_part(void *context, unsigned thread, size_t part)
{
	(void)thread;
	return part ? take_places(context) : take_calls(context);
}

/* Takes what was read into the profile, all but the addresses.  0 or -ENOMEM. */
static int make(struct making *making)
{
	struct tally_profile *profile = making->profile;
	struct tally_rows_plan plan = {
	    .keys = &profile->keys,
	    .children = profile->children,
	    .resolved = making->plan->options->hide_unresolved,
	    .relative = profile->relative,
	    .tree_least = profile->tree_least,
	    .ranks = &making->ranks,
	    .event_count = profile->event_count,
	};
	uint32_t *node_contexts = NULL;
	int result = tally_pool_run(making_threads(making), 2, make_part, making);

	plan.sums = profile->sums;
	if (!result && profile->tree.frames && tally_caller_lines_wanted(profile))
		result = tally_caller_lines_contexts(profile, &node_contexts);
	plan.node_contexts = node_contexts;
	if (!result)
		result =
		    making->plan->options->callchains
			? tally_rows_make(&plan, &profile->tree, &profile->contexts,
					  &profile->places, &profile->rows)
			: tally_rows_make_flat(&plan, &making->worker.calls, &profile->contexts,
					       &profile->places, &profile->rows);
	free(node_contexts);
	tally_place_ranks_done(&making->ranks);
	if (!result && profile->tree.frames && profile->tree_key != TALLY_TREE_FUNCTION)
		result = tally_tree_lines_new(profile, &profile->lines);
	if (!result && (making->plan->options->by_mode || making->plan->options->latency))
		result = tally_side_sums_make(profile, &making->worker.sides, &profile->sides);
	for (uint32_t i = 0; profile->sides && i < profile->rows.count; i++)
		profile->has_guests |=
		    profile->sides[i][SIDE_GUEST_KERNEL] || profile->sides[i][SIDE_GUEST_USER];
	return result ? -ENOMEM : 0;
}

/* Everything in one reading: chains of all samples, rows and trees from one call tree. */
static int make_at_once(struct tally_profile *profile, const struct profile_plan *plan,
			struct tally_error *error)
{
	struct making making = {.profile = profile, .plan = plan};
	int result = tally_profile_sink_run(profile->session, plan, NULL, &making.worker, error);

	if (!result)
		result = make(&making);
	tally_profile_worker_done(&making.worker);
	return result;
}

/* Whether rows can be found without chains, cheaply, and say then which chains are needed. */
static bool rows_come_first(const struct tally_profile *profile, const struct profile_plan *plan)
{
	uint64_t fields = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;

	if (!profile->callchains || profile->children || profile->tree_key ||
	    !(profile->tree_least > 0) || plan->special || plan->blocks ||
	    !(profile->keys.symbol || profile->keys.image) || plan->span_count ||
	    plan->options->cpu_count)
		return false;
	for (uint32_t i = 0; i < profile->event_count; i++) {
		uint64_t type =
		    tally_data_event(tally_session_data(profile->session), i)->attr.sample_type;

		/* Without an address the chain alone says where a sample was. */
		if (!(type & PERF_SAMPLE_IP) || type & PERF_SAMPLE_READ)
			return false;
	}
	if (profile_keys_columns(&profile->keys) &
	    ~(uint64_t)(TALLY_COLUMN_THREAD | TALLY_COLUMN_FRAME | TALLY_COLUMN_COUNT))
		return false;
	return tally_session_sums_early(profile->session, fields);
}

/* Trees of the rows that are large.  Returns 1 when a sample could not be read with its chain: it
 * counts nowhere then. */
static int make_trees(struct tally_profile *profile, const struct profile_plan *plan,
		      const struct tally_tree_rows *chosen, struct tally_error *error)
{
	const struct tally_rows_wanted wanted = {.frames = chosen->frames,
						 .frame_count = chosen->frame_count,
						 .addresses = chosen->addresses};
	struct profile_worker worker = {0};
	int result = tally_profile_sink_run(profile->session, plan, &wanted, &worker, error);

	if (!result && tally_session_counts(profile->session)->undecoded)
		result = 1;
	if (!result)
		result = tally_tree_rows_take(profile, chosen, &worker);
	tally_profile_worker_done(&worker);
	return result;
}

/* Rows first, then trees of those that are large.  Returns 1, and takes back what it did, as
 * make_trees() does. */
static int make_rows_first(struct tally_profile *profile, const struct profile_plan *plan,
			   struct tally_error *error)
{
	struct tally_profile_options flat = *plan->options;
	struct profile_plan rows = *plan;
	struct making making = {.profile = profile, .plan = &rows};
	struct tally_tree_rows chosen = {0};
	int result;

	flat.callchains = false;
	rows.options = &flat;
	rows.notes_addresses = true;
	result = tally_profile_sink_run(profile->session, &rows, NULL, &making.worker, error);
	if (!result)
		result = make(&making);
	if (!result)
		result = tally_tree_rows_choose(profile, &chosen);
	if (!result)
		result = tally_tree_rows_addresses(&chosen, making.worker.addresses,
						   making.worker.address_count);
	tally_profile_worker_done(&making.worker);
	if (!result)
		result = make_trees(profile, plan, &chosen, error);
	tally_tree_rows_done(&chosen);
	if (result == 1)
		forget(profile);
	return result;
}

/* Times and CPUs that were asked for can only be those of samples that have them. */
static int take_span(const struct tally_profile *profile, struct profile_plan *plan,
		     struct tally_error *error)
{
	const struct tally_profile_options *options = plan->options;

	for (uint32_t i = 0; i < profile->event_count; i++) {
		const struct tally_data_event *event =
		    tally_data_event(tally_session_data(profile->session), i);

		if (options->time && !(event->attr.sample_type & PERF_SAMPLE_TIME))
			return tally_fail(
			    error, -EINVAL, -1,
			    "--time: event '%s' does not record the time of its samples",
			    event->name);
		if (options->cpu_count && !(event->attr.sample_type & PERF_SAMPLE_CPU))
			return tally_fail(
			    error, -EINVAL, -1,
			    "--cpu: event '%s' does not record the CPU of its samples",
			    event->name);
	}
	return options->time ? tally_time_spans_of(profile->session, options->time, false,
						   &plan->spans, &plan->span_count, error)
			     : 0;
}

/* Rows of what no event's samples have would be wrong or none. */
static int check_kind(const struct tally_profile *profile, enum tally_profile_kind kind,
		      struct tally_error *error)
{
	const struct tally_data *data = tally_session_data(profile->session);
	uint64_t has = 0;

	for (uint32_t i = 0; i < profile->event_count; i++)
		has |= tally_data_event(data, i)->attr.sample_type;
	if (kind == TALLY_PROFILE_BRANCHES && !(has & PERF_SAMPLE_BRANCH_STACK))
		return tally_fail(error, -EINVAL, -1,
				  "the recording has no branch stacks: record with -b or -j");
	if (kind == TALLY_PROFILE_MEMORY && !(has & (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_ADDR)))
		return tally_fail(error, -EINVAL, -1,
				  "the recording has no memory accesses: record with -d");
	return 0;
}

/* What the options ask for beyond plain samples.  0 or -errno with words. */
static int take_special(struct tally_profile *profile, struct profile_plan *plan,
			const struct tally_profile_options *options, struct tally_error *error)
{
	const struct profile_keys *keys = &profile->keys;
	bool parallel = false;
	int result;

	for (size_t i = 0; i < keys->count; i++)
		parallel |= !strcmp(keys->names[i], "parallelism");
	if (tally_profile_keys_need(keys, KEY_NEEDS_BRANCHES) &&
	    options->kind != TALLY_PROFILE_BRANCHES)
		return tally_fail(error, -EINVAL, -1,
				  "a key of branches needs rows of branches (--branch-stack)");
	if (tally_profile_keys_need(keys, KEY_NEEDS_MEMORY) &&
	    options->kind != TALLY_PROFILE_MEMORY)
		return tally_fail(error, -EINVAL, -1,
				  "a key of memory needs rows of memory accesses (--mem-mode)");
	result = check_kind(profile, options->kind, error);
	if (result)
		return result;
	plan->samples = keys->columns & TALLY_COLUMN_SAMPLE || options->by_mode ||
			options->kind != TALLY_PROFILE_SAMPLES;
	plan->special = plan->samples || options->latency || options->hide_unresolved ||
			options->exclude_other || options->only_socket || options->ignore_callees;
	if (options->only_socket && tally_profile_keys_sockets(&profile->keys, profile->session))
		return -ENOMEM;
	if (options->exclude_other) {
		result = tally_profile_keys_parent(&profile->keys, profile->session, error);
		if (result)
			return result;
	}
	if (options->ignore_callees) {
		plan->ignored = calloc(1, sizeof(*plan->ignored));
		if (!plan->ignored)
			return -ENOMEM;
		result = tally_pattern_compile(options->ignore_callees, REG_EXTENDED, plan->ignored,
					       error);
		if (result) {
			free(plan->ignored);
			plan->ignored = NULL;
			return result;
		}
	}
	if (parallel || options->latency) {
		result = tally_key_parallel_new(profile->session, &profile->parallel, error);
		if (result)
			return result;
		profile->keys.parallel = profile->parallel;
		if (options->latency)
			plan->parallel = profile->parallel;
	}
	return 0;
}

void tally_profile_plan_done(struct profile_plan *plan)
{
	if (plan->ignored)
		regfree(plan->ignored);
	free(plan->ignored);
	free(plan->spans);
}

/* The keys by name, and what else rows of samples need of them. */
static int take_keys(struct tally_profile *profile, const struct tally_profile_options *options,
		     struct tally_error *error)
{
	struct profile_keys *keys = &profile->keys;

	keys->time_quantum = options->time_quantum;
	keys->parent = options->parent;
	keys->raw_trace = options->raw_trace;
	return tally_profile_keys_init(keys, profile->session, options->keys, options->key_count,
				       error);
}

/* Reads the samples; the profile's keys and options are known. */
static int read_samples(struct tally_profile *profile, const struct profile_plan *plan,
			struct tally_error *error)
{
	uint32_t most = plan->options->max_stack;
	int result;

	if (most)
		tally_session_unwind_most(profile->session, most);
	tally_session_stack_most(profile->session, most);
	result = rows_come_first(profile, plan) ? make_rows_first(profile, plan, error) : 1;
	return result == 1 ? make_at_once(profile, plan, error) : result;
}

/* The same, and cycles of branches in one reading. */
static int read_with_cycles(struct tally_profile *profile, struct profile_plan *plan,
			    struct tally_error *error)
{
	const struct tally_profile_options *options = plan->options;
	const struct block_choice choice = {.spans = plan->spans,
					    .span_count = plan->span_count,
					    .cpus = options->cpus,
					    .cpu_count = options->cpu_count};
	struct block_sums *blocks = NULL;
	int result = tally_block_sums_new(profile->session, &choice, &blocks);

	if (result)
		return result;
	plan->blocks = blocks;
	result = read_samples(profile, plan, error);
	plan->blocks = NULL;
	if (!result)
		result = tally_cycles_new(profile->session, blocks, &profile->cycles);
	tally_block_sums_free(blocks);
	if (!result && !profile->cycles->cycles) {
		tally_cycles_free(profile->cycles);
		profile->cycles = NULL;
	}
	return result;
}

static void take_chains(struct tally_profile *profile, struct tally_profile_options *options)
{
	bool any = false;

	for (uint32_t i = 0; i < profile->event_count; i++)
		any |= has_chains(profile, i);
	if (!any || options->kind != TALLY_PROFILE_SAMPLES)
		options->callchains = false;
	if (!options->callchains)
		options->children = false;
	profile->callchains = options->callchains;
	profile->children = options->children;
	profile->tree_least = options->callchains ? options->tree_least : 0;
}

int tally_profile_options_take(struct tally_profile_options *ret,
			       const struct tally_profile_options *options,
			       struct tally_error *error)
{
	int result;

	*ret = (struct tally_profile_options){.size = sizeof(*ret)};
	result = tally_options_take(ret, sizeof(*ret), options);
	return result ? tally_fail(
			    error, result, -1,
			    "profile options of another libtally than this one: use the library "
			    "that the program was built for")
		      : 0;
}

int tally_profile_prepare(struct tally_session *session, struct tally_profile_options *options,
			  struct profile_plan *plan, struct tally_profile **ret,
			  struct tally_error *error)
{
	struct tally_profile *profile = calloc(1, sizeof(*profile));
	int result;

	if (!profile)
		return no_memory(error);
	profile->session = session;
	profile->event_count = (uint32_t)tally_data_event_count(tally_session_data(session));
	profile->relative = options->relative;
	profile->max_stack = options->max_stack;
	profile->kind = options->kind;
	profile->latency = options->latency;
	profile->tree_samples = options->tree_samples || options->branch_history;
	profile->tree_key =
	    options->branch_history && !options->tree_key ? TALLY_TREE_ADDRESS : options->tree_key;
	profile->branch_history = options->branch_history;
	take_chains(profile, options);
	result = take_keys(profile, options, error);
	*plan = (struct profile_plan){.session = session,
				      .options = options,
				      .keys = &profile->keys,
				      .event_count = profile->event_count};
	if (!result)
		result = take_span(profile, plan, error);
	if (!result && profile->tree_samples && tally_session_counts(session)->samples > UINT32_MAX)
		result = tally_fail(
		    error, -E2BIG, -1,
		    "more than %u samples: trees count periods or shares, not samples", UINT32_MAX);
	if (!result)
		result = take_special(profile, plan, options, error);
	if (!result) {
		*ret = profile;
		return 0;
	}
	tally_profile_plan_done(plan);
	tally_profile_free(profile);
	return result == -ENOMEM ? no_memory(error) : result;
}

int tally_profile_make(struct tally_profile *profile, const struct profile_plan *plan,
		       struct profile_worker *worker)
{
	struct making making = {.profile = profile, .plan = plan, .worker = *worker};
	int result = make(&making);

	*worker = making.worker;
	return result;
}

int tally_profile_new(struct tally_session *session, const struct tally_profile_options *options,
		      struct tally_profile **ret, struct tally_error *error)
{
	struct tally_profile_options taken;
	struct profile_plan plan;
	struct tally_profile *profile = NULL;
	int result = tally_profile_options_take(&taken, options, error);

	if (!result)
		result = tally_profile_prepare(session, &taken, &plan, &profile, error);
	if (result || !profile)
		return result;
	result = taken.cycles ? read_with_cycles(profile, &plan, error)
			      : read_samples(profile, &plan, error);
	tally_profile_plan_done(&plan);
	if (result) {
		tally_profile_free(profile);
		return result == -ENOMEM ? no_memory(error) : result;
	}
	*ret = profile;
	return 0;
}

void tally_profile_free(struct tally_profile *profile)
{
	if (!profile)
		return;
	forget(profile);
	tally_profile_keys_done(&profile->keys);
	tally_key_parallel_free(profile->parallel);
	tally_cycles_free(profile->cycles);
	free(profile);
}

const struct tally_session *tally_profile_session(const struct tally_profile *profile)
{
	return profile->session;
}

bool tally_profile_has_children(const struct tally_profile *profile)
{
	return profile->children;
}

bool tally_profile_is_relative(const struct tally_profile *profile)
{
	return profile->relative;
}

const char *const *tally_profile_keys(const struct tally_profile *profile, size_t *ret_count)
{
	*ret_count = profile->keys.count;
	return profile->keys.names;
}

size_t tally_profile_event_count(const struct tally_profile *profile)
{
	return profile->event_count;
}

int tally_profile_event(const struct tally_profile *profile, size_t event,
			struct tally_profile_event *ret)
{
	const struct tally_data_event *facts;
	const struct profile_sum *sum;
	struct tally_profile_event own;

	if (event >= profile->event_count)
		return -EINVAL;
	facts = tally_data_event(tally_session_data(profile->session), event);
	sum = &profile->sums[event];
	own = (struct tally_profile_event){
	    .name = facts->name,
	    .samples = sum->passed,
	    .total = profile_whole(sum, profile->relative),
	    .row_count = profile->rows.event_first[event + 1] - profile->rows.event_first[event],
	    .has_callchains = profile->callchains && has_chains(profile, event),
	    .all_samples = sum->samples,
	    .passed_total = sum->passed_total,
	    .all_total = sum->total,
	    .undivided = sum->undivided,
	};
	return tally_result_copy(ret, sizeof(own), &own);
}

void tally_profile_row_fill(const struct tally_profile *profile, uint32_t handle,
			    struct tally_profile_row *ret)
{
	const struct tally_rows *rows = &profile->rows;
	const struct tally_row *row = &rows->list[handle];
	const struct tally_context *context = &profile->contexts.list[row->context];
	const struct profile_keys *keys = &profile->keys;

	/* Rows are read one after another; where their frames stand is all over the memory. */
	if (keys->symbol && handle + AHEAD < rows->count)
		tally_session_frame_ahead(profile->session, row[AHEAD].key);
	ret->handle = handle;
	ret->self = row->self;
	ret->children = row->children;
	ret->samples = row->samples;
	ret->values = contexts_values(&profile->contexts, row->context);
	if (keys->tasks)
		ret->comm = tally_session_string(profile->session, context->last_comm);
	if (profile->sides) {
		memcpy(ret->modes, profile->sides[handle], sizeof(ret->modes));
		ret->undivided = profile->sides[handle][SIDE_PLAIN];
	}
	for (size_t i = 0; i < keys->count; i++)
		if (keys->list[i]->type == KEY_NAME)
			ret->comm =
			    tally_session_string(profile->session, (uint32_t)ret->values[i]);
	if (keys->symbol) {
		ret->frame = tally_session_frame(profile->session, row->key);
	} else if (keys->image) {
		ret->frame =
		    tally_session_frame(profile->session, profile->places.dso_frame[row->key - 1]);
		ret->frame.symbol = NULL;
		ret->frame.place = 0;
	}
}

int tally_profile_row(const struct tally_profile *profile, size_t event, uint64_t index,
		      struct tally_profile_row *ret)
{
	const struct tally_rows *rows = &profile->rows;
	struct tally_profile_row own = {0};

	if (event >= profile->event_count ||
	    index >= rows->event_first[event + 1] - rows->event_first[event])
		return -EINVAL;
	tally_profile_row_fill(profile, rows->event_first[event] + (uint32_t)index, &own);
	return tally_result_copy(ret, sizeof(own), &own);
}
