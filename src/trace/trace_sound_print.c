/* The expressions of print formats, as far as libtraceevent can be trusted with them: the C that
 * TP_printk() of the kernel's headers is made of, with fields that are there. */
#include <ctype.h>
#include <string.h>
#include "trace/trace_sound.h"

enum {
	DEPTH_MOST = 100,
	OPERATORS_MOST = 1000, /* in one argument */
	WORD_MOST = 128,
};

struct parser {
	struct trace_scan *scan;
	const struct trace_names *names;
	unsigned depth, operators;
};

static bool expression(struct parser *parser);

static void blanks(struct trace_scan *scan)
{
	while (scan->at < scan->end && strchr(" \t\n", *scan->at))
		scan->at++;
}

static char peek(struct parser *parser)
{
	blanks(parser->scan);
	return (char)(parser->scan->at < parser->scan->end ? *parser->scan->at : 0);
}

static bool take(struct parser *parser, const char *text)
{
	size_t length = strlen(text);
	struct trace_scan *scan = parser->scan;

	blanks(scan);
	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, text, length))
		return false;
	scan->at += length;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t take_word(struct parser *parser, const char **ret)
{
	struct trace_scan *scan = parser->scan;

	blanks(scan);
	*ret = scan->at;
	if (scan->at == scan->end || isdigit((unsigned char)*scan->at))
		return 0;
	while (scan->at < scan->end && is_word(*scan->at))
		scan->at++;
	return scan->at - *ret < WORD_MOST ? (size_t)(scan->at - *ret) : 0;
}

static bool take_field_name(struct parser *parser)
{
	const char *word;
	size_t length = take_word(parser, &word);

	for (size_t i = 0; length && i < parser->names->count; i++)
		if (parser->names->at[i].length == length &&
		    !memcmp(parser->names->at[i].text, word, length))
			return true;
	return false;
}

static bool take_string(struct parser *parser)
{
	return peek(parser) == '"' && tally_trace_take_quoted(parser->scan);
}

static bool take_strings(struct parser *parser)
{
	if (!take_string(parser))
		return false;
	while (peek(parser) == '"')
		if (!take_string(parser))
			return false;
	return true;
}

/* 12, 0x1f, 1UL, 20ull */
static bool take_number(struct parser *parser)
{
	struct trace_scan *scan = parser->scan;
	const char *start = scan->at;

	if (scan->end - scan->at > 2 && scan->at[0] == '0' && (scan->at[1] | 32) == 'x')
		scan->at += 2;
	while (scan->at < scan->end && isxdigit((unsigned char)*scan->at))
		scan->at++;
	while (scan->at < scan->end && strchr("uUlL", *scan->at))
		scan->at++;
	return scan->at > start && scan->at - start < 32 &&
	       (scan->at == scan->end || !is_word(*scan->at));
}

/* The last row of some has NULL. */
static bool row_text(struct parser *parser)
{
	return peek(parser) == '"' ? take_strings(parser)
				   : take(parser, "((void *)0)") || take(parser, "0");
}

/* 'c' */
static bool take_character(struct parser *parser)
{
	const char *start = parser->scan->at;

	return tally_trace_take_quoted(parser->scan) &&
	       parser->scan->at - start == 3 + (start[1] == '\\');
}

/* Rows of __print_flags() and __print_symbolic(), at least one. */
static bool rows(struct parser *parser)
{
	do {
		parser->operators = 0;
		if (!take(parser, "{") || !expression(parser) || !take(parser, ",") ||
		    !row_text(parser) || !take(parser, "}"))
			return false;
	} while (take(parser, ","));
	return true;
}

static bool array(struct parser *parser)
{
	if (take(parser, "REC->"))
		return take_field_name(parser);
	return (take(parser, "__get_dynamic_array(") || take(parser, "__get_rel_dynamic_array(")) &&
	       take_field_name(parser) && take(parser, ")");
}

/* Types in casts and sizeof: words, then stars. */
static bool take_type(struct parser *parser)
{
	const char *word;
	unsigned words = 0;

	while (take_word(parser, &word))
		words++;
	if (!words || words > 4)
		return false;
	for (unsigned stars = 0; take(parser, "*"); stars++)
		if (stars == 2)
			return false;
	return true;
}

