/* How much more than chance the samples of a row vary while two recordings run.
 *
 * Counts are Poisson distributed only if samples are independent.  Under load they are not: for a
 * tenth of a second another process takes the caches, and then the clock is slow.  So both
 * recordings are cut into slices of equal length, the first slice of one is compared with the first
 * of the other, and so on, and what the differences of the slices vary by, beside what is the same
 * in all of them, is measured: X2 of Pearson over its degrees of freedom, which is 1 for
 * independent samples.  Phases of a program are in the same slices of both and do not count.
 *
 * What differs between whole runs, such as the speed of a loop that depends on its addresses, no
 * pair of recordings shows: that is what the option `noise` is for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/map.h"
#include "diff/diff_state.h"
#include "session/across.h"

#define SLICES     16U
#define FINER      2U /* times are known as parts of a slice, as slices begin anywhere */
#define LEAST      5  /* samples of both in a slice: fewer are left out */
#define SLICES_FEW 4U /* of which something can be said */
/* A row in fewer slices may be one stall, of a page that was read or a trap, and be longer or
 * shorter by this part of a slice. */
#define STALL (1.0 / 16)

/* Samples by slice. */
struct slices {
	uint32_t counts[SLICES];
};

struct cutting {
	struct tally_diff *diff;
	const struct diff_event *event;
	struct tally_map rows; /* hash of the texts -> row + 1 */
	struct tally_buf text;
	struct slices *of_rows, all;
};

static uint64_t hash_of(const struct tally_diff *diff, const char *const *texts)
{
	uint64_t hash = diff->key_count;

	for (size_t i = 0; i < diff->key_count; i++)
		hash = hash_mix(hash, tally_hash_bytes(texts[i], strlen(texts[i])));
	return hash;
}

static int index_rows(struct cutting *cutting)
{
	for (size_t i = 0; i < cutting->event->count; i++) {
		bool added;
		uint64_t *slot = tally_map_put(
		    &cutting->rows, hash_of(cutting->diff, cutting->event->rows[i].texts), &added);

		if (!slot)
			return -ENOMEM;
		*slot = i + 1;
	}
	return 0;
}

/* The row of the texts of its keys; NULL: it is no row of the difference. */
static struct slices *row_of(struct cutting *cutting, const struct tally_profile *profile,
			     const struct tally_profile_row *row)
{
	const struct tally_diff *diff = cutting->diff;
	struct tally_buf *text = &cutting->text;
	uint64_t hash = diff->key_count, *slot;

	for (size_t i = 0; i < diff->key_count; i++) {
		struct report_field field;

		tally_buf_clear(text);
		if (tally_report_field_init(&field, profile, diff->keys[i]))
			tally_report_field_plain(&field, row, 0, text);
		hash = hash_mix(hash, tally_hash_bytes(text->data, text->size));
	}
	slot = tally_map_find(&cutting->rows, hash);
	return slot ? &cutting->of_rows[*slot - 1] : NULL;
}

static bool has_key(const struct tally_diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->key_count; i++)
		if (!strcmp(diff->keys[i], name))
			return true;
	return false;
}

/* The length of the parts of time that rows are known by, ns. */
static uint64_t unit_of(const struct tally_session_counts *counts)
{
	return (counts->last_time - counts->first_time) / (SLICES * FINER) + 1;
}

/* Rows by parts of time, of all events: a recording is read once for them.  0, -ENOMEM, or an error
 * of reading. */
static int read_slices(struct tally_diff *diff, size_t recording, struct tally_error *error)
{
	struct tally_session *session = diff_session(diff, recording);
	const char **keys = malloc((diff->key_count + 1) * sizeof(*keys));
	struct tally_profile_options options = {
	    .size = sizeof(options),
	    .keys = keys,
	    .key_count = diff->key_count + 1,
	    .time_quantum = unit_of(tally_session_counts(session)),
	    .time = diff->options.time,
	    .cpus = diff->options.cpus,
	    .cpu_count = diff->options.cpu_count,
	};
	int result;

	if (!keys)
		return -ENOMEM;
	memcpy(keys, diff->keys, diff->key_count * sizeof(*keys));
	keys[diff->key_count] = "time";
	result = tally_profile_new(session, &options, &diff->readings[recording].slices, error);
	free(keys);
	return result;
}

/* Rows by slice of one recording.  0, -ENOMEM, or an error of reading. */
static int cut(struct cutting *cutting, size_t recording, struct tally_error *error)
{
	struct tally_diff *diff = cutting->diff;
	const struct tally_session_counts *counts =
	    tally_session_counts(diff_session(diff, recording));
	uint64_t unit = unit_of(counts), first = counts->first_time / unit;
	struct tally_profile_row row = {.size = sizeof(row)};
	const struct tally_profile *profile;
	int result = diff->readings[recording].slices ? 0 : read_slices(diff, recording, error);

	if (result)
		return result;
	profile = diff->readings[recording].slices;
	for (uint64_t i = 0;
	     !tally_profile_row(profile, cutting->event->events[recording], i, &row); i++) {
		uint64_t at = (row.values[diff->key_count] / unit - first) / FINER;
		struct slices *slices;

		tally_session_frame_across(diff_session(diff, recording), &row.frame);
		slices = row_of(cutting, profile, &row);
		at = at < SLICES ? at : SLICES - 1;
		cutting->all.counts[at] += (uint32_t)row.samples;
		if (slices)
			slices->counts[at] += (uint32_t)row.samples;
	}
	return cutting->text.failed ? -ENOMEM : 0;
}

