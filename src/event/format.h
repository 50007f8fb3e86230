/* For the files that turn an attr into a name. */
#ifndef TALLY_EVENT_FORMAT_H
#define TALLY_EVENT_FORMAT_H

#include <tally/event.h>

/* The shortest name of a PMU's event, from sysfs or the vendor's table, else its numbers in the
 * PMU's slashes; the caller frees it. NULL: the attr is not of a PMU of sysfs. The options have a
 * context whose PMUs are listed. */
char *tally_format_pmu(const struct tally_attr *attr, const struct tally_event_options *options);

/* The modifiers of an event. `guests_out`: without any modifier it excludes guests. */
void tally_format_modifiers(const struct tally_attr *attr, bool guests_out, char to[24]);

#define FORMAT_SAMPLING 200
/* "period=7,aux-sample-size=8", the parts that it has, or "". `own_period`: the period that the
 * name contains; another one is written, also 0. */
void tally_format_sampling(const struct tally_attr *attr, uint64_t own_period,
			   char to[FORMAT_SAMPLING]);

#endif
