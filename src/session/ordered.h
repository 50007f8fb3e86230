/* Records at their turn: in the order in which perf delivers them, shared out to threads in
 * batches, with the results of the batches taken in order.
 *
 * The order is perf's: records with a time are queued, FINISHED_ROUND n delivers what is not
 * younger than the youngest record seen up to round n-1, the end of the file delivers the rest;
 * equal times keep the order of the file; records without a time (none, 0 or ~0) are delivered
 * where they stand.  Directories have no rounds.  All is in file order when not every event tells
 * its time, or when the first one's records but samples do not (streams aside).  Source: the
 * perf.data format, and perf 6.1's behaviour.  How it is done, and how much memory it takes:
 * order.h. */
#ifndef TALLY_SESSION_ORDERED_H
#define TALLY_SESSION_ORDERED_H

#include <stdint.h>
#include <tally/session.h>
#include "session/resolve.h"

struct tally_image;

struct tally_ordered_visitor {
	uint64_t want; /* PERF_SAMPLE_* fields to decode of samples, those that an event has */
	void *context;
	/* A sample.  `slot` names the batch's place for results: 0..slots-1, used by one thread at
	 * a time, from its first record until finish() has returned.  Below 0 stops. */
	int (*sample)(void *context, unsigned worker, unsigned slot,
		      struct tally_resolver *resolver, const struct tally_resolved *sample,
		      const struct tally_record *record);
	/* Or NULL: nothing is shown of samples but where they were, whatever their event.  What is
	 * shown of an address in an era, which is of a process or of the kernel, kept in a number
	 * below 2^63; 0: the sample comes to sample() at its turn.  Asked before that, in the order
	 * of the file, where this saves a look at each sample. */
	uint64_t (*note)(void *context, unsigned worker, unsigned slot, uint32_t era,
			 uint64_t addr);
	/* Notes that the worker made for this slot, at their turn; the highest bit means nothing.
	 * Below 0 stops. */
	int (*noted)(void *context, unsigned worker, unsigned slot, const uint64_t *notes,
		     size_t count);
	/* Any other record; NULL: they are not shown.  `at` has the event (0 when none is known),
	 * and in at->sample what the trailer tells: present says which of tid, time, id, cpu.  Comm
	 * and space are those of at->sample.pid/tid at its time. */
	int (*other)(void *context, unsigned worker, unsigned slot, struct tally_resolver *resolver,
		     const struct tally_resolved *at, const struct tally_record *record);
	/* The batch of this slot is done and its turn has come: batches come in order, one at a
	 * time, from any thread.  Below 0 stops. */
	int (*finish)(void *context, unsigned slot);
	/* When the session has a filter (filter.h): what will not be shown whatever its thread is,
	 * and what will not be shown for what it is, TALLY_FILTERED_*.  NULL: neither is.  Called
	 * on the caller's thread. */
	bool (*skips)(void *context, const struct tally_resolved *sample);
	unsigned (*filtered)(void *context, struct tally_resolver *resolver,
			     const struct tally_resolved *sample);
	/* Text that the filter printed, which comes before the sample that is shown next.  NULL: it
	 * goes to stdout at once. */
	int (*said)(void *context, unsigned slot, const uint8_t *text, size_t size);
	/* Each sample, filtered or not, before that text, and, between what the filter prints early
	 * and late, each that it kept early and that `skips`, which is there then, lets pass.
	 * NULL: nobody looks. */
	int (*before)(void *context, unsigned worker, unsigned slot,
		      const struct tally_resolved *sample, const struct tally_record *record);
	int (*placed)(void *context, unsigned worker, unsigned slot,
		      struct tally_resolver *resolver, const struct tally_resolved *sample);
	/* Samples that the filter and the test do not let pass, at their turn.  NULL: nobody looks.
	 */
	tally_sample_fn left_out;
	/* The visitor asks the filter, and the test (test.h), itself. */
	bool filters_itself;
};

