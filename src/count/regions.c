/* The regions of a program: their names, their threads, and what was counted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "count/region.h"

#define DEFAULT_REGIONS 64
#define DEFAULT_DEPTH   32
#define DEFAULT_THREADS 256

static int copy_events(struct tally_regions *regions, const struct tally_event_list *from)
{
	/* Names and attrs are all that threads need to open them later. */
	regions->events.events = calloc(from->count, sizeof(*from->events));
	if (!regions->events.events)
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++) {
		struct tally_event *to = &regions->events.events[regions->events.count++];

		*to = from->events[i];
		to->pmu = to->unit = to->warning = NULL;
		to->terms.call_graph = to->terms.metric_id = to->terms.driver = NULL;
		to->name = strdup(from->events[i].name);
		to->cpus = from->events[i].cpus ? strdup(from->events[i].cpus) : NULL;
		if (!to->name || (from->events[i].cpus && !to->cpus))
			return -ENOMEM;
	}
	return 0;
}

int tally_regions_open(const struct tally_regions_options *options, struct tally_regions **ret,
		       struct tally_error *error)
{
	struct tally_regions_options use = {.size = sizeof(use)};
	struct tally_regions *regions;
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return tally_fail(error, result, -1,
				  "options that this version of libtally does not support");
	if (!use.events || !use.events->count || use.events->count > EVENTS_MOST)
		return tally_fail(error, -EINVAL, -1, "regions count 1 to %d events, not %zu",
				  EVENTS_MOST, use.events ? use.events->count : 0);
	for (size_t i = 0; i < use.events->count; i++)
		if (use.events->events[i].tool != TALLY_TOOL_NONE)
			return tally_fail(
			    error, -EINVAL, -1,
			    "%s is not an event of the kernel, and regions count only those (each "
			    "count's time_enabled is the CPU time spent)",
			    use.events->events[i].name);
	use.regions = use.regions ? use.regions : DEFAULT_REGIONS;
	use.depth = use.depth ? use.depth : DEFAULT_DEPTH;
	use.threads = use.threads ? use.threads : DEFAULT_THREADS;
	if (use.regions > 1 << 16 || use.depth > 1 << 16)
		return tally_fail(error, -EINVAL, -1,
				  "at most 65536 regions, and as many open at once");
	regions = calloc(1, sizeof(*regions));
	if (!regions)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	result = -pthread_key_create(&regions->key, tally_region_thread_ended);
	if (result) {
		free(regions);
		return tally_fail(error, result, -1, "no thread-specific value is free: %s",
				  strerror(-result));
	}
	pthread_mutex_init(&regions->lock, NULL);
	regions->options = use;
	regions->options.events = &regions->events;
	regions->names = calloc(use.regions, sizeof(*regions->names));
	result = regions->names ? copy_events(regions, use.events) : -ENOMEM;
	if (result)
		tally_fail(error, result, -1, "out of memory");
	else
		result = tally_region_open_counters(&use, &regions->events, &regions->first, error);
	/* They only show what can be counted, and must not take counters from others. */
	if (!result)
		tally_counters_disable(regions->first);
	if (result) {
		tally_regions_close(regions);
		return result;
	}
	*ret = regions;
	return 0;
}

static void free_all(struct region_thread *list)
{
	while (list) {
		struct region_thread *next = list->next;

		tally_region_thread_free(list);
		list = next;
	}
}

void tally_regions_close(struct tally_regions *regions)
{
	if (!regions)
		return;
	pthread_key_delete(regions->key);
	free_all(regions->running);
	free_all(regions->ended);
	pthread_mutex_destroy(&regions->lock);
	tally_counters_close(regions->first);
	for (uint32_t i = 0; i < regions->name_count; i++)
		free(regions->names[i]);
	free(regions->names);
	tally_event_list_done(&regions->events);
	free(regions);
}

int tally_region(struct tally_regions *regions, const char *name)
{
	int found = -1;

	pthread_mutex_lock(&regions->lock);
	for (uint32_t i = 0; i < regions->name_count && found < 0; i++)
		if (!strcmp(regions->names[i], name))
			found = (int)i;
	if (found < 0 && regions->name_count == regions->options.regions) {
		found = -ENOSPC;
	} else if (found < 0) {
		char *copy = strdup(name);

		found = copy ? (int)regions->name_count : -ENOMEM;
		if (copy) {
			regions->names[regions->name_count] = copy;
			__atomic_store_n(&regions->name_count, regions->name_count + 1,
					 __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&regions->lock);
	return found;
}
