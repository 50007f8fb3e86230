/* The parts of a counter set that its files share. */
#ifndef TALLY_COUNT_COUNTERS_H
#define TALLY_COUNT_COUNTERS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/counter.h>
#include "collect/workload.h"

/* Values in place of a descriptor, besides the -errno of opening. */
#define TALLY_FD_ELSEWHERE INT_MIN       /* the event's PMU does not count at this place */
#define TALLY_FD_LEADER    (INT_MIN + 1) /* the leader of its group could not be opened */
#define TALLY_FD_TOOL      (INT_MIN + 2) /* not an event of the kernel */

struct tally_counted {
	struct tally_attr attr; /* completed for counting; the opened one, once opened_once */
	char *name;
	enum tally_tool_event tool;
	uint32_t leader;
	uint32_t next;    /* the group's next member; 0: it is the last */
	uint32_t members; /* of a leader, with itself */
	uint32_t given_up;
	bool opened_once, privilege_given, precise_max, weak;
	uint32_t *cpus; /* of its PMU */
	size_t cpu_count;
};

/* What a tool event counts: a clock that stops while the set is disabled. */
struct tally_tool_clock {
	uint64_t sum, since; /* ns */
};

struct tally_counters {
	bool inherit, user_only, strict, delayed;
	struct tally_counted *events;
	size_t event_count;
	struct tally_counters_place *places;
	size_t place_count;
	int *cgroup_fds;
	size_t cgroup_count;
	int *fds;        /* [place][event] */
	uint64_t *words; /* buffer of one read */
	size_t word_room;
	struct tally_count
	    *base; /* [event][place], subtracted since the last reset; NULL: no reset so far */
	struct tally_workload workload;
	char *command; /* its name */
	const char *root;
	char *const *argv;
	bool enabled;
	uint32_t tools; /* a bit for each enum tally_tool_event in use */
	struct tally_tool_clock clocks[TALLY_TOOL_SYSTEM_TIME + 1];
};

static inline int *tally_counters_slot(const struct tally_counters *set, size_t event, size_t place)
{
	return &set->fds[place * set->event_count + event];
}

/* --- counters_places.c --- */
int tally_counters_make_places(struct tally_counters *set,
			       const struct tally_counters_options *options,
			       struct tally_error *error);

/* --- counters_open.c --- */
/* The target of an event at a place, for perf_event_open(2). */
struct tally_open_target;
struct tally_open_target tally_counters_target(const struct tally_counters *set, size_t event,
					       size_t place);
int tally_counters_make_events(struct tally_counters *set,
			       const struct tally_counters_options *options,
			       struct tally_error *error);
/* Whether an event may count user space only, when the rights do not allow the kernel. */
bool tally_counters_user_is_enough(const struct tally_counters *set,
				   const struct tally_counted *event);
int tally_counters_open_all(struct tally_counters *set, struct tally_error *error);
void tally_counters_close_all(struct tally_counters *set);

/* --- counters_read.c --- */
/* The quality of a slot without a descriptor. */
enum tally_count_quality tally_counters_quality_of(int slot);

/* --- counters_tool.c --- */
void tally_counters_tools_run(struct tally_counters *set, bool run);
/* It counts at the first place only. */
void tally_counters_tool_read(struct tally_counters *set, size_t event, struct tally_count *ret);

#endif
