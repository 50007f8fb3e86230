/* A thread's counters and sums, from its first begin to its end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <tally/abi.h>
#include "base/fail.h"
#include "count/region.h"

/* Frees what only a running thread needs. */
static void close_counters(struct region_thread *thread)
{
	size_t events = thread->regions->events.count;

	for (size_t i = 0; thread->direct && i < events; i++)
		tally_rdpmc_close(thread->direct[i]);
	tally_counters_close(thread->set);
	free(thread->direct);
	free(thread->frames);
	free(thread->groups);
	free(thread->places);
	free(thread->words);
	free(thread->inside);
	thread->direct = NULL;
	thread->set = NULL;
	thread->frames = NULL;
	thread->groups = NULL;
	thread->places = NULL;
	thread->words = NULL;
	thread->inside = NULL;
}

void tally_region_thread_free(struct region_thread *thread)
{
	close_counters(thread);
	free(thread->sums);
	free(thread->kept);
	free(thread);
}

int tally_region_open_counters(const struct tally_regions_options *options,
			       const struct tally_event_list *events, struct tally_counters **ret,
			       struct tally_error *error)
{
	struct tally_counters_options self = {
	    .size = sizeof(self),
	    .events = events,
	    .no_inherit = true,
	    .user_only = options->user_only,
	};
	int result = tally_counters_open(&self, ret, error);

	if (result)
		return result;
	result = tally_counters_enable(*ret);
	if (!result)
		return 0;
	tally_counters_close(*ret);
	return tally_fail(error, result, -1, "the counters cannot be enabled: %s",
			  strerror(-result));
}

/* Pages for reading in user space: for all events or none. */
static void open_direct(struct region_thread *thread)
{
	struct tally_counters *set = thread->set;

	thread->direct = calloc(set->event_count, sizeof(struct tally_rdpmc *));
	for (uint32_t i = 0; thread->direct && i < set->event_count; i++) {
		int fd = *tally_counters_slot(set, i, 0);
		struct tally_attr attr = set->events[i].attr;

		if (fd < 0)
			continue;
		attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		if (tally_rdpmc_open(fd, &attr, &thread->direct[i]) ||
		    !tally_rdpmc_direct(thread->direct[i])) {
			for (uint32_t at = 0; at <= i; at++)
				tally_rdpmc_close(thread->direct[at]);
			free(thread->direct);
			thread->direct = NULL;
		}
	}
}

/* The arrays for begins and ends; their size depends on the mark's. */
static int make_frames(struct region_thread *thread)
{
	size_t events = thread->regions->events.count, depth = thread->regions->options.depth;

	thread->frames = calloc(depth, sizeof(*thread->frames));
	thread->words = calloc((depth + 1) * thread->word_count, sizeof(*thread->words));
	thread->inside = calloc(depth * events, sizeof(*thread->inside));
	if (!thread->frames || !thread->words || !thread->inside)
		return -ENOMEM;
	for (size_t i = 0; i < depth; i++) {
		thread->frames[i].began = thread->words + i * thread->word_count;
		thread->frames[i].inside = thread->inside + i * events;
	}
	thread->now = thread->words + depth * thread->word_count;
	return 0;
}

static int make_sums(struct region_thread *thread)
{
	size_t events = thread->regions->events.count, names = thread->regions->options.regions;

	thread->sums = calloc(names, sizeof(*thread->sums));
	thread->kept = calloc(2 * names * events, sizeof(*thread->kept));
	if (!thread->sums || !thread->kept)
		return -ENOMEM;
	for (size_t i = 0; i < names; i++) {
		thread->sums[i].beyond = thread->kept + 2 * i * events;
		thread->sums[i].exclusive = thread->kept + (2 * i + 1) * events;
	}
	return 0;
}

static struct region_thread *thread_new(struct tally_regions *regions)
{
	struct region_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->regions = regions;
	thread->tid = (pid_t)syscall(SYS_gettid);
	if (make_sums(thread)) {
		tally_region_thread_free(thread);
		return NULL;
	}
	thread->error =
	    tally_region_open_counters(&regions->options, &regions->events, &thread->set, NULL);
	if (!thread->error)
		thread->error = tally_region_lay(thread);
	if (!thread->error)
		thread->error = make_frames(thread);
	if (!thread->error && !regions->options.no_rdpmc)
		open_direct(thread);
	return thread;
}

struct region_thread *tally_region_thread(struct tally_regions *regions)
{
	struct region_thread *thread = pthread_getspecific(regions->key);

	if (__builtin_expect(!!thread, 1))
		return thread;
	thread = thread_new(regions);
	if (!thread)
		return NULL;
	pthread_mutex_lock(&regions->lock);
	thread->next = regions->running;
	regions->running = thread;
	pthread_mutex_unlock(&regions->lock);
	pthread_setspecific(regions->key, thread);
	return thread;
}

/* The oldest ended thread has the sums of all that are too many to be kept. */
static void add_sums(struct region_thread *into, const struct region_thread *from, size_t names,
		     size_t events)
{
	into->tid = 0;
	into->pinned |= from->pinned;
	for (size_t i = 0; i < names; i++) {
		into->sums[i].calls += from->sums[i].calls;
		into->sums[i].dropped += from->sums[i].dropped;
		for (size_t at = 0; at < events; at++) {
			region_add(&into->sums[i].beyond[at], from->sums[i].beyond[at]);
			region_add(&into->sums[i].exclusive[at], from->sums[i].exclusive[at]);
		}
	}
}

void tally_region_thread_ended(void *value)
{
	struct region_thread *thread = value, **at, *last;
	struct tally_regions *regions = thread->regions;

	close_counters(thread);
	pthread_mutex_lock(&regions->lock);
	for (at = &regions->running; *at != thread; at = &(*at)->next)
		;
	*at = thread->next;
	if (regions->ended_count < regions->options.threads) {
		thread->next = regions->ended;
		regions->ended = thread;
		regions->ended_count++;
		thread = NULL;
	} else {
		for (last = regions->ended; last->next; last = last->next)
			;
		add_sums(last, thread, regions->options.regions, regions->events.count);
	}
	pthread_mutex_unlock(&regions->lock);
	if (thread)
		tally_region_thread_free(thread);
}
