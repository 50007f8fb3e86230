/* Counting parts of a program from within: regions with a name, in any thread, nested.
 *
 *	tally_regions_open(&options, &regions, &error)
 *	int parse = tally_region(regions, "parse");
 *	tally_region_begin(regions, parse); ... tally_region_end(regions, parse);
 *	tally_region_result(regions, parse, SIZE_MAX, &result, inclusive, exclusive)
 *
 * Each thread has its own counters, opened at its first begin and closed when it ends.  A begin or
 * an end costs one read of them, in user space where the machine allows it, and little more: it
 * can stay in a program.  What a region costs itself is counted in the region around it. */
#ifndef TALLY_REGION_H
#define TALLY_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/count.h>
#include <tally/error.h>
#include <tally/event.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_regions;

struct tally_regions_options {
	size_t size;                           /* sizeof of this struct */
	const struct tally_event_list *events; /* at most 32; all in one group cost the least */
	uint32_t regions;                      /* names at most; 0: 64 */
	uint32_t depth;                        /* regions open at once in a thread; 0: 32 */
	uint32_t
	    threads;    /* ended threads that are kept apart; 0: 1024.  Further ones are added up */
	bool user_only; /* as in struct tally_counters_options */
	bool no_rdpmc;  /* always by read(2) */
};

/* Opens the counters of the calling thread, to find what can be counted.  The options are copied.
 * Errors as of tally_counters_open().  Release with tally_regions_close(). */
int tally_regions_open(const struct tally_regions_options *options, struct tally_regions **ret,
		       struct tally_error *error);
/* Call it when no thread uses the regions any more.  NULL is fine. */
void tally_regions_close(struct tally_regions *regions);

/* The number of the region with that name, which is copied; a new one if there is none.  -ENOSPC:
 * there are too many; -ENOMEM.  Any thread may call it; it takes a lock, so call it once and keep
 * the number. */
int tally_region(struct tally_regions *regions, const char *name);

/* Any thread, not from signal handlers, nor in a child made by fork(), whose counters are its
 * parent's. 0, or -errno when the thread's counters cannot be opened or read; -EINVAL for no such
 * region; -EOVERFLOW when too many are open.  Ends may be called all the same, and nothing is
 * counted.  An end closes what was opened inside and left without one, uncounted; -ENOENT when no
 * such region is open. */
int tally_region_begin(struct tally_regions *regions, int region);
int tally_region_end(struct tally_regions *regions, int region);

struct tally_region_result {
	size_t size;      /* sizeof of this struct, set by the caller */
	const char *name; /* the regions' */
	pid_t tid;        /* 0: of several threads */
	uint64_t calls;   /* that have ended */
	uint64_t dropped; /* that were left without an end */
};

/* Threads that have begun a region, those that run and those that ended. */
size_t tally_regions_thread_count(struct tally_regions *regions);

/* What was counted in a region, by one thread (0 to thread_count - 1, in the order of their first
 * begin while all run), or by all (SIZE_MAX); open regions are not in it.  `inclusive` counts all
 * between begin and end, once where a region is inside itself; `exclusive` leaves out the regions
 * inside; each has room for all events, or is NULL.  -EINVAL: there is no such region or thread, or
 * ret->size is not set. */
int tally_region_result(struct tally_regions *regions, int region, size_t thread,
			struct tally_region_result *ret, struct tally_count *inclusive,
			struct tally_count *exclusive);

/* How many regions have a name; and whether the calling thread's counters are read without system
 * calls. */
size_t tally_regions_count(struct tally_regions *regions);
bool tally_regions_direct(struct tally_regions *regions);

/* Why an event has no count, as tally_counters_why(); of the thread that opened the regions. */
int tally_regions_why(struct tally_regions *regions, size_t event, struct tally_error *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
