#include "live/live_shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOT_SHOWN      UINT32_MAX
#define CONTEXTS_LEAST 4096U

/* The index of a key among those; PROFILE_KEYS_MOST: it is not one of them. */
static size_t key_index(const struct profile_keys *keys, const char *name)
{
	size_t at = 0;

	while (at < keys->count && strcmp(keys->names[at], name) != 0)
		at++;
	return at < keys->count ? at : PROFILE_KEYS_MOST;
}

/* A value of the key as the other profile has it: each profile has texts of its own. */
static uint64_t value_for(const struct profile_keys *from, size_t at, uint64_t value,
			  const struct profile_keys *to)
{
	const char *text;

	if (from->list[at]->type != KEY_TEXT || value == KEY_UNKNOWN || !from->texts || !to->texts)
		return value;
	text = tally_key_texts_get(from->texts, value);
	return tally_key_texts_put(to->texts, text, strlen(text));
}

/* Marks the contexts that have sums. */
static void mark_contexts(const struct tally_call_sums *sums, uint32_t *now)
{
	for (uint32_t i = 0; i < sums->count; i++)
		now[sums->list[i].context] = 0;
}

/* The numbers in `to` of the contexts that are shown, NOT_SHOWN for the others. */
static int show_contexts(const struct profile_worker *total, const size_t *indices, size_t only,
			 uint64_t only_value, struct profile_worker *to, uint32_t *now)
{
	const struct profile_keys *from = total->plan->keys, *keys = to->plan->keys;

	for (uint32_t i = 0; i < total->contexts.count; i++) {
		const struct tally_context *context = &total->contexts.list[i];
		const uint64_t *values = contexts_values(&total->contexts, i);
		uint64_t shown[PROFILE_KEYS_MOST];
		int64_t number;

		if (now[i] == NOT_SHOWN)
			continue;
		now[i] = NOT_SHOWN;
		if (only < PROFILE_KEYS_MOST && values[only] != only_value)
			continue;
		for (size_t k = 0; k < keys->count; k++)
			shown[k] = value_for(from, indices[k], values[indices[k]], keys);
		number = tally_contexts_put(&to->contexts, context->event, shown);
		if (number < 0)
			return -ENOMEM;
		now[i] = (uint32_t)number;
		context_named(&to->contexts.list[number], context->last_comm, context->last_offset);
	}
	return 0;
}

static int show_sums(const struct profile_worker *total, const struct tally_call_sums *from,
		     struct profile_worker *to, struct tally_call_sums *sums, const uint32_t *now,
		     bool passes)
{
	int result = from->count ? tally_call_sums_reserve(sums, from->count) : 0;

	for (uint32_t i = 0; !result && i < from->count; i++) {
		struct tally_call_sum sum = from->list[i];
		struct profile_sum *all =
		    &to->sums[total->contexts.list[from->list[i].context].event];

		sum.context = now[sum.context];
		if (sum.context == NOT_SHOWN)
			continue;
		sums->list[sums->count++] = sum;
		if (passes) {
			all->passed += sum.samples;
			all->passed_total += sum.self;
		}
	}
	return result;
}

int tally_live_shown(struct profile_worker *total, const struct tally_profile_shown *shown,
		     const struct profile_plan *plan, struct profile_worker *ret)
{
	const struct profile_keys *keys = plan->keys;
	size_t indices[PROFILE_KEYS_MOST] = {0}, only = PROFILE_KEYS_MOST;
	uint32_t *now = NULL;
	int result = 0;

	for (size_t k = 0; k < keys->count && !result; k++) {
		indices[k] = key_index(total->plan->keys, keys->names[k]);
		result = indices[k] < PROFILE_KEYS_MOST ? 0 : -EINVAL;
	}
	if (shown->only_key && !result) {
		only = key_index(total->plan->keys, shown->only_key);
		result = only < PROFILE_KEYS_MOST ? 0 : -EINVAL;
	}
	if (!result)
		result = tally_profile_worker_init(ret, plan);
	if (result)
		return result;
	memcpy(ret->sums, total->sums, plan->event_count * sizeof(*ret->sums));
	for (uint32_t i = 0; shown->only_key && i < plan->event_count; i++)
		ret->sums[i].passed = ret->sums[i].passed_total = 0;
	now = malloc(((size_t)total->contexts.count + 1) * sizeof(*now));
	if (!now)
		return -ENOMEM;
	memset(now, 0xff, ((size_t)total->contexts.count + 1) * sizeof(*now));
	mark_contexts(&total->calls, now);
	mark_contexts(&total->sides, now);
	result = show_contexts(total, indices, only, shown->only_value, ret, now);
	if (!result)
		result =
		    show_sums(total, &total->calls, ret, &ret->calls, now, shown->only_key != NULL);
	if (!result)
		result = show_sums(total, &total->sides, ret, &ret->sides, now, false);
	free(now);
	return result;
}

int tally_live_clear(struct profile_worker *total, uint32_t *least)
{
	const struct tally_profile_options *options = total->plan->options;
	const struct tally_profile_shown all = {.keys = options->keys,
						.key_count = options->key_count};
	struct profile_worker cleared = {0};
	int result;

	if (total->contexts.count / 2 < *least)
		return 0;
	result = tally_live_shown(total, &all, total->plan, &cleared);
	if (result) {
		tally_profile_worker_done(&cleared);
		return result;
	}
	tally_profile_worker_done(total);
	*total = cleared;
	*least = total->contexts.count > CONTEXTS_LEAST ? total->contexts.count : CONTEXTS_LEAST;
	return 0;
}