/* The arguments of a function, behind its bracket, and the closing one. */
static bool arguments(struct parser *parser, const char *name, size_t length)
{
	static const char of_field[][32] = {
	    "__get_str",
	    "__get_rel_str",
	    "__get_bitmask",
	    "__get_rel_bitmask",
	    "__get_cpumask",
	    "__get_rel_cpumask",
	    "__get_dynamic_array",
	    "__get_rel_dynamic_array",
	    "__get_dynamic_array_len",
	    "__get_rel_dynamic_array_len",
	};
	char word[WORD_MOST + 1];

	memcpy(word, name, length);
	word[length] = '\0';
	for (size_t i = 0; i < sizeof(of_field) / sizeof(*of_field); i++)
		if (!strcmp(word, of_field[i]))
			return take_field_name(parser) && take(parser, ")");
	if (!strcmp(word, "sizeof"))
		return take_type(parser) && take(parser, ")");
	if (!strcmp(word, "__print_flags"))
		return expression(parser) && take(parser, ",") && take_string(parser) &&
		       take(parser, ",") && rows(parser) && take(parser, ")");
	if (!strcmp(word, "__print_symbolic"))
		return expression(parser) && take(parser, ",") && rows(parser) && take(parser, ")");
	if (!strcmp(word, "__print_hex") || !strcmp(word, "__print_hex_str"))
		return array(parser) && take(parser, ",") && expression(parser) &&
		       take(parser, ")");
	if (!strcmp(word, "__print_array"))
		return array(parser) && take(parser, ",") && expression(parser) &&
		       take(parser, ",") && expression(parser) && take(parser, ")");
	if (!strcmp(word, "__builtin_expect"))
		return expression(parser) && take(parser, ",") && expression(parser) &&
		       take(parser, ")");
	return false;
}

/* REC->field, a function's result, or an enumerator that the kernel left as it was. */
static bool named(struct parser *parser)
{
	const char *word;
	size_t length;

	if (take(parser, "REC->"))
		return take_field_name(parser);
	length = take_word(parser, &word);
	if (!length)
		return false;
	return take(parser, "(") ? arguments(parser, word, length) : true;
}

static bool operand(struct parser *parser);

/* A bracket around an expression, or a type behind which an operand comes. */
static bool bracketed(struct parser *parser)
{
	const char *start = parser->scan->at;

	if (take_type(parser) && take(parser, ")")) {
		char next = peek(parser);

		if (next && (strchr("(!~-", next) || is_word(next)))
			return operand(parser);
		return !memchr(start, '*', (size_t)(parser->scan->at - start));
	}
	parser->scan->at = start;
	return expression(parser) && take(parser, ")");
}

static bool primary(struct parser *parser)
{
	char c = peek(parser);

	if (c == '"')
		return take_strings(parser);
	if (isdigit((unsigned char)c))
		return take_number(parser);
	if (c == '\'')
		return take_character(parser);
	if (take(parser, "(REC)->"))
		return take_field_name(parser);
	if (c == '(')
		return take(parser, "(") && bracketed(parser);
	return named(parser);
}

static bool operand(struct parser *parser)
{
	bool good = ++parser->depth <= DEPTH_MOST;

	while (good && (peek(parser) == '!' || peek(parser) == '~' || peek(parser) == '-')) {
		parser->scan->at++;
		good = ++parser->operators <= OPERATORS_MOST;
	}
	good = good && primary(parser);
	while (good && take(parser, "["))
		good = expression(parser) && take(parser, "]");
	parser->depth--;
	return good;
}

/* libtraceevent computes what it can while it parses, divisions by zero as well.  Real divisors are
 * numbers, sizes and fields. */
static bool divisor_follows(struct parser *parser)
{
	struct trace_scan *scan = parser->scan;
	const char *start = scan->at;
	bool bracket = take(parser, "("), good;

	if (take(parser, "REC->"))
		good = take_field_name(parser);
	else if (!bracket && take(parser, "sizeof("))
		good = true;
	else
		good = peek(parser) && strchr("123456789", peek(parser)) && take_number(parser);
	good = good && (!bracket || take(parser, ")"));
	scan->at = start;
	return good;
}

static bool take_operator(struct parser *parser)
{
	static const char operators[][4] = {
	    "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "<",
	    ">",  "&",  "|",  "+",  "-",  "*",  "/",  "%",
	};

	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (take(parser, operators[i]))
			return ++parser->operators <= OPERATORS_MOST &&
			       (!strchr("/%", *operators[i]) || divisor_follows(parser));
	return false;
}

static bool is_operator(char c)
{
	return c && strchr("=!<>&|+-*/%", c);
}

static bool expression(struct parser *parser)
{
	bool good = ++parser->depth <= DEPTH_MOST && operand(parser);

	while (good && is_operator(peek(parser)))
		good = take_operator(parser) && operand(parser);
	if (good && take(parser, "?"))
		good = ++parser->operators <= OPERATORS_MOST && expression(parser) &&
		       take(parser, ":") && expression(parser);
	parser->depth--;
	return good;
}

bool tally_trace_print_sound(struct trace_scan *scan, const struct trace_names *names)
{
	struct parser parser = {.scan = scan, .names = names};

	if (!take_strings(&parser))
		return false;
	while (take(&parser, ",")) {
		parser.operators = 0;
		if (!expression(&parser))
			return false;
	}
	blanks(scan);
	return scan->at == scan->end;
}
