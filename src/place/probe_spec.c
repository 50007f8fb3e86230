#include "place/probe_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fail.h"

#define TEXT_MOST 65536 /* of a whole definition */

struct parser {
	const char *text; /* all of it: columns count from here */
	struct probe_spec *spec;
	struct tally_error *error;
};

/* A piece of the text. */
struct piece {
	const char *at;
	size_t length;
};

static int64_t column(const struct parser *parser, const char *at)
{
	return at - parser->text;
}

static int fail_memory(const struct parser *parser)
{
	return tally_fail(parser->error, -ENOMEM, -1, "out of memory");
}

/* The first of `marks` that no backslash is before; NULL: none.  "::" is part of a name of C++. */
static const char *find_mark(struct piece piece, const char *marks)
{
	for (size_t i = 0; i < piece.length; i++) {
		if (piece.at[i] == '\\' ||
		    (piece.at[i] == ':' && i + 1 < piece.length && piece.at[i + 1] == ':'))
			i++;
		else if (strchr(marks, piece.at[i]))
			return &piece.at[i];
	}
	return NULL;
}

static struct piece behind(struct piece piece, const char *at)
{
	return (struct piece){at, (size_t)(piece.at + piece.length - at)};
}

static struct piece before(struct piece piece, const char *at)
{
	return (struct piece){piece.at, (size_t)(at - piece.at)};
}

static int keep(const struct parser *parser, struct piece piece, const char **ret)
{
	*ret = tally_arena_strndup(&parser->spec->arena, piece.at, piece.length);
	return *ret ? 0 : fail_memory(parser);
}

/* The same without the backslashes that quote a mark. */
static int keep_plain(const struct parser *parser, struct piece piece, const char **ret)
{
	char *copy = tally_arena_strndup(&parser->spec->arena, piece.at, piece.length);
	size_t kept = 0;

	if (!copy)
		return fail_memory(parser);
	for (size_t i = 0; i < piece.length; i++) {
		if (copy[i] == '\\' && i + 1 < piece.length)
			i++;
		copy[kept++] = copy[i];
	}
	copy[kept] = '\0';
	*ret = copy;
	return 0;
}

