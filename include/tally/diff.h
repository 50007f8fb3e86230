/* Differences: the rows of several profiles side by side, with what changed and whether it can be
 * chance.
 *
 * Rows of the first profile, the baseline, are matched with those of the others by the text of
 * their keys.  A function that has another name but the same code is matched, too, and a function
 * whose samples are in callers that it was inlined into is found there. */
#ifndef TALLY_DIFF_H
#define TALLY_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_diff;

/* How a row's change is computed, as perf diff has it. */
enum tally_diff_compute {
	TALLY_DIFF_DELTA_ABS, /* the difference of shares; rows are sorted without its sign */
	TALLY_DIFF_DELTA,     /* the same, sorted with it */
	TALLY_DIFF_RATIO,     /* period / period of the baseline */
	TALLY_DIFF_WDIFF,     /* period * w2 - period of the baseline * w1 */
};

struct tally_diff_options {
	size_t size; /* sizeof of this struct */
	enum tally_diff_compute compute;
	int64_t w1, w2;
	size_t order_by;    /* the recording whose change rows are sorted by; 0: by the baseline */
	bool baseline_only; /* only rows that the baseline has */
	/* What a row's samples are compared by: NULL or "samples": shares of all samples; "none":
	 * the numbers themselves, of recordings of the same work; "time": samples a second;
	 * otherwise the name of an event, of whose samples there are so many. */
	const char *normalize;
	/* Changes up to this percentage, relative, are taken for what equal runs differ by; and up
	 * to a hundredth of it of all samples. */
	double noise;
	/* As the profiles' options have them: functions that were inlined are looked for in the
	 * samples of that time and these CPUs. */
	const char *time;
	const uint32_t *cpus;
	size_t cpu_count;
};

/* The profiles must have the same keys, and are borrowed until the difference is freed.  0;
 * -EINVAL: there are fewer than two, their keys differ, or a name is unknown; -E2BIG; -ENOMEM; or
 * an error of reading. */
int tally_diff_new(struct tally_profile *const *profiles, size_t count,
		   const struct tally_diff_options *options, struct tally_diff **ret,
		   struct tally_error *error);
void tally_diff_free(struct tally_diff *diff);

/* Events of the baseline. */
size_t tally_diff_event_count(const struct tally_diff *diff);
/* Rows of an event, sorted. */
size_t tally_diff_row_count(const struct tally_diff *diff, size_t event);

enum tally_diff_status {
	TALLY_DIFF_BOTH,
	TALLY_DIFF_RENAMED, /* the code is the same, the name is not */
	TALLY_DIFF_NEW,     /* only this recording has it */
	TALLY_DIFF_GONE,    /* only the baseline has it */
	TALLY_DIFF_INLINED, /* only the baseline has it; its code is in its callers now */
};

/* A row in one of the recordings beside the baseline. */
struct tally_diff_cell {
	size_t size; /* sizeof of this struct, set by the caller */
	enum tally_diff_status status;
	bool significant; /* the change is more than chance and noise explain */
	bool more;        /* the rate of samples is higher, however much that is */
	double p;         /* the probability of such a change by chance and noise */
	uint64_t base_samples, samples;
	uint64_t base_period, period;
	double base_share, share; /* % */
	double change;            /* by the option `compute` */
	const char *name;         /* the symbol in this recording, if RENAMED; borrowed */
	/* Of INLINED: samples of its code where it was inlined. */
	uint64_t inlined_samples;
	/* Of a caller: its samples that are of such functions.  What these had in the baseline is
	 * added to the caller's samples there for the test. */
	uint64_t absorbed_samples;
};
/* 0; -EINVAL: there is no such event, row or recording (the first is 1), or ret->size is not set.
 */
int tally_diff_cell(const struct tally_diff *diff, size_t event, size_t row, size_t recording,
		    struct tally_diff_cell *ret);
/* The text of a row's key, by its number among the profile's keys; NULL: there is none.  Borrowed;
 * untrusted. */
const char *tally_diff_key(const struct tally_diff *diff, size_t event, size_t row, size_t key);

struct tally_diff_text {
	size_t size; /* sizeof of this struct */
	bool json;   /* tally-json(7) */
	bool show_period, show_formula;
	bool quiet; /* no header lines */
	bool significant_only;
	const char *separator;    /* between cells, which are not padded then; NULL: columns */
	const char *const *names; /* of the recordings, for header lines; NULL: none */
	unsigned width;           /* columns of the terminal; 0: no limit */
};
/* Writes the rows of all events.  0, -E2BIG, -ENOMEM, or -errno of writing. */
int tally_diff_write(const struct tally_diff *diff, const struct tally_diff_text *options,
		     FILE *to);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
