/* What the parts of the counts' model share. */
#ifndef TALLY_PROFILE_STAT_H
#define TALLY_PROFILE_STAT_H

#include <tally/stat.h>

enum stat_kind { /* of event, as far as other events' derived values need to know it */
		 STAT_OTHER,
		 STAT_CLOCK,
		 STAT_CYCLES,
		 STAT_INSTRUCTIONS,
		 STAT_BRANCHES,
		 STAT_BRANCH_MISSES,
		 STAT_CACHE_REFS,
		 STAT_CACHE_MISSES,
		 STAT_STALLED_FRONT,
		 STAT_STALLED_BACK,
		 STAT_L1D,
		 STAT_L1D_MISSES,
		 STAT_L1I,
		 STAT_L1I_MISSES,
		 STAT_LL,
		 STAT_LL_MISSES,
		 STAT_DTLB,
		 STAT_DTLB_MISSES,
		 STAT_ITLB,
		 STAT_ITLB_MISSES,
		 STAT_TX_CYCLES,
		 STAT_TX_STARTS,
		 STAT_TX_ELISIONS,
		 STAT_TX_CYCLES_CP,
		 STAT_SMI,
		 STAT_APERF,
		 /* Of CPUs whose events are parts of slots */
		 STAT_TD_TOTAL,
		 STAT_TD_ISSUED,
		 STAT_TD_RETIRED,
		 STAT_TD_FETCH,
		 STAT_TD_RECOVERY,
		 /* Of CPUs with a fixed counter of slots */
		 STAT_TD_RETIRING,
		 STAT_TD_BAD,
		 STAT_TD_FRONT,
		 STAT_TD_BACK,
		 STAT_TD_HEAVY,
		 STAT_TD_MISPREDICT,
		 STAT_TD_LATENCY,
		 STAT_TD_MEMORY,
};

struct stat_cell {              /* an event in a part */
	struct tally_count sum; /* of the last reading */
	double value;           /* of it, scaled place by place, not by the event's scale */
	/* Finished runs in which it counted: mean and sum of squared differences. */
	uint32_t runs;
	double mean, squares, enabled_mean, running_mean;
	enum tally_count_quality runs_quality;
};

struct stat_spread { /* of a time over runs */
	double mean, squares;
};

struct tally_stat {
	struct tally_stat_options options;
	struct tally_stat_event *events; /* units and scales of clocks filled in */
	uint8_t *kinds;                  /* enum stat_kind, by event */
	uint32_t *into;                  /* by event: the one that its counts are added to */
	struct tally_stat_place *parts;
	size_t part_count;
	uint32_t *part_of;          /* by place */
	uint32_t *twin_of;          /* by place: the first one of the same die */
	struct stat_cell *cells;    /* [event][part] */
	struct tally_count *before; /* [event][place]: the reading before */
	double *values;             /* by event, for metrics */
	bool whole;                 /* finished runs are shown, else the last interval */
	size_t runs;
	struct tally_stat_times last;
	struct stat_spread elapsed, user, system;
};

static inline struct stat_cell *stat_cell(const struct tally_stat *stat, size_t event, size_t part)
{
	return &stat->cells[event * stat->part_count + part];
}

/* The kind that an event's attr and name tell. */
enum stat_kind tally_stat_kind(const struct tally_stat_event *event);

#endif
