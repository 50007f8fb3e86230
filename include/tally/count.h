/* Counts: the value of a counter, and how far it can be trusted.
 *
 * A count is never a bare number: the only ways to the number are tally_count_exact(), which
 * refuses what was not counted all the time, and tally_count_estimate(), which gives the quality
 * with it.  A struct of zeros is no count.
 *
 * Events that do not fit on the hardware at once take turns.  The kernel reports for how long each
 * was enabled and for how long it counted.  Source: perf_event_open(2), "time_enabled and
 * time_running". */
#ifndef TALLY_COUNT_H
#define TALLY_COUNT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* From no value to an exact one.  Those from TALLY_COUNT_PARTIAL on have a number. */
enum tally_count_quality {
	TALLY_COUNT_ELSEWHERE,     /* not to be counted at this place: not part of any sum */
	TALLY_COUNT_GONE,          /* the target ended before it could be opened: as ELSEWHERE */
	TALLY_COUNT_NOT_SUPPORTED, /* this machine, kernel or target has no such counter */
	TALLY_COUNT_NOT_PERMITTED,
	TALLY_COUNT_PINNED_ERROR, /* a pinned event found no free counter, and stopped */
	TALLY_COUNT_NEVER_RAN,    /* enabled, but never on the hardware: may be anything */
	TALLY_COUNT_PARTIAL, /* a sum that lacks places, or a count without times: a lower bound */
	TALLY_COUNT_SCALED,  /* counted for a part of the time: an estimate */
	TALLY_COUNT_IDLE,    /* never enabled, or its thread never ran: exactly 0 */
	TALLY_COUNT_COUNTED, /* counted all the time */
};

struct tally_count {
	uint64_t raw;                        /* the value, of the time that it counted */
	uint64_t time_enabled, time_running; /* ns */
	uint64_t id;                         /* the kernel's for the event; 0 in sums */
	uint64_t lost;                       /* samples that the kernel could not store */
	uint32_t places;                     /* that this is the sum of; 1 for a reading */
	uint32_t missing;                    /* further places that have no number */
	enum tally_count_quality quality;
};

/* The quality of a reading, by its value and times (ns): NEVER_RAN to COUNTED. */
enum tally_count_quality tally_count_judge(uint64_t raw, uint64_t time_enabled,
					   uint64_t time_running);

/* Gives the value if it was counted all the time (COUNTED or IDLE).  0; -EAGAIN: it is SCALED,
 * PARTIAL or NEVER_RAN; -ENODATA: there is no number. */
int tally_count_exact(const struct tally_count *count, uint64_t *ret)
    __attribute__((warn_unused_result));

/* Estimates the value for all of the time: raw * time_enabled / time_running, rounded, and at most
 * UINT64_MAX.  Returns the quality; below TALLY_COUNT_PARTIAL *ret is untouched. */
enum tally_count_quality tally_count_estimate(const struct tally_count *count, uint64_t *ret)
    __attribute__((warn_unused_result));

/* The part of the time that it counted, 0 to 1.  1: COUNTED or IDLE; 0: it has no number. */
double tally_count_share(const struct tally_count *count);

/* Adds the count of another place or run to a sum, which starts as zeros.  A count without a number
 * is added to `missing`; one that is ELSEWHERE or GONE is skipped.  The sum's quality is PARTIAL if
 * some are missing, otherwise that of the added times.  While no place has a number, it is the best
 * of the reasons. */
void tally_count_add(struct tally_count *to, const struct tally_count *from);

/* The difference between a reading of a counter and an earlier one. */
struct tally_count tally_count_since(const struct tally_count *now,
				     const struct tally_count *before);

/* A quality in words: "counted", "scaled", "never ran", "not supported", ...; NULL: it is unknown.
 */
const char *tally_count_quality_name(enum tally_count_quality quality);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
