#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/options.h"
#include "base/pool.h"

static int take_keys(const struct tally_profile_options *options, struct tally_profile *profile,
		     struct tally_error *error)
{
	struct tally_key_set keys = {0};

	for (size_t i = 0; i < options->key_count; i++) {
		bool known = false;

		for (size_t k = 0; k < profile->key_count; k++)
			known |= profile->key_list[k] == options->keys[i];
		if (known)
			continue;
		switch (options->keys[i]) {
		case TALLY_KEY_COMM:
			keys.comm = true;
			break;
		case TALLY_KEY_DSO:
			keys.dso = true;
			break;
		case TALLY_KEY_SYMBOL:
			keys.symbol = true;
			break;
		case TALLY_KEY_PID:
			keys.pid = true;
			break;
		case TALLY_KEY_TID:
			keys.tid = true;
			break;
		case TALLY_KEY_CPU:
			keys.cpu = true;
			break;
		default:
			return tally_fail(error, -EINVAL, (int64_t)i,
					  "key %d at position %zu is none that is known",
					  (int)options->keys[i], i);
		}
		profile->key_list[profile->key_count++] = options->keys[i];
	}
	profile->keys = keys;
	return 0;
}

static int no_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "not enough memory for the profile");
}

struct gathering {
	struct tally_gather_plan plan;
	struct tally_gather *workers;
	bool *ready;
	unsigned worker_count, step;
};

static int visit(void *context, unsigned worker, struct tally_resolver *resolver,
		 const struct tally_resolved *sample)
{
	struct gathering *gathering = context;

	if (worker >= gathering->worker_count)
		return -EINVAL;
	if (!gathering->ready[worker]) {
		if (tally_gather_init(&gathering->workers[worker], &gathering->plan))
			return -ENOMEM;
		gathering->ready[worker] = true;
	}
	return tally_gather_add(&gathering->workers[worker], resolver, sample);
}

/* One pair of a round: worker `step` further on goes into this one, and is gone. */
static int merge_pair(void *context, unsigned thread, size_t pair)
{
	struct gathering *gathering = context;
	size_t to = pair * 2 * gathering->step, from = to + gathering->step;
	int result = 0;

	(void)thread;
	if (from >= gathering->worker_count || !gathering->ready[from])
		return 0;
	if (!gathering->ready[to]) {
		gathering->workers[to] = gathering->workers[from];
		gathering->ready[to] = true;
	} else {
		struct tally_gather *larger = &gathering->workers[to];
		struct tally_gather *smaller = &gathering->workers[from];

		if (larger->calls.count < smaller->calls.count) {
			struct tally_gather other = *larger;

			*larger = *smaller;
			*smaller = other;
		}
		result = tally_gather_merge(larger, smaller);
		tally_gather_done(smaller);
	}
	gathering->ready[from] = false;
	return result;
}

static int merge_all(struct gathering *gathering)
{
	for (gathering->step = 1; gathering->step < gathering->worker_count; gathering->step *= 2) {
		unsigned pairs =
		    (gathering->worker_count + 2 * gathering->step - 1) / (2 * gathering->step);
		int result = tally_pool_run(gathering->worker_count, pairs, merge_pair, gathering);

		if (result)
			return result;
	}
	return 0;
}

static bool has_chains(const struct tally_profile *profile, size_t event)
{
	return tally_data_event(tally_session_data(profile->session), event)->attr.sample_type &
	       PERF_SAMPLE_CALLCHAIN;
}

/* Takes the one gathering that is left over into the profile. */
static int settle(struct tally_profile *profile, struct tally_gather *gather, bool trees,
		  struct tally_error *error)
{
	struct tally_rows_plan plan = {
	    .keys = profile->keys,
	    .children = profile->children,
	    .trees = trees,
	    .event_count = profile->event_count,
	};

	profile->contexts = gather->contexts;
	gather->contexts = (struct tally_contexts){0};
	profile->sums = gather->sums;
	gather->sums = NULL;
	if (tally_settled_make(&gather->calls, &profile->settled))
		return no_memory(error);
	/* What is left of it is not needed by what follows, which is where most is. */
	tally_gather_done(gather);
	if (tally_places_init(&profile->places, profile->session) ||
	    tally_rows_make(&plan, &profile->settled, &profile->contexts, &profile->places,
			    &profile->rows))
		return no_memory(error);
	return 0;
}

static void plan_fields(struct tally_profile *profile, const struct tally_profile_options *options,
			struct tally_gather_plan *plan, uint64_t *period)
{
	struct tally_data *data = tally_session_data(profile->session);

