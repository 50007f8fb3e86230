/* How much rows changed, by perf's measures, and whether that is more than chance. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "diff/diff_state.h"
#include "diff/significance.h"

struct tally_profile_event tally_diff_facts(const struct tally_diff *diff,
					    const struct diff_event *event, size_t recording)
{
	struct tally_profile_event facts = {.size = sizeof(facts)};

	if (event->events[recording] != UINT32_MAX)
		tally_profile_event(diff->profiles[recording], event->events[recording], &facts);
	return facts;
}

/* Seconds from the first to the last sample. */
static double seconds_of(const struct tally_diff *diff, size_t recording)
{
	const struct tally_session_counts *counts =
	    tally_session_counts(diff_session(diff, recording));

	return (double)(counts->last_time - counts->first_time) / 1e9;
}

/* What numbers of samples are rates of; 0: unknown. */
static double exposure(const struct tally_diff *diff, const struct diff_event *event,
		       size_t recording)
{
	const char *by = diff->normalize;
	struct tally_profile_event facts = {.size = sizeof(facts)};
	const struct tally_profile *profile = diff->profiles[recording];

	if (!by || !strcmp(by, "samples"))
		return (double)tally_diff_facts(diff, event, recording).all_samples;
	if (!strcmp(by, "none"))
		return 1;
	if (!strcmp(by, "time"))
		return seconds_of(diff, recording);
	for (size_t i = 0; !tally_profile_event(profile, i, &facts); i++)
		if (!strcmp(facts.name, by))
			return (double)facts.all_total;
	return 0;
}

static int test_recording(struct tally_diff *diff, struct diff_event *event, size_t recording,
			  struct tally_error *error)
{
	double of_base = exposure(diff, event, 0), of = exposure(diff, event, recording);
	uint64_t all = tally_diff_facts(diff, event, 0).all_samples +
		       tally_diff_facts(diff, event, recording).all_samples;
	double *p = malloc((event->count + 1) * sizeof(*p));
	bool *significant = calloc(event->count + 1, sizeof(*significant));
	int result = p && significant ? 0 : -ENOMEM;

	if (diff->normalize && (!(of_base > 0) || !(of > 0)))
		result = tally_fail(error, -EINVAL, -1,
				    "cannot compare by '%s': a recording has no such event, or no "
				    "times; use samples, none, time, or the name of an event",
				    diff->normalize);
	for (size_t i = 0; i < event->count && !result; i++) {
		const struct diff_row *row = &event->rows[i];
		const struct diff_side *side = &row->sides[recording];
		uint64_t before = row->sides[0].row.samples + side->moved;

		event->rows[i].sides[recording].more =
		    (double)side->row.samples * of_base > (double)before * of;
		p[i] = tally_significance(before, side->row.samples, of_base, of,
					  tally_significance_noise(diff->options.noise / 100,
								   before + side->row.samples, all),
					  side->dispersion);
	}
	if (!result)
		result = tally_significance_choose(
		    p, event->count, diff->event_count * (diff->recordings - 1), significant);
	for (size_t i = 0; i < event->count && !result; i++) {
		event->rows[i].sides[recording].p = p[i];
		event->rows[i].sides[recording].significant = significant[i];
	}
	free(p);
	free(significant);
	return result;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double change_of(const struct tally_diff_options *options, const struct diff_row *row,
			size_t recording, uint64_t base_total, uint64_t total)
{
	uint64_t before = row->sides[0].row.self, now = row->sides[recording].row.self;

	switch (options->compute) {
	case TALLY_DIFF_RATIO:
		return before ? (double)now / (double)before : 0;
	case TALLY_DIFF_WDIFF:
		return (double)now * (double)options->w2 - (double)before * (double)options->w1;
	case TALLY_DIFF_DELTA:
	case TALLY_DIFF_DELTA_ABS:
		break;
	}
	return percent(now, total) - percent(before, base_total);
}

int tally_diff_test(struct tally_diff *diff, struct diff_event *event, struct tally_error *error)
{
	uint64_t base_total = tally_diff_facts(diff, event, 0).total;
	int result = 0;

	for (size_t at = 1; at < diff->recordings && !result; at++) {
		uint64_t total = tally_diff_facts(diff, event, at).total;

		result = test_recording(diff, event, at, error);
		for (size_t i = 0; i < event->count; i++)
			event->rows[i].sides[at].change =
			    change_of(&diff->options, &event->rows[i], at, base_total, total);
	}
	return result;
}

static int by_order(const void *left, const void *right, void *context)
{
	const struct diff_row *a = left, *b = right;
	const struct tally_diff *diff = context;

	if (a->order != b->order)
		return a->order > b->order ? -1 : 1;
	if (a->sides[0].row.self != b->sides[0].row.self)
		return a->sides[0].row.self > b->sides[0].row.self ? -1 : 1;
	for (size_t i = 0; i < diff->key_count; i++) {
		int order = strcmp(a->texts[i], b->texts[i]);

		if (order)
			return order;
	}
	return 0;
}

int tally_diff_sort(struct tally_diff *diff, struct diff_event *event)
{
	size_t by = diff->options.order_by;
	size_t kept = 0;

	for (size_t i = 0; i < event->count; i++) {
		struct diff_row *row = &event->rows[i];

		if (diff->options.baseline_only && !row->sides[0].present)
			continue;
		row->order = by ? row->sides[by].change : (double)row->sides[0].row.self;
		if (by && diff->options.compute == TALLY_DIFF_DELTA_ABS)
			row->order = fabs(row->order);
		event->rows[kept++] = *row;
	}
	event->count = kept;
	if (event->count)
		qsort_r(event->rows, event->count, sizeof(*event->rows), by_order, diff);
	return 0;
}
