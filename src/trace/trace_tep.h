/* What the two halves of the compiler share: trace_tep.c asks libtraceevent for an event's tree and
 * makes numbers and texts of it, trace_tep_print.c makes steps of the print format. */
#ifndef TALLY_TRACE_TRACE_TEP_H
#define TALLY_TRACE_TRACE_TEP_H

#include <traceevent/event-parse.h>
#include "base/arena.h"
#include "trace/trace_program.h"

/* One format on its way to a program. */
struct tep_maker {
	struct tally_arena *arena;
	struct tep_event *event;
	struct trace_program *program;
	unsigned long_size;
	bool big_endian;
	unsigned depth; /* of the tree, here */
	int failed;     /* -ENOMEM; -EMSGSIZE: too deep; -EINVAL: not understood */
};

void *tally_tep_make(struct tep_maker *maker, size_t count, size_t size);
const char *tally_tep_make_text(struct tep_maker *maker, const char *text, size_t length);
/* Ours of libtraceevent's field, or NULL. */
const struct trace_field *tally_tep_field(const struct tep_maker *maker,
					  const struct tep_format_field *field);
const struct trace_field *tally_tep_field_of(const struct tep_maker *maker,
					     const struct tep_print_arg *arg);
/* Never NULL: after a failure a stand-in, and maker->failed is set. */
const struct trace_expr *tally_tep_expr(struct tep_maker *maker, const struct tep_print_arg *arg);
const struct trace_string *tally_tep_string(struct tep_maker *maker,
					    const struct tep_print_arg *arg);
/* The steps of the event's print format. */
void tally_tep_steps(struct tep_maker *maker);

#endif
