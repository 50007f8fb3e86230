/* Whether a format's text is shaped as the kernel writes it, so that a parser can be trusted with
 * it. */
#ifndef TALLY_TRACE_TRACE_SOUND_H
#define TALLY_TRACE_TRACE_SOUND_H

#include <stdbool.h>
#include <stddef.h>

enum { TRACE_FIELDS_MOST = 1000 };

struct trace_scan {
	const char *at, *end;
};

/* The names of a format's fields, in its text. */
struct trace_names {
	struct trace_name_at {
		const char *text;
		size_t length;
	} at[TRACE_FIELDS_MOST];
	size_t count;
};

struct trace_soundness {
	bool fields;         /* the lines up to the print format are good */
	bool print;          /* it is, too */
	size_t print_offset; /* of its line */
};

void tally_trace_sound(const char *text, size_t size, struct trace_soundness *ret);

/* For tally_trace_sound(): `scan` stands behind "print fmt: ". */
bool tally_trace_print_sound(struct trace_scan *scan, const struct trace_names *names);
/* From a quote to behind the one that ends what it starts. */
bool tally_trace_take_quoted(struct trace_scan *scan);

#endif
