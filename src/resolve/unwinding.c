#include "resolve/unwinding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/buf.h"
#include "base/map.h"
#include "callchain/chain.h"
#include "resolve/locate.h"
#include "resolve/resolver.h"

struct unwinding {
	struct tally_resolver *resolver;
	const struct tally_resolved *sample;
	struct tally_chain_maker *maker;
	struct tally_buf chain;    /* by branches, or deferred */
	struct tally_map readable; /* pid -> whether its user space is unwound */
	bool vdso_recorded;
};

enum plan_chain tally_unwinding_of(const struct tally_attr *attr, uint64_t *ret_want)
{
	*ret_want = 0;
	if (!(attr->sample_type & PERF_SAMPLE_CALLCHAIN))
		return PLAN_CHAIN_RECORDED;
	if ((attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
	    (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)) {
		*ret_want = PERF_SAMPLE_BRANCH_STACK;
		return PLAN_CHAIN_BRANCHES;
	}
	if ((attr->sample_type & TALLY_CHAIN_FIELDS) != TALLY_CHAIN_FIELDS)
		return attr->defer_callchain ? PLAN_CHAIN_DEFERRED : PLAN_CHAIN_RECORDED;
	*ret_want = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	return attr->exclude_callchain_user ? PLAN_CHAIN_UNWIND : PLAN_CHAIN_JOIN;
}

static bool vdso_build_id_known(const struct tally_data *data)
{
	const struct tally_data_info *info = tally_data_info(data);

	for (size_t i = 0; i < info->build_id_count; i++)
		if (info->build_ids[i].filename && !strcmp(info->build_ids[i].filename, "[vdso]"))
			return true;
	return false;
}

static struct unwinding *need_unwinding(struct tally_resolver *resolver)
{
	struct unwinding *unwinding = resolver->unwinding;

