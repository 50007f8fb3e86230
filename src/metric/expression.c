/* Evaluates expressions of metrics. */
#include "metric/expression.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "metric/expression_inner.h"
#include "vendor/vendor_table.h"

static const char literal_names[EXPR_LITERALS][24] = {
    [EXPR_SMT_ON] = "#smt_on",
    [EXPR_NUM_CPUS] = "#num_cpus",
    [EXPR_NUM_CPUS_ONLINE] = "#num_cpus_online",
    [EXPR_NUM_CORES] = "#num_cores",
    [EXPR_NUM_DIES] = "#num_dies",
    [EXPR_NUM_PACKAGES] = "#num_packages",
    [EXPR_CORE_WIDE] = "#core_wide",
    [EXPR_SLOTS] = "#slots",
    [EXPR_HAS_PMEM] = "#has_pmem",
    [EXPR_SYSTEM_TSC_FREQ] = "#system_tsc_freq",
};

const char *tally_expression_literal_name(enum tally_expression_literal literal)
{
	return literal < EXPR_LITERALS ? literal_names[literal] : NULL;
}

void tally_expression_free(struct tally_expression *expression)
{
	if (!expression)
		return;
	tally_strings_done(&expression->ids);
	free(expression->steps);
	free(expression);
}

const char *tally_expression_id(const struct tally_expression *expression, size_t at)
{
	return at < expression->ids.count ? expression->ids.text[at] : NULL;
}

/* Truncates to an integer; false: it is NaN, or over 64 bits. */
static bool to_integer(double value, int64_t *ret)
{
	if (!(value >= -0x1p63 && value < 0x1p63))
		return false;
	*ret = (int64_t)value;
	return true;
}

static double of_integers(enum expression_verb verb, double left, double right)
{
	int64_t a, b;

	if (!to_integer(left, &a) || !to_integer(right, &b))
		return NAN;
	switch (verb) {
	case EXPR_OR:
		return (double)(a | b);
	case EXPR_XOR:
		return (double)(a ^ b);
	case EXPR_AND:
		return (double)(a & b);
	default: /* EXPR_MODULO; the division by -1 would overflow */
		return !b ? NAN : b == -1 ? 0.0 : (double)(a % b);
	}
}

static double of_two(enum expression_verb verb, double left, double right)
{
	switch (verb) {
	case EXPR_LESS:
		return left < right;
	case EXPR_GREATER:
		return left > right;
	case EXPR_ADD:
		return left + right;
	case EXPR_SUBTRACT:
		return left - right;
	case EXPR_MULTIPLY:
		return left * right;
	case EXPR_DIVIDE:
		return fpclassify(right) == FP_ZERO ? (double)NAN : left / right;
	case EXPR_MIN:
		return left < right ? left : right;
	case EXPR_MAX:
		return left > right ? left : right;
	case EXPR_RATIO:
		return fpclassify(right) == FP_ZERO ? 0.0 : left / right;
	default:
		return of_integers(verb, left, right);
	}
}

static double of_id(const struct tally_expression_source *source, enum expression_verb verb,
		    size_t at, const char *id)
{
	if (verb == EXPR_ID)
		return source->value ? source->value(source->to, at, id) : (double)NAN;
	if (verb == EXPR_SOURCE_COUNT)
		return source->source_count ? source->source_count(source->to, at, id)
					    : (double)NAN;
	if (verb == EXPR_HAS_EVENT)
		return source->has_event && source->has_event(source->to, at, id);
	return source->cpuid && tally_table_cpuid_matches(id, source->cpuid);
}

static double value_of_step(const struct tally_expression *expression,
			    const struct expression_step *step,
			    const struct tally_expression_source *source)
{
	if (step->verb == EXPR_NUMBER)
		return step->number;
	if (step->verb != EXPR_LITERAL)
		return of_id(source, step->verb, step->index, expression->ids.text[step->index]);
	return source->literal
		   ? source->literal(source->to, (enum tally_expression_literal)step->index)
		   : (double)NAN;
}

/* Both branches of an if are evaluated, as in perf: a step has no other effect than its value. */
static double run(const struct tally_expression *expression,
		  const struct tally_expression_source *source, double *stack)
{
	double *top = stack; /* behind the last value */

	for (size_t i = 0; i < expression->count; i++) {
		const struct expression_step *step = &expression->steps[i];

		if (step->verb < EXPR_NEGATE) {
			*top++ = value_of_step(expression, step, source);
		} else if (step->verb == EXPR_NEGATE) {
			top[-1] = -top[-1];
		} else if (step->verb == EXPR_SELECT) {
			top -= 2;
			if (fpclassify(top[0]) == FP_ZERO)
				top[-1] = top[1];
		} else {
			top--;
			top[-1] = of_two(step->verb, top[-1], top[0]);
		}
	}
	return stack[0];
}

