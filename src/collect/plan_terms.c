/* What the terms of an event mean for its samples, and how call chains are taken.
 *
 * Source: perf-record(1), "EVENT DESCRIPTORS" and --call-graph; perf_event_open(2) for the attr.
 * What perf 6.1 makes of a term is what `perf evlist -v` shows of its recording. */
#include <errno.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/text.h>
#include "base/fail.h"
#include "collect/plan_terms.h"

#define STACK_MOST 65528 /* attr.sample_stack_user: a multiple of 8 below 64 KiB */

/* User registers that an unwinder needs: all but the segments' on x86, which 64-bit kernels refuse;
 * x0 to pc on arm64.  Source: arch/x86/include/uapi/asm/perf_regs.h, arch/arm64 of the same. */
#if defined(__x86_64__)
#define USER_REGISTERS 0xff0fffULL
#elif defined(__i386__)
#define USER_REGISTERS 0xfffULL
#elif defined(__aarch64__)
#define USER_REGISTERS ((1ULL << 33) - 1)
#else
#define USER_REGISTERS 0ULL
#endif

/* --- call chains --- */

/* The kernel copies whole words. */
static int take_stack(struct tally_chain_plan *chain, uint64_t size, const char *event,
		      struct tally_error *error)
{
	if (!size || size > STACK_MOST)
		return tally_fail(error, -EINVAL, -1,
				  "%s: a copy of the stack has 8 to %d bytes, not %llu", event,
				  STACK_MOST, (unsigned long long)size);
	chain->stack_size = (uint32_t)(size + 7) & ~7u;
	return 0;
}

/* "auto", "fp", "dwarf", "dwarf,4096", "lbr", "no". */
static int parse_chain(const char *text, const char *event, struct tally_chain_plan *ret,
		       struct tally_error *error)
{
	uint64_t size;

	*ret = (struct tally_chain_plan){
	    .how = TALLY_CHAIN_NONE, .max_stack = ret->max_stack, .keep = ret->keep, .named = true};
	if (!strcmp(text, "no"))
		return 0;
	if (!strcmp(text, "auto")) {
		ret->how = TALLY_CHAIN_AUTO;
		return 0;
	}
	if (!strcmp(text, "fp")) {
		ret->how = TALLY_CHAIN_FRAME_POINTERS;
		return 0;
	}
	if (!strcmp(text, "lbr")) {
		ret->how = TALLY_CHAIN_BRANCHES;
		return 0;
	}
	if (strncmp(text, "dwarf", 5) != 0 || (text[5] && text[5] != ',') ||
	    (text[5] && tally_text_u64(text + 6, &size)))
		return tally_fail(
		    error, -EINVAL, -1,
		    "%s: call-graph is auto, fp, dwarf, 'dwarf,SIZE', lbr or no, not %s", event,
		    text);
	if (!USER_REGISTERS)
		return tally_fail(error, -EOPNOTSUPP, -1,
				  "%s: stacks are not copied on this kind of processor", event);
	ret->how = TALLY_CHAIN_STACK;
	return text[5] ? take_stack(ret, size, event, error) : 0;
}

static bool copies_stacks(const struct tally_chain_plan *chain)
{
	return USER_REGISTERS &&
	       (chain->how == TALLY_CHAIN_STACK || chain->how == TALLY_CHAIN_AUTO);
}

void tally_plan_frame_pointers(struct tally_attr *attr)
{
	attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
}

static void apply_chain(const struct tally_chain_plan *chain, struct tally_attr *attr)
{
	if (chain->how == TALLY_CHAIN_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = (uint16_t)chain->max_stack;
	/* Of kernels that take user space's chain when the thread goes back there: it costs a
	 * sample less, and pages that are not in memory can be read. Others give the bit back. */
	attr->defer_callchain = chain->how == TALLY_CHAIN_FRAME_POINTERS;
	if (chain->how == TALLY_CHAIN_BRANCHES) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS |
					   PERF_SAMPLE_BRANCH_HW_INDEX;
	}
	if (copies_stacks(chain)) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user |= USER_REGISTERS;
		attr->sample_stack_user = chain->stack_size ? chain->stack_size
					  : chain->keep     ? TALLY_STACK_KEPT
							    : TALLY_STACK_USUAL;
	}
	if (chain->keep && copies_stacks(chain)) {
		/* As in perf's files: made from the stack, later. */
		attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
		attr->exclude_callchain_user = 1;
	}
}

