/* Metrics: expressions over events, checked once and evaluated often.
 *
 * The grammar is that of perf's vendor tables (tools/perf/util/expr.l and expr.y of Linux 6.1;
 *has_event, strcmp_cpuid_str, NaN and an if within arguments: 6.12), loosest first:
 *
 *	A if C else B     also in parentheses, arguments, C and B
 *	|   ^   &   < >   + -   * / %   -A     all but the last from left to right
 *	min(A, B)  max(A, B)  d_ratio(A, B)  source_count(ID)  has_event(ID)  strcmp_cpuid_str(ID)
 *	1.5e-3   #smt_on   ID
 *
 * An ID is an event or another metric: letters, digits and _ . : @ ? where '@' stands for '/', '?'
 *for the runtime parameter, and a backslash before - , = or any other byte makes it a part of the
 *name.
 *
 * Values are doubles.  | ^ & and % work on them cut to 64-bit integers.  A/0 and A%0 are NaN, as is
 *what has no value; d_ratio(A, 0) is 0; a condition is false when it is 0, so NaN is true; min and
 *max are C's A < B ? A : B and A > B ? A : B. */
#ifndef TALLY_EVENT_METRIC_H
#define TALLY_EVENT_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>

/* What a # names; all of the machine, in the words of perf's source. */
enum tally_metric_literal {
	METRIC_SMT_ON,          /* 1 when cores run two threads or more */
	METRIC_NUM_CPUS,        /* present */
	METRIC_NUM_CPUS_ONLINE, /* online */
	METRIC_NUM_CORES,
	METRIC_NUM_DIES,
	METRIC_NUM_PACKAGES,
	METRIC_CORE_WIDE,       /* 1 when whole cores are counted */
	METRIC_SLOTS,           /* issue slots a cycle (arm64) */
	METRIC_HAS_PMEM,        /* 1 when there is persistent memory */
	METRIC_SYSTEM_TSC_FREQ, /* Hz */
	METRIC_LITERALS,
};

/* Where values come from; a callback that is NULL answers NaN (has_event: 0). */
struct tally_metric_source {
	double (*value)(void *to, const char *id);
	double (*source_count)(void *to, const char *id); /* how many counters made the value */
	double (*literal)(void *to, enum tally_metric_literal literal);
	bool (*has_event)(void *to, const char *id);
	const char *cpuid; /* for strcmp_cpuid_str; NULL: none matches */
	void *to;
};

struct tally_metric;

/* Parses an expression.  `runtime` takes the place of '?' (s390, powerpc: a chip or socket).
 * -EINVAL with the column and what was expected there; -E2BIG: over 64 KB or 100 levels of
 * parentheses; -ENOMEM. */
int tally_metric_parse(const char *text, unsigned runtime, struct tally_metric **ret,
		       struct tally_error *error);
void tally_metric_free(struct tally_metric *metric); /* NULL is fine */

/* The IDs that it names, each once, in the order in which they appear.  Borrowed; NULL: no more. */
const char *tally_metric_id(const struct tally_metric *metric, size_t at);

/* Says which IDs a value needs when the literals are as told: those of branches never taken are
 * not, as with perf.  `needed` has one place for each ID.  source_count() needs its ID, has_event()
 * and strcmp_cpuid_str() none.  Only literal, has_event and cpuid of the source are used. */
int tally_metric_needed(const struct tally_metric *metric, const struct tally_metric_source *source,
			bool *needed);

double tally_metric_value(const struct tally_metric *metric,
			  const struct tally_metric_source *source);

/* NULL past the last. */
const char *tally_metric_literal_name(enum tally_metric_literal literal);

#endif
