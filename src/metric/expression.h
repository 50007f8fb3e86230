/* Expressions over events, for metrics: parsed once, evaluated often.
 *
 * The grammar is that of perf's vendor tables (tools/perf/util/expr.l and expr.y of Linux 6.1;
 * has_event, strcmp_cpuid_str, NaN and an if within arguments: 6.12), loosest first:
 *
 *   A if C else B     also in parentheses, arguments, C and B
 *   |   ^   &   < >   + -   * / %   -A     all but the last from left to right
 *   min(A, B)  max(A, B)  d_ratio(A, B)  source_count(ID)  has_event(ID)  strcmp_cpuid_str(ID)
 *   1.5e-3   #smt_on   ID
 *
 * An ID is an event or another metric: letters, digits and _ . : @ ? where '@' means '/', '?' the
 * runtime parameter, and a backslash makes - , = or any other byte a part of the name.
 *
 * Values are doubles. | ^ & and % work on 64-bit integers. A/0 and A%0 are NaN, as is what has no
 * value; d_ratio(A, 0) is 0; a condition is false when it is 0, so NaN is true; min and max are C's
 * A < B ? A : B and A > B ? A : B. */
#ifndef TALLY_METRIC_EXPRESSION_H
#define TALLY_METRIC_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>

/* The literals after #; all describe the machine, with the names of perf's source. */
enum tally_expression_literal {
	EXPR_SMT_ON,          /* 1 when cores run two threads or more */
	EXPR_NUM_CPUS,        /* present */
	EXPR_NUM_CPUS_ONLINE, /* online */
	EXPR_NUM_CORES,
	EXPR_NUM_DIES,
	EXPR_NUM_PACKAGES,
	EXPR_CORE_WIDE,       /* 1 when whole cores are counted */
	EXPR_SLOTS,           /* issue slots a cycle (arm64) */
	EXPR_HAS_PMEM,        /* 1 when there is persistent memory */
	EXPR_SYSTEM_TSC_FREQ, /* Hz */
	EXPR_LITERALS,
};

/* Where values come from; a NULL callback gives NaN (has_event: 0). */
struct tally_expression_source {
	/* `at` is the index of the ID in tally_expression_id(). */
	double (*value)(void *to, size_t at, const char *id);
	/* how many counters the value is the sum of */
	double (*source_count)(void *to, size_t at, const char *id);
	double (*literal)(void *to, enum tally_expression_literal literal);
	bool (*has_event)(void *to, size_t at, const char *id);
	const char *cpuid; /* for strcmp_cpuid_str; NULL: no match */
	void *to;
};

struct tally_expression;

/* Parses an expression. `runtime` replaces '?' (s390, powerpc: a chip or socket). -EINVAL with the
 * column and what was expected there; -E2BIG: over 64 KB or 100 levels of parentheses; -ENOMEM. */
int tally_expression_parse(const char *text, unsigned runtime, struct tally_expression **ret,
			   struct tally_error *error);
void tally_expression_free(struct tally_expression *expression); /* or NULL */

/* The IDs of the expression, each once, in the order in which they appear. Borrowed; NULL: no more.
 */
const char *tally_expression_id(const struct tally_expression *expression, size_t at);

/* Finds the IDs that a value needs for the given literals: those of branches that are not taken are
 * not needed, as in perf. `needed` has an entry for each ID. source_count() needs its ID,
 * has_event() and strcmp_cpuid_str() do not. Uses only literal, has_event and cpuid of the source.
 */
int tally_expression_needed(const struct tally_expression *expression,
			    const struct tally_expression_source *source, bool *needed);

double tally_expression_value(const struct tally_expression *expression,
			      const struct tally_expression_source *source);

/* NULL behind the last. */
const char *tally_expression_literal_name(enum tally_expression_literal literal);

#endif
