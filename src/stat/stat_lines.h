/* Shared by all texts of counts: the lines, their order, and the names of parts. */
#ifndef TALLY_REPORT_STAT_LINES_H
#define TALLY_REPORT_STAT_LINES_H

#include <tally/stat.h>
#include "base/buf.h"

struct stat_line {
	size_t event, part;
	struct tally_stat_value value;
};

/* The lines in perf's order: threads and CPUs within an event (threads with the largest counts
 * first), other parts with all their events.  *ret is the caller's to free().  0 or -ENOMEM. */
int tally_stat_lines(const struct tally_stat *stat, bool skip_zeros, struct stat_line **ret,
		     size_t *ret_count);

/* The value's share of the time, %: 100 if it ran all the time or was never enabled. */
double tally_stat_running(const struct tally_stat_value *value);

/* "S0-D0-C1", "CPU3", "sh-4711", "N0"; empty for a global one. */
void tally_stat_part_name(const struct tally_stat *stat, size_t part, struct tally_buf *to);
/* The same for an event: if it counts cores, the row of a CPU is named by its core. */
void tally_stat_line_name(const struct tally_stat *stat, size_t event, size_t part,
			  struct tally_buf *to);
/* Whether such a row is a core's. */
bool tally_stat_is_core_line(const struct tally_stat *stat, size_t event);
/* Whether the number of its places is printed with a part's name. */
bool tally_stat_counts_places(enum tally_stat_by by);

/* "<not counted>" and "<not supported>", perf's words, or "<not permitted>". */
const char *tally_stat_uncounted(enum tally_count_quality quality);

/* Whether --metric-only shows it. */
bool tally_stat_is_metric(const struct tally_stat_derived *derived);
/* Its column's name: "insn per cycle", "branch-misses of all branches". */
void tally_stat_metric_name(const struct tally_stat_event *event,
			    const struct tally_stat_derived *derived, struct tally_buf *to);

/* "     1.000123456": the end of an interval. */
void tally_stat_put_time(uint64_t time, struct tally_buf *to);

/* Writes the buffer and empties it. 0, -ENOMEM, -errno. */
int tally_stat_flush(struct tally_buf *buf, FILE *to);

#endif
