/* What an event is opened on besides threads and CPUs. */
#include "collect/plan_target.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/fd.h>
#include <tally/text.h>
#include "base/fail.h"
#include "base/fs.h"
#include "collect/cgroup.h"
#include "filter/filter_program.h"
#include "kernel/bpf_load.h"

#define FIELDS_MOST 64

int tally_plan_open_cgroup(struct tally_planned *event, struct tally_error *error)
{
	int fd;

	if (event->cgroup_fd >= 0)
		return 0;
	fd = tally_cgroup_open("", event->cgroup, error);
	if (fd < 0)
		return fd;
	event->cgroup_fd = fd;
	return 0;
}

/* The format of "sched:sched_switch", which the caller frees; NULL: unreadable. */
static char *read_format(const char *name)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	size_t group = strcspn(name, ":"), length;
	char *text;

	if (!name[group] || group > 100)
		return NULL;
	length = strcspn(name + group + 1, ":/");
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (!tally_fs_readf(65536, &text, NULL, "%s/events/%.*s/%.*s/format", roots[i],
				    (int)group, name, (int)length, name + group + 1))
			return text;
	return NULL;
}

/* Names of fields, pointing into the format, which is cut behind them. "\tfield:int prev_pid;" */
static size_t find_fields(char *format, const char *fields[FIELDS_MOST])
{
	size_t count = 0;

	for (char *at = format; (at = strstr(at, "field:")) && count < FIELDS_MOST;) {
		char *end = at + strcspn(at, ";[\n"), *start = end;

		while (start > at && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
			start--;
		at = *end ? end + 1 : end;
		*end = 0;
		if (*start)
			fields[count++] = start;
	}
	return count;
}

/* The first word of a filter that begins like a name and is not a field; its length. */
static size_t find_unknown(const char *filter, const char *const *fields, size_t count,
			   const char **ret)
{
	/* Fields that every tracepoint has: Documentation/trace/events.rst, 5.1. */
	static const char *const common[] = {"CPU", "cpu", "COMM", "comm", "CPUS"};

	for (const char *at = filter; *at;) {
		size_t length = 0;
		bool known = false;

		if (*at == '"' || *at == '\'') {
			const char *end = strchr(at + 1, *at);

			if (!end)
				return 0;
			at = end + 1;
			continue;
		}
		while (isalnum((unsigned char)at[length]) || at[length] == '_')
			length++;
		if (!length || isdigit((unsigned char)*at)) {
			at += length ? length : 1;
			continue;
		}
		for (size_t i = 0; i < count && !known; i++)
			known = strlen(fields[i]) == length && !memcmp(fields[i], at, length);
		for (size_t i = 0; i < sizeof(common) / sizeof(common[0]) && !known; i++)
			known = strlen(common[i]) == length && !memcmp(common[i], at, length);
		if (!known) {
			*ret = at;
			return length;
		}
		/* What a field is compared with may be a word, too. */
		at += length;
		at += strspn(at, " ");
		if (strchr("=!~<>&", *at) && *at) {
			at += strspn(at, "=!~<>&");
			at += strspn(at, " ");
			if (*at != '"' && *at != '\'')
				at += strcspn(at, " )&|");
		}
	}
	return 0;
}

static int explain(const struct tally_planned *event, struct tally_error *error)
{
	const char *fields[FIELDS_MOST], *word, *nearest;
	char *format = read_format(event->name), name[64], list[320] = "";
	size_t count = format ? find_fields(format, fields) : 0, length, used = 0;
	int result;

	length = count ? find_unknown(event->filter, fields, count, &word) : 0;
	if (!length) {
		free(format);
		return tally_fail(error, -EINVAL, -1,
				  "%s: the kernel cannot parse the filter '%s': write it as "
				  "'pid == 12 && comm ~ \"sh*\"'",
				  event->name, event->filter);
	}
	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	nearest = tally_text_nearest(name, fields, count);
	for (size_t i = 0; i < count && used + 24 < sizeof(list); i++)
		if (strncmp(fields[i], "common_", 7) != 0)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", fields[i]);
	if (nearest)
		result = tally_fail(error, -EINVAL, -1,
				    "%s has no field '%s' for a filter; did you mean %s?",
				    event->name, name, nearest);
	else
		result =
		    tally_fail(error, -EINVAL, -1, "%s has no field '%s' for a filter; it has %s",
			       event->name, name, list);
	free(format);
	return result;
}

int tally_plan_filter(const struct tally_event *from, struct tally_planned *to,
		      struct tally_error *error)
{
	struct tally_filter_program *program;
	int result;

	to->filter = from->filter;
	to->filter_kind = tally_filter_kind_of(from, from->filter);
	if (to->filter_kind != TALLY_FILTER_PROGRAM)
		return 0;
	program = malloc(sizeof(*program));
	result = program ? tally_filter_compile(from->filter, program, error)
			 : tally_fail(error, -ENOMEM, -1, "out of memory");
	if (!result)
		to->attr.sample_type |= program->sample_type;
	free(program);
	return result;
}

/* The program is loaded once and serves all descriptors of the event. */
static int apply_program(struct tally_planned *event, int fd, struct tally_error *error)
{
	int result;

	if (event->filter_fd < 0) {
		struct tally_filter_program *program = malloc(sizeof(*program));

		result = program ? tally_filter_compile(event->filter, program, error)
				 : tally_fail(error, -ENOMEM, -1, "out of memory");
		if (!result)
			result = tally_bpf_load(program->insns, program->count, error);
		free(program);
		if (result < 0)
			return result;
		event->filter_fd = result;
	}
	result = tally_fd_set_bpf(fd, event->filter_fd);
	return result ? tally_fail(error, result, -1,
				   "%s: the kernel takes no filter for this event: %s", event->name,
				   strerror(-result))
		      : 0;
}

int tally_plan_apply_filter(struct tally_planned *event, int fd, struct tally_error *error)
{
	int result;

	if (event->filter_kind == TALLY_FILTER_PROGRAM)
		return apply_program(event, fd, error);
	result = tally_fd_set_filter(fd, event->filter);
	if (!result)
		return 0;
	if (event->filter_kind == TALLY_FILTER_FIELDS && (result == -EINVAL || result == -ENOENT))
		return explain(event, error);
	return tally_fail(error, result, -1, "%s: the filter '%s' cannot be set: %s", event->name,
			  event->filter, strerror(-result));
}
