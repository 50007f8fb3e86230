/* Parses an expression to steps of a stack machine, in one pass from left to right. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/buf.h"
#include "base/fail.h"
#include "base/table.h"
#include "metric/expression_inner.h"

#define LONGEST (64u << 10)
#define DEEPEST 100 /* levels of parentheses; the tables have 12 */

enum token {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_LITERAL,
	TOKEN_WORD, /* an ID or a name of the language */
	TOKEN_SIGN, /* one byte */
};

struct parser {
	const char *text, *at; /* `at` is behind the token */
	struct tally_expression *expression;
	struct tally_error *error;
	unsigned runtime, level;
	size_t pushed; /* values on the stack at this place */
	enum token token;
	const char *begin; /* of the token */
	double number;
	locale_t plain;        /* its decimal point is '.' */
	struct tally_buf word; /* with escapes and '?' resolved, '@' kept */
	bool plain_word;       /* nothing was resolved: it may be a word of the language */
};

static int expected(struct parser *parser, const char *what)
{
	return tally_fail(parser->error, -EINVAL, parser->begin - parser->text,
			  "%s expected at column %td", what, parser->begin - parser->text);
}

/* --- tokens --- */

static bool in_word(char byte)
{
	return isalnum((unsigned char)byte) || (byte && strchr("_.:@?", byte));
}

/* The end of a number that starts here, NULL when there is none: digits with a point somewhere, and
 * an exponent with a small e whose sign can only be minus. */
static const char *number_end(const char *at)
{
	const char *begin = at, *point;

	while (*at >= '0' && *at <= '9')
		at++;
	point = at;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9';)
			at++;
	if (at == begin || (point == begin && at == point + 1))
		return NULL;
	if (*at == 'e') {
		const char *exponent = at + 1 + (at[1] == '-');

		if (*exponent >= '0' && *exponent <= '9') {
			while (*exponent >= '0' && *exponent <= '9')
				exponent++;
			at = exponent;
		}
	}
	return at;
}

static const char *word_end(const char *at)
{
	while (in_word(*at) || (*at == '\\' && at[1]))
		at += *at == '\\' ? 2 : 1;
	return at;
}

static void resolve_word(struct parser *parser, const char *end)
{
	tally_buf_clear(&parser->word);
	parser->plain_word = true;
	for (const char *at = parser->begin; at < end; at++) {
		if (*at == '?')
			tally_buf_printf(&parser->word, "%u", parser->runtime);
		else if (*at == '\\')
			tally_buf_byte(&parser->word, (uint8_t) * ++at);
		else
			tally_buf_byte(&parser->word, (uint8_t)*at);
		parser->plain_word &= *at != '?' && *at != '@';
	}
}

/* The longer of a number and a word; the number when they are equally long, as in flex. */
static int next(struct parser *parser)
{
	const char *number, *word;

	while (isspace((unsigned char)*parser->at))
		parser->at++;
	parser->begin = parser->at;
	number = number_end(parser->at);
	word = word_end(parser->at);
	if (!*parser->at) {
		parser->token = TOKEN_END;
	} else if (number && number >= word) {
		parser->token = TOKEN_NUMBER;
		parser->number = strtod_l(parser->begin, NULL, parser->plain);
		parser->at = number;
	} else if (word > parser->at) {
		parser->token = TOKEN_WORD;
		resolve_word(parser, word);
		parser->at = word;
	} else if (*parser->at == '#') {
		parser->token = TOKEN_LITERAL;
		for (parser->at++; isalnum((unsigned char)*parser->at) ||
				   (*parser->at && strchr("_.-", *parser->at));)
			parser->at++;
	} else if (strchr("|^&<>+-*/%(),", *parser->at)) {
		parser->token = TOKEN_SIGN;
		parser->at++;
	} else {
		return expected(parser, "a value or an operator");
	}
	return parser->word.failed;
}

static bool is_sign(const struct parser *parser, char sign)
{
	return parser->token == TOKEN_SIGN && *parser->begin == sign;
}

static bool is_name(struct parser *parser, const char *name)
{
	return parser->token == TOKEN_WORD && !strcmp(tally_buf_str(&parser->word), name);
}

