#include <tally/diff.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "diff/diff_state.h"

static bool has_same_keys(struct tally_profile *const *profiles, size_t count)
{
	size_t keys, others;
	const char *const *first = tally_profile_keys(profiles[0], &keys);

	for (size_t i = 1; i < count; i++) {
		const char *const *list = tally_profile_keys(profiles[i], &others);

		if (others != keys)
			return false;
		for (size_t at = 0; at < keys; at++)
			if (first[at] != list[at])
				return false;
	}
	return true;
}

static const struct tally_attr *attr_of(const struct tally_diff *diff, size_t recording,
					size_t event)
{
	return &tally_data_event(tally_session_data(diff_session(diff, recording)), event)->attr;
}

/* The event of a recording that is compared with one of the first: that of its name, else one that
 * counts the same with other modifiers; the only one of a recording has any name. */
static uint32_t event_of(const struct tally_diff *diff, size_t recording, size_t number,
			 const char *name)
{
	const struct tally_profile *profile = diff->profiles[recording];
	const struct tally_attr *attr = attr_of(diff, 0, number);
	struct tally_profile_event facts = {.size = sizeof(facts)};
	uint32_t count = (uint32_t)tally_profile_event_count(profile);

	for (uint32_t i = 0; !tally_profile_event(profile, i, &facts); i++)
		if (!strcmp(facts.name, name))
			return i;
	for (uint32_t i = 0; i < count; i++) {
		const struct tally_attr *other = attr_of(diff, recording, i);

		if (other->type == attr->type && other->config == attr->config)
			return i;
	}
	return diff->event_count == 1 && count == 1 ? 0 : UINT32_MAX;
}

static int make_event(struct tally_diff *diff, size_t number, struct tally_error *error)
{
	struct diff_event *event = &diff->events[number];
	struct tally_profile_event facts = {.size = sizeof(facts)};
	int result;

	tally_profile_event(diff->profiles[0], number, &facts);
	event->name = facts.name;
	event->events = tally_arena_alloc(&diff->arena, diff->recordings * sizeof(uint32_t));
	if (!event->events)
		return -ENOMEM;
	event->events[0] = (uint32_t)number;
	for (size_t i = 1; i < diff->recordings; i++)
		event->events[i] = event_of(diff, i, number, facts.name);
	result = tally_diff_match(diff, event);
	for (size_t i = 1; i < diff->recordings && !result; i++) {
		result = tally_diff_find_renamed(diff, event, i);
		if (!result)
			result = tally_diff_find_inlined(diff, event, i, error);
	}
	if (!result)
		result = tally_diff_disperse(diff, event, error);
	if (!result)
		result = tally_diff_test(diff, event, error);
	return result ? result : tally_diff_sort(diff, event);
}

static int fill(struct tally_diff *diff, struct tally_error *error)
{
	int result = 0;

	diff->keys = tally_profile_keys(diff->profiles[0], &diff->key_count);
	diff->event_count = tally_profile_event_count(diff->profiles[0]);
	diff->events = calloc(diff->event_count + 1, sizeof(*diff->events));
	diff->readings = calloc(diff->recordings, sizeof(*diff->readings));
	diff->normalize = diff->options.normalize
			      ? tally_arena_strndup(&diff->arena, diff->options.normalize,
						    strlen(diff->options.normalize))
			      : NULL;
	if (!diff->events || !diff->readings || (diff->options.normalize && !diff->normalize))
		return -ENOMEM;
	for (size_t i = 0; i < diff->event_count && !result; i++)
		result = make_event(diff, i, error);
	return result;
}

int tally_diff_new(struct tally_profile *const *profiles, size_t count,
		   const struct tally_diff_options *options, struct tally_diff **ret,
		   struct tally_error *error)
{
	struct tally_diff_options wanted = {
	    .size = sizeof(wanted), .w1 = 1, .w2 = 1, .order_by = 1};
	struct tally_diff *diff;
	int result = tally_options_take(&wanted, sizeof(wanted), options);

	if (result)
		return tally_fail(error, result, -1, "an option is not known to this libtally");
	if (count < 2 || !has_same_keys(profiles, count) || wanted.order_by >= count)
		return tally_fail(error, -EINVAL, -1,
				  "a difference is of two recordings or more, by the same keys");
	diff = calloc(1, sizeof(*diff));
	if (!diff)
		return tally_fail(error, -ENOMEM, -1, "not enough memory");
	diff->profiles = profiles;
	diff->recordings = count;
	diff->options = wanted;
	result = fill(diff, error);
	if (result == -ENOMEM)
		tally_fail(error, result, -1, "not enough memory for the difference");
	if (result)
		tally_diff_free(diff);
	else
		*ret = diff;
	return result;
}

void tally_diff_free(struct tally_diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; diff->events && i < diff->event_count; i++)
		free(diff->events[i].rows);
	free(diff->events);
	for (size_t i = 0; diff->readings && i < diff->recordings; i++) {
		tally_profile_free(diff->readings[i].slices);
		tally_place_sums_done(&diff->readings[i].places);
	}
	free(diff->readings);
	tally_arena_done(&diff->arena);
	free(diff);
}

size_t tally_diff_event_count(const struct tally_diff *diff)
{
	return diff->event_count;
}

size_t tally_diff_row_count(const struct tally_diff *diff, size_t event)
{
	return event < diff->event_count ? diff->events[event].count : 0;
}

int tally_diff_cell(const struct tally_diff *diff, size_t event, size_t row, size_t recording,
		    struct tally_diff_cell *ret)
{
	const struct diff_event *of;
	const struct diff_side *base, *side;
	uint64_t base_total, total;
	struct tally_diff_cell cell;

	if (row >= tally_diff_row_count(diff, event) || !recording || recording >= diff->recordings)
		return -EINVAL;
	of = &diff->events[event];
	base = &of->rows[row].sides[0];
	side = &of->rows[row].sides[recording];
	base_total = tally_diff_facts(diff, of, 0).total;
	total = tally_diff_facts(diff, of, recording).total;
	cell = (struct tally_diff_cell){
	    .status = side->status,
	    .significant = side->significant,
	    .more = side->more,
	    .p = side->p,
	    .base_samples = base->row.samples,
	    .samples = side->row.samples,
	    .base_period = base->row.self,
	    .period = side->row.self,
	    .base_share = base_total ? 100.0 * (double)base->row.self / (double)base_total : 0,
	    .share = total ? 100.0 * (double)side->row.self / (double)total : 0,
	    .change = side->change,
	    .name = side->name,
	    .inlined_samples = side->inlined,
	    .absorbed_samples = side->absorbed,
	};
	return tally_result_copy(ret, sizeof(cell), &cell);
}

const char *tally_diff_key(const struct tally_diff *diff, size_t event, size_t row, size_t key)
{
	return row < tally_diff_row_count(diff, event) && key < diff->key_count
		   ? diff->events[event].rows[row].texts[key]
		   : NULL;
}
