/* Counts made readable: readings of counters at places, added up by parts of the machine, over runs
 * or in intervals, and what follows from several of them together ("insn per cycle").
 *
 *	tally_stat_new(&options, &stat, &error);
 *	for each run:
 *		tally_stat_begin(stat);
 *		tally_stat_interval(stat, counts, &times);  (only for intervals)
 *		tally_stat_finish(stat, counts, &times);
 *	tally_stat_value(stat, event, part, &value);  (also after each interval)
 *
 * Opens, reads and prints nothing; what it is given may come from counters or from a file. */
#ifndef TALLY_STAT_H
#define TALLY_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/attr.h>
#include <tally/count.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What each row is for. */
enum tally_stat_by {
	TALLY_STAT_GLOBAL, /* all places together */
	TALLY_STAT_CPU,    /* perf's -A */
	TALLY_STAT_THREAD,
	TALLY_STAT_CORE,
	TALLY_STAT_CLUSTER,
	TALLY_STAT_CACHE, /* CPUs with the same last-level cache */
	TALLY_STAT_DIE,
	TALLY_STAT_SOCKET,
	TALLY_STAT_NODE,
};

/* Where a counter counts, or a part of the machine with several such places.  A member that is
 * unknown, or not the same in the whole part, is -1 or NULL. */
struct tally_stat_place {
	int32_t cpu, tid;
	int32_t socket, die, cluster, cache, core, node;
	const char *comm; /* of the thread */
};

struct tally_stat_event {
	struct tally_attr attr;
	const char *name;
	const char *unit;   /* NULL: none; of clocks without one: msec */
	const char *pmu;    /* NULL: not named by its PMU */
	const char *cgroup; /* NULL: not of one */
	double scale;       /* a count is multiplied by it; 0: 1, of clocks without a unit 1e-6 */
	bool per_pkg;       /* one place of a die counts for all of it */
	bool snapshot;      /* the count is a state, not a sum */
	bool tool;          /* a time that the tool measures: ns */
	bool percore;       /* by CPU: the CPUs of a core count as one, which has a row once */
	const char *why;    /* why it is not counted, in one line, which is read when it is printed;
			       NULL or empty: unknown */
};

/* A number that is computed from counts, beside the event that it is shown with. */
struct tally_stat_metric {
	const char *name, *unit; /* unit NULL or "": a plain number */
	size_t event;            /* index; without such an event it is not shown */
};

struct tally_stat_options {
	size_t size; /* sizeof of this struct */
	const struct tally_stat_event *events;
	size_t event_count;
	const struct tally_stat_place *places;
	size_t place_count;
	enum tally_stat_by by;
	bool merge;        /* events of the same name on several PMUs are one, which is the first */
	bool unscaled;     /* values as they were counted, however long they ran (--no-scale) */
	bool percore_each; /* an event that is `percore` has its core's count for each of its CPUs
			    */
	const struct tally_stat_metric *metrics;
	size_t metric_count;
	/* The metric's value when the events counted `values`: by event, scaled for the time that
	 * they ran but not by their unit's scale; NAN: not counted.  NAN when unknown.
	 * *ret_threshold: 1 it is worth a look, 0 it is not, -1 (as it was) there is no limit. */
	double (*metric_value)(void *context, size_t metric, const double *values,
			       int *ret_threshold);
	void *metric_context;
};

struct tally_stat;

/* What options point to is borrowed until free.  -EINVAL, -E2BIG, -ENOMEM. */
int tally_stat_new(const struct tally_stat_options *options, struct tally_stat **ret,
		   struct tally_error *error);
void tally_stat_free(struct tally_stat *stat); /* NULL is fine */
const struct tally_stat_options *tally_stat_options(const struct tally_stat *stat);

struct tally_stat_times {      /* ns */
	uint64_t elapsed;      /* of the run; in intervals: since the one before */
	uint64_t user, system; /* of the command */
};

/* Counts start at 0 again. */
void tally_stat_begin(struct tally_stat *stat);
/* A reading during a run: `counts` are [event][place], since the run began.  The functions below
 * then give values for the time since the reading before. */
void tally_stat_interval(struct tally_stat *stat, const struct tally_count *counts,
			 const struct tally_stat_times *times);