static int take_sign(struct parser *parser, char sign, const char *what)
{
	return is_sign(parser, sign) ? next(parser) : expected(parser, what);
}

/* --- steps --- */

static int add_step(struct parser *parser, struct expression_step step, int grows)
{
	struct tally_expression *expression = parser->expression;

	if (!array_next(&expression->steps, &expression->room, expression->count, 16,
			sizeof(*expression->steps)))
		return -ENOMEM;
	expression->steps[expression->count++] = step;
	parser->pushed += (size_t)grows;
	if (parser->pushed > expression->depth)
		expression->depth = parser->pushed;
	return 0;
}

static int add_verb(struct parser *parser, enum expression_verb verb, int operands)
{
	return add_step(parser, (struct expression_step){.verb = verb}, 1 - operands);
}

/* The word as an ID: '@' is '/', which would be an operator. */
static int add_id(struct parser *parser, enum expression_verb verb)
{
	int64_t id;

	for (size_t i = 0; i < parser->word.size; i++)
		if (parser->word.data[i] == '@')
			parser->word.data[i] = '/';
	id = tally_strings_intern(&parser->expression->ids, (const char *)parser->word.data,
				  parser->word.size);
	if (id < 0)
		return (int)id;
	return add_step(parser, (struct expression_step){.verb = verb, .index = (uint32_t)id}, 1);
}

/* --- the grammar --- */

static int parse_if(struct parser *parser);

static int parse_literal(struct parser *parser)
{
	size_t length = (size_t)(parser->at - parser->begin);
	int result;

	for (int i = 0; i < EXPR_LITERALS; i++) {
		const char *name = tally_expression_literal_name((enum tally_expression_literal)i);

		if (strlen(name) != length || strncasecmp(name, parser->begin, length) != 0)
			continue;
		result = add_step(
		    parser, (struct expression_step){.verb = EXPR_LITERAL, .index = (uint32_t)i},
		    1);
		return result ? result : next(parser);
	}
	return expected(parser, "a known name behind #");
}

/* name(ID) */
static int parse_of_id(struct parser *parser, enum expression_verb verb)
{
	int result = next(parser);

	if (!result)
		result = take_sign(parser, '(', "'('");
	if (result)
		return result;
	if (parser->token == TOKEN_NUMBER) /* only 0 to 9: a part of a CPU's name */
		resolve_word(parser, parser->at);
	else if (parser->token != TOKEN_WORD)
		return expected(parser, "a name");
	result = add_id(parser, verb);
	if (!result)
		result = next(parser);
	return result ? result : take_sign(parser, ')', "')'");
}

/* name(A, B) */
static int parse_of_two(struct parser *parser, enum expression_verb verb)
{
	int result = next(parser);

	if (!result)
		result = take_sign(parser, '(', "'('");
	if (!result)
		result = parse_if(parser);
	if (!result)
		result = take_sign(parser, ',', "','");
	if (!result)
		result = parse_if(parser);
	if (!result)
		result = take_sign(parser, ')', "')'");
	return result ? result : add_verb(parser, verb, 2);
}

static int parse_word(struct parser *parser)
{
	static const struct {
		const char *name;
		enum expression_verb verb;
		bool of_id;
	} functions[] = {
	    {"min", EXPR_MIN, false},
	    {"max", EXPR_MAX, false},
	    {"d_ratio", EXPR_RATIO, false},
	    {"source_count", EXPR_SOURCE_COUNT, true},
	    {"has_event", EXPR_HAS_EVENT, true},
	    {"strcmp_cpuid_str", EXPR_CPUID_IS, true},
	};
	int result;

	if (is_name(parser, "if") || is_name(parser, "else"))
		return expected(parser, "a value");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (is_name(parser, functions[i].name))
			return functions[i].of_id ? parse_of_id(parser, functions[i].verb)
						  : parse_of_two(parser, functions[i].verb);
	result = add_id(parser, EXPR_ID);
	return result ? result : next(parser);
}

