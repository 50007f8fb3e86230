/* Where the thread that drains runs: at each ring's CPU or memory node while it reads that ring. */
#ifndef TALLY_RECORD_PLACEMENT_H
#define TALLY_RECORD_PLACEMENT_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

struct tally_placement {
	cpu_set_t **sets; /* [cpu index]; NULL: the thread stays where it is */
	size_t *sizes;
	size_t count, now;
	cpu_set_t *before; /* where it ran before */
	size_t before_size;
};

/* "cpu", "node"; "sys" or NULL: it stays.  `root` is the folder that holds sys.  0; -EINVAL,
 * -ENOMEM with words. */
int tally_placement_init(struct tally_placement *placement, const char *how, const char *root,
			 const uint32_t *cpus, size_t count, struct tally_error *error);
void tally_placement_done(struct tally_placement *placement);
/* Moves the calling thread.  Where the system does not allow it, it stays. */
void tally_placement_enter(struct tally_placement *placement, size_t cpu);
/* Back to where it ran before the first. */
void tally_placement_leave(struct tally_placement *placement);

#endif
