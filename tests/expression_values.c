/* For tools/check-tables: prints the value of each expression on stdin, a line each, with IDs and
 * literals that have made-up values, the same as in the tool's own evaluator. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "metric/expression.h"

/* FNV-1a cut to 1.0 ... 126.0 in eighths: exact in a double, and never 0. */
static double made_up(const char *id)
{
	uint32_t hash = 2166136261u;

	for (; *id; id++)
		hash = (hash ^ (unsigned char)*id) * 16777619u;
	return 1 + (hash >> 8) % 1000 / 8.0;
}

static double value_of(void *to, size_t at, const char *id)
{
	(void)at;
	(void)to;
	return made_up(id);
}

static double literal_of(void *to, enum tally_expression_literal literal)
{
	(void)to;
	return literal == EXPR_SMT_ON || literal == EXPR_CORE_WIDE
		   ? 1
		   : made_up(tally_expression_literal_name(literal));
}

static double count_of(void *to, size_t at, const char *id)
{
	(void)at;
	(void)to;
	(void)id;
	return 2;
}

static bool has_event(void *to, size_t at, const char *id)
{
	return value_of(to, at, id) >= 64;
}

int main(void)
{
	const struct tally_expression_source source = {
	    .value = value_of,
	    .literal = literal_of,
	    .source_count = count_of,
	    .has_event = has_event,
	};
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		struct tally_expression *expression;
		struct tally_error error;

		line[strcspn(line, "\n")] = '\0';
		if (tally_expression_parse(line, 0, &expression, &error)) {
			printf("error %s\n", error.text);
			continue;
		}
		printf("%.17g\n", tally_expression_value(expression, &source));
		tally_expression_free(expression);
	}
	free(line);
	return 0;
}
