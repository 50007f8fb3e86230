#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/pool.h"
#include "profile/gathering.h"

#define AHEAD 8

static int no_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "not enough memory for the profile");
}

static bool has_chains(const struct tally_profile *profile, size_t event)
{
	return tally_data_event(tally_session_data(profile->session), event)->attr.sample_type &
	       PERF_SAMPLE_CALLCHAIN;
}

/* All that was made of samples. */
static void forget(struct tally_profile *profile)
{
	tally_rows_done(&profile->rows);
	tally_places_done(&profile->places);
	tally_settled_done(&profile->settled);
	tally_contexts_done(&profile->contexts);
	free(profile->sums);
	profile->sums = NULL;
}

/* Making a profile of what was gathered. */
struct settling {
	struct tally_profile *profile;
	const struct tally_gather_plan *plan;
	struct tally_gathered *gathered;
	struct tally_gather_spot *spots; /* what the plan had noted */
	uint32_t spot_count;
	struct tally_calls calls; /* without chains */
	struct tally_place_ranks ranks;
};

static int settle_calls(struct settling *settling)
{
	struct tally_profile *profile = settling->profile;
	struct tally_gather gather;
	int result = tally_gathered_merge(settling->gathered, settling->plan, &gather);

	if (result)
		return result;
	profile->contexts = gather.contexts;
	gather.contexts = (struct tally_contexts){0};
	profile->sums = gather.sums;
	gather.sums = NULL;
	settling->spots = gather.spots;
	settling->spot_count = gather.spot_count;
	gather.spots = NULL;
	if (settling->plan->options->callchains) {
		result = tally_settled_make(&gather.calls, tally_session_threads(profile->session),
					    &profile->settled);
	} else {
		settling->calls = gather.calls;
		gather.calls = (struct tally_calls){0};
		tally_calls_finish(&settling->calls);
	}
	/* What is left of it is not needed by what follows, which is where most is. */
	tally_gather_done(&gather);
	return result;
}

static int settle_places(struct settling *settling)
{
	struct tally_profile *profile = settling->profile;
	int result = tally_places_init(&profile->places, profile->session);

	if (!result)
		result = tally_place_ranks_make(&profile->places, profile->keys.symbol,
						&settling->ranks);
	return result;
}

/* Without trees the time is short, and memory is what counts when there are many nodes: one thing
 * after the other then. */
#define NODES_MANY (1u << 18)

static unsigned settle_threads(const struct settling *settling)
{
	const struct tally_gathered *gathered = settling->gathered;
	uint64_t nodes = 0;

	for (unsigned i = 0; i < gathered->worker_count; i++)
		nodes += gathered->ready[i] ? gathered->workers[i].calls.count : 0;
	return settling->plan->options->callchains || nodes < NODES_MANY
		   ? tally_session_threads(settling->profile->session)
		   : 1;
}

static int settle_part(void *context, unsigned thread, size_t part)
{
	(void)thread;
	return part ? settle_places(context) : settle_calls(context);
}

/* Takes what was gathered into the profile, all but its spots.  0 or -ENOMEM. */
static int settle(struct settling *settling)
{
	struct tally_profile *profile = settling->profile;
	bool trees = settling->plan->options->callchains;
	struct tally_rows_plan plan = {
	    .keys = &profile->keys,
	    .children = profile->children,
	    .relative = profile->relative,
	    .tree_least = profile->tree_least,
	    .ranks = &settling->ranks,
	    .event_count = profile->event_count,
	};
	int result = tally_pool_run(settle_threads(settling), 2, settle_part, settling);

	plan.sums = profile->sums;
	if (!result)
		result = trees ? tally_rows_make(&plan, &profile->settled, &profile->contexts,
						 &profile->places, &profile->rows)
			       : tally_rows_make_flat(&plan, &settling->calls, &profile->contexts,
						      &profile->places, &profile->rows);
	tally_calls_done(&settling->calls);
	tally_place_ranks_done(&settling->ranks);
	return result ? -ENOMEM : 0;
}

/* Everything in one reading: chains of all samples, rows and trees from one call tree. */
static int make_at_once(struct tally_profile *profile, const struct tally_gather_plan *plan,
			struct tally_error *error)
{
	struct tally_gathered gathered;
	struct settling settling = {.profile = profile, .plan = plan, .gathered = &gathered};
	int result = tally_gathering_run(profile->session, plan, &gathered, error);

	if (!result) {
		result = settle(&settling);
		tally_gathered_done(&gathered);
	}
	return result;
}

/* Whether rows can be found without chains, cheaply, and tell then which chains are needed. */
static bool rows_come_first(const struct tally_profile *profile,
			    const struct tally_gather_plan *plan)
{
	if (!profile->callchains || profile->children || !(profile->tree_least > 0) ||
	    !(profile->keys.symbol || profile->keys.image))
		return false;
	/* Without it the chain alone tells where a sample was. */
	for (uint32_t i = 0; i < profile->event_count; i++)
		if (!(tally_data_event(tally_session_data(profile->session), i)->attr.sample_type &
		      PERF_SAMPLE_IP))
			return false;
	return tally_session_lumps(profile->session, plan->want & ~(uint64_t)PERF_SAMPLE_CALLCHAIN);
}

/* Rows first, then trees of those that are large.  Returns 1, and takes back what it did, when a
 * sample could not be read with its chain: it counts nowhere then. */
