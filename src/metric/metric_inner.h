/* Chosen metrics: for the files of <tally/metric.h>.
 *
 * metric_choose.c finds them in the table by name and group, metric_resolve.c resolves the metrics
 * that they name down to events, metric_event.c parses these, each once, metric_group.c makes
 * groups, metric.c has the rest and the values. */
#ifndef TALLY_METRIC_METRIC_INNER_H
#define TALLY_METRIC_METRIC_INNER_H

#include <tally/metric.h>
#include "base/arena.h"
#include "base/map.h"
#include "event/family.h"
#include "metric/metric_machine.h"
#include "vendor/vendor_table.h"

/* An event string and what it parses to. */
struct metric_event {
	const char *text; /* as perf writes it */
	const char *pmu;  /* only those of this kind of core; NULL: all */
	bool tool;        /* measured by the tool: is in no group */
	struct tally_event_list list;
	const char *wrong; /* why it does not parse; NULL: it does */
};

/* An event of a group: its index in the list, several for several PMUs. */
struct metric_counter {
	size_t event; /* index in the set */
	size_t *at;
	size_t count;
};

/* What an ID of an expression means, and whether has_event() of it is true. */
enum metric_bind_kind { BIND_NOTHING, BIND_USE, BIND_EVENT };
struct metric_bind {
	enum metric_bind_kind kind;
	size_t index; /* of the metric's uses, or of its events */
	bool has;
};

/* An expression that a metric's value is made of; those that it names stand before it. */
struct metric_use {
	const struct tally_table_event *entry; /* NULL: it is the threshold */
	struct tally_expression *expression;
	struct metric_bind *binds; /* by ID */
	double value;
};

struct metric {
	struct tally_metric_info info;
	const struct tally_table_event *entry;
	const char *modifiers; /* "u"; "" */
	bool by_name;          /* was asked for by its own name */
	bool alone;            /* its events are in no group */
	bool broken;           /* has no value here; the note says why */
	struct metric_use *uses;
	size_t use_count, use_room;
	size_t root;    /* index in the uses: its own expression */
	size_t *events; /* indexes in the set, each once */
	size_t event_count, event_room;
	size_t *counters; /* by event: indexes in the set */
};

/* Events that are counted together, or, with `alone`, in no group. */
struct metric_group {
	size_t first, count; /* in the set's counters */
	bool alone;
};

struct tally_metrics {
	struct tally_arena arena;
	const struct tally_table *table; /* the context's */
	struct metric_machine machine;
	struct tally_event_options options;
	struct tally_event_context *own; /* NULL: the caller's is used */
	bool no_group, no_merge, no_threshold;

	struct metric *metrics;
	size_t count, room;
	struct tally_strings keys; /* of the events: kind of core and text */
	struct metric_event *events;
	size_t event_count, event_room;
	struct metric_counter *counters;
	size_t counter_count, counter_room;
	struct metric_group *groups;
	size_t group_count, group_room;

	struct tally_event_list list;
	char *text; /* of all events, with their groups */
	bool appended;
	size_t first; /* index in the caller's list */
};

/* --- metric_choose.c --- */
/* Adds the metrics that `names` asks for. -ENOENT with a suggestion, -EINVAL, -ENOMEM. */
int tally_metrics_choose(struct tally_metrics *set, const char *names, struct tally_error *error);
/* The metric that an ID means, for a metric of the kind of core `pmu`; NULL: none. */
const struct tally_table_event *tally_metrics_find(const struct tally_metrics *set, const char *pmu,
						   const char *id);

/* --- metric_resolve.c --- */
/* Parses the metric's expression and those of the metrics that it names, and finds its events.
 * -EINVAL, -E2BIG, -ENOMEM; the text begins with the metric's name. */
int tally_metrics_resolve(struct tally_metrics *set, struct metric *metric,
			  struct tally_error *error);

/* --- metric_event.c --- */
/* The number of the event that an ID means, with these modifiers, for this kind of core (NULL:
 * any). -ENOMEM. */
int64_t tally_metrics_event_of(struct tally_metrics *set, const char *id, const char *modifiers,
			       const char *pmu);

/* --- metric_group.c --- */
/* Makes the groups of all metrics without a `note`, and the list of events. -ENOMEM. */
int tally_metrics_group(struct tally_metrics *set);

#endif
