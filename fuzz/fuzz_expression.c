/* Any text as a metric's expression: what parses has values and needs that agree with each other.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "metric/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct asked {
	const struct tally_expression *expression;
	const bool *needed; /* NULL: all may be asked for */
};

static double value_of(void *to, size_t at, const char *id)
{
	const struct asked *asked = to;
	const char *known = tally_expression_id(asked->expression, at);

	if (!known || strcmp(known, id) != 0)
		abort();
	if (asked->needed && !asked->needed[at])
		return NAN; /* it was said that the value does not depend on it */
	return 1 + (double)(strlen(id) % 7);
}

static double literal_of(void *to, enum tally_expression_literal literal)
{
	(void)to;
	return literal == EXPR_SMT_ON || literal == EXPR_HAS_PMEM ? 0 : 4;
}

static bool has(void *to, size_t at, const char *id)
{
	(void)to;
	(void)at;
	return strlen(id) % 2;
}

static bool same(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a)) || (isnan(a) && isnan(b)) || (a <= b && a >= b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_expression *expression;
	struct tally_error error = {0};
	char *text = malloc(size + 1);
	bool needed[512];
	size_t count = 0;
	int result;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	result = tally_expression_parse(text, 3, &expression, &error);
	if (result) {
		if (error.code != result || !error.text[0] ||
		    error.position > (int64_t)strlen(text))
			abort();
		free(text);
		return 0;
	}
	while (tally_expression_id(expression, count))
		count++;
	if (count <= sizeof(needed) / sizeof(*needed)) {
		struct asked asked = {.expression = expression};
		struct tally_expression_source source = {
		    .value = value_of,
		    .source_count = value_of,
		    .literal = literal_of,
		    .has_event = has,
		    .cpuid = "GenuineIntel-6-55-7",
		    .to = &asked,
		};
		double all = tally_expression_value(expression, &source), some;

		if (!tally_expression_needed(expression, &source, needed)) {
			asked.needed = needed;
			some = tally_expression_value(expression, &source);
			if (!same(all, some))
				abort();
		}
	}
	tally_expression_free(expression);
	free(text);
	return 0;
}