static int make_rows_first(struct tally_profile *profile, const struct tally_gather_plan *plan,
			   struct tally_error *error)
{
	const struct tally_session_counts *counts = tally_session_counts(profile->session);
	struct tally_profile_options flat = *plan->options;
	struct tally_gather_plan rows = *plan, trees = *plan;
	struct tally_tree_rows chosen = {0};
	struct tally_gathered gathered;
	struct settling settling = {.profile = profile, .plan = &rows, .gathered = &gathered};
	struct tally_gather gather;
	int result;

	flat.callchains = false;
	rows.options = &flat;
	rows.want &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	rows.spots = true;
	result = tally_gathering_run(profile->session, &rows, &gathered, error);
	if (!result) {
		result = settle(&settling);
		tally_gathered_done(&gathered);
	}
	if (!result)
		result = tally_tree_rows_choose(profile, &chosen);
	if (!result)
		result = tally_tree_rows_spots(&chosen, settling.spots, settling.spot_count);
	free(settling.spots);
	trees.only = &chosen;
	if (!result)
		result = tally_gathering_run(profile->session, &trees, &gathered, error);
	if (!result) {
		result = counts->undecoded ? 1 : tally_gathered_merge(&gathered, &trees, &gather);
		if (!result) {
			result = tally_tree_rows_take(profile, &chosen, &gather);
			tally_gather_done(&gather);
		}
		tally_gathered_done(&gathered);
	}
	tally_tree_rows_done(&chosen);
	if (result == 1)
		forget(profile);
	return result;
}

int tally_profile_new(struct tally_session *session, const struct tally_profile_options *options,
		      struct tally_profile **ret, struct tally_error *error)
{
	struct tally_profile_options taken = {.size = sizeof(taken)};
	struct tally_gather_plan plan;
	struct tally_profile *profile;
	uint64_t *period;
	bool any_chains = false;
	int result = tally_options_take(&taken, sizeof(taken), options);

	if (result)
		return tally_fail(
		    error, result, -1,
		    "profile options of another libtally than this one: use the library "
		    "that the program was built for");
	profile = calloc(1, sizeof(*profile));
	if (!profile)
		return no_memory(error);
	profile->session = session;
	profile->event_count = (uint32_t)tally_data_event_count(tally_session_data(session));
	for (uint32_t i = 0; i < profile->event_count; i++)
		any_chains |= has_chains(profile, i);
	if (!any_chains)
		taken.callchains = taken.children = false;
	if (!taken.callchains)
		taken.children = false;
	profile->callchains = taken.callchains;
	profile->children = taken.children;
	profile->relative = taken.relative;
	profile->max_stack = taken.max_stack;
	profile->tree_least = taken.callchains ? taken.tree_least : 0;
	profile->keys.time_quantum = taken.time_quantum;
	result =
	    tally_profile_keys_init(&profile->keys, session, taken.keys, taken.key_count, error);
	period = calloc((size_t)profile->event_count + 1, sizeof(*period));
	if (!result && !period)
		result = -ENOMEM;
	if (!result) {
		tally_gathering_plan(&plan, session, &taken, &profile->keys, period);
		if (taken.max_stack)
			tally_session_unwind_most(session, taken.max_stack);
		result =
		    rows_come_first(profile, &plan) ? make_rows_first(profile, &plan, error) : 1;
		if (result == 1)
			result = make_at_once(profile, &plan, error);
	}
	free(period);
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

struct tally_profile_event tally_profile_event(const struct tally_profile *profile, size_t event)
{
	const struct tally_data_event *told;
	const struct tally_gather_sum *sum;

	if (event >= profile->event_count)
		return (struct tally_profile_event){0};
	told = tally_data_event(tally_session_data(profile->session), event);
	sum = &profile->sums[event];
	return (struct tally_profile_event){
	    .name = told->name,
	    .samples = sum->passed,
	    .total = gather_whole(sum, profile->relative),
	    .row_count = profile->rows.event_first[event + 1] - profile->rows.event_first[event],
	    .has_callchains = profile->callchains && has_chains(profile, event),
	    .all_samples = sum->samples,
	    .passed_total = sum->passed_total,
	    .all_total = sum->total,
	};
}

struct tally_profile_row tally_profile_row(const struct tally_profile *profile, size_t event,
					   uint64_t index)
{
	const struct tally_rows *rows = &profile->rows;
	struct tally_profile_row ret = {0};
	const struct tally_context *context;
	const struct tally_row *row;
	const struct profile_keys *keys = &profile->keys;

	if (event >= profile->event_count ||
	    index >= rows->event_first[event + 1] - rows->event_first[event])
		return ret;
	ret.handle = rows->event_first[event] + (uint32_t)index;
	row = &rows->list[ret.handle];
	/* Rows are read one after another; where their frames stand is all over the memory. */
	if (keys->symbol && ret.handle + AHEAD < rows->count)
		tally_session_frame_ahead(profile->session, row[AHEAD].key);
	context = &profile->contexts.list[row->context];
	ret.self = row->self;
	ret.children = row->children;
	ret.samples = row->samples;
	ret.values = contexts_values(&profile->contexts, row->context);
	if (keys->tasks)
		ret.comm = tally_session_string(profile->session, context->last_comm);
	for (size_t i = 0; i < keys->count; i++)
		if (keys->list[i]->type == KEY_NAME)
			ret.comm = tally_session_string(profile->session, (uint32_t)ret.values[i]);
	if (keys->symbol) {
		ret.frame = tally_session_frame(profile->session, row->key);
	} else if (keys->image) {
		ret.frame =
		    tally_session_frame(profile->session, profile->places.dso_frame[row->key - 1]);
		ret.frame.symbol = NULL;
		ret.frame.place = 0;
	}
	return ret;
}
