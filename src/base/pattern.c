#include "base/pattern.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/param.h>
#include "base/fail.h"

#define PARTS_MOST  2048U /* of an expanded pattern, which any may have */
#define LEVELS_MOST 64

/* The operator at `at`, one of "()+*?{[", or 0: a character; `ret_size`: how long it is.  In a
 * basic pattern a backslash makes an operator, in an extended one a character. */
static char operator_at(const char *at, bool extended, size_t *ret_size)
{
	bool escaped = at[0] == '\\' && at[1];
	char one = escaped ? at[1] : at[0];

	*ret_size = escaped ? 2 : 1;
	if (one == '*' || one == '[')
		return escaped ? '\0' : one;
	return escaped != extended && strchr("()+?{", one) ? one : '\0';
}

/* Behind the bracket expression whose first [ is before `at`. */
static const char *skip_bracket(const char *at)
{
	at += *at == '^';
	at += *at == ']';
	while (*at && *at != ']') {
		const char kind = at[0] == '[' ? at[1] : '\0'; /* [:alpha:], [=a=], [.-.] */
		const char close[] = {kind, ']', '\0'};
		const char *end =
		    kind == ':' || kind == '=' || kind == '.' ? strstr(at + 2, close) : NULL;

		at = end ? end + 2 : at + 1;
	}
	return *at ? at + 1 : at;
}

/* How often n,m} repeats at the most; `ret_end`: behind it. */
static uint64_t most_of_braces(const char *at, const char **ret_end)
{
	uint64_t number = 0, most = 1;

	for (; isdigit((unsigned char)*at) || *at == ','; at++) {
		number = *at == ',' ? 0 : number * 10 + (uint64_t)(*at - '0');
		most = MIN(MAX(number, most), PARTS_MOST + 1);
		number = MIN(number, PARTS_MOST + 1);
	}
	at += *at == '\\';
	*ret_end = *at == '}' ? at + 1 : at;
	return most;
}

/* regcomp() expands what a + or {n,m} repeats, and takes a time that grows with the square of what
 * may be empty there: nested ones can need gigabytes and hours.  Whether the expanded pattern is
 * not much longer than it is written. */
static bool is_tame(const char *pattern, bool extended)
{
	struct level { /* of groups in groups: all before the last part, and that */
		uint64_t before, last;
	} levels[LEVELS_MOST] = {0}, *level = levels;
	uint64_t most = MAX(PARTS_MOST, 4 * strlen(pattern)), size;
	const char *at = pattern;

	while (*at) {
		uint64_t times = 1, part = 1;
		size_t length;
		char kind = operator_at(at, extended, &length);

		at += length;
		if (kind == '(') {
			if (level + 1 == levels + LEVELS_MOST)
				return false;
			*++level = (struct level){0};
			continue;
		}
		if (kind == ')' && level > levels) {
			part = level->before + level->last + 1;
			level--;
		} else if (kind == '+' || kind == '*' || kind == '?') {
			times = kind == '+' ? 2 : 1;
			part = 0;
		} else if (kind == '{') {
			times = most_of_braces(at, &at);
			part = 0;
		} else if (kind == '[') {
			at = skip_bracket(at);
		}
		if (part) {
			level->before += level->last;
			level->last = part;
		} else {
			level->last = level->last * times + 1;
		}
		size = level->before + level->last;
		if (size > most)
			return false;
	}
	return true;
}

int tally_pattern_compile(const char *pattern, int flags, regex_t *ret, struct tally_error *error)
{
	char why[128];
	int result;

	if (!is_tame(pattern, flags & REG_EXTENDED))
		return tally_fail(error, -EINVAL, -1,
				  "'%s' repeats too much: use * instead of some of + and {...}",
				  pattern);
	result = regcomp(ret, pattern, flags | REG_NOSUB);
	if (!result)
		return 0;
	regerror(result, ret, why, sizeof(why));
	return tally_fail(error, -EINVAL, -1, "'%s' is not a regular expression: %s", pattern, why);
}
