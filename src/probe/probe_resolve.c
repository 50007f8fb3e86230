/* Events for places in code: programs found, functions and markers looked up, attrs filled in.
 *
 * Source: struct perf_event_attr of include/uapi/linux/perf_event.h: config1 points to the path of
 * a uprobe (uprobe_path) or the function of a kprobe (kprobe_func), config2 is the offset in the
 * file, or behind the function (probe_offset). */
#include <tally/probe.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "probe/code_filter.h"
#include "probe/find_program.h"
#include "event/filter_kind.h"
#include "event/term.h"
#include "elf/place.h"

struct site {
	const char *program; /* the resolver's */
	uint64_t offset, counter;
};

struct resolver {
	const struct tally_probe_options *options;
	struct tally_strings programs; /* that events name */
	struct tally_strings targets;  /* that targets run; listed when first needed */
	bool listed;
	struct site *sites; /* of the current event */
	size_t count;
	struct tally_error *error;
};

static int fail_memory(const struct resolver *resolver)
{
	return tally_fail(resolver->error, -ENOMEM, -1, "out of memory");
}

static int add_site(struct resolver *resolver, const struct site *site)
{
	struct site *sites =
	    reallocarray(resolver->sites, resolver->count + 1, sizeof(*resolver->sites));

	if (!sites)
		return fail_memory(resolver);
	resolver->sites = sites;
	sites[resolver->count++] = *site;
	return 0;
}

/* --- functions --- */

static int find_program(struct resolver *resolver, const char *name, const char **ret)
{
	int64_t number;
	char *path;
	int result = tally_program_find(name, &path);

	if (result == -ENOENT)
		return tally_fail(resolver->error, result, -1,
				  "there is no program or library %s; give its path", name);
	if (result)
		return fail_memory(resolver);
	number = tally_strings_intern(&resolver->programs, path, strlen(path));
	free(path);
	if (number < 0)
		return fail_memory(resolver);
	*ret = resolver->programs.text[number];
	return 0;
}

static int find_functions(struct resolver *resolver, const struct tally_event_probe *probe,
			  const char *program)
{
	uint64_t *offsets = NULL;
	size_t count = 0;
	int result =
	    tally_image_find_function(program, probe->symbol, &offsets, &count, resolver->error);

	for (size_t i = 0; i < count && !result; i++)
		result = add_site(resolver, &(struct site){program, offsets[i] + probe->offset, 0});
	free(offsets);
	return result;
}

/* --- markers --- */

static bool is_marker(const struct tally_sdt_marker *marker, const struct tally_event_probe *probe)
{
	return !strcmp(marker->provider, probe->provider) && !strcmp(marker->name, probe->symbol);
}

/* A program that cannot be read has none, unless it is the only one that was named. */
static int find_in(struct resolver *resolver, const struct tally_event_probe *probe,
		   const char *program, struct tally_strings *others)
{
	struct tally_error own;
	const struct tally_sdt_marker *marker;
	struct tally_sdt *sdt;
	int result = tally_sdt_open(program, &sdt, &own);

	if (result && probe->path)
		return tally_fail(resolver->error, result, -1, "%s", own.text);
	if (result)
		return result == -ENOMEM ? fail_memory(resolver) : 0;
	for (size_t i = 0; (marker = tally_sdt_at(sdt, i)) && !result; i++) {
		char full[512];
		int length = snprintf(full, sizeof(full), "%s:%s", marker->provider, marker->name);

		if (is_marker(marker, probe))
			result = add_site(resolver,
					  &(struct site){program, marker->offset, marker->counter});
		else if (length > 0 && length < (int)sizeof(full))
			(void)tally_strings_intern(others, full, (size_t)length);
	}
	tally_sdt_close(sdt);
	return result;
}

static int fail_absent(const struct resolver *resolver, const struct tally_event_probe *probe,
		       const struct tally_strings *others)
{
	char full[512];
	const char *similar = NULL, *where = probe->path ? probe->path : "what is recorded";

	snprintf(full, sizeof(full), "%s:%s", probe->provider, probe->symbol);
	if (others->count)
		similar = tally_text_nearest(full, others->text, others->count);
	if (!probe->path && !resolver->targets.count)
		where = "any program: none was given";
	return tally_fail(resolver->error, -ENOENT, -1, "there is no marker %s in %s%s%s%s%s", full,
			  where, similar ? "; did you mean " : "", similar ? similar : "",
			  similar ? "?" : "",
			  !similar && !probe->path ? "; say which program has it with "
						     "usdt:PROGRAM:PROVIDER:NAME"
						   : "");
}

static int list_programs(struct resolver *resolver)
{
	if (!resolver->listed && tally_program_list(resolver->options, &resolver->targets))
		return fail_memory(resolver);
	resolver->listed = true;
	return 0;
}

static int find_markers(struct resolver *resolver, const struct tally_event_probe *probe)
{
	struct tally_strings others = {0};
	const char *program = NULL;
	int result;

	if (probe->path) {
		result = find_program(resolver, probe->path, &program);
		if (!result)
			result = find_in(resolver, probe, program, &others);
	} else {
		result = list_programs(resolver);
		for (size_t i = 0; i < resolver->targets.count && !result; i++)
			result = find_in(resolver, probe, resolver->targets.text[i], &others);
	}
	if (!result && !resolver->count)
		result = fail_absent(resolver, probe, &others);
	tally_strings_done(&others);
	return result;
}

