/* From the rings of offcpu-time to samples of threads that were blocked. */
#ifndef TALLY_OFFCPU_OFF_CPU_RINGS_H
#define TALLY_OFFCPU_OFF_CPU_RINGS_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "collect/openset.h"
#include "offcpu/blocked.h"
#include "offcpu/merge.h"

/* Of what was read and made; of samples see tally_blocked_counts(). */
struct tally_off_cpu_counts {
	uint64_t lost, throttled, bad_bytes;
};

struct tally_off_cpu {
	const struct tally_openset *set;
	struct tally_blocked *blocked;
	struct tally_timed *records, *room; /* of one pass, by time */
	size_t count, most;
	struct tally_buf joined;  /* records that wrap, one for each CPU */
	struct tally_buf samples; /* what the last pass made */
	struct tally_off_cpu_counts counts;
	size_t fullest; /* of the last pass: bytes in the fullest ring, in 1/256 */
};

/* *ret NULL: the plan has no such event. Returns 0 or -ENOMEM. */
int tally_off_cpu_new(const struct tally_openset *set, uint64_t least_ns,
		      struct tally_off_cpu **ret);
void tally_off_cpu_free(struct tally_off_cpu *off_cpu);

/* Reads all rings; `samples` has what is to be written then. To be called before other rings are
 * read: then no sample is older than what the pass before the last one wrote. Returns 0 or -ENOMEM.
 */
int tally_off_cpu_pass(struct tally_off_cpu *off_cpu);
/* The recording ends: threads that are still blocked get samples. */
int tally_off_cpu_end(struct tally_off_cpu *off_cpu);

#endif
