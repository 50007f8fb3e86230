#include "profile/gathering.h"

#include <errno.h>
#include <stdlib.h>
#include "base/map.h"
#include "base/pool.h"
#include "session/moves.h"

struct gathering {
	const struct tally_gather_plan *plan;
	struct tally_gathered *to;
	unsigned step;             /* of merging */
	struct tally_map counters; /* id -> last value */
};

/* What the worker gathers into; NULL: there is none such, or out of memory. */
static struct tally_gather *gather_of(void *context, unsigned worker)
{
	const struct gathering *gathering = context;
	struct tally_gathered *to = gathering->to;

	if (worker >= to->worker_count)
		return NULL;
	if (!to->ready[worker])
		to->ready[worker] = !tally_gather_init(&to->workers[worker], gathering->plan);
	return to->ready[worker] ? &to->workers[worker] : NULL;
}

static int visit(void *context, unsigned worker, struct tally_resolver *resolver,
		 const struct tally_resolved *sample)
{
	struct tally_gather *gather = gather_of(context, worker);

	return gather ? tally_gather_add(gather, resolver, sample) : -ENOMEM;
}

static int leave_out(void *context, unsigned worker, struct tally_resolver *resolver,
		     const struct tally_resolved *sample)
{
	struct tally_gather *gather = gather_of(context, worker);

	(void)resolver;
	return gather ? tally_gather_leave_out(gather, sample) : -ENOMEM;
}

static int visit_run(void *context, unsigned worker, struct tally_resolver *resolver,
		     const struct tally_sample_run *run)
{
	struct tally_gather *gather = gather_of(context, worker);

	return gather ? tally_gather_add_run(gather, resolver, run) : -ENOMEM;
}

static void look_ahead(void *context, unsigned worker, struct tally_resolved *sample,
		       unsigned stage)
{
	const struct tally_gathered *to = ((const struct gathering *)context)->to;

	if (worker < to->worker_count && to->ready[worker])
		tally_gather_ahead(&to->workers[worker], sample, stage);
}

static int finish(void *context, unsigned worker, struct tally_resolver *resolver)
{
	const struct tally_gathered *to = ((const struct gathering *)context)->to;

	if (worker >= to->worker_count || !to->ready[worker])
		return 0;
	return tally_gather_settle(&to->workers[worker], resolver);
}

/* One pair of a round: worker `step` further on goes into this one, and is gone. */
static int merge_pair(void *context, unsigned thread, size_t pair)
{
	const struct gathering *gathering = context;
	struct tally_gathered *all = gathering->to;
	size_t to = pair * 2 * gathering->step, from = to + gathering->step;
	int result = 0;

	(void)thread;
	if (from >= all->worker_count || !all->ready[from])
		return 0;
	if (!all->ready[to]) {
		all->workers[to] = all->workers[from];
		all->ready[to] = true;
	} else {
		struct tally_gather *larger = &all->workers[to];
		struct tally_gather *smaller = &all->workers[from];

		if (larger->calls.count < smaller->calls.count) {
			struct tally_gather other = *larger;

			*larger = *smaller;
			*smaller = other;
		}
		result = tally_gather_merge(larger, smaller);
		tally_gather_done(smaller);
	}
	all->ready[from] = false;
	return result;
}

int tally_gathered_merge(struct tally_gathered *gathered, const struct tally_gather_plan *plan,
			 struct tally_gather *ret)
{
	struct gathering gathering = {.to = gathered};

	for (gathering.step = 1; gathering.step < gathered->worker_count; gathering.step *= 2) {
		unsigned pairs =
		    (gathered->worker_count + 2 * gathering.step - 1) / (2 * gathering.step);
		int result = tally_pool_run(gathered->worker_count, pairs, merge_pair, &gathering);

		if (result)
			return result;
	}
	if (!gathered->ready[0]) /* no sample at all */
		return tally_gather_init(ret, plan);
	*ret = gathered->workers[0];
	gathered->ready[0] = false;
	return 0;
}

