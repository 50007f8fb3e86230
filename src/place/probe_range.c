/* The lines that a person asks to see. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "place/probe_spec.h"

static int take_line(const char *text, const char **at, int32_t *ret, struct tally_error *error)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(*at, &end, 0);
	if (end == *at || errno || value < 0 || value > INT32_MAX)
		return tally_fail(error, -EINVAL, *at - text, "a line number is expected");
	*at = end;
	*ret = (int32_t)value;
	return 0;
}

static int take_lines(const char *text, const char *at, struct probe_range *range,
		      struct tally_error *error)
{
	int32_t number = 0;
	int result = take_line(text, &at, &range->first, error);

	if (!result && (*at == '+' || *at == '-')) {
		bool count = *at++ == '+';
		int64_t last;

		result = take_line(text, &at, &number, error);
		if (result)
			return result;
		last = count ? (int64_t)range->first + number - 1 : number;
		range->last = last < INT32_MAX ? (int32_t)last : INT32_MAX;
	}
	if (!result && *at)
		return tally_fail(error, -EINVAL, at - text, "unknown text behind the lines: '%s'",
				  at);
	if (!result && range->last < range->first)
		return tally_fail(error, -EINVAL, at - text, "the last line is before the first");
	return result;
}

/* As a glob or a name of C++ may be one, only what cannot be a function is refused. */
static bool is_function(const char *name)
{
	for (; *name; name++)
		if (isspace((unsigned char)*name) || strchr("+%;=", *name))
			return false;
	return true;
}

int tally_probe_range_parse(const char *text, struct probe_range *ret, struct tally_error *error)
{
	struct probe_range range = {.last = INT32_MAX};
	const char *colon = text, *at;
	char *name;
	int result = 0;

	/* "A::f:3": a colon that is doubled is part of a name. */
	while ((colon = strchr(colon, ':')) && colon[1] == ':')
		colon += 2;
	name =
	    tally_arena_strndup(&range.arena, text, colon ? (size_t)(colon - text) : strlen(text));
	if (!name)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (colon)
		result = take_lines(text, colon + 1, &range, error);
	at = strchr(name, '@');
	if (at) {
		range.file = at + 1;
		range.function = name;
		name[at - name] = '\0';
	} else if (strpbrk(name, "/.")) {
		range.file = name;
	} else {
		range.function = name;
	}
	if (!result && (!*name || (range.function && !is_function(range.function)) ||
			(range.file && !*range.file)))
		result =
		    tally_fail(error, -EINVAL, 0, "'%s' is not a function or a source file", name);
	if (result)
		tally_probe_range_done(&range);
	else
		*ret = range;
	return result;
}

void tally_probe_range_done(struct probe_range *range)
{
	tally_arena_done(&range->arena);
	*range = (struct probe_range){0};
}
