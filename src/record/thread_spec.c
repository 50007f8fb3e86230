/* Source of the values: perf-record(1), --threads, of perf 6.1. */
#include "record/thread_spec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include <tally/topology.h>
#include "base/fail.h"

void tally_thread_spec_done(struct tally_thread_spec *spec)
{
	for (size_t i = 0; i < spec->count; i++) {
		free(spec->groups[i].cpus);
		free(spec->groups[i].runs_on);
	}
	free(spec->groups);
	*spec = (struct tally_thread_spec){0};
}

cpu_set_t *tally_thread_cpu_set(const uint32_t *cpus, size_t count, size_t *ret_size)
{
	uint32_t most = 0;
	cpu_set_t *set;

	for (size_t i = 0; i < count; i++)
		if (cpus[i] > most)
			most = cpus[i];
	set = CPU_ALLOC(most + 1);
	if (!set)
		return NULL;
	*ret_size = CPU_ALLOC_SIZE(most + 1);
	CPU_ZERO_S(*ret_size, set);
	for (size_t i = 0; i < count; i++)
		CPU_SET_S(cpus[i], *ret_size, set);
	return set;
}

static struct tally_thread_group *add_group(struct tally_thread_spec *spec)
{
	struct tally_thread_group *more =
	    reallocarray(spec->groups, spec->count + 1, sizeof(*more));

	if (!more)
		return NULL;
	spec->groups = more;
	more[spec->count] = (struct tally_thread_group){0};
	return &more[spec->count++];
}

static int add_cpu(uint32_t **cpus, size_t *count, uint32_t cpu)
{
	uint32_t *more = reallocarray(*cpus, *count + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	*cpus = more;
	more[(*count)++] = cpu;
	return 0;
}

/* --- by topology --- */

enum unit { BY_CPU, BY_CORE, BY_PACKAGE, BY_NODE, BY_MASKS };

static enum unit unit_of(const char *text)
{
	static const char *const names[] = {"cpu", "core", "package", "numa"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i]))
			return (enum unit)i;
	return BY_MASKS;
}

/* What CPUs of one group have in common. */
struct place {
	int32_t first, second;
};

static struct place place_of(enum unit unit, const char *root, uint32_t cpu)
{
	struct tally_topology_cpu where = {.size = sizeof(where)};

	if (unit == BY_CPU || tally_topology_read(*root ? root : NULL, cpu, &where))
		return (struct place){(int32_t)cpu, 0};
	if (unit == BY_NODE)
		return (struct place){where.node, 0};
	return (struct place){where.socket, unit == BY_CORE ? where.core : 0};
}

static int group_by(enum unit unit, const char *root, const uint32_t *cpus, size_t count,
		    struct tally_thread_spec *spec)
{
	struct place *places = calloc(count + 1, sizeof(*places)); /* of the groups */
	int result = places ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !result; i++) {
		struct place place = place_of(unit, root, cpus[i]);
		struct tally_thread_group *group = NULL;

		for (size_t j = 0; j < spec->count && !group; j++)
			if (places[j].first == place.first && places[j].second == place.second)
				group = &spec->groups[j];
		if (!group) {
			group = add_group(spec);
			if (group)
				places[spec->count - 1] = place;
		}
		if (!group || add_cpu(&group->cpus, &group->cpu_count, cpus[i]) ||
		    add_cpu(&group->runs_on, &group->runs_on_count, cpus[i]))
			result = -ENOMEM;
	}
	free(places);
	return result;
}

/* --- by masks --- */

static bool has(const uint32_t *cpus, size_t count, uint32_t cpu)
{
	for (size_t i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/* One "CPUS/CPUS". */
static int take_masks(char *text, struct tally_thread_spec *spec, struct tally_error *error)
{
	struct tally_thread_group *group = add_group(spec);
	char *slash = strchr(text, '/');
	int result;

	if (!group)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (slash)
		*slash = 0;
	result = tally_text_cpu_list(text, &group->cpus, &group->cpu_count);
	if (!result && slash)
		result = tally_text_cpu_list(slash + 1, &group->runs_on, &group->runs_on_count);
	if (slash)
		*slash = '/';
	if (result == -ENOMEM)
		return tally_fail(error, result, -1, "out of memory");
	if (result || !group->cpu_count || (slash && !group->runs_on_count))
		return tally_fail(
		    error, -EINVAL, -1,
		    "--threads: '%s' is not cpu, core, package, numa, nor two lists of "
		    "CPUs, those that are drained and those to run on: 0-1/0:2-3/2",
		    text);
	return 0;
}

/* Each CPU that is recorded must be in one group; others are left out. */
static int fit_masks(const uint32_t *cpus, size_t count, struct tally_thread_spec *spec,
		     struct tally_error *error)
{
	for (size_t i = 0; i < count; i++) {
		unsigned times = 0;

		for (size_t j = 0; j < spec->count; j++)
			times += has(spec->groups[j].cpus, spec->groups[j].cpu_count, cpus[i]);
		if (times != 1)
			return tally_fail(error, -EINVAL, -1,
					  "--threads: CPU %u is recorded and %s", cpus[i],
					  times ? "is drained by two threads"
						: "no thread drains it: add it to a list");
	}
	for (size_t j = 0; j < spec->count; j++) {
		struct tally_thread_group *group = &spec->groups[j];
		size_t kept = 0;

		for (size_t i = 0; i < group->cpu_count; i++)
			if (has(cpus, count, group->cpus[i]))
				group->cpus[kept++] = group->cpus[i];
		group->cpu_count = kept;
	}
	return 0;
}

static int parse_masks(const char *text, const uint32_t *cpus, size_t count,
		       struct tally_thread_spec *spec, struct tally_error *error)
{
	const char *at = text;
	int result;

	do {
		size_t length = strcspn(at, ":");
		char *part = strndup(at, length);

		result = part ? take_masks(part, spec, error)
			      : tally_fail(error, -ENOMEM, -1, "out of memory");
		free(part);
		at += length;
	} while (!result && *at++);
	return result ? result : fit_masks(cpus, count, spec, error);
}

int tally_thread_spec_parse(const char *text, const char *root, const uint32_t *cpus, size_t count,
			    struct tally_thread_spec *ret, struct tally_error *error)
{
	struct tally_thread_spec spec = {0};
	enum unit unit = unit_of(text);
	int result;

	if (unit == BY_MASKS) {
		result = parse_masks(text, cpus, count, &spec, error);
	} else {
		result = group_by(unit, root, cpus, count, &spec);
		if (result)
			tally_fail(error, result, -1, "out of memory");
	}
	if (result) {
		tally_thread_spec_done(&spec);
		return result;
	}
	*ret = spec;
	return 0;
}
