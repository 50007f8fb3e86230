/* A profile by function, of sums that were made for the page. */
#include <errno.h>
#include "page/page_facts.h"
#include "profile/profile.h"
#include "profile/worker.h"

#include <stdlib.h>

/* The sums of `from` without the values of their keys. */
static int take_sums(struct profile_worker *worker, const struct profile_worker *from)
{
	const uint64_t none[PROFILE_KEYS_MOST] = {0};
	uint32_t *now = calloc((size_t)from->contexts.count + 1, sizeof(*now));
	int result = now ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < from->contexts.count && !result; i++) {
		int64_t number =
		    tally_contexts_put(&worker->contexts, from->contexts.list[i].event, none);

		if (number < 0)
			result = -ENOMEM;
		else
			now[i] = (uint32_t)number;
	}
	if (!result)
		result = tally_call_sums_join(&worker->calls, &from->calls, now);
	for (uint32_t i = 0; i < worker->plan->event_count; i++)
		worker->sums[i] = from->sums[i];
	free(now);
	return result;
}

int tally_page_flat(struct tally_session *session, const struct tally_profile_options *options,
		    const struct profile_worker *from, struct tally_profile **ret,
		    struct tally_error *error)
{
	static const char *const keys[] = {"dso", "symbol"};
	struct tally_profile_options flat = *options;
	struct profile_plan plan;
	struct profile_worker worker;
	struct tally_profile *profile = NULL;
	int result;

	flat.keys = keys;
	flat.key_count = sizeof(keys) / sizeof(*keys);
	result = tally_profile_prepare(session, &flat, &plan, &profile, error);
	if (result)
		return result;
	result = tally_profile_worker_init(&worker, &plan);
	if (!result)
		result = take_sums(&worker, from);
	if (!result)
		result = tally_profile_make(profile, &plan, &worker);
	tally_profile_worker_done(&worker);
	tally_profile_plan_done(&plan);
	if (result) {
		tally_profile_free(profile);
		return result;
	}
	*ret = profile;
	return 0;
}
