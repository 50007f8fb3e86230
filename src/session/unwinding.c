#include "session/unwinding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/buf.h"
#include "base/bytes.h"
#include "base/map.h"
#include "session/locate.h"
#include "session/resolver.h"
#include "session/unwinding_images.h"

#define ABI_32     1 /* Source: enum perf_sample_regs_abi of perf_event.h */
#define ABI_64     2
#define REGISTERS  (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define UNWINDABLE (REGISTERS | PERF_SAMPLE_CALLCHAIN)

/* What was found at an address of code. */
struct known_code {
	uint64_t address;
	const struct tally_cfi *cfi;
	uint32_t era, rules; /* era 0: free */
};
#define KNOWN_CODE_BITS 14

struct unwinding {
	struct tally_resolver *resolver;
	const struct tally_resolved *sample;
	struct tally_buf chain;
	struct tally_map readable; /* pid -> whether its user space is unwound */
	bool vdso_recorded;
	struct known_code known[1U << KNOWN_CODE_BITS];
	uint64_t frames[];
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
	if ((attr->sample_type & UNWINDABLE) != UNWINDABLE)
		return PLAN_CHAIN_RECORDED;
	*ret_want = REGISTERS;
	return PLAN_CHAIN_UNWIND;
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
	unwinding = calloc(1, sizeof(*unwinding) +
				  resolver->session->unwind_most * sizeof(*unwinding->frames));
	if (!unwinding)
		return NULL;
	unwinding->resolver = resolver;
	unwinding->vdso_recorded = vdso_build_id_known(resolver->source.data);
	resolver->unwinding = unwinding;
	return unwinding;
}

void tally_unwinding_free(struct unwinding *unwinding)
{
	if (!unwinding)
		return;
	tally_buf_done(&unwinding->chain);
	tally_map_done(&unwinding->readable);
	free(unwinding);
}

/* The image that is mapped at an address of user space and the place in it.  0; -ENOENT: none is;
 * -ENODATA: one that cannot be read. */
static int image_at(const struct unwinding *unwinding, uint64_t address,
		    const struct unwinding_image **ret, uint64_t *ret_place)
{
	struct tally_resolver *resolver = unwinding->resolver;
	struct tally_frames *frames = &resolver->session->frames;
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
	*ret = tally_unwinding_image(resolver->session->unwinding_images, image->image);
	return *ret && (*ret)->arch != TALLY_UNWIND_NONE ? 0 : -ENODATA;
}

static void find_code(void *context, uint64_t address, struct tally_unwind_code *ret)
{
	struct unwinding *unwinding = context;
	uint32_t era = unwinding->sample->era;
	uint64_t hash = hash_u64(address ^ (uint64_t)era << 44), place;
	struct known_code *known = &unwinding->known[hash >> (64 - KNOWN_CODE_BITS)];
	const struct unwinding_image *image;

	if (known->address != address || known->era != era || !era) {
		*known = (struct known_code){.address = address, .era = era};
		if (!image_at(unwinding, address, &image, &place) && image->facts &&
		    !tally_frame_info_address(&image->info, place, &place)) {
			known->cfi = &image->cfi;
			known->rules = tally_cfi_find(&image->cfi, place);
		}
	}
	*ret = (struct tally_unwind_code){.cfi = known->cfi, .rules = known->rules};
}

