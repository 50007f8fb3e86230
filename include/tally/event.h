/* Events by name: a string becomes attrs, and an attr its name again.  Opens nothing.
 *
 * The grammar is perf's: "cycles:u", "{instructions,cache-misses}:S", "L1-dcache-load-misses",
 * "r1a8:k", "sched:sched_switch", several with commas between them. */
#ifndef TALLY_EVENT_H
#define TALLY_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/attr.h>
#include <tally/error.h>

#pragma GCC visibility push(default)

struct tally_event {
	struct tally_attr attr; /* type, config*, and what modifiers say; nothing about sampling.
				 * Without a modifier exclude_guest is set, as in perf */
	char *name;             /* as a person would write it, modifiers included; never NULL */
	uint32_t leader;        /* index of its group's leader in the list; itself when alone */
	bool precise_max;       /* modifier P: the highest precise_ip that opens */
	bool sample_read;       /* modifier S: the leader samples, members are read with it */
	bool privilege_given;   /* a modifier u, k or h was written */
	bool weak; /* modifier W: when the group does not open, its events stand alone */
};

struct tally_event_list {
	struct tally_event *events;
	size_t count;
};

struct tally_event_options {
	size_t size;         /* sizeof of this struct; the tail beyond what is known must be zero */
	const char *sysfs;   /* NULL: "/sys" */
	const char *tracefs; /* NULL: found among the usual places */
};

/* Parses the whole string.  On failure error->position is the column and error->text says what was
 * expected, with the nearest name.  -EINVAL syntax or unknown name, -ENOENT no such tracepoint,
 * -EACCES tracefs not readable or not mounted (the text names how to lift it), -ENOMEM. The list is
 * the caller's; release with tally_event_list_done(). */
int tally_event_list_parse(const char *text, const struct tally_event_options *options,
			   struct tally_event_list *ret, struct tally_error *error);
/* Appends, so that several -e make one list. */
int tally_event_list_append(struct tally_event_list *list, const char *text,
			    const struct tally_event_options *options, struct tally_error *error);
void tally_event_list_done(struct tally_event_list *list);

/* The name of an attr: "cycles:u", "sched:sched_switch" when tracefs knows its id, "raw 0x1a8" as
 * rNNN, ...  Writes at most `room` bytes with NUL; returns the full length, as snprintf does. */
int tally_event_format(const struct tally_attr *attr, const struct tally_event_options *options,
		       char *to, size_t room);

#pragma GCC visibility pop

#endif
