/* Named events of a PMU in the CPU's vendor table.
 *
 * perf has them beside those of sysfs, and prefers the terms of sysfs when both have a name; so the
 * table is read only for names that sysfs does not have. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include "event/pmu.h"
#include "vendor/vendor_table.h"

const struct tally_table *tally_context_table(struct tally_event_context *context)
{
	struct tally_table_options options = {
	    .size = sizeof(options),
	    .folders = context->events,
	    .cpuid = context->cpuid,
	    .sysfs = context->sysfs,
	};

	if (context->table_result == 1)
		context->table_result =
		    tally_table_open(&options, &context->table, &context->table_error);
	return context->table;
}

bool tally_table_is_model(const char *compat, const char *identifier)
{
	if (!compat)
		return true;
	while (identifier && *compat) {
		size_t length = strcspn(compat, ",;");
		char glob[128];

		if (length < sizeof(glob)) {
			memcpy(glob, compat, length);
			glob[length] = 0;
			if (!fnmatch(glob, identifier, 0))
				return true;
		}
		compat += length + (compat[length] != 0);
	}
	return false;
}

bool tally_pmu_table_fits(const struct event_pmu *pmu, const struct tally_table_event *event)
{
	return tally_table_event_fits(event, pmu->is_the_cpu ? "cpu" : pmu->name) &&
	       tally_table_is_model(event->compat, pmu->identifier);
}

bool tally_pmu_table_find(struct tally_event_context *context, const struct event_pmu *pmu,
			  const struct event_word *name, struct pmu_alias *ret)
{
	const struct tally_table *table = tally_context_table(context);
	const struct tally_table_event *event =
	    table ? tally_table_find(table, name->text, name->length) : NULL;

	while (event && !(event->terms && tally_pmu_table_fits(pmu, event)))
		event = event->same_name;
	if (!event)
		return false;
	*ret = (struct pmu_alias){
	    .name = event->name,
	    .text = event->terms,
	    .unit = event->unit,
	    .scale = event->scale,
	    .per_pkg = event->per_package,
	    .of_table = true,
	};
	return true;
}

const struct event_pmu *tally_pmu_that_has(struct tally_event_context *context,
					   const struct event_word *name)
{
	struct pmu_alias of_table;

	for (size_t i = 0; i < context->count; i++) {
		struct event_pmu *pmu = &context->pmus[i];

		if (!tally_pmu_load(context, pmu) &&
		    (tally_pmu_alias_find(pmu, name) ||
		     tally_pmu_table_find(context, pmu, name, &of_table)))
			return pmu;
	}
	return NULL;
}