/* The event's terms change what was asked for all events. */
static int chain_of(const struct tally_event *event, struct tally_chain_plan *chain,
		    struct tally_error *error)
{
	const struct tally_event_terms *terms = &event->terms;
	int result = 0;

	if (terms->given & TALLY_TERM_MAX_STACK) {
		if (terms->max_stack > UINT16_MAX)
			return tally_fail(error, -EINVAL, -1, "%s: max-stack must be at most %d",
					  event->name, UINT16_MAX);
		chain->max_stack = terms->max_stack;
		/* The limit is the kernel's, for its own chains. */
		if (chain->how == TALLY_CHAIN_NONE || chain->how == TALLY_CHAIN_AUTO)
			chain->how = TALLY_CHAIN_FRAME_POINTERS;
	}
	if (terms->given & TALLY_TERM_CALL_GRAPH)
		result = parse_chain(terms->call_graph, event->name, chain, error);
	if (result || !(terms->given & TALLY_TERM_STACK_SIZE))
		return result;
	if (chain->how != TALLY_CHAIN_STACK && chain->how != TALLY_CHAIN_AUTO)
		return tally_fail(error, -EINVAL, -1,
				  "%s: stack-size is for call chains by copies of the stack: add "
				  "call-graph=dwarf",
				  event->name);
	return take_stack(chain, terms->stack_size, event->name, error);
}

int tally_chain_parse(const char *text, struct tally_chain_plan *ret, struct tally_error *error)
{
	struct tally_chain_plan chain = *ret;
	int result = parse_chain(text, "--call-graph", &chain, error);

	if (!result)
		*ret = chain;
	return result;
}

/* --- the other terms --- */

static int refuse_unsupported(const struct tally_event *event, struct tally_error *error)
{
	static const struct {
		uint32_t term;
		const char *why;
	} terms[] = {
	    {TALLY_TERM_MAX_EVENTS,
	     "nr limits a trace that is printed live; a recording has all samples"},
	    {TALLY_TERM_PERCORE,
	     "percore adds up the counts of a core's threads; samples are not added up"},
	};

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		if (event->terms.given & terms[i].term)
			return tally_fail(error, -EOPNOTSUPP, -1, "%s: %s; leave it out",
					  event->name, terms[i].why);
	return 0;
}

static void set_bit(struct tally_attr *attr, uint64_t bit, bool on)
{
	attr->sample_type = on ? attr->sample_type | bit : attr->sample_type & ~bit;
}

int tally_plan_terms(const struct tally_event *event, const struct tally_chain_plan *chain,
		     struct tally_attr *attr, struct tally_chain_plan *ret_chain,
		     struct tally_error *error)
{
	const struct tally_event_terms *terms = &event->terms;
	struct tally_chain_plan own = *chain;
	int result = refuse_unsupported(event, error);

	if (!result)
		result = chain_of(event, &own, error);
	if (result)
		return result;
	/* Rings that are overwritten are read at the end, from the last sample to the first: their
	 * stacks are kept. */
	if (terms->given & TALLY_TERM_OVERWRITE && terms->overwrite) {
		own.keep |= own.how == TALLY_CHAIN_STACK;
		if (own.how == TALLY_CHAIN_AUTO && !own.keep)
			own.how = TALLY_CHAIN_FRAME_POINTERS;
	}
	apply_chain(&own, attr);
	*ret_chain = own;
	if (terms->given & TALLY_TERM_PERIOD)
		set_bit(attr, PERF_SAMPLE_PERIOD, false); /* it is the same in each sample */
	if (terms->given & TALLY_TERM_TIME)
		set_bit(attr, PERF_SAMPLE_TIME, terms->time);
	if (terms->given & TALLY_TERM_INHERIT)
		attr->inherit = terms->inherit;
	if (terms->given & TALLY_TERM_OVERWRITE) {
		attr->write_backward = terms->overwrite;
		attr->defer_callchain &= !terms->overwrite; /* its samples outlive the records */
	}
	if (terms->given & TALLY_TERM_AUX_OUTPUT)
		attr->aux_output = terms->aux_output;
	if (terms->given & TALLY_TERM_BRANCH_TYPE && attr->branch_sample_type)
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	return 0;
}
