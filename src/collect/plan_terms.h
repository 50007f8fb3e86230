/* What the terms of an event mean for its samples. */
#ifndef TALLY_COLLECT_PLAN_TERMS_H
#define TALLY_COLLECT_PLAN_TERMS_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/event.h>

enum tally_chain_how {
	TALLY_CHAIN_NONE,
	TALLY_CHAIN_FRAME_POINTERS,
	TALLY_CHAIN_AUTO,  /* copies of registers and stack, unwound by the recorder, where possible
			    */
	TALLY_CHAIN_STACK, /* the same, and nothing else will do */
	TALLY_CHAIN_BRANCHES, /* the processor's record of calls (LBR) */
};

struct tally_chain_plan {
	enum tally_chain_how how;
	uint32_t stack_size; /* bytes of each copy; 0: the usual */
	bool keep;           /* copies stay in the file, for unwinding later, as perf's do */
	bool named;          /* a person asked for it by its name */
	uint32_t max_stack;  /* frames; 0: the kernel's limit */
};

/* Bytes of a copy of the stack, where nobody says how many: of those that are kept perf's, of
 * others what is enough for nearly all threads. */
#define TALLY_STACK_KEPT  8192
#define TALLY_STACK_USUAL 65528

/* Takes the fields that the text decides: "auto", "fp", "dwarf", "dwarf,SIZE", "lbr", "no".
 * -EINVAL, -EOPNOTSUPP. */
int tally_chain_parse(const char *text, struct tally_chain_plan *ret, struct tally_error *error);

/* Completes an attr that samples, by the event's terms; `chain` is what was asked for all events,
 * *ret_chain what is taken of this one. -EINVAL, -EOPNOTSUPP with the event's name. */
int tally_plan_terms(const struct tally_event *event, const struct tally_chain_plan *chain,
		     struct tally_attr *attr, struct tally_chain_plan *ret_chain,
		     struct tally_error *error);

/* Takes back what TALLY_CHAIN_AUTO asked for: the kernel's frame pointers alone. */
void tally_plan_frame_pointers(struct tally_attr *attr);

#endif
