/* All descriptors and rings of a recording. Each event is opened for each thread on each CPU. Each
 * CPU has a ring for all samples and a smaller one for the side-band, so that many samples never
 * displace the records that describe processes; and one for events of which only the latest samples
 * are kept (attr.write_backward).  With targets.per_thread each thread has these rings instead:
 * what has rings of its own is a place. */
#ifndef TALLY_COLLECT_OPENSET_H
#define TALLY_COLLECT_OPENSET_H

#include <tally/limits.h>
#include <tally/ring.h>
#include "collect/event_plan.h"
#include "kernel/aux_area.h"
#include "collect/targets.h"

enum tally_ring_kind {
	TALLY_RING_SAMPLES,
	TALLY_RING_SIDEBAND,
	TALLY_RING_KINDS,
	TALLY_RING_OFF_CPU = TALLY_RING_KINDS, /* those of an array of their own */
	TALLY_RING_SIZES,
};

struct tally_ring_sizes {
	size_t pages[TALLY_RING_SIZES]; /* powers of two; 0: there are none of this kind */
};

struct tally_openset {
	const struct tally_targets *targets;
	struct tally_plan *plan;
	int *fds;                  /* [thread][cpu][event]; -1: not open */
	struct tally_ring **rings; /* [place][kind] */
	size_t ring_count;
	struct tally_ring **kept; /* [place]; of events with write_backward */
	struct tally_ring *
	    *off_cpu;        /* [place]; of offcpu-time, whose records do not go to the file */
	size_t threads_open; /* threads that still ran */
	struct tally_aux_area *aux; /* [place]; size 0: none */
};

/* Sizes for the rings; `asked`: pages of the sample rings, 0 for the default. */
struct tally_ring_sizes tally_ring_sizes_choose(const struct tally_limits *limits,
						const struct tally_plan *plan, size_t cpus,
						size_t asked, uint64_t memory);

int tally_openset_open(struct tally_openset *set, const struct tally_targets *targets,
		       struct tally_plan *plan, const struct tally_limits *limits,
		       const struct tally_ring_sizes *sizes, const struct tally_notice *notice,
		       struct tally_error *error);
void tally_openset_close(struct tally_openset *set);

static inline int *tally_openset_fd(const struct tally_openset *set, size_t thread, size_t cpu,
				    size_t event)
{
	return &set->fds[(thread * set->targets->cpu_count + cpu) * set->plan->count + event];
}

static inline size_t tally_openset_fd_count(const struct tally_openset *set)
{
	return set->targets->tid_count * set->targets->cpu_count * set->plan->count;
}

/* CPUs, or threads with targets.per_thread. */
static inline size_t tally_openset_places(const struct tally_openset *set)
{
	return set->targets->per_thread ? set->targets->tid_count : set->targets->cpu_count;
}

/* The index of a ring in the order: side-bands of all CPUs, then samples of all CPUs. */
static inline size_t tally_openset_sideband_first(const struct tally_openset *set, size_t place)
{
	size_t cpus = set->ring_count / TALLY_RING_KINDS;

	return place < cpus ? place * TALLY_RING_KINDS + TALLY_RING_SIDEBAND
			    : (place - cpus) * TALLY_RING_KINDS + TALLY_RING_SAMPLES;
}

/* Events of one kind; groups by their leaders. offcpu-time goes with the samples. */
void tally_openset_enable(const struct tally_openset *set, enum tally_ring_kind kind);
void tally_openset_disable(const struct tally_openset *set, enum tally_ring_kind kind);
/* One event of the plan, by itself.  0; -EBADF: it is open nowhere; -errno. */
int tally_openset_enable_event(const struct tally_openset *set, size_t event, bool on);
/* Records that the kernel could not store, as the events count them (Linux 6.0; else 0). */
uint64_t tally_openset_lost(const struct tally_openset *set);
/* openset_aux.c: maps the AUX area of a place, by the first descriptor of the trace's event that
 * was opened there.  0 or -errno with words. */
int tally_openset_attach_aux(struct tally_openset *set, size_t place, int fd,
			     const struct tally_limits *limits, struct tally_error *error);
/* Enables or disables the trace's event in a place's descriptors. */
void tally_openset_trace(const struct tally_openset *set, size_t place, bool on);

/* Whether rings have samples that are overwritten. */
bool tally_openset_overwrites(const struct tally_openset *set);
/* A descriptor for the ring's CPU and kind whose thread still runs, or -1: the ring gets no
 * more. */
int tally_openset_alive(const struct tally_openset *set, size_t place, enum tally_ring_kind kind);

#endif
