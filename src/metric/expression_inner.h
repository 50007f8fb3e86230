/* A parsed expression: instructions for a stack of doubles; for expression_parse.c and
 * expression.c. */
#ifndef TALLY_METRIC_EXPRESSION_INNER_H
#define TALLY_METRIC_EXPRESSION_INNER_H

#include <stdint.h>
#include "base/map.h"
#include "metric/expression.h"

enum expression_verb {
	EXPR_NUMBER,  /* pushes */
	EXPR_LITERAL, /* from here each pushes the value that its index means */
	EXPR_ID,
	EXPR_SOURCE_COUNT,
	EXPR_HAS_EVENT,
	EXPR_CPUID_IS,
	EXPR_NEGATE, /* 1 -> 1 */
	EXPR_OR,     /* from here 2 -> 1 */
	EXPR_XOR,
	EXPR_AND,
	EXPR_LESS,
	EXPR_GREATER,
	EXPR_ADD,
	EXPR_SUBTRACT,
	EXPR_MULTIPLY,
	EXPR_DIVIDE,
	EXPR_MODULO,
	EXPR_MIN,
	EXPR_MAX,
	EXPR_RATIO,
	EXPR_SELECT, /* value, condition, other -> 1 */
};

struct expression_step {
	enum expression_verb verb;
	uint32_t index; /* of a literal, or of an ID */
	double number;
};

struct tally_expression {
	struct expression_step *steps;
	size_t count, room;
	size_t depth; /* of the stack */
	struct tally_strings ids;
};

#endif