static bool is_identifier(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (*++text)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

static int take_number(const struct parser *parser, struct piece piece, const char *what,
		       uint64_t most, uint64_t *ret)
{
	char digits[32];
	char *end;

	if (!piece.length || piece.length >= sizeof(digits) || !isdigit((unsigned char)*piece.at))
		return tally_fail(parser->error, -EINVAL, column(parser, piece.at),
				  "%s: a number is expected", what);
	memcpy(digits, piece.at, piece.length);
	digits[piece.length] = '\0';
	errno = 0;
	*ret = strtoull(digits, &end, 0);
	if (*end)
		return tally_fail(parser->error, -EINVAL, column(parser, piece.at) + (end - digits),
				  "%s: '%s' is not a number", what, digits);
	if (errno || *ret > most)
		return tally_fail(parser->error, -EINVAL, column(parser, piece.at),
				  "%s: %s is too large", what, digits);
	return 0;
}

/* --- names --- */

static int take_event_name(const struct parser *parser, struct piece piece)
{
	struct probe_spec *spec = parser->spec;
	const char *colon = find_mark(piece, ":");
	struct piece name = colon ? behind(piece, colon + 1) : piece;
	int result = 0;

	if (colon)
		result = keep_plain(parser, before(piece, colon), &spec->group);
	if (!result)
		result = keep_plain(parser, name, &spec->event);
	if (result || spec->marker)
		return result;
	if (spec->group && !is_identifier(spec->group))
		return tally_fail(parser->error, -EINVAL, column(parser, piece.at),
				  "'%s' is invalid as a group: use letters, digits and _",
				  spec->group);
	if (!is_identifier(spec->event))
		return tally_fail(parser->error, -EINVAL, column(parser, name.at),
				  "'%s' is invalid as an event name: use letters, digits and _",
				  spec->event);
	return 0;
}

/* --- places --- */

static bool is_marker(struct piece piece)
{
	if (!piece.length || *piece.at == '%')
		return piece.length;
	return piece.length > 4 && !memcmp(piece.at, "sdt_", 4) &&
	       memchr(piece.at, ':', piece.length) && !memchr(piece.at, '=', piece.length);
}

static int take_marker(const struct parser *parser, struct piece piece)
{
	struct probe_spec *spec = parser->spec;
	const char *mark;
	int result = 0;

	spec->marker = true;
	if (*piece.at == '%')
		piece = behind(piece, piece.at + 1);
	mark = find_mark(piece, ";=@+%");
	if (mark && *mark != '@')
		return tally_fail(parser->error, -EINVAL, column(parser, mark),
				  "a marker is written as sdt_PROVIDER:NAME");
	if (mark) {
		result = keep_plain(parser, behind(piece, mark + 1), &spec->program);
		piece = before(piece, mark);
	}
	if (!result)
		result = take_event_name(parser, piece);
	if (!result && !*spec->event)
		result = tally_fail(parser->error, -EINVAL, column(parser, piece.at),
				    "the name of the marker is missing");
	return result;
}

static int take_option(const struct parser *parser, char mark, struct piece piece)
{
	struct probe_point *point = &parser->spec->point;
	uint64_t line = 0;
	int result;

	switch (mark) {
	case ':':
		result = take_number(parser, piece, "line", INT32_MAX, &line);
		if (!result)
			point->line = (uint32_t)line;
		return result;
	case '+':
		return take_number(parser, piece, "offset", INT64_MAX, &point->offset);
	case '@':
		if (point->file)
			return tally_fail(parser->error, -EINVAL, column(parser, piece.at),
					  "two source files are given");
		return keep_plain(parser, piece, &point->file);
	default: /* % */
		if (piece.length != 6 || memcmp(piece.at, "return", 6))
			return tally_fail(parser->error, -EINVAL, column(parser, piece.at),
					  "unknown place '%%%.*s'; %%return is the only one",
					  (int)piece.length, piece.at);
		point->at_return = true;
		return 0;
	}
}

static int check_point(const struct parser *parser, int64_t at)
{
	const struct probe_point *point = &parser->spec->point;
	const char *why = NULL;

	if (!point->function && !point->file)
		why = "name a function, or a source file and a line";
	else if (point->pattern && point->line)
		why = "a pattern and a line exclude each other";
	else if (point->pattern && point->offset)
		why = "a pattern and an offset exclude each other";
	else if (point->line && point->offset)
		why = "a line and an offset exclude each other";
	else if (!point->function && !point->line && !point->pattern)
		why = "a source file needs a line or a pattern: FILE:LINE";
	else if (!point->function && point->offset)
		why = "an offset needs a function";
	else if (point->at_return && (point->offset || point->line || point->pattern))
		why = "%return excludes an offset, a line and a pattern";
	else if (point->at_return && !point->function)
		why = "%return needs a function";
	else if (point->is_address && (point->line || point->pattern || point->file))
		why = "an address excludes a line, a pattern and a file";
	return why ? tally_fail(parser->error, -EINVAL, at, "%s", why) : 0;
}

static int take_point(const struct parser *parser, struct piece piece)
{
	struct probe_point *point = &parser->spec->point;
	const char *start = piece.at, *mark = find_mark(piece, ";=@+%");
	bool is_file = false;
	struct piece name;
	int result;

	if (mark && *mark == '=') {
		result = take_event_name(parser, before(piece, mark));
		if (result)
			return result;
		piece = behind(piece, mark + 1);
	}
	/* Only a name with a dot is a file. */
	if (!find_mark(piece, "+@%")) {
		mark = find_mark(piece, ";:");
		is_file = mark && memchr(piece.at, '.', (size_t)(mark - piece.at));
	}
	mark = find_mark(piece, ";:+@%");
	name = mark ? before(piece, mark) : piece;
	if (name.length) {
		result = keep_plain(parser, name, is_file ? &point->file : &point->function);
		if (result)
			return result;
	}
	if (point->function && !strncmp(point->function, "0x", 2)) {
		point->is_address = true;
		result = take_number(parser, name, "address", UINT64_MAX, &point->address);
		if (result)
			return result;
	}
	while (mark) {
		struct piece rest = behind(piece, mark + 1);
		const char *next;

		if (*mark == ';') {
			if (!rest.length)
				return tally_fail(parser->error, -EINVAL, column(parser, mark),
						  "the pattern is empty");
			result = keep(parser, rest, &point->pattern);
			if (result)
				return result;
			break;
		}
		next = find_mark(rest, ";:+@%");
		result = take_option(parser, *mark, next ? before(rest, next) : rest);
		if (result)
			return result;
		mark = next;
	}
	return check_point(parser, column(parser, start));
}

/* --- arguments --- */

static int take_step(const struct parser *parser, struct piece *rest, struct probe_step *step)
{
	const char *at = rest->at;
	struct piece name;
	size_t length;
	char *end;

	if (*at == '[') {
		char digits[24];
		const char *close = memchr(at, ']', rest->length);

		length = close ? (size_t)(close - at - 1) : 0;
		if (!length || length >= sizeof(digits))
			return tally_fail(parser->error, -EINVAL, column(parser, at),
					  "an element is written as [NUMBER]");
		memcpy(digits, at + 1, length);
		digits[length] = '\0';
		errno = 0;
		step->index = strtoll(digits, &end, 0);
		if (*end || errno || step->index > INT32_MAX || step->index < INT32_MIN)
			return tally_fail(parser->error, -EINVAL, column(parser, at + 1),
					  "'%s' is not the number of an element", digits);
		*rest = behind(*rest, close + 1);
		return 0;
	}
	if (*at == '-' && rest->length > 1 && at[1] == '>')
		step->arrow = true;
	else if (*at != '.')
		return tally_fail(parser->error, -EINVAL, column(parser, at),
				  "'.', '->' or '[' is expected");
	name = behind(*rest, at + (step->arrow ? 2 : 1));
	for (length = 0; length < name.length && !strchr("-.[", name.at[length]);)
		length++;
	if (!length)
		return tally_fail(parser->error, -EINVAL, column(parser, name.at),
				  "the name of a member is missing");
	*rest = behind(name, name.at + length);
	name.length = length;
	return keep(parser, name, &step->member);
}

static int take_steps(const struct parser *parser, struct probe_argument *argument,
		      struct piece rest)
{
	struct probe_step steps[PROBE_STEPS_MOST];
	const char *name = argument->variable;
	size_t size;

	while (rest.length) {
		struct probe_step *step = &steps[argument->step_count];
		int result;

		if (argument->step_count == PROBE_STEPS_MOST)
			return tally_fail(parser->error, -E2BIG, column(parser, rest.at),
					  "more than %d members in a row", PROBE_STEPS_MOST);
		*step = (struct probe_step){0};
		result = take_step(parser, &rest, step);
		if (result)
			return result;
		if (step->member)
			name = step->member;
		argument->step_count++;
	}
	size = argument->step_count * sizeof(*steps);
	argument->steps = tally_arena_alloc(&parser->spec->arena, size);
	if (!argument->steps)
		return fail_memory(parser);
	memcpy(argument->steps, steps, size);
	if (!argument->name)
		argument->name = name;
	return 0;
}

static int take_argument(const struct parser *parser, struct piece piece,
			 struct probe_argument *argument)
{
	const char *mark = memchr(piece.at, '=', piece.length);
	size_t length = 0;
	int result = 0;

	argument->column = (size_t)column(parser, piece.at);
	if (mark) {
		result = keep(parser, before(piece, mark), &argument->name);
		if (result)
			return result;
		if (!is_identifier(argument->name))
			return tally_fail(parser->error, -EINVAL, column(parser, piece.at),
					  "'%s' is invalid as the name of an argument",
					  argument->name);
		piece = behind(piece, mark + 1);
	}
	result = keep(parser, piece, &argument->shown);
	if (result)
		return result;
	if (piece.length > 5 && !memcmp(piece.at + piece.length - 5, "@user", 5)) {
		argument->user = true;
		piece.length -= 5;
	}
	/* A bit-field's type, b3@0/32, has a colon before and none behind. */
	mark = memchr(piece.at, ':', piece.length);
	if (mark) {
		struct piece type = behind(piece, mark + 1);

		if (!type.length)
			return tally_fail(parser->error, -EINVAL, column(parser, mark),
					  "the type behind ':' is missing");
		result = keep(parser, type, &argument->type);
		if (result)
			return result;
		piece = before(piece, mark);
	}
	if (!piece.length)
		return tally_fail(parser->error, -EINVAL, column(parser, piece.at),
				  "the variable is missing");
	if (isalpha((unsigned char)*piece.at) || *piece.at == '_')
		while (length < piece.length && !strchr("-.[", piece.at[length]))
			length++;
	else
		length = piece.length;
	result = keep(parser, (struct piece){piece.at, length}, &argument->variable);
	if (result || length == piece.length)
		return result;
	return take_steps(parser, argument, behind(piece, piece.at + length));
}

/* --- all --- */

static struct piece next_word(const char **at)
{
	struct piece word;

	*at += strspn(*at, " \t\n");
	word.at = *at;
	word.length = strcspn(*at, " \t\n");
	*at += word.length;
	return word;
}

static int take_arguments(const struct parser *parser, const char *at)
{
	struct probe_spec *spec = parser->spec;
	struct piece word;
	int result = 0;

	spec->arguments =
	    tally_arena_alloc(&spec->arena, PROBE_ARGUMENTS_MOST * sizeof(*spec->arguments));
	if (!spec->arguments)
		return fail_memory(parser);
	while (!result && (word = next_word(&at)).length) {
		struct probe_argument *argument = &spec->arguments[spec->argument_count];

		if (spec->argument_count == PROBE_ARGUMENTS_MOST)
			return tally_fail(parser->error, -E2BIG, column(parser, word.at),
					  "more than %d arguments", PROBE_ARGUMENTS_MOST);
		result = take_argument(parser, word, argument);
		spec->argument_count += !result;
		if (!result && spec->point.at_return && tally_probe_is_variable(argument->variable))
			result = tally_fail(parser->error, -EINVAL, (int64_t)argument->column,
					    "at a return there are no variables, only $retval");
	}
	return result;
}

int tally_probe_spec_parse(const char *text, struct probe_spec *ret, struct tally_error *error)
{
	struct probe_spec spec = {0};
	struct parser parser = {text, &spec, error};
	const char *at = text;
	struct piece word;
	int result;

	if (strlen(text) > TEXT_MOST)
		return tally_fail(error, -E2BIG, TEXT_MOST, "a definition of more than %d bytes",
				  TEXT_MOST);
	word = next_word(&at);
	if (!word.length)
		return tally_fail(error, -EINVAL, 0, "no place is given");
	result = is_marker(word) ? take_marker(&parser, word) : take_point(&parser, word);
	if (!result)
		result = take_arguments(&parser, at);
	if (!result && spec.marker && spec.argument_count)
		result = tally_fail(error, -EINVAL, (int64_t)spec.arguments[0].column,
				    "a marker has its own arguments");
	if (result) {
		tally_probe_spec_done(&spec);
		return result;
	}
	*ret = spec;
	return 0;
}

void tally_probe_spec_done(struct probe_spec *spec)
{
	tally_arena_done(&spec->arena);
	*spec = (struct probe_spec){0};
}

bool tally_probe_is_variable(const char *text)
{
	return isalpha((unsigned char)*text) || *text == '_';
}

bool tally_probe_has_variables(const struct probe_spec *spec)
{
	for (size_t i = 0; i < spec->argument_count; i++) {
		const char *name = spec->arguments[i].variable;

		if (tally_probe_is_variable(name) || !strcmp(name, "$vars") ||
		    !strcmp(name, "$params"))
			return true;
	}
	return false;
}

bool tally_probe_wants_debug(const struct probe_spec *spec)
{
	const struct probe_point *point = &spec->point;

	return point->file || point->line || point->pattern || tally_probe_has_variables(spec);
}

void tally_probe_point_format(const struct probe_point *point, struct tally_buf *to)
{
	if (point->function) {
		tally_buf_text(to, point->function);
		if (point->offset)
			tally_buf_printf(to, "+%llu", (unsigned long long)point->offset);
		else if (point->line)
			tally_buf_printf(to, ":%u", point->line);
		else if (point->at_return)
			tally_buf_text(to, "%return");
	}
	if (point->file) {
		size_t length = strlen(point->file);
		const char *tail = point->file, *slash;

		if (length > 30) { /* perf's: the end of the path */
			tail += length - 30;
			slash = strchr(tail, '/');
			tail = slash ? slash + 1 : tail;
		}
		tally_buf_printf(to, "@%s", tail);
		if (!point->function && point->line)
			tally_buf_printf(to, ":%u", point->line);
	}
}