	plan->session = profile->session;
	plan->options = options;
	plan->keys = profile->keys;
	plan->event_count = profile->event_count;
	plan->want = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
	/* The name beside a pid or tid is that of its last sample: each one is needed. */
	if (profile->keys.pid || profile->keys.tid)
		plan->want |= PERF_SAMPLE_TIME;
	if (profile->keys.cpu)
		plan->want |= PERF_SAMPLE_CPU;
	if (options->callchains)
		plan->want |= PERF_SAMPLE_CALLCHAIN;
	/* A sample without its period stands for the attr's; in frequency mode that is unknown. */
	for (uint32_t i = 0; i < profile->event_count; i++) {
		const struct tally_attr *attr = &tally_data_event(data, i)->attr;

		period[i] = attr->freq || !attr->sample_period ? 1 : attr->sample_period;
	}
	plan->period = period;
}

static int gather_all(struct tally_profile *profile, const struct tally_profile_options *options,
		      struct gathering *gathering, struct tally_error *error)
{
	int result;

	result =
	    tally_session_each(profile->session, gathering->plan.want, visit, gathering, error);
	if (result == -ENOMEM)
		return no_memory(error);
	if (result < 0)
		return result;
	if (merge_all(gathering))
		return no_memory(error);
	if (!gathering->ready[0]) { /* no sample at all */
		if (tally_gather_init(&gathering->workers[0], &gathering->plan))
			return no_memory(error);
		gathering->ready[0] = true;
	}
	gathering->ready[0] = false; /* it is used up, whatever comes */
	result = settle(profile, &gathering->workers[0], options->callchains, error);
	tally_gather_done(&gathering->workers[0]);
	return result;
}

int tally_profile_new(struct tally_session *session, const struct tally_profile_options *options,
		      struct tally_profile **ret, struct tally_error *error)
{
	struct tally_profile_options taken = {.size = sizeof(taken)};
	struct gathering gathering = {0};
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
	result = take_keys(&taken, profile, error);
	gathering.worker_count = tally_session_threads(session);
	if (!gathering.worker_count)
		gathering.worker_count = 1;
	gathering.workers = calloc(gathering.worker_count, sizeof(*gathering.workers));
	gathering.ready = calloc(gathering.worker_count, sizeof(*gathering.ready));
	period = calloc((size_t)profile->event_count + 1, sizeof(*period));
	if (!result && (!gathering.workers || !gathering.ready || !period))
		result = no_memory(error);
	if (!result) {
		plan_fields(profile, &taken, &gathering.plan, period);
		result = gather_all(profile, &taken, &gathering, error);
	}
	for (unsigned i = 0; gathering.workers && gathering.ready && i < gathering.worker_count;
	     i++)
		if (gathering.ready[i])
			tally_gather_done(&gathering.workers[i]);
	free(gathering.workers);
	free(gathering.ready);
	free(period);
	if (result) {
		tally_profile_free(profile);
		return result;
	}
	*ret = profile;
	return 0;
}

void tally_profile_free(struct tally_profile *profile)
{
	if (!profile)
		return;
	tally_rows_done(&profile->rows);
	tally_places_done(&profile->places);
	tally_settled_done(&profile->settled);
	tally_contexts_done(&profile->contexts);
	free(profile->sums);
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

const enum tally_key *tally_profile_keys(const struct tally_profile *profile, size_t *ret_count)
{
	*ret_count = profile->key_count;
	return profile->key_list;
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
	    .total = sum->total,
	    .row_count = profile->rows.event_first[event + 1] - profile->rows.event_first[event],
	    .has_callchains = profile->callchains && has_chains(profile, event),
	    .all_samples = sum->samples,
	    .passed_total = sum->passed_total,
	};
}

struct tally_profile_row tally_profile_row(const struct tally_profile *profile, size_t event,
					   uint64_t index)
{
	const struct tally_rows *rows = &profile->rows;
	struct tally_profile_row ret = {0};
	const struct tally_context *context;
	const struct tally_row *row;
	const struct tally_key_set *keys = &profile->keys;

	if (event >= profile->event_count ||
	    index >= rows->event_first[event + 1] - rows->event_first[event])
		return ret;
	ret.handle = rows->event_first[event] + (uint32_t)index;
	row = &rows->list[ret.handle];
	context = &profile->contexts.list[row->context];
	ret.self = row->self;
	ret.children = row->children;
	ret.samples = row->samples;
	if (keys->comm)
		ret.comm = tally_session_string(profile->session, context->comm);
	else if (keys->pid || keys->tid)
		ret.comm = tally_session_string(profile->session, context->last_comm);
	ret.pid = context->pid;
	ret.tid = context->tid;
	ret.cpu = context->cpu;
	if (keys->symbol) {
		ret.frame = tally_session_frame(profile->session, row->key);
	} else if (keys->dso) {
		ret.frame =
		    tally_session_frame(profile->session, profile->places.dso_frame[row->key - 1]);
		ret.frame.symbol = NULL;
		ret.frame.place = 0;
	}
	return ret;
}
