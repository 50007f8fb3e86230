/* Text to tests: a recursive-descent parser, which emits the tests of a part from the last to the
 * first, as each needs the number of the next one. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "base/pattern.h"
#include "plugin/choice.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_OP };

struct token {
	enum token_kind kind;
	size_t at, length; /* in the text, quotes included */
	enum choice_op op;
};

/* A part of the expression: a test, or two parts joined, perhaps negated. */
struct node {
	enum { NODE_TEST, NODE_AND, NODE_OR } kind;
	bool negated;
	uint16_t left, right; /* nodes; of a test: its number in `tests` */
};

struct parser {
	struct tally_choice *choice;
	const char *text;
	struct token token; /* the next one */
	struct tally_error *error;
	struct choice_test tests[CHOICE_TESTS_MOST];
	struct node nodes[CHOICE_TESTS_MOST * 2];
	uint16_t test_count, node_count;
	unsigned depth;
};

static int wrong(struct parser *parser, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong(struct parser *parser, size_t at, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return tally_fail(parser->error, -EINVAL, (int64_t)at, "%s", text);
}

/* --- words --- */

static const struct {
	const char text[3];
	enum choice_op op;
} operators[] = {
    /* The longer ones first. */
    {"==", CHOICE_EQUAL},         {"!=", CHOICE_UNEQUAL}, {"<=", CHOICE_LESS_EQUAL},
    {">=", CHOICE_GREATER_EQUAL}, {"=~", CHOICE_MATCH},   {"!~", CHOICE_NO_MATCH},
    {"<", CHOICE_LESS},           {">", CHOICE_GREATER},  {"=", CHOICE_EQUAL},
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static bool ends_word(const char *at)
{
	return !*at || is_space(*at) || strchr("()!=<>'\"", *at) ||
	       (at[0] == '&' && at[1] == '&') || (at[0] == '|' && at[1] == '|');
}

/* A value ends at the next space, or at the bracket that closes an earlier one. */
static size_t value_length(const char *at)
{
	size_t length = 0;
	unsigned open = 0;

	for (; at[length] && !is_space(at[length]); length++) {
		if (at[length] == '(')
			open++;
		else if (at[length] == ')' && !open--)
			break;
	}
	return length;
}

static int next(struct parser *parser, bool value)
{
	const char *text = parser->text;
	struct token token = {.at = parser->token.at + parser->token.length};
	const char *at;

	while (is_space(text[token.at]))
		token.at++;
	at = text + token.at;
	token.length = 1;
	if (!*at) {
		token.length = 0;
	} else if (*at == '\'' || *at == '"') {
		const char *end = strchr(at + 1, *at);

		if (!end)
			return wrong(parser, token.at,
				     "the text that begins here does not end: "
				     "close it with %c",
				     *at);
		token.kind = TOKEN_QUOTED;
		token.length = (size_t)(end - at) + 1;
	} else if (value) {
		token.length = value_length(at);
		token.kind = token.length ? TOKEN_WORD : TOKEN_CLOSE;
	} else if (*at == '(' || *at == ')') {
		token.kind = *at == '(' ? TOKEN_OPEN : TOKEN_CLOSE;
	} else if (!ends_word(at)) {
		token.kind = TOKEN_WORD;
		while (!ends_word(at + token.length))
			token.length++;
	} else {
		token.kind = TOKEN_OP;
		token.op = CHOICE_HAS; /* none of these: !, && or || */
		if (*at == '&' || *at == '|')
			token.length = 2;
		for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
			if (!strncmp(at, operators[i].text, strlen(operators[i].text))) {
				token.op = operators[i].op;
				token.length = strlen(operators[i].text);
				break;
			}
	}
	parser->token = token;
	return 0;
}

static bool is(const struct parser *parser, const char *word, const char *sign)
{
	const struct token *token = &parser->token;
	const char *at = parser->text + token->at;

	if (token->kind == TOKEN_WORD)
		return strlen(word) == token->length && !strncmp(at, word, token->length);
	return token->kind == TOKEN_OP && strlen(sign) == token->length &&
	       !strncmp(at, sign, token->length);
}

static char *copy(struct parser *parser)
{
	const struct token *token = &parser->token;
	size_t quotes = token->kind == TOKEN_QUOTED;

	return tally_arena_strndup(&parser->choice->arena, parser->text + token->at + quotes,
				   token->length - 2 * quotes);
}

/* --- tests --- */

static int take_operator(struct parser *parser, struct choice_test *test)
{
	size_t at = parser->token.at;

	if (is(parser, "has", "")) {
		if (test->field != CHOICE_STACK)
			return wrong(parser, at,
				     "'has' is for the stack: stack has NAME; compare "
				     "others with == != =~");
		test->op = CHOICE_HAS;
		return 0;
	}
	if (parser->token.kind != TOKEN_OP || parser->token.op == CHOICE_HAS)
		return wrong(parser, at,
			     test->field == CHOICE_STACK
				 ? "expected 'has' and the name of a function"
				 : "expected a comparison: == != < <= > >= =~ !~");
	test->op = parser->token.op;
	if (test->field == CHOICE_STACK && test->op != CHOICE_MATCH)
		return wrong(parser, at, "a stack 'has' a function, or has one that matches (=~)");
	if (test->type == CHOICE_TEXT && test->op >= CHOICE_LESS &&
	    test->op <= CHOICE_GREATER_EQUAL)
		return wrong(parser, at, "this is text: compare it with == != =~ !~");
	if (test->type != CHOICE_TEXT && test->type != CHOICE_UNKNOWN && test->op >= CHOICE_MATCH)
		return wrong(parser, at, "this is a number: compare it with == != < <= > >=");
	return 0;
}

static int take_value(struct parser *parser, struct choice_test *test)
{
	static const char *const kinds[] = {
	    [CHOICE_NUMBER] = "a number, decimal or 0x...",
	    [CHOICE_SIGNED] = "a number",
	    [CHOICE_SECONDS] = "a time in seconds, as 12.345678",
	};
	struct tally_error why;

	if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_QUOTED)
		return wrong(parser, parser->token.at, "expected a value to compare with");
	test->value_column = (int)parser->token.at;
	test->value = copy(parser);
	if (!test->value)
		return -ENOMEM;
	if (test->type <= CHOICE_SECONDS &&
	    tally_choice_value(test->type, test->value, &test->number))
		return wrong(parser, parser->token.at, "'%s' is not %s", test->value,
			     kinds[test->type]);
	if (test->op != CHOICE_MATCH && test->op != CHOICE_NO_MATCH)
		return 0;
	if (tally_pattern_compile(test->value, REG_EXTENDED, &test->regex, &why))
		return wrong(parser, parser->token.at, "%s", why.text);
	test->has_regex = true;
	return 0;
}

static int take_test(struct parser *parser, uint16_t *ret)
{
	static const char prefix[] = "trace.";
	struct choice_test *test = &parser->tests[parser->test_count];
	char *name;
	int result;

	if (parser->token.kind != TOKEN_WORD)
		return wrong(parser, parser->token.at,
			     "expected a field (comm, pid, sym, ...), 'not' or '('");
	if (parser->test_count == CHOICE_TESTS_MOST)
		return wrong(parser, parser->token.at, "more than %u comparisons",
			     CHOICE_TESTS_MOST);
	name = copy(parser);
	if (!name)
		return -ENOMEM;
	*test = (struct choice_test){.column = (int)parser->token.at};
	if (!tally_choice_field(name, &test->field, &test->type)) {
		test->field = CHOICE_TRACE;
		test->type = CHOICE_UNKNOWN;
		test->name =
		    strncmp(name, prefix, sizeof(prefix) - 1) ? name : name + sizeof(prefix) - 1;
	}
	/* The caller frees its regex from now on. */
	parser->test_count++;
	result = next(parser, false);
	if (!result)
		result = take_operator(parser, test);
	if (!result)
		result = next(parser, true);
	if (!result)
		result = take_value(parser, test);
	if (result)
		return result;
	parser->nodes[parser->node_count] =
	    (struct node){.kind = NODE_TEST, .left = (uint16_t)(parser->test_count - 1)};
	*ret = parser->node_count++;
	return next(parser, false);
}

/* --- parts --- */

static int take_or(struct parser *parser, uint16_t *ret);

static int take_not(struct parser *parser, uint16_t *ret)
{
	int result;

	if (++parser->depth > CHOICE_DEPTH_MOST)
		return wrong(parser, parser->token.at, "brackets and 'not' more than %u deep",
			     CHOICE_DEPTH_MOST);
	if (is(parser, "not", "!")) {
		result = next(parser, false);
		if (!result)
			result = take_not(parser, ret);
		if (!result)
			parser->nodes[*ret].negated = !parser->nodes[*ret].negated;
	} else if (parser->token.kind == TOKEN_OPEN) {
		size_t open = parser->token.at;

		result = next(parser, false);
		if (!result)
			result = take_or(parser, ret);
		if (!result && parser->token.kind != TOKEN_CLOSE)
			return parser->token.kind == TOKEN_END
				   ? wrong(parser, open, "this bracket is not closed")
				   : wrong(parser, parser->token.at, "expected 'and', 'or' or ')'");
		if (!result)
			result = next(parser, false);
	} else {
		result = take_test(parser, ret);
	}
	parser->depth--;
	return result;
}

/* Parts joined by one word: `of` reads each. */
static int take_joined(struct parser *parser, bool ands, uint16_t *ret)
{
	int result = ands ? take_not(parser, ret) : take_joined(parser, true, ret);

	while (!result && is(parser, ands ? "and" : "or", ands ? "&&" : "||")) {
		uint16_t right;

		result = next(parser, false);
		if (!result)
			result =
			    ands ? take_not(parser, &right) : take_joined(parser, true, &right);
		if (result)
			return result;
		parser->nodes[parser->node_count] =
		    (struct node){.kind = ands ? NODE_AND : NODE_OR, .left = *ret, .right = right};
		*ret = parser->node_count++;
	}
	return result;
}

static int take_or(struct parser *parser, uint16_t *ret)
{
	return take_joined(parser, false, ret);
}

/* --- the program --- */

/* Puts the part into the program; `yes` and `no` are the tests after it.  Returns its first
 * test. */
static uint16_t emit(struct parser *parser, uint16_t number, uint16_t yes, uint16_t no)
{
	struct tally_choice *choice = parser->choice;
	const struct node *node = &parser->nodes[number];
	uint16_t right;

	if (node->negated) {
		uint16_t other = yes;

		yes = no;
		no = other;
	}
	if (node->kind == NODE_TEST) {
		struct choice_test *test = &choice->tests[node->left];

		test->yes = yes;
		test->no = no;
		return node->left;
	}
	right = emit(parser, node->right, yes, no);
	return node->kind == NODE_AND ? emit(parser, node->left, right, no)
				      : emit(parser, node->left, yes, right);
}

static int parse(struct parser *parser)
{
	struct tally_choice *choice = parser->choice;
	uint16_t first = 0;
	int result = next(parser, false);

	if (!result && parser->token.kind == TOKEN_END)
		return wrong(parser, 0, "an expression is missing, for example: comm == make");
	if (!result)
		result = take_or(parser, &first);
	if (!result && parser->token.kind != TOKEN_END)
		result = wrong(parser, parser->token.at, "expected 'and' or 'or'");
	/* The tests are the expression's from now on, good or not: it frees what they hold. */
	choice->tests = calloc(parser->test_count + 1U, sizeof(*choice->tests));
	if (!choice->tests) {
		for (uint16_t i = 0; i < parser->test_count; i++)
			if (parser->tests[i].has_regex)
				regfree(&parser->tests[i].regex);
		return -ENOMEM;
	}
	memcpy(choice->tests, parser->tests, parser->test_count * sizeof(*choice->tests));
	choice->count = parser->test_count;
	if (!result)
		choice->first = emit(parser, first, CHOICE_TRUE, CHOICE_FALSE);
	return result;
}

int tally_choice_parse(const char *text, struct tally_choice **ret, struct tally_error *error)
{
	struct tally_choice *choice = calloc(1, sizeof(*choice));
	struct parser *parser = calloc(1, sizeof(*parser));
	int result = choice && parser ? 0 : -ENOMEM;

	if (!result) {
		parser->choice = choice;
		parser->text = text;
		parser->error = error;
		result = parse(parser);
	}
	free(parser);
	if (result == -ENOMEM)
		result = tally_fail(error, result, -1, "out of memory for the expression");
	if (result) {
		tally_choice_free(choice);
		return result;
	}
	*ret = choice;
	return 0;
}