/* --- events --- */

static int find_sites(struct resolver *resolver, const struct tally_event *event)
{
	const struct tally_event_probe *probe = event->probe;
	struct site site = {.offset = event->attr.config2};
	int result;

	resolver->count = 0;
	if (probe->kind == TALLY_PROBE_MARKER)
		return find_markers(resolver, probe);
	if (!probe->path)
		return tally_fail(resolver->error, -EINVAL, -1, "%s: no program is given",
				  event->name);
	result = find_program(resolver, probe->path, &site.program);
	if (result)
		return result;
	if (probe->symbol)
		return find_functions(resolver, probe, site.program);
	if (probe->address) {
		result = tally_image_find_address(site.program, probe->offset, &site.offset,
						  resolver->error);
		if (result)
			return result;
	}
	return add_site(resolver, &site);
}

static int place_at(struct resolver *resolver, struct tally_event *event, const struct site *site)
{
	struct tally_event_probe *probe = event->probe;
	char *path = strdup(site->program);
	uint64_t mask = probe->counter_mask;

	if (!path)
		return fail_memory(resolver);
	free(probe->path);
	probe->path = path;
	event->attr.config1 = (uintptr_t)path;
	event->attr.config2 = site->offset;
	if (site->counter && (!mask || site->counter > mask >> __builtin_ctzll(mask)))
		return tally_fail(
		    resolver->error, -ENOTSUP, -1,
		    "%s counts its listeners, and this kernel cannot increase that counter",
		    event->name);
	if (site->counter)
		event->attr.config |= site->counter << __builtin_ctzll(mask);
	probe->resolved = true;
	return 0;
}

/* Makes room behind an event for copies of it. */
static int insert_copies(struct resolver *resolver, struct tally_event_list *list, size_t at,
			 size_t copies)
{
	struct tally_event *events =
	    reallocarray(list->events, list->count + copies, sizeof(*events));
	bool alone = true;
	size_t made = 0;

	if (!events)
		return fail_memory(resolver);
	list->events = events;
	for (size_t i = 0; i < list->count; i++)
		alone &= i == at || events[i].leader != events[at].leader;
	memmove(&events[at + 1 + copies], &events[at + 1],
		(list->count - at - 1) * sizeof(*events));
	for (; made < copies; made++) {
		struct tally_event *copy = &events[at + 1 + made];
		char *name;

		if (tally_event_copy(copy, &events[at]))
			break;
		if (asprintf(&name, "%s_%zu", copy->name, made + 1) < 0) {
			tally_event_done(copy);
			break;
		}
		free(copy->name);
		copy->name = name;
		if (alone)
			copy->leader = (uint32_t)(at + 1 + made);
	}
	if (made < copies) { /* the list as it was */
		for (size_t i = 0; i < made; i++)
			tally_event_done(&events[at + 1 + i]);
		memmove(&events[at + 1], &events[at + 1 + copies],
			(list->count - at - 1) * sizeof(*events));
		return fail_memory(resolver);
	}
	list->count += copies;
	for (size_t i = 0; i < list->count; i++)
		if (events[i].leader > at && (i <= at || i > at + copies))
			events[i].leader += (uint32_t)copies;
	return 0;
}

/* Returns how many events it has become. */
static int64_t resolve(struct resolver *resolver, struct tally_event_list *list, size_t at)
{
	struct tally_event *event = &list->events[at];
	int result;

	if (event->probe->kind == TALLY_PROBE_KERNEL) { /* which finds it itself */
		event->attr.config1 = (uintptr_t)event->probe->symbol;
		if (event->probe->offset)
			event->attr.config2 = event->probe->offset;
		event->probe->resolved = true;
		return 1;
	}
	result = find_sites(resolver, event);
	if (!result && resolver->count > 1)
		result = insert_copies(resolver, list, at, resolver->count - 1);
	for (size_t i = 0; i < resolver->count && !result; i++)
		result = place_at(resolver, &list->events[at + i], &resolver->sites[i]);
	return result ? result : (int64_t)resolver->count;
}

static int resolve_filter(struct tally_event *event, struct tally_error *error)
{
	char *text;
	int result;

	if (!event->filter || tally_filter_kind_of(event, event->filter) != TALLY_FILTER_CODE)
		return 0;
	result = tally_code_filter_resolve(event->filter, "/proc", &text, error);
	if (result)
		return result;
	free(event->filter);
	event->filter = text;
	return 0;
}

int tally_probe_resolve(struct tally_event_list *list, const struct tally_probe_options *options,
			struct tally_error *error)
{
	struct tally_probe_options known = {.size = sizeof(known)};
	struct resolver resolver = {.options = &known, .error = error};
	int64_t result = tally_options_take(&known, sizeof(known), options);

	if (result)
		return tally_fail(error, (int)result, -1, "unknown options");
	for (size_t i = 0; i < list->count && result >= 0; i++)
		result = resolve_filter(&list->events[i], error);
	for (size_t i = 0; i < list->count && result >= 0; i += (size_t)result) {
		const struct tally_event_probe *probe = list->events[i].probe;

		result = probe && !probe->resolved ? resolve(&resolver, list, i) : 1;
		if (result < 0)
			break;
	}
	tally_strings_done(&resolver.programs);
	tally_strings_done(&resolver.targets);
	free(resolver.sites);
	return result < 0 ? (int)result : 0;
}