/* The reading at the end of a run.  The functions below then give values for whole runs: means. */
void tally_stat_finish(struct tally_stat *stat, const struct tally_count *counts,
		       const struct tally_stat_times *times);
size_t tally_stat_runs(const struct tally_stat *stat); /* finished */

/* The parts that have rows, ascending; one for TALLY_STAT_GLOBAL.  Borrowed until free. */
const struct tally_stat_place *tally_stat_parts(const struct tally_stat *stat, size_t *ret_count);

struct tally_stat_value {
	size_t size;   /* sizeof of this struct, set by the caller */
	double value;  /* in the event's unit, scaled for the time it ran; 0 when not counted */
	double spread; /* standard error of the mean of the runs, in the same unit; 0 of one run */
	double enabled, running; /* ns, of all places of the part together */
	enum tally_count_quality quality;
	uint32_t places;  /* where the event counts within the part */
	uint32_t runs;    /* in which it was counted; 0 in intervals */
	uint32_t missing; /* of these, where it has no number though elsewhere it has */
};
/* False: the event has no place in this part, nothing was read yet, or ret->size is not set. */
bool tally_stat_value(const struct tally_stat *stat, size_t event, size_t part,
		      struct tally_stat_value *ret);

/* Whether a value can be used as the event's count; then its quality says how. */
static inline bool tally_stat_counted(const struct tally_stat_value *value)
{
	return value->quality == TALLY_COUNT_COUNTED || value->quality == TALLY_COUNT_SCALED ||
	       value->quality == TALLY_COUNT_PARTIAL;
}

/* Wall time, user and system time of the same runs or interval as the values: ns, means over runs,
 * with the standard error of the mean. */
struct tally_stat_duration {
	size_t size; /* sizeof of this struct, set by the caller */
	double elapsed, user, system;
	double elapsed_spread, user_spread, system_spread;
};
/* 0; -EINVAL: ret->size is not set. */
int tally_stat_duration(const struct tally_stat *stat, struct tally_stat_duration *ret);

enum tally_stat_grade { /* how much it stands out, by perf's limits */
			TALLY_STAT_PLAIN,
			TALLY_STAT_GOOD,
			TALLY_STAT_NOTABLE,
			TALLY_STAT_HIGH,
			TALLY_STAT_BAD,
};

#define TALLY_STAT_DERIVED_MOST 64

/* What follows from a count together with others. */
struct tally_stat_derived {
	size_t size;    /* sizeof of this struct, set by the caller */
	bool known;     /* false: what it needs was not counted */
	bool metric;    /* one of options->metrics */
	bool next_line; /* perf begins a line for it */
	double value;
	uint8_t decimals;    /* that perf shows */
	const char *suffix;  /* behind the number: "%", " %" or "" */
	const char *unit;    /* "insn per cycle", "of all branches", "M/sec" */
	const char *of_unit; /* of a metric with a unit: "Joules"; else NULL */
	enum tally_stat_grade grade;
	int8_t threshold; /* of a metric: 1 worth a look, 0 not; -1: there is no limit */
};
/* Fills the array `ret` with the derived values that are shown beside an event, at most `room`, and
 * returns their number.  ret[0].size is the size of each element; it is set in all of them.  The
 * values of an event that was not counted are there, too, and not known. */
size_t tally_stat_derive(const struct tally_stat *stat, size_t event, size_t part,
			 struct tally_stat_derived *ret, size_t room);

/* --- differences --- */

struct tally_stat_mean {     /* of several runs */
	double mean, spread; /* spread: standard error of the mean */
	size_t runs;
};

/* Welch's t-test: the difference of two means whose runs scatter differently. */
struct tally_stat_difference {
	size_t size;       /* sizeof of this struct, set by the caller */
	double difference; /* second less first */
	double low, high;  /* it is between these, with the confidence that was asked for */
	bool known;        /* false: fewer than two runs of one of them */
	bool distinct; /* 0 is not between them: the difference is not chance, with that confidence
			*/
};
/* `confidence` is between 0 and 1, for example 0.95.  0; -EINVAL: ret->size is not set.
 * Source: B. L. Welch, Biometrika 34 (1947). */
int tally_stat_welch(const struct tally_stat_mean *first, const struct tally_stat_mean *second,
		     double confidence, struct tally_stat_difference *ret);

