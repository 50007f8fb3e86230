/* Spans of time, as --time has them. */
#ifndef TALLY_SESSION_TIME_SPANS_H
#define TALLY_SESSION_TIME_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/session.h>

struct tally_time_span {
	uint64_t start, end; /* ns, both within it; end 0: open */
};

/* "START,STOP" in seconds (either may be missing; several apart by blanks), or parts of the time
 * from `first` to `last`: "10%/2", "0%-10%,30%-40%".  `relative`: seconds count from `first`.  The
 * list is for free().  0, -EINVAL or -ENOMEM. */
int tally_time_spans_parse(const char *text, uint64_t first, uint64_t last, bool relative,
			   struct tally_time_span **ret, size_t *ret_count,
			   struct tally_error *error);
/* The same of a session's time: what perf recorded of it, or its samples'. */
int tally_time_spans_of(const struct tally_session *session, const char *text, bool relative,
			struct tally_time_span **ret, size_t *ret_count, struct tally_error *error);

static inline bool time_spans_hold(const struct tally_time_span *list, size_t count, uint64_t time)
{
	for (size_t i = 0; i < count; i++)
		if (time >= list[i].start && (time <= list[i].end || !list[i].end))
			return true;
	return false;
}

#endif
