/* The user part of call chains, where the recorded chain does not have it: of samples with
 * registers and stack (--call-graph dwarf) it is unwound, of those with a branch stack of calls
 * (--call-graph lbr) it is taken from there. */
#ifndef TALLY_RESOLVE_UNWINDING_H
#define TALLY_RESOLVE_UNWINDING_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/attr.h>

struct tally_resolved;
struct tally_resolver;
struct unwinding;

enum plan_chain {
	PLAN_CHAIN_RECORDED, /* it is whole */
	PLAN_CHAIN_UNWIND,   /* as perf does */
	PLAN_CHAIN_JOIN,     /* unwound, and joined with the user part that it has */
	PLAN_CHAIN_BRANCHES,
	PLAN_CHAIN_DEFERRED, /* the user part is in a later record */
};

/* The origin of the user part of an event's chains, and the PERF_SAMPLE_* that it needs. */
enum plan_chain tally_unwinding_of(const struct tally_attr *attr, uint64_t *ret_want);

/* Gives a sample its whole chain, up to the next sample on this resolver; `unwound` says where the
 * unwound part starts.  Without an unwound part the chain is unchanged.  0 or -ENOMEM. */
int tally_resolver_complete(struct tally_resolver *resolver, struct tally_resolved *sample,
			    enum plan_chain how);

/* One a resolver, NULL when it never unwound. */
void tally_unwinding_free(struct unwinding *unwinding);

#endif