/* The second mean divided by the first: Welch's t-test of their logarithms.  Times and counts are
 * never below 0, and neither are the limits. */
struct tally_stat_ratio {
	size_t size;      /* sizeof of this struct, set by the caller */
	double ratio;     /* second by first */
	double low, high; /* it is between these, with the confidence that was asked for */
	bool known; /* false: fewer than two runs of one of them, or a mean that is not above 0 */
	bool distinct; /* 1 is not between them */
	/* If it is not distinct: with so many more runs of each it would be, in four cases of five,
	 * if the true ratio is the one that was measured.  SIZE_MAX: more than
	 * TALLY_STAT_RUNS_MOST, or the measured ratio is 1. */
	size_t more_runs;
};
#define TALLY_STAT_RUNS_MOST 10000
/* `confidence` as above.  The spread of a logarithm is the relative spread (the delta method).
 * Source: G. Casella, R. L. Berger, Statistical Inference (2002), 5.5.4. */
int tally_stat_ratio(const struct tally_stat_mean *first, const struct tally_stat_mean *second,
		     double confidence, struct tally_stat_ratio *ret);
/* Student's t: half the width, in standard errors, of the interval that contains the mean with this
 * confidence, for so many degrees of freedom (above 0, not necessarily an integer). */
double tally_stat_student(double confidence, double degrees);

/* --- as text: a table for people, perf's CSV and JSON lines, and JSON of our own --- */

struct tally_stat_text_options {
	size_t size;           /* sizeof of this struct */
	const char *title;     /* what was counted: "'true'"; NULL: no title */
	const char *separator; /* of CSV; NULL: "," */
	bool intervals;        /* the counts are of an interval, which ended at: */
	uint64_t time;         /* ns */
	bool heading;          /* names of columns come first: before the first interval */
	bool summary;          /* CSV: lines begin with "summary" */
	bool repeated;         /* print the spread over runs, even of one run */
	bool metric_only;      /* derived values alone, one line for each part */
	bool skip_zeros;       /* threads that counted nothing are left out */
	bool plain_numbers;    /* table: 1234567 instead of 1,234,567 */
	bool command_times;    /* table, JSON: user and system time are of a command that was run */
	bool totals_only;      /* table: wall time without counts (--null) */
	bool colour;           /* table */
	unsigned width;        /* table: columns of the terminal; 0: no limit */
	const uint64_t *run_times; /* table: wall time of each run, ns; NULL: not shown */
	size_t run_time_count;
	/* Table: a line about what was not counted, beside the reasons of the events; may be NULL.
	 */
	const char *hint;
};

/* Each writes the values of tally_stat_value() and tally_stat_derive().  0, -ENOMEM, or -errno of
 * writing.  Names are escaped (<tally/text.h>). */

/* For people: a line for each count, in columns as wide as needed. */
int tally_stat_text(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		    FILE *to);
/* As `perf stat -x` of 6.1: the same fields in the same order, numbers in the C locale. */
int tally_stat_csv(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		   FILE *to);
/* As `perf stat -j` of 6.1: an object a line, the same members in the same order. */
int tally_stat_perf_json(const struct tally_stat *stat,
			 const struct tally_stat_text_options *options, FILE *to);
/* Everything known about each count, an object on each line; see tally-stat(1). */
int tally_stat_json(const struct tally_stat *stat, const struct tally_stat_text_options *options,
		    FILE *to);

/* Several commands that were run in turn, compared with the first. */
struct tally_stat_compared {
	const char *name;    /* "A" */
	const char *command; /* as it was typed */
	const struct tally_stat *stat;
};
struct tally_stat_compare_options {
	size_t size;       /* sizeof of this struct */
	double confidence; /* 0: 0.95 */
	bool colour;
	unsigned width; /* of the terminal, columns; 0: no limit */
};
/* For each time and count the mean of each command, and how far it is from the first one's; then in
 * words which one took less time, or that this is unknown.  All have the same events, and one
 * part.  0, -ENOMEM, -errno of writing. */
int tally_stat_compare_text(const struct tally_stat_compared *compared, size_t count,
			    const struct tally_stat_compare_options *options, FILE *to);
/* The same as an object on a line; see tally-stat(1). */
int tally_stat_compare_json(const struct tally_stat_compared *compared, size_t count,
			    const struct tally_stat_compare_options *options, FILE *to);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