/* Pearson's X2 of a row's slices against one ratio in all of them, that of Mantel and Haenszel, and
 * in *ret its degrees of freedom. */
static double scatter(const struct cutting *a, const struct cutting *b, size_t row, unsigned *ret)
{
	const uint32_t *ones = a->of_rows[row].counts, *others = b->of_rows[row].counts;
	double above = 0, below = 0, sum = 0, ratio;
	unsigned slices = 0;

	*ret = 0;
	for (unsigned i = 0; i < SLICES; i++) {
		double of = (double)a->all.counts[i] + b->all.counts[i];

		above += of > 0 ? (double)others[i] * a->all.counts[i] / of : 0;
		below += of > 0 ? (double)ones[i] * b->all.counts[i] / of : 0;
	}
	if (!(above > 0) || !(below > 0))
		return 0;
	ratio = above / below;
	for (unsigned i = 0; i < SLICES; i++) {
		double both = (double)ones[i] + others[i], odds, part, off;

		if (both < LEAST || !a->all.counts[i] || !b->all.counts[i])
			continue;
		odds = ratio * b->all.counts[i] / a->all.counts[i];
		part = odds / (1 + odds);
		off = others[i] - both * part;
		sum += off * off / (both * part * (1 - part));
		slices++;
	}
	*ret = slices >= SLICES_FEW ? slices - 1 : 0;
	return *ret ? sum : 0;
}

/* For a row of one or a few bursts, of which the slices cannot say how much they vary. */
static double burst(const struct cutting *a, const struct cutting *b, size_t row)
{
	const uint32_t *ones = a->of_rows[row].counts, *others = b->of_rows[row].counts;
	double before = 0, now = 0, all = 0, stall;
	unsigned slices = 0;

	for (unsigned i = 0; i < SLICES; i++) {
		slices += ones[i] || others[i];
		before += ones[i];
		now += others[i];
		all += (double)a->all.counts[i] + b->all.counts[i];
	}
	if (!slices || slices >= SLICES_FEW)
		return 1;
	stall = all / 2 / SLICES * STALL;
	return 1 + stall * stall / (before > now ? before : now);
}

static void measure(const struct cutting *a, const struct cutting *b, size_t recording)
{
	const struct diff_event *event = a->event;
	double sum = 0, all;
	uint64_t freedom = 0;
	unsigned own;

	for (size_t i = 0; i < event->count; i++) {
		double x2 = scatter(a, b, i, &own);

		event->rows[i].sides[recording].dispersion = own ? x2 / own : burst(a, b, i);
		sum += x2;
		freedom += own;
	}
	all = freedom && sum > (double)freedom ? sum / (double)freedom : 1;
	for (size_t i = 0; i < event->count; i++) {
		double *dispersion = &event->rows[i].sides[recording].dispersion;

		if (*dispersion < all)
			*dispersion = all;
	}
}

static bool has_times(const struct tally_diff *diff, const struct diff_event *event,
		      size_t recording)
{
	const struct tally_session *session = diff_session(diff, recording);
	const struct tally_session_counts *counts = tally_session_counts(session);

	return event->events[recording] != UINT32_MAX && counts->last_time > counts->first_time;
}

static void cutting_done(struct cutting *cutting)
{
	tally_map_done(&cutting->rows);
	tally_buf_done(&cutting->text);
	free(cutting->of_rows);
}

static int begin(struct cutting *cutting, struct tally_diff *diff, const struct diff_event *event)
{
	*cutting = (struct cutting){.diff = diff, .event = event};
	cutting->of_rows = calloc(event->count + 1, sizeof(*cutting->of_rows));
	return cutting->of_rows ? index_rows(cutting) : -ENOMEM;
}

int tally_diff_disperse(struct tally_diff *diff, struct diff_event *event,
			struct tally_error *error)
{
	bool timed = !has_key(diff, "time") && has_times(diff, event, 0);
	struct cutting base;
	int result = begin(&base, diff, event);

	for (size_t i = 0; i < event->count; i++)
		for (size_t at = 1; at < diff->recordings; at++)
			event->rows[i].sides[at].dispersion = 1;
	if (!result && timed)
		result = cut(&base, 0, error);
	for (size_t at = 1; at < diff->recordings && !result && timed; at++) {
		struct cutting other;

		if (!has_times(diff, event, at))
			continue;
		result = begin(&other, diff, event);
		if (!result)
			result = cut(&other, at, error);
		if (!result)
			measure(&base, &other, at);
		cutting_done(&other);
	}
	cutting_done(&base);
	return result;
}
