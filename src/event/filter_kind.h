/* Which filters the kernel has for an event. */
#ifndef TALLY_EVENT_FILTER_KIND_H
#define TALLY_EVENT_FILTER_KIND_H

#include <stdbool.h>
#include <tally/event.h>

enum tally_filter_kind {
	TALLY_FILTER_FIELDS,  /* an expression of a tracepoint's fields, which the kernel parses */
	TALLY_FILTER_CODE,    /* ranges of code that a hardware trace is limited to */
	TALLY_FILTER_PROGRAM, /* a BPF program made of the expression: filter/filter_program.h */
};

/* Of an event with this text as its filter. */
enum tally_filter_kind tally_filter_kind_of(const struct tally_event *event, const char *filter);

/* Whether a text begins as a filter of code does: "filter ", "start ", "stop ", "tracestop ". */
bool tally_filter_is_code(const char *filter);

#endif
