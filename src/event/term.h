/* Terms: the text between an event's slashes, "event=0xc0,umask=1,period=1000". */
#ifndef TALLY_EVENT_TERM_H
#define TALLY_EVENT_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include "event/family.h"

#define TERMS_MOST 128 /* of one event, aliases replaced by theirs */

enum event_term_kind {
	TERM_FORMAT, /* a field of the PMU's format, or one of its events */
	TERM_CONFIG, /* config to config4: `number` says which */
	TERM_NAME,
	TERM_PERIOD,
	TERM_FREQ,
	TERM_BRANCH_TYPE,
	TERM_TIME,
	TERM_CALL_GRAPH,
	TERM_STACK_SIZE,
	TERM_MAX_STACK,
	TERM_MAX_EVENTS,
	TERM_INHERIT,
	TERM_NO_INHERIT,
	TERM_OVERWRITE,
	TERM_NO_OVERWRITE,
	TERM_PERCORE,
	TERM_AUX_OUTPUT,
	TERM_AUX_SAMPLE_SIZE,
	TERM_AUX_ACTION,
	TERM_METRIC_ID,
	TERM_DRIVER,
	TERM_UPROBE_PATH, /* named as in struct perf_event_attr */
	TERM_KPROBE_FUNC,
	TERM_KPROBE_ADDR,
	TERM_PROBE_OFFSET,
};

enum event_term_value { VALUE_NONE, VALUE_NUMBER, VALUE_TEXT };

struct event_term {
	enum event_term_kind kind;
	enum event_term_value value;
	unsigned which;         /* TERM_CONFIG: 0 to 4 */
	bool of_alias;          /* from an alias, not from the string */
	struct event_word name; /* as written */
	struct event_word text; /* the value as written */
	uint64_t number;        /* 1 when no value was written */
};

struct event_terms {
	struct event_term terms[TERMS_MOST];
	size_t count;
};

/* Parses terms up to a / or the end of the text; moves `*at` there. The terms borrow the text.
 * -EINVAL, with what was expected. */
int tally_terms_parse(const char *text, size_t *at, struct event_terms *ret,
		      struct tally_error *error);
/* Applies a term that is for any event, not a PMU's field. `command`: see struct
 * tally_event_options. -EINVAL, -ENOMEM. */
int tally_term_apply(const struct event_term *term, const char *command, struct tally_event *event,
		     struct tally_error *error);
/* --- probe_words.c --- */
/* Applies a term of kind TERM_UPROBE_PATH to TERM_PROBE_OFFSET.  -EINVAL, -ENOMEM. */
int tally_probe_term(const struct event_term *term, struct tally_event *event,
		     struct tally_error *error);
/* The error for a term that no event has. -EINVAL. */
int tally_term_unknown(const struct event_term *term, struct tally_error *error);
/* Releases what an event owns, and copies it; -ENOMEM. */
void tally_event_done(struct tally_event *event);
int tally_event_copy(struct tally_event *to, const struct tally_event *from);

#endif