void tally_gathered_done(struct tally_gathered *gathered)
{
	for (unsigned i = 0; gathered->ready && i < gathered->worker_count; i++)
		if (gathered->ready[i])
			tally_gather_done(&gathered->workers[i]);
	free(gathered->workers);
	free(gathered->ready);
	*gathered = (struct tally_gathered){0};
}

void tally_gathering_plan(struct tally_gather_plan *plan, struct tally_session *session,
			  const struct tally_profile_options *options,
			  const struct profile_keys *keys, uint64_t *period)
{
	struct tally_data *data = tally_session_data(session);

	*plan = (struct tally_gather_plan){
	    .session = session,
	    .options = options,
	    .keys = keys,
	    .period = period,
	    .event_count = (uint32_t)tally_data_event_count(data),
	    .want = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | keys->want,
	};
	if (options->callchains)
		plan->want |= PERF_SAMPLE_CALLCHAIN;
	/* A sample without its period stands for the attr's; in frequency mode that is unknown. */
	for (uint32_t i = 0; i < plan->event_count; i++) {
		const struct tally_attr *attr = &tally_data_event(data, i)->attr;

		plan->reads |= (attr->sample_type & PERF_SAMPLE_READ) != 0;
		period[i] = attr->freq || !attr->sample_period ? 1 : attr->sample_period;
	}
	if (plan->reads)
		plan->want |= PERF_SAMPLE_READ | PERF_SAMPLE_TIME;
}

/* A sample that read counters, while it is taken once for each that has moved. */
struct counted {
	struct gathering *gathering;
	struct tally_resolver *resolver;
	const struct tally_resolved *at;
	tally_sample_fn take;
};

static int take_move(void *context, uint32_t event, uint64_t id, uint64_t by)
{
	const struct counted *counted = context;
	struct tally_resolved as = *counted->at;

	as.event = event;
	as.sample.id = id;
	as.sample.period = by;
	as.sample.present |= PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD;
	return counted->take(counted->gathering, 0, counted->resolver, &as);
}

static int take_counted(struct gathering *gathering, unsigned worker,
			struct tally_resolver *resolver, const struct tally_resolved *sample,
			tally_sample_fn take)
{
	if (!(sample->sample.present & PERF_SAMPLE_READ))
		return take(gathering, worker, resolver, sample);
	return tally_moves_each(&gathering->counters, tally_session_data(gathering->plan->session),
				&sample->sample.read, take_move,
				&(struct counted){gathering, resolver, sample, take});
}

static int visit_counted(void *context, unsigned worker, struct tally_resolver *resolver,
			 const struct tally_resolved *sample)
{
	return take_counted(context, worker, resolver, sample, visit);
}

/* What a counter moved by until a sample that is left out is that sample's, not the next one's. */
static int leave_out_counted(void *context, unsigned worker, struct tally_resolver *resolver,
			     const struct tally_resolved *sample)
{
	return take_counted(context, worker, resolver, sample, leave_out);
}

int tally_gathering_run(struct tally_session *session, const struct tally_gather_plan *plan,
			struct tally_gathered *ret, struct tally_error *error)
{
	struct gathering gathering = {.plan = plan, .to = ret};
	const struct tally_sample_visitor visitor = {
	    .want = plan->want,
	    .context = &gathering,
	    /* What a counter moved by since the last sample is told in their order alone. */
	    .visit = plan->reads ? visit_counted : visit,
	    .run = plan->options->callchains || plan->only ? NULL : visit_run,
	    .in_order = plan->reads,
	    .ahead = plan->options->callchains ? look_ahead : NULL,
	    .finish = finish,
	    .left_out = plan->reads ? leave_out_counted : leave_out,
	};
	unsigned threads = tally_session_threads(session);
	int result;

	*ret = (struct tally_gathered){.worker_count = threads ? threads : 1};
	ret->workers = table_apart(ret->worker_count, sizeof(*ret->workers));
	ret->ready = calloc(ret->worker_count, sizeof(*ret->ready));
	result =
	    ret->workers && ret->ready ? tally_session_visit(session, &visitor, error) : -ENOMEM;
	tally_map_done(&gathering.counters);
	if (result)
		tally_gathered_done(ret);
	return result;
}
