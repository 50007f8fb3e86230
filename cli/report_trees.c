/* Call trees of a report: -g and -G. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report_options.h"

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncmp(text, word, length);
}

/* The first number is the smallest share of a branch, the second how many branches are printed. */
static int take_number(struct tree_choice *trees, const char *text, size_t length,
		       struct tally_error *error)
{
	char number[32], *end;
	double value;

	/* Neither a number nor one of the words below. */
	static const char *const words[] = {"none",   "graph",   "fractal",  "flat",    "folded",
					    "caller", "callee",  "function", "address", "srcline",
					    "branch", "percent", "period",   "count",   NULL};

	if (!length || !strchr("0123456789.+-", *text))
		return cli_refuse_listed(error, text, length, "word for trees", words);
	snprintf(number, sizeof(number), "%.*s", (int)length, text);
	value = strtod(number, &end);
	if (length >= sizeof(number) || end == number || *end || !isfinite(value) || value < 0 ||
	    (!trees->has_least && value > 100))
		return cli_refuse(
		    error,
		    "'%.*s' is invalid; a number is the smallest percentage of a branch, and "
		    "behind it the greatest number of branches",
		    (int)length, text);
	if (trees->has_least)
		trees->limit = (uint64_t)value;
	else
		trees->least = value;
	trees->has_least = true;
	return 0;
}

static int choose_tree(struct tree_choice *trees, const char *text, size_t length,
		       struct tally_error *error)
{
	static const struct {
		const char *name;
		enum tally_tree_style style;
	} styles[] = {
	    {"graph", TALLY_TREE_GRAPH},
	    {"fractal", TALLY_TREE_FRACTAL},
	    {"flat", TALLY_TREE_FLAT},
	    {"folded", TALLY_TREE_FOLDED},
	};

	for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++)
		if (is_word(text, length, styles[i].name)) {
			trees->style = styles[i].style;
			trees->none = false;
			return 0;
		}
	if (is_word(text, length, "none")) {
		trees->none = true;
	} else if (is_word(text, length, "caller") || is_word(text, length, "callee")) {
		trees->has_order = true;
		trees->order = text[5] == 'r' ? TALLY_CALLER : TALLY_CALLEE;
	} else if (is_word(text, length, "percent")) {
		trees->value = TALLY_TREE_PERCENT;
	} else if (is_word(text, length, "period")) {
		trees->value = TALLY_TREE_PERIOD;
	} else if (is_word(text, length, "count")) {
		trees->value = TALLY_TREE_SAMPLES;
	} else if (is_word(text, length, "function")) {
		trees->key = TALLY_TREE_FUNCTION;
	} else if (is_word(text, length, "address")) {
		trees->key = TALLY_TREE_ADDRESS;
	} else if (is_word(text, length, "srcline")) {
		trees->key = TALLY_TREE_LINE;
	} else if (is_word(text, length, "branch")) {
		trees->branches = true;
	} else {
		return take_number(trees, text, length, error);
	}
	return 0;
}

int report_take_tree_word(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tree_choice *trees = to;

	(void)on;
	trees->has_least = false;
	return choose_tree(trees, value, strlen(value), error);
}

static int take_trees(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tree_choice trees = {.least = REPORT_BRANCH_USUAL, .none = !on, .chosen = true};

	while (on && value) {
		size_t length = strcspn(value, ",");
		int result = choose_tree(&trees, value, length, error);

		if (result)
			return result;
		if (!value[length])
			break;
		value += length + 1;
	}
	*(struct tree_choice *)to = trees;
	return 0;
}

static int take_inverted(void *to, const char *value, bool on, struct tally_error *error)
{
	int result = take_trees(to, value, on, error);

	if (!result) {
		((struct tree_choice *)to)->has_order = true;
		((struct tree_choice *)to)->order = TALLY_CALLER;
	}
	return result;
}

size_t report_tree_rows(struct report *report, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Call trees"},
	    {CLI_CALL, 'g', "call-graph", "HOW",
	     "none, or graph, fractal (shares of the branch above), flat or folded (a line or "
	     "block for each path), caller, callee, function, address, srcline (what a node is), "
	     "branch (as --branch-history), percent, period, count (samples) and the "
	     "smallest percentage of "
	     "a branch (default: graph,0.5, caller with --children, else callee)",
	     .to = &report->trees, .flags = CLI_OPTIONAL, .call = take_trees},
	    {CLI_CALL, 'G', "inverted", "HOW", "the same as -g caller", .to = &report->trees,
	     .flags = CLI_OPTIONAL, .call = take_inverted},
	    {CLI_FLAG, 0, "branch-history", NULL,
	     "put the branches of branch stacks in front of call chains, by address",
	     .to = &report->history},
	    {CLI_FLAG, 0, "stitch-lbr", NULL,
	     "end chains of --call-graph lbr with the callers that an earlier sample of the thread "
	     "had",
	     .to = &report->stitch},
	    {CLI_U64, 0, "max-stack", "FRAMES", "use only this many innermost frames of a chain",
	     .to = &report->max_stack},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}
