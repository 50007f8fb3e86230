/* The parts of regions that their files share. */
#ifndef TALLY_COUNT_REGION_H
#define TALLY_COUNT_REGION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/rdpmc.h>
#include <tally/region.h>
#include "count/counters.h"

#define EVENTS_MOST 32

/* What one event counted between two moments. */
struct region_mark {
	uint64_t raw, enabled, running;
};

struct region_frame {
	int region;
	bool nested;                /* `inside` is valid */
	uint64_t *began;            /* the mark of its begin */
	struct region_mark *inside; /* [event], counted by regions inside of it since then */
};

/* One read(2), and where its words are in a mark. */
struct region_group {
	int fd;
	uint32_t leader, at, size; /* event; index of the first word; bytes */
};

/* Where the value of an event is in a mark, and the two times of its group. */
struct region_place {
	uint32_t raw, times;
};

/* A region's sums in a thread. */
struct region_sum {
	uint64_t calls, dropped;
	uint32_t open;                 /* how often it is open now */
	struct region_mark *exclusive; /* [event] */
	struct region_mark *beyond;    /* [event]; inclusive - exclusive; may be below 0 */
};

struct region_thread {
	struct region_thread *next;
	struct tally_regions *regions;
	struct tally_counters
	    *set; /* NULL when they cannot be opened, or once the thread has ended */
	struct tally_rdpmc **direct; /* [event]; NULL: by read(2) */
	int error;                   /* why `set` is NULL */
	pid_t tid;
	uint32_t changing; /* odd while sums change */
	struct region_frame *frames;
	uint32_t depth, above;   /* open frames; begins beyond the deepest */
	struct region_sum *sums; /* [region] */
	struct region_group *groups;
	struct region_place *places; /* [event] */
	uint32_t group_count, word_count;
	uint64_t *words; /* all marks, in one block; the last is `now` */
	uint64_t *now;
	struct region_mark *inside; /* of frames, in one block */
	struct region_mark *kept;   /* of sums, in one block */
	uint32_t pinned;            /* a bit for each event in error state */
};

struct tally_regions {
	struct tally_event_list events;
	struct tally_regions_options options;
	pthread_key_t key;
	pthread_mutex_t lock; /* of names and lists */
	char **names;
	uint32_t name_count;
	struct region_thread *running, *ended; /* newest first */
	size_t ended_count;
	struct tally_counters
	    *first; /* of the thread that opened the regions, for qualities and reasons */
};

/* --- region_thread.c --- */
/* The counters of the calling thread, enabled. */
int tally_region_open_counters(const struct tally_regions_options *options,
			       const struct tally_event_list *events, struct tally_counters **ret,
			       struct tally_error *error);
/* The calling thread's state, made at the first call. NULL: out of memory. */
struct region_thread *tally_region_thread(struct tally_regions *regions);
/* A thread ends (the destructor of regions->key): its counters are closed, its sums stay. */
void tally_region_thread_ended(void *value);
void tally_region_thread_free(struct region_thread *thread);

/* --- region_mark.c --- */
/* Computes where the words of a thread's events are in a mark. 0 or -ENOMEM. */
int tally_region_lay(struct region_thread *thread);
/* Reads the counters. 0 or -errno. */
int tally_region_mark(struct region_thread *thread, uint64_t *words);

/* --- sums, which their thread writes and all threads read --- */

static inline void region_put(uint64_t *to, uint64_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static inline uint64_t region_get(const uint64_t *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static inline void region_add(struct region_mark *to, struct region_mark more)
{
	region_put(&to->raw, to->raw + more.raw);
	region_put(&to->enabled, to->enabled + more.enabled);
	region_put(&to->running, to->running + more.running);
}

#endif
