#include "stat/stat_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	const struct stat_line *left = a, *right = b;

	if (left->value.value < right->value.value)
		return 1;
	if (left->value.value > right->value.value)
		return -1;
	return (left->part > right->part) - (left->part < right->part);
}

int tally_stat_lines(const struct tally_stat *stat, bool skip_zeros, struct stat_line **ret,
		     size_t *ret_count)
{
	const struct tally_stat_options *options = tally_stat_options(stat);
	bool event_first = options->by == TALLY_STAT_CPU || options->by == TALLY_STAT_THREAD;
	size_t parts, count = 0;
	struct stat_line *lines;

	tally_stat_parts(stat, &parts);
	lines = calloc(options->event_count * parts + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < options->event_count * parts; i++) {
		struct stat_line *line = &lines[count];

		line->event = event_first ? i / parts : i % options->event_count;
		line->part = event_first ? i % parts : i / options->event_count;
		line->value.size = sizeof(line->value);
		if (!tally_stat_value(stat, line->event, line->part, &line->value))
			continue;
		if (skip_zeros && line->value.value == 0)
			continue;
		count++;
	}
	for (size_t i = 0, end; options->by == TALLY_STAT_THREAD && i < count; i = end) {
		for (end = i; end < count && lines[end].event == lines[i].event;)
			end++;
		qsort(&lines[i], end - i, sizeof(*lines), by_value);
	}
	*ret = lines;
	*ret_count = count;
	return 0;
}

double tally_stat_running(const struct tally_stat_value *value)
{
	return value->running < value->enabled ? 100 * value->running / value->enabled : 100;
}

void tally_stat_part_name(const struct tally_stat *stat, size_t part, struct tally_buf *to)
{
	size_t count;
	const struct tally_stat_place *place = &tally_stat_parts(stat, &count)[part];

	switch (tally_stat_options(stat)->by) {
	case TALLY_STAT_GLOBAL:
		break;
	case TALLY_STAT_CPU:
		tally_buf_printf(to, "CPU%d", place->cpu);
		break;
	case TALLY_STAT_THREAD:
		tally_buf_printf(to, "%s-%d", place->comm ? place->comm : "", place->tid);
		break;
	case TALLY_STAT_CORE:
		tally_buf_printf(to, "S%d-D%d-C%d", place->socket, place->die, place->core);
		break;
	case TALLY_STAT_CLUSTER:
		tally_buf_printf(to, "S%d-D%d-CLS%d", place->socket, place->die, place->cluster);
		break;
	case TALLY_STAT_CACHE:
		tally_buf_printf(to, "S%d-D%d-L3-ID%d", place->socket, place->die, place->cache);
		break;
	case TALLY_STAT_DIE:
		tally_buf_printf(to, "S%d-D%d", place->socket, place->die);
		break;
	case TALLY_STAT_SOCKET:
		tally_buf_printf(to, "S%d", place->socket);
		break;
	case TALLY_STAT_NODE:
		tally_buf_printf(to, "N%d", place->node);
		break;
	}
}

bool tally_stat_is_core_line(const struct tally_stat *stat, size_t event)
{
	const struct tally_stat_options *options = tally_stat_options(stat);

	return options->events[event].percore && !options->percore_each;
}

void tally_stat_line_name(const struct tally_stat *stat, size_t event, size_t part,
			  struct tally_buf *to)
{
	size_t count;
	const struct tally_stat_place *place = &tally_stat_parts(stat, &count)[part];

	if (tally_stat_is_core_line(stat, event))
		tally_buf_printf(to, "S%d-D%d-C%d", place->socket, place->die, place->core);
	else
		tally_stat_part_name(stat, part, to);
}

bool tally_stat_counts_places(enum tally_stat_by by)
{
	return by != TALLY_STAT_GLOBAL && by != TALLY_STAT_CPU && by != TALLY_STAT_THREAD;
}

const char *tally_stat_uncounted(enum tally_count_quality quality)
{
	switch (quality) {
	case TALLY_COUNT_NOT_SUPPORTED:
		return "<not supported>";
	case TALLY_COUNT_NOT_PERMITTED:
		return "<not permitted>";
	default:
		return "<not counted>";
	}
}

/* Source: valid_only_metric() of perf 6.1's stat: rates and CPUs utilized are none. */
bool tally_stat_is_metric(const struct tally_stat_derived *derived)
{
	return derived->metric ||
	       (!strstr(derived->unit, "/sec") && !strstr(derived->unit, "CPUs utilized"));
}

void tally_stat_metric_name(const struct tally_stat_event *event,
			    const struct tally_stat_derived *derived, struct tally_buf *to)
{
	if (!strncmp(derived->unit, "of all", 6)) {
		tally_buf_text(to, event->name);
		tally_buf_byte(to, ' ');
	}
	if (derived->of_unit) {
		tally_buf_text(to, derived->of_unit);
		tally_buf_text(to, "  ");
	}
	tally_buf_text(to, derived->unit);
}

void tally_stat_put_time(uint64_t time, struct tally_buf *to)
{
	tally_buf_printf(to, "%6llu.%09llu", (unsigned long long)(time / 1000000000),
			 (unsigned long long)(time % 1000000000));
}

int tally_stat_flush(struct tally_buf *buf, FILE *to)
{
	int result = buf->failed;

	errno = 0;
	if (!result && buf->size && fwrite(buf->data, 1, buf->size, to) != buf->size)
		result = errno ? -errno : -EIO;
	tally_buf_clear(buf);
	return result;
}
