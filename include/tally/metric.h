/* Metrics: numbers that the CPU's vendor tables compute from several events, "IPC", "TopdownL1".
 *
 * A metric is found by its name or its group, says which events it needs and how they are grouped,
 * and is evaluated over their counts.  Opens nothing. */
#ifndef TALLY_METRIC_H
#define TALLY_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/event.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_metrics_options {
	size_t size;         /* sizeof of this struct; the tail beyond what is known must be zero */
	const char *sysfs;   /* NULL: "/sys" */
	const char *procfs;  /* NULL: "/proc" */
	const char *tracefs; /* NULL: found among the usual places */
	const char *events;  /* folders of vendor tables, as in struct tally_catalog_options */
	const char *cpuid;   /* the same */
	/* PMUs and tables that were read already, for the same sysfs, events and cpuid; it must
	 * outlive the metrics.  NULL: they are read here. */
	struct tally_event_context *context;
	const char *cpus;  /* those that are counted, "0-3,8"; NULL: all.  For #core_wide */
	bool system_wide;  /* CPUs are counted, not a command.  For #core_wide */
	bool no_group;     /* events stand alone, so that more of them fit at a time */
	bool no_merge;     /* metrics share no events */
	bool no_threshold; /* thresholds need no events of their own */
};

struct tally_metrics;

/* Chooses metrics by a list with commas: names or groups, in any case, "all" for all, each with
 * modifiers for its events behind a colon: "IPC:u,TopdownL1".  A metric is taken once.
 *
 * Metrics that others name are found, too; recursion is an error.  A metric whose events this
 * machine does not have is an error if it was named; as part of a group it is kept without a value,
 * and its `note` says why.
 *
 * -ENOENT no tables for the CPU, or nothing has the name: the text has the nearest one, the
 * position is the column in `names`; -EINVAL wrong expression, recursion, an event that does not
 * parse; -E2BIG, -ENOMEM, -errno of reading tables.  Release with tally_metrics_free(). */
int tally_metrics_new(const char *names, const struct tally_metrics_options *options,
		      struct tally_metrics **ret, struct tally_error *error);
void tally_metrics_free(struct tally_metrics *metrics); /* NULL is fine */

/* Borrowed until tally_metrics_free(), and untrusted: from the table's files.  NULL: none. */
struct tally_metric_info {
	const char *name; /* with its modifiers, "IPC:u"; never NULL */
	const char *pmu;  /* of the kind of core, where a CPU has several: "cpu_core" */
	const char *brief;
	const char *groups;     /* "TopdownL1;Frontend" */
	const char *expression; /* never NULL */
	const char *threshold;  /* an expression: true is worth a look */
	const char *unit;       /* of the value times `scale`: "%", "MB/s" */
	double scale;           /* 1: default; tally_metrics_value() applies it */
	const char *note;       /* why it has no value on this machine, or is not grouped */
};

/* In the order of `names`, those of a group in the table's.  NULL: there are no more. */
const struct tally_metric_info *tally_metrics_at(const struct tally_metrics *metrics, size_t at);

/* All events that are needed, as perf writes them: a weak group for each metric unless metrics
 * share one; events alone where the metric's constraint, SMT or the NMI watchdog demand it; at the
 * end what the tool measures itself:
 * "{inst_retired.any,cpu_clk_unhalted.thread}:W,duration_time". */
const char *tally_metrics_events(const struct tally_metrics *metrics);

/* Moves the events behind those of the list, once.  Groups hold events of one PMU, so a group over
 * several PMUs becomes one for each; `weak` is set.  -EALREADY, -ENOMEM. */
int tally_metrics_append(struct tally_metrics *metrics, struct tally_event_list *list);

/* The place in the list of the n-th event that a metric is made of (of those of the metrics that it
 * names, too), as its expressions name them; -1: no more, or not appended yet. */
int64_t tally_metrics_event(const struct tally_metrics *metrics, size_t at, size_t n);

struct tally_metric_value {
	size_t size;   /* sizeof of this struct, set by the caller */
	double value;  /* NaN: has none */
	int threshold; /* 1: passed, worth a look; 0: not passed; -1: none, or its value is unknown
			*/
};

/* The value of a metric.  `count` gives the count of the list's event, scaled for multiplexing, but
 * not multiplied by its `scale`; of tool events ns.  NaN: not counted; then all that is computed
 * from it is NaN, too.  An event on several PMUs is the sum of them.  One thread at a time. 0;
 * -EINVAL: ret->size is not set. */
int tally_metrics_value(const struct tally_metrics *metrics, size_t at,
			double (*count)(void *context, size_t event), void *context,
			struct tally_metric_value *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
