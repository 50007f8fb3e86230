/* What a counter said, and how far it can be trusted.
 *
 * A count is never a bare number: the only ways to the number are tally_count_exact(), which
 * refuses what was not counted all the time, and tally_count_estimate(), which gives the quality
 * with it. All zero is no count at all.
 *
 * Events that do not fit on the hardware at once take turns; the kernel tells how long each was
 * enabled and how long it counted.  Source: perf_event_open(2), "time_enabled and time_running". */
#ifndef TALLY_COUNT_H
#define TALLY_COUNT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* From nothing known to all known; those from TALLY_COUNT_PARTIAL on have a number. */
enum tally_count_quality {
	TALLY_COUNT_ELSEWHERE,     /* not meant to be counted at this place: no part of any sum */
	TALLY_COUNT_GONE,          /* the target ended before it could be opened: as ELSEWHERE */
	TALLY_COUNT_NOT_SUPPORTED, /* this machine, kernel or target has no such counter */
	TALLY_COUNT_NOT_PERMITTED,
	TALLY_COUNT_PINNED_ERROR, /* a pinned event found no free counter, and counts no more */
	TALLY_COUNT_NEVER_RAN,    /* enabled, but never on the hardware: may be anything */
	TALLY_COUNT_PARTIAL, /* a sum that lacks places, a count without times: at least so many */
	TALLY_COUNT_SCALED,  /* counted for a part of the time: an estimate */
	TALLY_COUNT_IDLE,    /* never enabled, or its thread never ran: 0 is the truth */
	TALLY_COUNT_COUNTED, /* counted all the time */
};

struct tally_count {
	uint64_t raw;                        /* what was seen while it counted; see above */
	uint64_t time_enabled, time_running; /* ns */
	uint64_t id;                         /* the kernel's for the event; 0 in sums */
	uint64_t lost;                       /* samples that the kernel could not store */
	uint32_t places;                     /* that this is the sum of; 1 for a reading */
	uint32_t missing;                    /* further places that have no number */
	enum tally_count_quality quality;
};

/* NEVER_RAN to COUNTED, by the value and times (ns) of a reading. */
enum tally_count_quality tally_count_judge(uint64_t raw, uint64_t time_enabled,
					   uint64_t time_running);

/* The value, when it was counted all the time (COUNTED or IDLE).  0; -EAGAIN when it is SCALED,
 * PARTIAL or NEVER_RAN; -ENODATA when there is no number. */
int tally_count_exact(const struct tally_count *count, uint64_t *ret)
    __attribute__((warn_unused_result));

/* The value for all of the time: raw * time_enabled / time_running, rounded; a value over 64 bits
 * stays UINT64_MAX.  Returns how good it is; *ret is untouched below TALLY_COUNT_PARTIAL. */
enum tally_count_quality tally_count_estimate(const struct tally_count *count, uint64_t *ret)
    __attribute__((warn_unused_result));

/* The part of the time that it counted, 0 to 1: 1 when COUNTED or IDLE, 0 when it has no number. */
double tally_count_share(const struct tally_count *count);

/* Adds another place's or run's count to a sum, which starts all zero.  A place without a number
 * makes one of the missing, one ELSEWHERE or GONE is passed over.  The quality is PARTIAL when some
 * are missing, else that of the added times; while no place has a number it is the best reason why.
 */
void tally_count_add(struct tally_count *to, const struct tally_count *from);

/* What came after an earlier reading of the same counter. */
struct tally_count tally_count_since(const struct tally_count *now,
				     const struct tally_count *before);

/* In words: "counted", "scaled", "never ran", "not supported", ...; NULL for no quality. */
const char *tally_count_quality_name(enum tally_count_quality quality);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