double tally_expression_value(const struct tally_expression *expression,
			      const struct tally_expression_source *source)
{
	double few[64] = {NAN}, *stack = few, value;

	if (expression->depth > 64)
		stack = calloc(expression->depth, sizeof(*stack));
	if (!stack)
		return NAN;
	value = run(expression, source, stack);
	if (stack != few)
		free(stack);
	return value;
}

/* --- what a value needs --- */

/* What the steps from `first` on leave on the stack: whether it depends on counters. */
struct known {
	size_t first;
	bool constant;
	double value;
};

/* Steps that are not needed are marked at their end: dead[i] steps before i are not needed. */
static void leave_out(size_t *dead, size_t first, size_t end)
{
	if (end > first && dead[first] < end - first)
		dead[first] = end - first;
}

/* value, condition and other are at top[-1], top[0], top[1]; `at` is the step of the select. */
static void select_known(struct known *top, size_t at, size_t *dead)
{
	struct known value = top[-1];

	if (top[0].constant) {
		bool other = fpclassify(top[0].value) == FP_ZERO;

		leave_out(dead, other ? value.first : top[0].first, other ? top[1].first : at);
		top[-1] = other ? top[1] : value;
	} else if (value.constant && top[1].constant && value.value == top[1].value) {
		leave_out(dead, top[0].first, at);
	} else {
		top[-1].constant = false;
	}
	top[-1].first = value.first;
}

static void two_known(struct known *top, enum expression_verb verb, size_t at, size_t *dead)
{
	struct known *left = &top[-1], *right = &top[0];

	if (verb == EXPR_RATIO && right->constant && fpclassify(right->value) == FP_ZERO) {
		leave_out(dead, left->first, at);
		left->constant = true;
		left->value = 0;
		return;
	}
	left->constant &= right->constant;
	if (left->constant)
		left->value = of_two(verb, left->value, right->value);
	left->constant &= isfinite(left->value) != 0;
}

static struct known push_known(const struct tally_expression *expression, size_t at,
			       const struct tally_expression_source *source)
{
	const struct expression_step *step = &expression->steps[at];
	struct known pushed = {.first = at};

	if (step->verb == EXPR_ID || step->verb == EXPR_SOURCE_COUNT)
		return pushed;
	pushed.value = value_of_step(expression, step, source);
	pushed.constant = isfinite(pushed.value) != 0;
	return pushed;
}

static void find_dead(const struct tally_expression *expression,
		      const struct tally_expression_source *source, struct known *stack,
		      size_t *dead)
{
	struct known *top = stack;

	for (size_t i = 0; i < expression->count; i++) {
		enum expression_verb verb = expression->steps[i].verb;

		if (verb < EXPR_NEGATE) {
			*top++ = push_known(expression, i, source);
		} else if (verb == EXPR_NEGATE) {
			top[-1].value = -top[-1].value;
		} else if (verb == EXPR_SELECT) {
			top -= 2;
			select_known(top, i, dead);
		} else {
			top--;
			two_known(top, verb, i, dead);
		}
	}
}

static void collect_needed(const struct tally_expression *expression, const size_t *dead,
			   bool *needed)
{
	size_t alive = 0; /* the step from which steps are needed again */

	memset(needed, 0, expression->ids.count * sizeof(*needed));
	for (size_t i = 0; i < expression->count; i++) {
		const struct expression_step *step = &expression->steps[i];

		if (i + dead[i] > alive)
			alive = dead[i] ? i + dead[i] : alive;
		if (i >= alive && (step->verb == EXPR_ID || step->verb == EXPR_SOURCE_COUNT))
			needed[step->index] = true;
	}
}

int tally_expression_needed(const struct tally_expression *expression,
			    const struct tally_expression_source *source, bool *needed)
{
	struct known *stack = calloc(expression->depth, sizeof(*stack));
	size_t *dead = calloc(expression->count, sizeof(*dead));
	int result = stack && dead ? 0 : -ENOMEM;

	if (!result) {
		find_dead(expression, source, stack, dead);
		collect_needed(expression, dead, needed);
	}
	free(stack);
	free(dead);
	return result;
}