/* A value, or minus signs before one. */
static int parse_value(struct parser *parser)
{
	bool negative = false;
	int result = 0;

	for (; is_sign(parser, '-') && !result; result = next(parser))
		negative = !negative;
	if (result)
		return result;
	if (is_sign(parser, '(')) {
		result = next(parser);
		if (!result)
			result = parse_if(parser);
		if (!result)
			result = take_sign(parser, ')', "')' or an operator");
	} else if (parser->token == TOKEN_NUMBER) {
		result = add_step(
		    parser, (struct expression_step){.verb = EXPR_NUMBER, .number = parser->number},
		    1);
		if (!result)
			result = next(parser);
	} else if (parser->token == TOKEN_LITERAL) {
		result = parse_literal(parser);
	} else if (parser->token == TOKEN_WORD) {
		result = parse_word(parser);
	} else {
		result = expected(parser, "a value");
	}
	return result || !negative ? result : add_verb(parser, EXPR_NEGATE, 1);
}

/* The precedence of the current operator; 0: it is not one. */
static int precedence(const struct parser *parser, enum expression_verb *ret)
{
	static const struct {
		char sign;
		int tightness;
		enum expression_verb verb;
	} signs[] = {
	    {'|', 1, EXPR_OR},       {'^', 2, EXPR_XOR},      {'&', 3, EXPR_AND},
	    {'<', 4, EXPR_LESS},     {'>', 4, EXPR_GREATER},  {'+', 5, EXPR_ADD},
	    {'-', 5, EXPR_SUBTRACT}, {'*', 6, EXPR_MULTIPLY}, {'/', 6, EXPR_DIVIDE},
	    {'%', 6, EXPR_MODULO},
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!is_sign(parser, signs[i].sign))
			continue;
		*ret = signs[i].verb;
		return signs[i].tightness;
	}
	return 0;
}

/* Operators of at least this precedence, left to right. */
static int parse_operators(struct parser *parser, int least)
{
	enum expression_verb verb = EXPR_ADD;
	int result = parse_value(parser), tightness;

	while (!result && (tightness = precedence(parser, &verb)) >= least && tightness) {
		result = next(parser);
		if (!result)
			result = parse_operators(parser, tightness + 1);
		if (!result)
			result = add_verb(parser, verb, 2);
	}
	return result;
}

/* One level: A, or A if C else B, where B may be such an expression again. */
static int parse_level(struct parser *parser)
{
	size_t selects = 0;
	int result = parse_operators(parser, 1);

	while (!result && is_name(parser, "if")) {
		result = next(parser);
		if (!result)
			result = parse_if(parser); /* takes its own else, if it has an if */
		if (result)
			break;
		if (!is_name(parser, "else"))
			return expected(parser, "'else'");
		result = next(parser);
		if (!result)
			result = parse_operators(parser, 1);
		selects++;
	}
	for (; !result && selects; selects--)
		result = add_verb(parser, EXPR_SELECT, 3);
	return result;
}

static int parse_if(struct parser *parser)
{
	int result;

	if (parser->level == DEEPEST)
		return tally_fail(parser->error, -E2BIG, parser->begin - parser->text,
				  "over %d levels at column %td", DEEPEST,
				  parser->begin - parser->text);
	parser->level++;
	result = parse_level(parser);
	parser->level--;
	return result;
}

static int parse_all(struct parser *parser)
{
	int result = next(parser);

	if (!result)
		result = parse_if(parser);
	if (!result && parser->token != TOKEN_END)
		result = expected(parser, "an operator or the end");
	return result;
}

int tally_expression_parse(const char *text, unsigned runtime, struct tally_expression **ret,
			   struct tally_error *error)
{
	struct tally_error own = {.text = "out of memory", .position = -1};
	struct parser parser = {
	    .text = text, .at = text, .begin = text, .runtime = runtime, .error = &own};
	int result = -ENOMEM;

	if (strnlen(text, LONGEST + 1) > LONGEST)
		return tally_fail(error, -E2BIG, LONGEST, "an expression of over %u bytes",
				  LONGEST);
	parser.expression = calloc(1, sizeof(*parser.expression));
	parser.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (parser.expression && parser.plain)
		result = parse_all(&parser);
	if (parser.plain)
		freelocale(parser.plain);
	tally_buf_done(&parser.word);
	if (result) {
		tally_expression_free(parser.expression);
		return tally_fail(error, result, own.position, "%s", own.text);
	}
	*ret = parser.expression;
	return 0;
}