static int read_image(void *context, uint64_t address, void *ret, size_t size)
{
	const struct unwinding_image *image;
	uint64_t place;
	int result = image_at(context, address, &image, &place);

	if (result == -ENOENT)
		return result;
	memset(ret, 0, size);
	return result || tally_frame_info_read(&image->info, place, ret, size) ? 1 : 0;
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

static enum tally_unwind_arch arch_of(const struct tally_data *data, uint64_t abi)
{
	const char *arch = tally_data_info(data)->arch;

	if (!arch || !strcmp(arch, "x86_64"))
		return abi == ABI_64   ? TALLY_UNWIND_X86_64
		       : abi == ABI_32 ? TALLY_UNWIND_I386
				       : TALLY_UNWIND_NONE;
	if (!strcmp(arch, "aarch64"))
		return abi == ABI_64 ? TALLY_UNWIND_ARM64 : TALLY_UNWIND_NONE;
	if (arch[0] == 'i' && !strcmp(arch + 2, "86"))
		return abi == ABI_32 ? TALLY_UNWIND_I386 : TALLY_UNWIND_NONE;
	return TALLY_UNWIND_NONE;
}

static void take_chain(struct tally_resolved *sample, const struct tally_buf *chain)
{
	sample->sample.callchain = (const void *)chain->data;
	sample->sample.callchain_nr = chain->size / sizeof(*sample->sample.callchain);
}

/* The words of the recorded chain, the kernel's: up to so many frames, as perf counts its part and
 * the unwound one each alone. */
static void copy_recorded(struct unwinding *unwinding, const struct tally_sample *from)
{
	uint32_t frames = 0, most = unwinding->resolver->session->unwind_most;
	uint64_t count = 0;

	while (count < from->callchain_nr && frames < most)
		frames += from->callchain[count++] < (uint64_t)PERF_CONTEXT_MAX;
	tally_buf_add(&unwinding->chain, from->callchain, count * sizeof(*from->callchain));
}

static int unwind(struct unwinding *unwinding, struct tally_resolved *sample)
{
	const struct tally_sample *from = &sample->sample;
	const struct tally_unwind_world world = {
	    .context = unwinding, .code = find_code, .read = read_image};
	struct tally_unwind_start start = {
	    .mask = from->user_regs_mask,
	    .values = from->user_regs,
	    .stack = from->user_stack,
	    .stack_size = from->user_stack_dyn_size,
	};
	struct tally_buf *chain = &unwinding->chain;
	uint32_t count;

	if ((from->present & UNWINDABLE) != UNWINDABLE || !from->user_regs ||
	    !from->user_stack_size || !from->user_stack_dyn_size)
		return 0;
	if (start.stack_size > from->user_stack_size)
		start.stack_size = from->user_stack_size;
	start.arch = arch_of(unwinding->resolver->source.data, from->user_abi);
	unwinding->sample = sample;
	if (!is_unwound(unwinding, &start))
		return 0;
	count = tally_unwind(&start, &world, unwinding->frames,
			     unwinding->resolver->session->unwind_most);
	/* perf shows nothing of other machines' code, and where it was alone is no chain. */
	if (start.arch != TALLY_UNWIND_X86_64 && count < 2)
		return 0;
	tally_buf_clear(chain);
	copy_recorded(unwinding, from);
	tally_buf_u64(chain, PERF_CONTEXT_USER);
	sample->unwound = (uint32_t)(chain->size / sizeof(*from->callchain));
	for (uint32_t i = 0; i < count; i++)
		if (unwinding->frames[i])
			tally_buf_u64(chain, unwinding->frames[i]);
	if (chain->failed)
		return -ENOMEM;
	take_chain(sample, chain);
	return 0;
}

/* The kernel's part of the chain with the mark behind it, then the last branch's target, then where
 * each came from. perf takes the user part from there; of an empty branch stack it shows what is
 * behind the record. */
static int by_branches(struct unwinding *unwinding, struct tally_resolved *sample)
{
	const struct tally_sample *from = &sample->sample;
	struct tally_buf *chain = &unwinding->chain;
	uint64_t kernel = 0;

	while (kernel < from->callchain_nr && from->callchain[kernel] != PERF_CONTEXT_USER)
		kernel++;
	if (kernel == from->callchain_nr || !(from->present & PERF_SAMPLE_BRANCH_STACK) ||
	    !from->branch_nr)
		return 0;
	tally_buf_clear(chain);
	tally_buf_add(chain, from->callchain, (kernel + 1) * sizeof(*from->callchain));
	tally_buf_u64(chain, from->branches[0].to);
	for (uint64_t i = 0; i < from->branch_nr; i++)
		tally_buf_u64(chain, from->branches[i].from);
	if (chain->failed)
		return -ENOMEM;
	take_chain(sample, chain);
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
	return how == PLAN_CHAIN_UNWIND ? unwind(unwinding, sample)
					: by_branches(unwinding, sample);
}