	if (unwinding)
		return unwinding;
	unwinding = calloc(1, sizeof(*unwinding));
	if (!unwinding)
		return NULL;
	if (tally_chain_maker_new(resolver->tables->chain_images, resolver->tables->unwind_most,
				  &unwinding->maker)) {
		free(unwinding);
		return NULL;
	}
	unwinding->resolver = resolver;
	unwinding->vdso_recorded = vdso_build_id_known(resolver->source.data);
	resolver->unwinding = unwinding;
	return unwinding;
}

void tally_unwinding_free(struct unwinding *unwinding)
{
	if (!unwinding)
		return;
	tally_chain_maker_free(unwinding->maker);
	tally_buf_done(&unwinding->chain);
	tally_map_done(&unwinding->readable);
	free(unwinding);
}

/* As struct tally_chain_space has it. */
static int image_at(void *context, uint64_t address, struct tally_image **ret, uint64_t *ret_place)
{
	const struct unwinding *unwinding = context;
	struct tally_resolver *resolver = unwinding->resolver;
	struct tally_frames *frames = &resolver->tables->frames;
	const struct tally_mapping *mapping;
	const struct tally_frame_image *image;
	uint32_t number;
	char level;

	mapping = tally_resolver_mapping(resolver, unwinding->sample, PERF_RECORD_MISC_USER,
					 address, &level);
	if (!mapping)
		return -ENOENT;
	if (tally_frames_place(frames, &resolver->source, mapping, level, address, &number,
			       ret_place))
		return -ENODATA;
	image = tally_frames_image_at(frames, number);
	if (!image->image || image->places_are_addresses)
		return -ENODATA;
	*ret = image->image;
	return 0;
}

/* perf unwinds a process of which it can read some binary.  Of another machine's that is the vDSO,
 * for which it takes the running kernel's when the recording has no build-id of it.  Until an exec
 * is done the registers are those of before, whose mappings are gone. */
static bool is_unwound(struct unwinding *unwinding, const struct tally_unwind_start *start)
{
	struct tally_unwind_start first = *start;
	const struct tally_unwind_world nowhere = {0};
	struct tally_location location;
	uint64_t pc, *known;
	bool added;

	if (!tally_unwind(&first, &nowhere, &pc, 1) ||
	    tally_resolver_location(unwinding->resolver, unwinding->sample, PERF_RECORD_MISC_USER,
				    pc, &location) ||
	    !location.mapped || !location.executable)
		return false;
	known = tally_map_put(&unwinding->readable, location.map_pid, &added);
	if (!known)
		return false;
	if (added)
		*known = tally_resolver_pid_readable(unwinding->resolver, location.map_pid,
						     !unwinding->vdso_recorded);
	return *known;
}

static int unwind(struct unwinding *unwinding, struct tally_resolved *sample, bool joined)
{
	const struct tally_sample *from = &sample->sample;
	const struct tally_chain_space space = {
	    .context = unwinding, .number = sample->era, .image_at = image_at};
	const struct tally_unwind_start start = {
	    .arch = tally_chain_arch(tally_data_info(unwinding->resolver->source.data)->arch,
				     from->user_abi),
	    .mask = from->user_regs_mask,
	    .values = from->user_regs,
	};
	struct tally_chain chain;
	int result;

	if (!from->user_regs || !from->user_stack_dyn_size)
		return 0;
	unwinding->sample = sample;
	if (!joined && !is_unwound(unwinding, &start))
		return 0;
	result = tally_chain_make(unwinding->maker, from, start.arch, &space, joined, &chain);
	if (result <= 0)
		return result;
	sample->sample.callchain = chain.words;
	sample->sample.callchain_nr = chain.count;
	sample->unwound = chain.unwound;
	return 0;
}

/* The kernel's part of the chain with the mark behind it, then the last branch's target, then where
 * each came from. perf takes the user part from there; of an empty branch stack it shows what is
 * behind the record. */
static int by_branches(struct unwinding *unwinding, struct tally_resolved *sample)
{
	const struct tally_sample *from = &sample->sample;
	struct tally_lbr_stitches *stitches = unwinding->resolver->tables->stitches;
	struct tally_buf *chain = &unwinding->chain;
	const uint64_t *calls = NULL;
	int64_t beyond = 0;
	uint64_t kernel = 0;

	while (kernel < from->callchain_nr && from->callchain[kernel] != PERF_CONTEXT_USER)
		kernel++;
	if (kernel == from->callchain_nr || !(from->present & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	if (stitches)
		beyond = tally_lbr_stitch(stitches, from->pid, from->tid, from, &calls);
	if (beyond < 0 || !from->branch_nr)
		return (int)beyond;
	tally_buf_clear(chain);
	tally_buf_add(chain, from->callchain, (kernel + 1) * sizeof(*from->callchain));
	tally_buf_u64(chain, from->branches[0].to);
	for (uint64_t i = 0; i < from->branch_nr; i++)
		tally_buf_u64(chain, from->branches[i].from);
	for (int64_t i = beyond; i-- > 0;)
		tally_buf_u64(chain, calls[i]);
	if (chain->failed)
		return -ENOMEM;
	sample->sample.callchain = (const void *)chain->data;
	sample->sample.callchain_nr = chain->size / sizeof(*from->callchain);
	return 0;
}

/* In place of the mark and the cookie behind it. */
static int add_deferred(struct unwinding *unwinding, struct tally_resolved *sample)
{
	const struct tally_source *source = unwinding->resolver->tables->source;
	const struct tally_sample *from = &sample->sample;
	struct tally_buf *chain = &unwinding->chain;
	const uint64_t *words;
	uint64_t kept, count;

	if (from->callchain_nr < 2 ||
	    from->callchain[from->callchain_nr - 2] != PERF_CONTEXT_USER_DEFERRED)
		return 0;
	kept = from->callchain_nr - 2;
	count = tally_deferred_find(source->deferred, source->deferred_count, from->tid,
				    from->callchain[kept + 1],
				    source->by_offset ? sample->offset : from->time, &words);
	if (!count)
		return 0;
	tally_buf_clear(chain);
	tally_buf_add(chain, from->callchain, kept * sizeof(*words));
	tally_buf_add(chain, words, count * sizeof(*words));
	if (chain->failed)
		return -ENOMEM;
	sample->sample.callchain = (const void *)chain->data;
	sample->sample.callchain_nr = kept + count;
	return 0;
}

int tally_resolver_complete(struct tally_resolver *resolver, struct tally_resolved *sample,
			    enum plan_chain how)
{
	struct unwinding *unwinding;

	if (!(sample->sample.present & PERF_SAMPLE_CALLCHAIN))
		return 0;
	unwinding = need_unwinding(resolver);
	if (!unwinding)
		return -ENOMEM;
	if (how == PLAN_CHAIN_DEFERRED)
		return add_deferred(unwinding, sample);
	return how == PLAN_CHAIN_BRANCHES ? by_branches(unwinding, sample)
					  : unwind(unwinding, sample, how == PLAN_CHAIN_JOIN);
}
