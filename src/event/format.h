/* What the files that turn an attr into a name share. */
#ifndef TALLY_EVENT_FORMAT_H
#define TALLY_EVENT_FORMAT_H

#include <tally/event.h>

/* The shortest name of a PMU's event, of sysfs or of the vendor's table, else its numbers in the
 * PMU's slashes; the caller's to free.  NULL: the attr is of no PMU that sysfs has.  The options
 * have a context whose PMUs are listed. */
char *tally_format_pmu(const struct tally_attr *attr, const struct tally_event_options *options);

/* The modifiers of an event that without any leaves guests out, or does not. */
void tally_format_modifiers(const struct tally_attr *attr, bool guests_out, char to[24]);

/* "period=7,aux-sample-size=8", the parts that there are, or "".  `own_period`: what the name
 * itself brings; another is written, 0 too. */
void tally_format_sampling(const struct tally_attr *attr, uint64_t own_period, char to[80]);

#endif
