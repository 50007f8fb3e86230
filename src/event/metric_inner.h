/* A parsed metric: instructions for a stack of doubles.  What metric_parse.c and metric.c share. */
#ifndef TALLY_EVENT_METRIC_INNER_H
#define TALLY_EVENT_METRIC_INNER_H

#include <stdint.h>
#include "base/map.h"
#include "event/metric.h"

enum metric_verb {
	METRIC_NUMBER,  /* pushes */
	METRIC_LITERAL, /* from here each pushes what its index names */
	METRIC_ID,
	METRIC_SOURCE_COUNT,
	METRIC_HAS_EVENT,
	METRIC_CPUID_IS,
	METRIC_NEGATE, /* 1 -> 1 */
	METRIC_OR,     /* from here 2 -> 1 */
	METRIC_XOR,
	METRIC_AND,
	METRIC_LESS,
	METRIC_GREATER,
	METRIC_ADD,
	METRIC_SUBTRACT,
	METRIC_MULTIPLY,
	METRIC_DIVIDE,
	METRIC_MODULO,
	METRIC_MIN,
	METRIC_MAX,
	METRIC_RATIO,
	METRIC_SELECT, /* value, condition, other -> 1 */
};

struct metric_step {
	enum metric_verb verb;
	uint32_t index; /* of a literal, or of an ID */
	double number;
};

struct tally_metric {
	struct metric_step *steps;
	size_t count, room;
	size_t depth; /* of the stack */
	struct tally_strings ids;
};

#endif
