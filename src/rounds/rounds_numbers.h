/* perf's numbers in the records of counts. */
#ifndef TALLY_ROUNDS_NUMBERS_H
#define TALLY_ROUNDS_NUMBERS_H

#include <stdint.h>
#include <tally/stat.h>

/* Tags of a STAT_CONFIG record.  Source: PERF_STAT_CONFIG_TERM__* of tools/lib/perf's event.h. */
enum rounds_config { ROUNDS_BY, ROUNDS_INTERVAL, ROUNDS_SCALE };
/* Kinds of EVENT_UPDATE.  Source: PERF_EVENT_UPDATE__* of the same file. */
enum rounds_update { ROUNDS_UNIT, ROUNDS_UNIT_SCALE };

/* How counts are added up.  Source: enum aggr_mode of perf 6.1.  -1: perf does not have it. */
int tally_rounds_mode(enum tally_stat_by by);
/* 0, or -ENOENT: not one of ours. */
int tally_rounds_by(uint64_t mode, enum tally_stat_by *ret);

#endif
