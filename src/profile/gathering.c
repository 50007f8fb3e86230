#include "profile/gathering.h"

#include <errno.h>
#include <stdlib.h>
#include "base/pool.h"

struct gathering {
	const struct tally_gather_plan *plan;
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
		if (tally_gather_init(&gathering->workers[worker], gathering->plan))
			return -ENOMEM;
		gathering->ready[worker] = true;
	}
	return tally_gather_add(&gathering->workers[worker], resolver, sample);
}

static void look_ahead(void *context, unsigned worker, struct tally_resolved *sample,
		       unsigned stage)
{
	const struct gathering *gathering = context;

	if (worker < gathering->worker_count && gathering->ready[worker])
		tally_gather_ahead(&gathering->workers[worker], sample, stage);
}

static int finish(void *context, unsigned worker, struct tally_resolver *resolver)
{
	struct gathering *gathering = context;

	if (worker >= gathering->worker_count || !gathering->ready[worker])
		return 0;
	return tally_gather_settle(&gathering->workers[worker], resolver);
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

void tally_gathering_plan(struct tally_gather_plan *plan, struct tally_session *session,
			  const struct tally_profile_options *options,
			  const struct tally_key_set *keys, uint64_t *period)
{
	struct tally_data *data = tally_session_data(session);

	*plan = (struct tally_gather_plan){
	    .session = session,
	    .options = options,
	    .keys = *keys,
	    .period = period,
	    .event_count = (uint32_t)tally_data_event_count(data),
	    .want = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD,
	};
	/* The name beside a pid or tid is that of its last sample: each one is needed. */
	if (keys->pid || keys->tid)
		plan->want |= PERF_SAMPLE_TIME;
	if (keys->cpu)
		plan->want |= PERF_SAMPLE_CPU;
	if (options->callchains)
		plan->want |= PERF_SAMPLE_CALLCHAIN;
	/* A sample without its period stands for the attr's; in frequency mode that is unknown. */
	for (uint32_t i = 0; i < plan->event_count; i++) {
		const struct tally_attr *attr = &tally_data_event(data, i)->attr;

		period[i] = attr->freq || !attr->sample_period ? 1 : attr->sample_period;
	}
}

int tally_gathering_run(struct tally_session *session, const struct tally_gather_plan *plan,
			struct tally_gather *ret, struct tally_error *error)
{
	struct gathering gathering = {.plan = plan, .worker_count = tally_session_threads(session)};
	const struct tally_sample_visitor visitor = {
	    .want = plan->want,
	    .context = &gathering,
	    .visit = visit,
	    .ahead = plan->options->callchains ? look_ahead : NULL,
	    .finish = finish,
	};
	int result = 0;

	if (!gathering.worker_count)
		gathering.worker_count = 1;
	gathering.workers = calloc(gathering.worker_count, sizeof(*gathering.workers));
	gathering.ready = calloc(gathering.worker_count, sizeof(*gathering.ready));
	if (!gathering.workers || !gathering.ready)
		result = -ENOMEM;
	if (!result)
		result = tally_session_visit(session, &visitor, error);
	if (!result)
		result = merge_all(&gathering);
	if (!result && !gathering.ready[0]) { /* no sample at all */
		result = tally_gather_init(&gathering.workers[0], plan);
		gathering.ready[0] = !result;
	}
	if (!result) {
		*ret = gathering.workers[0];
		gathering.ready[0] = false;
	}
	for (unsigned i = 0; gathering.ready && i < gathering.worker_count; i++)
		if (gathering.ready[i])
			tally_gather_done(&gathering.workers[i]);
	free(gathering.workers);
	free(gathering.ready);
	return result;
}
