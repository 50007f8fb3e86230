/* Text to a tree of tests. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "filter/filter_tree.h"

#define DEPTH_MOST 32 /* of parentheses and of "!" */

static const char *const names[] = {
#define TERM(name, constant) name,
#include "filter/filter_term.def"
#undef TERM
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* Terms of perf's filters for which a program would need the kernel's own structures. */
static const char of_perf[][16] = {
    "id",        "time",     "txn",        "weight",      "weight1",        "weight2",
    "weight3",   "ins_lat",  "retire_lat", "p_stage_cyc", "phys_addr",      "code_pgsz",
    "data_pgsz", "mem_op",   "mem_lvlnum", "mem_lvl",     "mem_snoop",      "mem_remote",
    "mem_lock",  "mem_dtlb", "mem_blk",    "mem_hops",    "code_page_size", "data_page_size",
};

struct parsing {
	const char *text;
	size_t at;
	unsigned depth;
	struct filter_tree *tree;
	struct tally_error *error;
};

static void skip_blanks(struct parsing *parsing)
{
	while (isspace((unsigned char)parsing->text[parsing->at]))
		parsing->at++;
}

/* Takes the word when it comes next. */
static bool take(struct parsing *parsing, const char *word)
{
	skip_blanks(parsing);
	if (strncmp(parsing->text + parsing->at, word, strlen(word)) != 0)
		return false;
	parsing->at += strlen(word);
	return true;
}

static int add_node(struct parsing *parsing, const struct filter_node *node, uint16_t *ret)
{
	struct filter_tree *tree = parsing->tree;

	if (tree->count == FILTER_NODES_MOST)
		return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
				  "a filter has at most %d tests", TALLY_FILTER_TESTS_MOST);
	*ret = (uint16_t)tree->count;
	tree->nodes[tree->count++] = *node;
	return 0;
}

static int refuse_term(struct parsing *parsing, const char *name, size_t length)
{
	char word[32], list[160] = "";
	size_t used = 0;
	const char *nearest;

	snprintf(word, sizeof(word), "%.*s", (int)(length < 31 ? length : 31), name);
	for (size_t i = 0; i < sizeof(of_perf) / sizeof(of_perf[0]); i++)
		if (!strcmp(word, of_perf[i]))
			return tally_fail(parsing->error, -EOPNOTSUPP, (int64_t)parsing->at,
					  "%s cannot be tested while recording: filter reports "
					  "instead (tally report --filter)",
					  word);
	nearest = tally_text_nearest(word, names, NAMES);
	if (nearest)
		return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
				  "unknown term '%s' of a filter; did you mean %s?", word, nearest);
	for (size_t i = 0; i < NAMES; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 names[i]);
	return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
			  "expected a test, as 'period > 1000': terms are %s", list);
}

static int take_term(struct parsing *parsing, struct filter_node *node)
{
	const char *name;
	size_t length = 0;

	skip_blanks(parsing);
	name = parsing->text + parsing->at;
	while (isalnum((unsigned char)name[length]) || name[length] == '_')
		length++;
	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length)) {
			node->term = (enum filter_term)i;
			parsing->at += length;
			return 0;
		}
	return refuse_term(parsing, name, length);
}

static int take_operator(struct parsing *parsing, struct filter_node *node)
{
	/* Longer ones first. */
	static const struct {
		const char *word;
		enum filter_operator op;
	} operators[] = {
	    {"==", FILTER_EQ}, {"!=", FILTER_NE}, {">=", FILTER_GE},  {"<=", FILTER_LE},
	    {">", FILTER_GT},  {"<", FILTER_LT},  {"&", FILTER_BITS},
	};

	skip_blanks(parsing);
	if (strncmp(parsing->text + parsing->at, "&&", 2) != 0)
		for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
			if (take(parsing, operators[i].word)) {
				node->op = operators[i].op;
				return 0;
			}
	return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
			  "expected ==, !=, >, >=, <, <= or & after %s", names[node->term]);
}

