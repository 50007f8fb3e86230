#include "session/time_spans.h"

#include <errno.h>
#include <math.h> /* isfinite */
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "session/run.h"
#include "session/session.h"

#define TIMES_MOST 4096
#define SECOND     1000000000ULL

struct spans {
	struct tally_time_span *list;
	size_t count;
};

static int add(struct spans *spans, struct tally_time_span time)
{
	struct tally_time_span *more;

	if (spans->count == TIMES_MOST)
		return -E2BIG;
	more = reallocarray(spans->list, spans->count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	more[spans->count++] = time;
	spans->list = more;
	return 0;
}

/* "12.345" in ns; nothing at all is open: 0. */
static int parse_seconds(const char *text, size_t length, uint64_t *ret)
{
	uint64_t seconds = 0, rest = 0, unit = SECOND;
	size_t at = 0;

	for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
		if (__builtin_mul_overflow(seconds, 10, &seconds) ||
		    __builtin_add_overflow(seconds, (uint64_t)(text[at] - '0'), &seconds))
			return -ERANGE;
	if (at < length && text[at] == '.')
		for (at++; at < length && text[at] >= '0' && text[at] <= '9' && unit > 1; at++)
			rest += (uint64_t)(text[at] - '0') * (unit /= 10);
	if (at != length || __builtin_mul_overflow(seconds, SECOND, &seconds) ||
	    __builtin_add_overflow(seconds, rest, ret))
		return -EINVAL;
	return 0;
}

/* "START,STOP START,STOP": a blank may follow the comma. */
static int parse_list(struct spans *spans, const char *text)
{
	while (*(text += strspn(text, " \t\n"))) {
		size_t first = strcspn(text, ", \t\n"), gap, last;
		struct tally_time_span time;
		int result = parse_seconds(text, first, &time.start);

		if (result || text[first] != ',')
			return -EINVAL;
		text += first + 1;
		gap = strspn(text, " \t\n");
		last = strcspn(text + gap, ", \t\n");
		/* What stands behind the blank is the next span, when this one has no end. */
		if (text[gap + last] == ',' && gap)
			gap = last = 0;
		else if (text[gap + last] == ',')
			return -EINVAL;
		result = parse_seconds(text + gap, last, &time.end);
		text += gap + last;
		if (!result && time.end && time.end < time.start)
			return -EINVAL;
		if (!result && spans->count && spans->list[spans->count - 1].end >= time.start)
			return -EINVAL;
		if (!result)
			result = add(spans, time);
		if (result)
			return result;
	}
	return spans->count ? 0 : -EINVAL;
}

/* "12.5%" */
static int parse_share(const char *text, size_t length, double *ret)
{
	char number[32], *end;

	if (length < 2 || length > sizeof(number) || text[length - 1] != '%')
		return -EINVAL;
	memcpy(number, text, length - 1);
	number[length - 1] = 0;
	*ret = strtod(number, &end) / 100;
	return *end || !isfinite(*ret) ? -EINVAL : 0;
}

static uint64_t round_up_half(double value)
{
	uint64_t whole = (uint64_t)value;

	return whole + (value - (double)whole >= 0.5);
}

static int add_share(struct spans *spans, double from, double to, uint64_t first, uint64_t last)
{
	double whole = (double)(last - first);
	struct tally_time_span time;

	if (from < 0 || from > 1 || to < 0 || to > 1)
		return -EINVAL;
	time.start = first + round_up_half(from * whole);
	time.end = first + round_up_half(to * whole);
	/* The end is the next one's start. */
	if (time.end > time.start && time.end != last)
		time.end--;
	return add(spans, time);
}

/* "10%/2": the second tenth; "0%-10%"; "50%": as "50%/1". */
static int parse_shares(struct spans *spans, const char *text, uint64_t first, uint64_t last)
{
	char split = strchr(text, '/') ? '/' : strchr(text, '-') ? '-' : 0;
	int result = 0;

	if (!split && strchr(text, ','))
		return -EINVAL;
	while (!result && *text) {
		size_t length = strcspn(text, ",");
		const char *middle = split ? memchr(text, split, length) : text + length;
		size_t left = middle ? (size_t)(middle - text) : 0;
		double from = 0, to = 0, number = 1;
		char *end;

		if (!middle || parse_share(text, left, &from))
			return -EINVAL;
		if (split == '-' && parse_share(middle + 1, length - left - 1, &to))
			return -EINVAL;
		if (split == '/') {
			number = (double)strtol(middle + 1, &end, 10);
			if (end != text + length || end == middle + 1)
				return -EINVAL;
		}
		if (split != '-') {
			if (from <= 0)
				return -EINVAL;
			to = from * number;
			from *= number - 1;
		}
		result = add_share(spans, from, to, first, last);
		text += length + (text[length] == ',');
	}
	return spans->count ? result : -EINVAL;
}

int tally_time_spans_parse(const char *text, uint64_t first, uint64_t last, bool relative,
			   struct tally_time_span **ret, size_t *ret_count,
			   struct tally_error *error)
{
	struct spans spans = {0};
	int result;

	if (strchr(text, '%'))
		result = parse_shares(&spans, text, first, last);
	else
		result = parse_list(&spans, text);
	for (size_t i = 0; relative && i < spans.count; i++) {
		spans.list[i].start += first;
		if (spans.list[i].end)
			spans.list[i].end += first;
	}
	if (!result) {
		*ret = spans.list;
		*ret_count = spans.count;
		return 0;
	}
	free(spans.list);
	if (result == -ENOMEM)
		return tally_fail(error, result, -1, "out of memory");
	return tally_fail(error, -EINVAL, 0,
			  "--time '%s': give START,STOP in seconds (either may be missing; several "
			  "apart by blanks, ascending), or 10%%/2, or 0%%-10%%,30%%-40%%",
			  text);
}

int tally_time_spans_of(const struct tally_session *session, const char *text, bool relative,
			struct tally_time_span **ret, size_t *ret_count, struct tally_error *error)
{
	const struct tally_data_info *info = tally_data_info(session->source.data);
	const struct tally_session_counts *counts = &session->source.counts;
	bool known = info->has_sample_time && info->sample_time_last;

	return tally_time_spans_parse(text, known ? info->sample_time_first : counts->first_time,
				      known ? info->sample_time_last : counts->last_time, relative,
				      ret, ret_count, error);
}
