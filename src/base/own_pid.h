/* Numbers of processes in a merged recording.
 *
 * Processes of different hosts or runs may have the same number, so `tally merge` adds a multiple
 * of 2^22 for each recording but the first.  Linux gives numbers below 2^22 only (PID_MAX_LIMIT of
 * include/linux/threads.h). */
#ifndef TALLY_BASE_OWN_PID_H
#define TALLY_BASE_OWN_PID_H

#include <stdint.h>

#define RECORDING_PID_BITS 22
/* So many recordings fit into a pid_t, which is signed. */
#define RECORDINGS_MOST 512U

/* The number that the process had where it was recorded; UINT32_MAX (none) stays. */
static inline uint32_t own_pid(uint32_t pid)
{
	return pid >> 31 ? pid : pid & ((1U << RECORDING_PID_BITS) - 1);
}

/* The number of its recording, from 0. */
static inline uint32_t recording_of_pid(uint32_t pid)
{
	return pid >> 31 ? 0 : pid >> RECORDING_PID_BITS;
}

#endif