static int take_comm(struct parsing *parsing, struct filter_node *node)
{
	const char *text = parsing->text + parsing->at, *from = text;
	size_t length;

	if (*text == '"' || *text == '\'') {
		const char *end = strchr(text + 1, *text);

		if (!end)
			return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
					  "expected a second %c that ends the name", *text);
		from = text + 1;
		length = (size_t)(end - from);
		parsing->at += length + 2;
	} else {
		length = strcspn(text, " \t\n,|&()!=<>");
		parsing->at += length;
	}
	if (node->op != FILTER_EQ && node->op != FILTER_NE)
		return tally_fail(parsing->error, -EINVAL, (int64_t)(text - parsing->text),
				  "comm is compared by == or !=");
	if (!length)
		return tally_fail(parsing->error, -EINVAL, (int64_t)(text - parsing->text),
				  "expected the name of a thread, as comm == \"bash\"");
	/* The kernel keeps the first 15 bytes of a name. */
	if (length > FILTER_COMM_ROOM - 1)
		length = FILTER_COMM_ROOM - 1;
	memcpy(node->comm, from, length);
	return 0;
}

static int take_number(struct parsing *parsing, struct filter_node *node)
{
	const char *text = parsing->text + parsing->at;
	size_t length = 0;
	char digits[32];

	while (isalnum((unsigned char)text[length]))
		length++;
	snprintf(digits, sizeof(digits), "%.*s", (int)(length < 31 ? length : 31), text);
	if (!length || length > 30 || tally_text_u64(digits, &node->value))
		return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
				  "expected a number, decimal or 0x, to compare %s with",
				  names[node->term]);
	parsing->at += length;
	return 0;
}

static int take_filter(struct parsing *parsing, uint16_t *ret);

static int take_one(struct parsing *parsing, uint16_t *ret)
{
	struct filter_node node = {.join = FILTER_TEST};
	int result;

	if (parsing->depth == DEPTH_MOST)
		return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
				  "a filter has at most %d parentheses and ! within each other",
				  DEPTH_MOST);
	if (take(parsing, "(")) {
		parsing->depth++;
		result = take_filter(parsing, ret);
		parsing->depth--;
		if (!result && !take(parsing, ")"))
			result =
			    tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at, "expected )");
		return result;
	}
	if (take(parsing, "!")) {
		node.join = FILTER_NOT;
		parsing->depth++;
		result = take_one(parsing, &node.left);
		parsing->depth--;
		return result ? result : add_node(parsing, &node, ret);
	}
	if (parsing->tree->tests++ == TALLY_FILTER_TESTS_MOST)
		return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
				  "a filter has at most %d tests", TALLY_FILTER_TESTS_MOST);
	result = take_term(parsing, &node);
	if (!result)
		result = take_operator(parsing, &node);
	if (result)
		return result;
	skip_blanks(parsing);
	result = node.term == FILTER_COMM ? take_comm(parsing, &node) : take_number(parsing, &node);
	return result ? result : add_node(parsing, &node, ret);
}

/* One level of the grammar: what is next below it, with `word` between. */
static int take_level(struct parsing *parsing, const char *word, enum filter_join join,
		      int (*below)(struct parsing *parsing, uint16_t *ret), uint16_t *ret)
{
	int result = below(parsing, ret);

	while (!result && take(parsing, word)) {
		struct filter_node node = {.join = join, .left = *ret};

		result = below(parsing, &node.right);
		if (!result)
			result = add_node(parsing, &node, ret);
	}
	return result;
}

static int take_all(struct parsing *parsing, uint16_t *ret)
{
	return take_level(parsing, "&&", FILTER_AND, take_one, ret);
}

static int take_either(struct parsing *parsing, uint16_t *ret)
{
	return take_level(parsing, "||", FILTER_OR, take_all, ret);
}

static int take_filter(struct parsing *parsing, uint16_t *ret)
{
	return take_level(parsing, ",", FILTER_AND, take_either, ret);
}

int tally_filter_parse(const char *text, struct filter_tree *ret, struct tally_error *error)
{
	struct parsing parsing = {.text = text, .tree = ret, .error = error};
	int result;

	ret->count = ret->tests = 0;
	result = take_filter(&parsing, &ret->top);
	if (result)
		return result;
	skip_blanks(&parsing);
	if (text[parsing.at])
		return tally_fail(error, -EINVAL, (int64_t)parsing.at,
				  "expected &&, ||, a comma, or the end of the filter");
	return 0;
}
