/* Suggests the name that a misspelled one was probably meant to be. Called for errors only, as it
 * lists all names of the kernel, of sysfs and of the vendor's table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "event/pmu.h"
#include "vendor/vendor_table.h"

struct names {
	const char **names; /* borrowed, but for those in the arena */
	size_t count, room;
	struct tally_arena arena;
};

static void add(struct names *names, const char *name)
{
	if (!array_next(&names->names, &names->room, names->count, 256, sizeof(*names->names)))
		return; /* no memory for it: it is not compared */
	names->names[names->count++] = name;
}

static void add_families(struct names *names)
{
	static const struct event_family *const families[] = {EVENT_FAMILIES(EVENT_FAMILY_AT)};
	char name[EVENT_NAME_ROOM];

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		for (size_t k = 0; families[i]->name && families[i]->name(k, name); k++) {
			const char *kept = tally_arena_strndup(&names->arena, name, strlen(name));

			if (kept)
				add(names, kept);
		}
}

static void add_table(struct names *names, struct tally_event_context *context,
		      const struct event_pmu *pmu)
{
	const struct tally_table *table = tally_context_table(context);
	const struct tally_table_event *event;

	for (size_t i = 0; table && (event = tally_table_at(table, i)); i++)
		if (event->name && event->terms && (!pmu || tally_pmu_table_fits(pmu, event)))
			add(names, event->name);
}

bool tally_suggest_event(struct tally_event_context *context, const char *text,
			 char to[EVENT_SUGGESTION_ROOM])
{
	struct names names = {0};
	const char *similar = NULL;

	add_families(&names);
	for (size_t i = 0; context && i < context->count; i++)
		for (size_t j = 0; j < context->pmus[i].alias_count; j++)
			add(&names, context->pmus[i].aliases[j].name);
	if (context)
		add_table(&names, context, NULL);
	if (names.count)
		similar = tally_text_nearest(text, names.names, names.count);
	if (similar)
		snprintf(to, EVENT_SUGGESTION_ROOM, "%s", similar);
	free(names.names);
	tally_arena_done(&names.arena);
	return similar != NULL;
}

const char *tally_suggest_term(struct tally_event_context *context, const struct event_pmu *pmu,
			       const char *text)
{
	struct names names = {0};
	const char *similar = NULL;

	for (size_t i = 0; i < pmu->format_count; i++)
		add(&names, pmu->formats[i].name);
	for (size_t i = 0; i < pmu->alias_count; i++)
		add(&names, pmu->aliases[i].name);
	add_table(&names, context, pmu);
	if (names.count)
		similar = tally_text_nearest(text, names.names, names.count);
	free(names.names);
	return similar;
}