/* How many slots a visit uses: what a visitor makes its buffers for. */
unsigned tally_session_slots(const struct tally_session *session);
/* As many workers as tally_session_threads(), or one when `serial` (then sample() is called
 * strictly in order). */
int tally_session_each_ordered(struct tally_session *session,
			       const struct tally_ordered_visitor *visitor, bool serial,
			       struct tally_error *error);

/* Where an address leads, with all that a line of text needs. */
struct tally_located {
	uint32_t frame;        /* as tally_resolver_frame() gives; 0: out of memory */
	bool mapped;           /* a mapping (or the kernel) holds the address */
	uint64_t place;        /* what perf prints as the address in its image (map_ip): file offset
				* based for user space, the address itself in the kernel */
	uint64_t symbol_start; /* in the terms of `place`; equal to symbol_end: no symbol */
	uint64_t symbol_end;
	uint64_t map_start, map_end; /* of the mapping */
};

/* The same look-up as tally_resolver_frame(), with the details; not memoised: who prints keeps what
 * he made of it. 0 or -ENOMEM. */
int tally_resolver_locate(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_located *ret);

/* The same by names and without a number, for text: nothing that other threads share is written. */
struct tally_spot {
	bool mapped;
	bool executable;                              /* the mapping */
	uint8_t binding;                              /* of the symbol, STB_* */
	char level;                                   /* as struct tally_frame has it */
	const char *image_name, *image_path, *symbol; /* symbol: NULL when unknown */
	uint64_t place, symbol_start, symbol_end;     /* as struct tally_located has them */
	uint64_t map_start, map_end, map_pgoff;
	uint32_t map_pid;          /* of the process that made the mapping, perhaps a parent */
	struct tally_image *image; /* NULL: none that can be read */
};
int tally_resolver_spot(struct tally_resolver *resolver, const struct tally_resolved *sample,
			uint8_t cpumode, uint64_t addr, struct tally_spot *ret);

/* Addresses from here up are the kernel's. */
#define TALLY_KERNEL_START (1ULL << 63)

/* The mode that an address itself tells, in place of another of the host's. */
static inline uint8_t tally_addr_mode(uint8_t mode, uint64_t addr)
{
	if (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER)
		return addr >= TALLY_KERNEL_START ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	return mode;
}

/* What perf finds for an address: nothing where the mode has no maps that it knows; `fall_back`:
 * then in the mode that the address itself tells, as perf does with addresses of data. */
int tally_resolver_perf_spot(struct tally_resolver *resolver, const struct tally_resolved *sample,
			     uint8_t mode, uint64_t addr, bool fall_back, struct tally_spot *ret);

/* Whether a process itself mapped, at any time, a file that is here too, or (`vdso`) a vDSO.  Looks
 * at all mappings: who asks for each sample keeps what he was told. */
bool tally_resolver_pid_readable(const struct tally_resolver *resolver, uint32_t pid, bool vdso);

/* A range of addresses in all of which a process, or the kernel, has nothing, or one mapping. */
enum tally_extent_kind {
	TALLY_EXTENT_NOTHING,
	TALLY_EXTENT_SHARED, /* all who map the image have the same at its places */
	TALLY_EXTENT_OWN,    /* what an address leads to depends on the process */
};

struct tally_extent {
	uint64_t from, until; /* [from, until) */
	uint64_t less;        /* if shared: an address less this is the place in the image */
	uint32_t image;       /* its number */
	enum tally_extent_kind kind;
	/* If shared: where the symbols of its places are found, and how many there are. */
	struct tally_image *symbols;
	uint32_t symbol_count;
};

/* The one around an address, as the sample's process or (PERF_RECORD_MISC_KERNEL) the kernel has it
 * as long as its era holds.  1; 0: that is not plain; -ENOMEM. */
int tally_resolver_extent(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_extent *ret);
/* The number of the symbol at a place of such an image; below 0: there is none. */
int64_t tally_extent_symbol(struct tally_image *symbols, uint64_t place);

#endif
