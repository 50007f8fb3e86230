/* Named events of a PMU: a file of its events/, with .scale, .unit, .per-pkg and .snapshot beside.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-events of Linux. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/fs.h"
#include "event/pmu.h"

#define FILE_MOST 4096

struct pmu_alias *tally_pmu_alias_find(struct event_pmu *pmu, const struct event_word *name)
{
	for (size_t i = 0; i < pmu->alias_count; i++) {
		struct pmu_alias *alias = &pmu->aliases[i];

		/* Any case: people do not write it as drivers do. */
		if (!strncasecmp(alias->name, name->text, name->length) &&
		    !alias->name[name->length])
			return alias;
	}
	return NULL;
}

/* One line, without blanks at its end, in the arena. */
static int read_file(struct tally_event_context *context, const struct event_pmu *pmu,
		     const struct pmu_alias *alias, const char *end, const char **ret)
{
	char *text;
	size_t size;
	int result =
	    tally_fs_readf(FILE_MOST, &text, &size, "%s/bus/event_source/devices/%s/events/%s%s",
			   context->sysfs, pmu->name, alias->name, end);

	if (result)
		return result;
	size = strcspn(text, "\n");
	while (size && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	*ret = tally_arena_strndup(&context->arena, text, size);
	free(text);
	return *ret ? 0 : -ENOMEM;
}

int tally_pmu_alias_load(struct tally_event_context *context, const struct event_pmu *pmu,
			 struct pmu_alias *alias)
{
	const char *text, *side;
	int result;

	if (alias->text)
		return 0;
	result = read_file(context, pmu, alias, "", &text);
	if (result)
		return result;
	if (!read_file(context, pmu, alias, ".scale", &side)) {
		double scale = strtod(side, NULL);

		if (isfinite(scale))
			alias->scale = scale;
	}
	if (!read_file(context, pmu, alias, ".unit", &side) && *side)
		alias->unit = side;
	alias->per_pkg = !read_file(context, pmu, alias, ".per-pkg", &side);
	alias->snapshot = !read_file(context, pmu, alias, ".snapshot", &side);
	alias->text = text;
	return 0;
}
