/* A profile that is made again and again, of a live session.
 *
 * Workers add up what comes.  When an interval has passed, their sums are added to those of before,
 * and a copy of these becomes a profile: so a profile can be looked at in another thread while
 * samples come. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "live/live_fade.h"
#include "live/live_shown.h"
#include "profile/profile.h"
#include "profile/sink.h"
#include "session/run.h"

struct live {
	struct tally_profile_options options;
	struct tally_profile_live taker;
	struct tally_profile *first; /* its keys are those of all */
	struct profile_plan plan;
	struct profile_worker *workers, total;
	unsigned worker_count;
	uint64_t next;           /* when a profile is due, ns */
	uint64_t time;           /* that the source has passed */
	uint32_t contexts_least; /* see tally_live_clear() */
	struct tally_error *error;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static int begin(void *context, unsigned workers)
{
	struct live *live = context;
	int result = tally_profile_worker_init(&live->total, &live->plan);

	live->workers = table_apart(workers, sizeof(*live->workers));
	if (result || !live->workers)
		return -ENOMEM;
	for (; live->worker_count < workers && !result; live->worker_count++)
		result = tally_profile_worker_init(&live->workers[live->worker_count], &live->plan);
	live->next = now() + live->taker.interval;
	return result;
}

static int add(void *context, unsigned worker, const struct tally_batch *batch)
{
	struct live *live = context;

	return tally_profile_worker_take(&live->workers[worker], batch);
}

/* Takes what the workers have added up since the last profile. */
static int collect(struct live *live)
{
	int result = 0;

	for (unsigned i = 0; i < live->worker_count && !result; i++) {
		struct profile_worker *worker = &live->workers[i];

		result = tally_profile_worker_merge(&live->total, worker);
		if (!result) {
			tally_profile_worker_done(worker);
			result = tally_profile_worker_init(worker, &live->plan);
		}
	}
	return result;
}

/* Gives a profile; what was added up fades if its time was over (`due`). */
static int give(struct live *live, bool due)
{
	struct tally_profile_shown shown = {
	    .size = sizeof(shown),
	    .keys = live->options.keys,
	    .key_count = live->options.key_count,
	    .keep = live->taker.keep,
	};
	struct tally_profile_options options = live->options;
	struct tally_profile *profile;
	struct profile_plan plan;
	struct profile_worker copy = {0};
	int result = collect(live);

	if (live->taker.choose)
		live->taker.choose(live->taker.context, &shown);
	options.keys = shown.keys;
	options.key_count = shown.key_count;

	/* What is of the same becomes one sum before it is copied. */
	if (!result)
		result = tally_call_sums_join_equal(&live->total.calls);
	if (!result)
		result = tally_call_sums_join_equal(&live->total.sides);
	if (!result)
		result = tally_profile_prepare(live->first->session, &options, &plan, &profile,
					       live->error);
	if (result)
		return result;
	result = tally_live_shown(&live->total, &shown, &plan, &copy);
	if (!result)
		result = tally_profile_make(profile, &plan, &copy);
	tally_profile_worker_done(&copy);
	tally_profile_plan_done(&plan);
	if (result) {
		tally_profile_free(profile);
		return result;
	}
	result = due ? tally_live_fade(&live->total, shown.keep) : 0;
	if (!result)
		result = tally_live_clear(&live->total, &live->contexts_least);
	return result ? result : live->taker.take(live->taker.context, profile);
}

static int passed(void *context, uint64_t time)
{
	struct live *live = context;
	uint64_t at = now();
	int result;

	bool waits = time == live->time;

	live->time = time;
	/* Without samples a profile would be as the one before. */
	if (at < live->next || waits)
		return live->taker.wanted && live->taker.wanted(live->taker.context)
			   ? give(live, false)
			   : 0;
	result = give(live, true);
	live->next = at + live->taker.interval;
	return result;
}

static int end(void *context)
{
	return give(context, true);
}

/* What is known only when all records were read. */
static bool needs_all(const struct tally_profile_options *options)
{
	for (size_t i = 0; i < options->key_count; i++)
		if (!strcmp(options->keys[i], "parallelism"))
			return true;
	return options->time || options->latency;
}

int tally_profile_follow(struct tally_session *session, const struct tally_profile_options *options,
			 const struct tally_profile_live *live, struct tally_error *error)
{
	struct tally_error none;
	struct live run = {.taker = {.size = sizeof(run.taker), .keep = 128},
			   .error = error ? error : &none};
	struct tally_sink sink = {
	    .size = sizeof(sink),
	    .context = &run,
	    .begin = begin,
	    .batch = add,
	    .passed = passed,
	    .end = end,
	};
	const struct tally_sink *const sinks[] = {&sink};
	int result = tally_profile_options_take(&run.options, options, error);

	if (!result)
		result = tally_options_take(&run.taker, sizeof(run.taker), live);
	if (!result && (!run.taker.take || run.taker.keep > 128 || needs_all(&run.options)))
		result = -EINVAL;
	if (result)
		return tally_fail(error, result, -1,
				  "a live profile cannot have spans of time, or parallelism");
	result = tally_profile_prepare(session, &run.options, &run.plan, &run.first, error);
	if (result)
		return result;
	if (run.options.max_stack)
		tally_session_unwind_most(session, run.options.max_stack);
	tally_session_stack_most(session, run.options.max_stack);
	sink.columns = tally_profile_columns(&run.plan);
	result = tally_session_run(session, sinks, 1, error);
	for (unsigned i = 0; i < run.worker_count; i++)
		tally_profile_worker_done(&run.workers[i]);
	free(run.workers);
	if (run.total.plan)
		tally_profile_worker_done(&run.total);
	tally_profile_plan_done(&run.plan);
	tally_profile_free(run.first);
	return result;
}
