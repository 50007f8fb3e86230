/* What the terms of an event mean for its samples. */
#ifndef TALLY_COLLECT_PLAN_TERMS_H
#define TALLY_COLLECT_PLAN_TERMS_H

#include <stdint.h>
#include <tally/error.h>
#include <tally/event.h>

enum tally_chain_how {
	TALLY_CHAIN_NONE,
	TALLY_CHAIN_FRAME_POINTERS,
	TALLY_CHAIN_STACK,    /* copies of registers and stack, unwound later */
	TALLY_CHAIN_BRANCHES, /* the processor's record of calls (LBR) */
};

struct tally_chain {
	enum tally_chain_how how;
	uint32_t stack_size; /* bytes of each copy */
	uint32_t max_stack;  /* frames; 0: the kernel's limit */
};

/* "fp", "dwarf", "dwarf,SIZE", "lbr", "no".  -EINVAL, -EOPNOTSUPP. */
int tally_chain_parse(const char *text, struct tally_chain *ret, struct tally_error *error);

/* Completes an attr that samples, by the event's terms; `chain` is what was asked for all events.
 * -EINVAL, -EOPNOTSUPP with the event's name. */
int tally_plan_terms(const struct tally_event *event, const struct tally_chain *chain,
		     struct tally_attr *attr, struct tally_error *error);

#endif
