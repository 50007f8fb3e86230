/* A filter as it was parsed: tests, and how they are joined. */
#ifndef TALLY_FILTER_FILTER_TREE_H
#define TALLY_FILTER_FILTER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include "filter/filter_program.h"

enum filter_term {
#define TERM(name, constant) FILTER_##constant,
#include "filter/filter_term.def"
#undef TERM
};

enum filter_join { FILTER_TEST, FILTER_AND, FILTER_OR, FILTER_NOT };

enum filter_operator {
	FILTER_EQ,
	FILTER_NE,
	FILTER_GT,
	FILTER_GE,
	FILTER_LT,
	FILTER_LE,
	FILTER_BITS
};

#define FILTER_COMM_ROOM 16 /* TASK_COMM_LEN of the kernel, with the NUL */

struct filter_node {
	enum filter_join join;
	uint16_t left, right; /* nodes; of FILTER_NOT left alone */
	enum filter_term term;
	enum filter_operator op;
	uint64_t value;
	char comm[FILTER_COMM_ROOM]; /* padded with NULs, as the kernel's */
};

/* Each test has at most one join and one "!" above it. */
#define FILTER_NODES_MOST (TALLY_FILTER_TESTS_MOST * 3)

struct filter_tree {
	struct filter_node nodes[FILTER_NODES_MOST];
	size_t count, tests;
	uint16_t top;
};

int tally_filter_parse(const char *text, struct filter_tree *ret, struct tally_error *error);

#endif
