/* The user part of call chains that is not in them: of samples that carry registers and stack of
 * user space, where it was; of those with a branch stack of calls, what that tells.  What perf
 * shows of both: machine__resolve_callchain() of perf 6.1. */
#include <string.h>
#include "output/script_state.h"

#define X86_IP   8 /* Source: PERF_REG_X86_IP of arch/x86/include/uapi/asm/perf_regs.h */
#define ABI_64   2 /* Source: PERF_SAMPLE_REGS_ABI_64 of perf_event.h */
#define BOTH     (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define AN_EVENT (BOTH | PERF_SAMPLE_CALLCHAIN)

/* --call-graph lbr. */
static bool has_branch_chain(const struct tally_attr *attr)
{
	return (attr->sample_type & PERF_SAMPLE_CALLCHAIN) &&
	       (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
	       (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

uint64_t tally_script_unwound_want(const struct tally_attr *attr)
{
	return ((attr->sample_type & AN_EVENT) == AN_EVENT ? BOTH : 0) |
	       (has_branch_chain(attr) ? PERF_SAMPLE_BRANCH_STACK : 0);
}

/* The kernel's part of the chain with the mark behind it, then the last branch's target, then where
 * each came from.  perf takes the user part from there; of an empty branch stack it shows what lies
 * behind the record. */
static bool by_branches(const struct tally_sample *sample, struct tally_buf *to)
{
	uint64_t kernel = 0;

	while (kernel < sample->callchain_nr && sample->callchain[kernel] != PERF_CONTEXT_USER)
		kernel++;
	if (kernel == sample->callchain_nr || !(sample->present & PERF_SAMPLE_BRANCH_STACK) ||
	    !sample->branch_nr)
		return false;
	to->size = 0;
	tally_buf_add(to, sample->callchain, (kernel + 1) * sizeof(*sample->callchain));
	tally_buf_u64(to, sample->branches[0].to);
	for (uint64_t i = 0; i < sample->branch_nr; i++)
		tally_buf_u64(to, sample->branches[i].from);
	return true;
}

/* The register of that number; false: it was not recorded. */
static bool user_register(const struct tally_sample *sample, unsigned number, uint64_t *ret)
{
	uint64_t below = sample->user_regs_mask & ((1ULL << number) - 1);

	if (!(sample->user_regs_mask >> number & 1))
		return false;
	*ret = sample->user_regs[__builtin_popcountll(below)];
	return true;
}

/* The innermost frame of user space; false when the sample does not tell it. */
static bool user_ip(const struct script *script, const struct tally_sample *sample, uint64_t *ret)
{
	if (script->arch != TALLY_SCRIPT_ARCH_X86 || (sample->present & BOTH) != BOTH)
		return false;
	if (sample->user_abi != ABI_64 || !sample->user_regs || !sample->user_stack_size ||
	    !sample->user_stack_dyn_size)
		return false;
	return user_register(sample, X86_IP, ret);
}

static bool vdso_build_id_known(const struct script *script)
{
	const struct tally_data_info *info = tally_data_info(script->data);

	for (size_t i = 0; i < info->build_id_count; i++)
		if (info->build_ids[i].filename && !strcmp(info->build_ids[i].filename, "[vdso]"))
			return true;
	return false;
}

/* perf unwinds a process of which it can read some binary.  Of another machine's that is the vDSO,
 * for which it takes the running kernel's when the recording has no build-id of it. */
static bool is_readable(const struct script *script, struct script_worker *worker,
			const struct tally_resolver *resolver, uint32_t pid)
{
	bool added;
	uint64_t *known = tally_map_put(&worker->unwound, pid, &added);

	if (!known)
		return false;
	if (added)
		*known = tally_resolver_pid_readable(resolver, pid, !vdso_build_id_known(script));
	return *known;
}

/* The sample's chain with the place where user space was. */
static bool by_registers(const struct script *script, struct script_worker *worker,
			 struct tally_resolver *resolver, const struct tally_resolved *sample,
			 struct tally_buf *to)
{
	uint64_t user[2] = {PERF_CONTEXT_USER, 0};
	struct tally_spot spot;

	if (!user_ip(script, &sample->sample, &user[1]))
		return false;
	/* Until an exec is done the registers are those of before, whose mappings are gone. */
	if (tally_resolver_spot(resolver, sample, PERF_RECORD_MISC_USER, user[1], &spot) ||
	    !spot.mapped || !spot.executable ||
	    !is_readable(script, worker, resolver, spot.map_pid))
		return false;
	to->size = 0;
	tally_buf_add(to, sample->sample.callchain,
		      sample->sample.callchain_nr * sizeof(*sample->sample.callchain));
	tally_buf_add(to, user, sizeof(user));
	return true;
}

bool tally_script_unwound(const struct script *script, struct script_worker *worker,
			  struct tally_resolver *resolver, const struct script_event *event,
			  const struct tally_resolved *sample, struct tally_resolved *ret)
{
	struct tally_buf *chain = &worker->chain;
	bool made;

	if (has_branch_chain(&event->event->attr))
		made = by_branches(&sample->sample, chain);
	else
		made = by_registers(script, worker, resolver, sample, chain);
	if (!made || chain->failed)
		return false;
	*ret = *sample;
	ret->sample.callchain = (const void *)chain->data;
	ret->sample.callchain_nr = chain->size / sizeof(*sample->sample.callchain);
	return true;
}
