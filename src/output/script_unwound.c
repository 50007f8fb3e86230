/* Where user space was, of samples that carry its registers and stack instead of its call chain. */
#include "output/script_state.h"

#define X86_IP   8 /* Source: PERF_REG_X86_IP of arch/x86/include/uapi/asm/perf_regs.h */
#define ABI_64   2 /* Source: PERF_SAMPLE_REGS_ABI_64 of perf_event.h */
#define BOTH     (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define AN_EVENT (BOTH | PERF_SAMPLE_CALLCHAIN)

uint64_t tally_script_unwound_want(const struct tally_attr *attr)
{
	return (attr->sample_type & AN_EVENT) == AN_EVENT ? BOTH : 0;
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
	if (sample->user_abi != ABI_64 || !sample->user_regs || !sample->user_stack_size)
		return false;
	return user_register(sample, X86_IP, ret);
}

/* perf unwinds a process when it can read some binary of it: on another machine, the vDSO. */
static bool has_vdso(struct script_worker *worker, const struct tally_resolver *resolver,
		     uint32_t pid)
{
	if (!worker->unwound_pid || worker->unwound_pid != pid) {
		worker->unwound_pid = pid;
		worker->unwound_vdso = tally_resolver_pid_maps(resolver, pid, "[vdso]");
	}
	return worker->unwound_vdso;
}

bool tally_script_unwound(const struct script *script, struct script_worker *worker,
			  struct tally_resolver *resolver, const struct tally_resolved *sample,
			  struct tally_resolved *ret)
{
	uint64_t user[2] = {PERF_CONTEXT_USER, 0}, count = sample->sample.callchain_nr;
	struct tally_buf *chain = &worker->chain;
	struct tally_spot spot;

	if (!user_ip(script, &sample->sample, &user[1]))
		return false;
	/* Until an exec is done the registers are those of before, whose mappings are gone. */
	if (tally_resolver_spot(resolver, sample, PERF_RECORD_MISC_USER, user[1], &spot) ||
	    !spot.mapped || !spot.executable || !has_vdso(worker, resolver, spot.map_pid))
		return false;
	chain->size = 0;
	tally_buf_add(chain, sample->sample.callchain, count * sizeof(*user));
	tally_buf_add(chain, user, sizeof(user));
	if (chain->failed)
		return false;
	*ret = *sample;
	ret->sample.callchain = (const void *)chain->data;
	ret->sample.callchain_nr = count + 2;
	return true;
}
