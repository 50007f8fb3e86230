#include "callchain/chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "callchain/memory_code.h"
#include "image/image.h"

#define ABI_32 1 /* Source: enum perf_sample_regs_abi of perf_event.h */
#define ABI_64 2

/* Source: PERF_MAX_STACK_DEPTH and its contexts, of include/uapi/linux/perf_event.h; a chain that
 * was recorded may have more, up to its record's size. */
#define RECORDED_MOST 8192

/* What was found at an address of code: half a line of the cache. */
struct known_code {
	uint64_t address, space; /* space 0: free */
	const struct cfi_rules *rules;
	uint32_t moment; /* when `memory` */
	bool memory;     /* from the bytes of memory, at that moment */
};
#define KNOWN_CODE_BITS 14

/* What was found at a place of an image: another process that maps it has it elsewhere. */
struct known_place {
	const struct tally_chain_image *image; /* NULL: free */
	uint64_t place;
	const struct cfi_rules *rules;
	bool joined;
};
#define KNOWN_PLACE_BITS 15

/* What tally_chain_images_get() gave, which takes a lock. */
struct known_image {
	const struct tally_image *image; /* NULL: free */
	const struct tally_chain_image *chain_image;
};
#define KNOWN_IMAGE_BITS 8

struct tally_chain_maker {
	struct tally_chain_images *images;
	uint32_t most;
	/* Of the sample at hand. */
	const struct tally_chain_space *space;
	bool joined;
	enum tally_unwind_arch arch;
	uint64_t *words; /* RECORDED_MOST, and the unwound frames */
	uint8_t *frames;
	uint64_t *stack;
	_Alignas(TABLE_APART) struct known_code known[1U << KNOWN_CODE_BITS];
	struct known_place places[1U << KNOWN_PLACE_BITS];
	struct known_image files[1U << KNOWN_IMAGE_BITS];
};

int tally_chain_maker_new(struct tally_chain_images *images, uint32_t frames_most,
			  struct tally_chain_maker **ret)
{
	/* Not calloc(): of memory that is read before it is written, each page would be mapped
	 * twice, and the other processors interrupted in between. */
	struct tally_chain_maker *maker = table_apart(1, sizeof(*maker));

	if (!maker)
		return -ENOMEM;
	maker->images = images;
	maker->most = frames_most;
	maker->words = malloc((RECORDED_MOST + 1 + (size_t)frames_most) * sizeof(*maker->words));
	maker->frames = malloc((size_t)frames_most + 1);
	maker->stack = malloc(((size_t)frames_most + 1) * sizeof(*maker->stack));
	if (!maker->words || !maker->frames || !maker->stack) {
		tally_chain_maker_free(maker);
		return -ENOMEM;
	}
	*ret = maker;
	return 0;
}

void tally_chain_maker_free(struct tally_chain_maker *maker)
{
	if (!maker)
		return;
	free(maker->stack);
	free(maker->frames);
	free(maker->words);
	free(maker);
}

void tally_chain_maker_forget(struct tally_chain_maker *maker)
{
	memset(maker->known, 0, sizeof(maker->known));
	memset(maker->places, 0, sizeof(maker->places));
	memset(maker->files, 0, sizeof(maker->files));
}

static const struct tally_chain_image *chain_image(struct tally_chain_maker *maker,
						   struct tally_image *image, uint64_t place)
{
	struct known_image *known =
	    &maker->files[hash_u64((uintptr_t)image) >> (64 - KNOWN_IMAGE_BITS)];
	const struct tally_chain_image *found;

	if (known->image == image)
		return known->chain_image;
	found = tally_chain_images_get(maker->images, image, place);
	/* A dump has one for each function. */
	if (found && tally_image_kind(image) != TALLY_IMAGE_DUMP)
		*known = (struct known_image){image, found};
	return found;
}

/* 0; -ENOENT: nothing is mapped there; -ENODATA: what is cannot be read. */
static int image_at(struct tally_chain_maker *maker, uint64_t address,
		    const struct tally_chain_image **ret, uint64_t *ret_place)
{
	struct tally_image *image;
	int result = maker->space->image_at(maker->space->context, address, &image, ret_place);

	if (result)
		return result;
	*ret = chain_image(maker, image, *ret_place);
	return *ret && (*ret)->arch != TALLY_UNWIND_NONE ? 0 : -ENODATA;
}

/* Go's runtime.clone calls what a new thread runs, and then exit(): so nothing called it, which its
 * call frame information does not say. Sources: runtime/sys_linux_amd64.s of Go; the numbers of
 * system calls. */
static bool is_thread_start(const struct tally_chain_image *image, uint64_t place)
{
	static const uint8_t leave[] = {0xb8, 60, 0, 0, 0, 0x0f, 0x05}; /* mov $60,%eax; syscall */
	uint8_t bytes[1 + 5 + sizeof(leave)]; /* the end of the call, mov $...,%edi */

	return image->arch == TALLY_UNWIND_X86_64 && !image->info.eh_frame.size &&
	       !tally_frame_info_read(&image->info, place, bytes, sizeof(bytes)) &&
	       bytes[1] == 0xbf && !memcmp(bytes + 6, leave, sizeof(leave));
}

/* A thread that is in a system call is behind the instruction for it, which may be the last one of
 * its function: what returns from signals ends with one. Sources: Intel's and Arm's manuals. */
static bool is_behind_system_call(const struct tally_chain_image *image, uint64_t place)
{
	static const uint8_t x86[] = {0x0f, 0x05}, arm64[] = {0x01, 0x00, 0x00, 0xd4};
	bool is_arm64 = image->arch == TALLY_UNWIND_ARM64;
	size_t size = is_arm64 ? sizeof(arm64) : sizeof(x86);
	uint8_t bytes[4];

	return place >= size && !tally_frame_info_read(&image->info, place - size, bytes, size) &&
	       !memcmp(bytes, is_arm64 ? arm64 : x86, size);
}

static const struct cfi_rules *rules_of(const struct tally_chain_maker *maker,
					const struct tally_chain_image *image, uint64_t place)
{
	const struct cfi_rules *rules, *before;
	uint64_t in_file;
	bool begins;

	if (!image->facts || tally_frame_info_address(&image->info, place, &in_file))
		return maker->joined ? &tally_cfi_none : NULL;
	if (maker->joined && is_thread_start(image, place))
		return &tally_cfi_outermost;
	rules = tally_cfi_find_start(image->cfi, in_file, &begins);
	/* Within a function they are mostly the same, and the code need not be read. */
	before =
	    maker->joined && begins && in_file ? tally_cfi_find(image->cfi, in_file - 1) : rules;
	return before != rules && is_behind_system_call(image, place) ? before : rules;
}

static void look_up(struct tally_chain_maker *maker, uint64_t address, struct known_code *known)
{
	const struct tally_chain_image *image;
	struct known_place *at;
	uint64_t place;
	int result = image_at(maker, address, &image, &place);

	if (result) {
		/* What is there may change without a new mapping: a file's code does not. */
		known->memory = true;
		if (maker->joined && result != -ENOENT)
			known->rules = tally_memory_code_rules(maker->space, maker->arch, address);
		return;
	}
	at =
	    &maker->places[hash_u64(place ^ hash_u64((uintptr_t)image)) >> (64 - KNOWN_PLACE_BITS)];
	if (at->image != image || at->place != place || at->joined != maker->joined)
		*at = (struct known_place){image, place, rules_of(maker, image, place),
					   maker->joined};
	known->rules = at->rules;
}

static const struct cfi_rules *find_code(void *context, uint64_t address)
{
	struct tally_chain_maker *maker = context;
	uint64_t space = maker->space->number;
	uint64_t hash = hash_u64(address ^ hash_u64(space));
	struct known_code *known = &maker->known[hash >> (64 - KNOWN_CODE_BITS)];

	if (known->address != address || known->space != space || !space ||
	    (known->memory && known->moment != maker->space->moment)) {
		*known = (struct known_code){
		    .address = address, .space = space, .moment = maker->space->moment};
		look_up(maker, address, known);
	}
	return known->rules;
}

static int read_image(void *context, uint64_t address, void *ret, size_t size)
{
	const struct tally_chain_image *image;
	uint64_t place;
	int result = image_at(context, address, &image, &place);

	if (result == -ENOENT)
		return result;
	memset(ret, 0, size);
	return result || tally_frame_info_read(&image->info, place, ret, size) ? 1 : 0;
}

static int read_code(void *context, uint64_t address, void *ret, size_t size)
{
	const struct tally_chain_maker *maker = context;
	int result = read_image(context, address, ret, size);

	if (result <= 0 || !maker->space->read_code)
		return result;
	return maker->space->read_code(maker->space->context, address, ret, size) ? 1 : 0;
}

/* What compilers made at run time may be other code by now. */
static int read_file(void *context, uint64_t address, void *ret, size_t size)
{
	const struct tally_chain_image *image, *last;
	uint64_t place, last_place;

	if (image_at(context, address, &image, &place) ||
	    image_at(context, address + size - 1, &last, &last_place) || image != last ||
	    last_place - place != size - 1 ||
	    tally_image_kind(image->info.image) == TALLY_IMAGE_DUMP)
		return 1;
	return tally_frame_info_read(&image->info, place, ret, size) ? 1 : 0;
}

enum tally_unwind_arch tally_chain_arch(const char *machine, uint64_t abi)
{
	if (!machine || !strcmp(machine, "x86_64"))
		return abi == ABI_64   ? TALLY_UNWIND_X86_64
		       : abi == ABI_32 ? TALLY_UNWIND_I386
				       : TALLY_UNWIND_NONE;
	if (!strcmp(machine, "aarch64"))
		return abi == ABI_64 ? TALLY_UNWIND_ARM64 : TALLY_UNWIND_NONE;
	if (machine[0] == 'i' && !strcmp(machine + 2, "86"))
		return abi == ABI_32 ? TALLY_UNWIND_I386 : TALLY_UNWIND_NONE;
	return TALLY_UNWIND_NONE;
}

static bool is_mark(uint64_t word)
{
	return word >= (uint64_t)PERF_CONTEXT_MAX;
}

/* Whether a return address is one byte behind a place where rules begin.  A call is longer on x86,
 * so nothing called: the address was put there, for code that begins a stack, as Go does with
 * runtime.goexit.  Source: Intel's manual of the instructions. */
static bool is_put_there(struct tally_chain_maker *maker, uint64_t address)
{
	const struct tally_chain_image *image;
	uint64_t place, in_file;
	bool begins;

	if (image_at(maker, address, &image, &place) || image->arch != TALLY_UNWIND_X86_64 ||
	    !image->facts || tally_frame_info_address(&image->info, place, &in_file))
		return false;
	return tally_cfi_is_usable(tally_cfi_find_start(image->cfi, in_file, &begins)) && begins;
}

/* Whether call frame information says that an address is of a function without a caller: then a
 * frame there is the entry's.  Asked by unwinding from there, with registers that lead nowhere. */
static bool is_entry(const struct tally_unwind_world *world, enum tally_unwind_arch arch,
		     uint64_t address)
{
	const uint64_t nowhere = 1ULL << 20;
	uint64_t values[64], frames[2];
	struct tally_unwind_trace trace = {0};
	struct tally_unwind_start start = {.arch = arch, .mask = UINT64_MAX, .values = values};
	const struct cfi_rules *rules = world->code(world->context, address);

	if (!rules || rules == &tally_cfi_none)
		return false;
	for (size_t i = 0; i < 64; i++)
		values[i] = nowhere;
	values[tally_unwind_pc_register(arch)] = address;
	return tally_unwind_traced(&start, world, frames, 2, &trace) == 1 &&
	       trace.end == TALLY_UNWIND_ENTRY;
}

static enum tally_chain_end end_of(enum tally_unwind_end end)
{
	switch (end) {
	case TALLY_UNWIND_ENTRY:
	case TALLY_UNWIND_ZERO:
		return TALLY_CHAIN_WHOLE;
	case TALLY_UNWIND_STACK_END:
		return TALLY_CHAIN_COPY_ENDED;
	case TALLY_UNWIND_ROOM_END:
		return TALLY_CHAIN_TOO_DEEP;
	case TALLY_UNWIND_UNKNOWN_CODE:
		return TALLY_CHAIN_UNKNOWN_CODE;
	default:
		return TALLY_CHAIN_LOST;
	}
}

static uint8_t frame_of(uint8_t how)
{
	return how == TALLY_UNWIND_START   ? TALLY_CHAIN_LEAF
	       : how == TALLY_UNWIND_RULES ? TALLY_CHAIN_CFI
					   : TALLY_CHAIN_FRAME_POINTER;
}

/* How many frames of the kernel's chain are among the unwound ones, in their order: as they are, or
 * as the return addresses that these were made of. The kernel's lacks callers of functions without
 * frame pointers, so some unwound frames are not in it. */
static uint64_t align(const uint64_t *user, uint64_t user_count, const uint64_t *frames,
		      uint32_t count)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < count && at < user_count; i++)
		at += user[at] == frames[i] || user[at] == frames[i] + 1;
	return at;
}

/* The kernel's chain of user space goes on where the unwound one ends, when more than its start is
 * among the unwound frames: otherwise the frame pointer may be something else, unless it `points`
 * to the last frame. Appends to `frames`; returns how many there are then. */
static uint32_t splice(struct tally_chain_maker *maker, const uint64_t *user, uint64_t user_count,
		       bool points, uint64_t *frames, uint32_t count)
{
	uint64_t at = align(user, user_count, frames, count);

	if (!at || (at == 1 && count > 1 && !points))
		return count;
	for (; at < user_count && count < maker->most; at++) {
		const struct tally_chain_image *image;
		uint64_t place;

		if (!user[at] || is_mark(user[at]) ||
		    image_at(maker, user[at] - 1, &image, &place) == -ENOENT)
			break;
		maker->frames[count] = TALLY_CHAIN_SPLICED;
		maker->stack[count] = 0;
		frames[count++] = user[at] - 1;
	}
	return count;
}

/* Words of the recorded chain that stay: up to the user part, or as many frames as perf counts. */
static uint64_t recorded_count(const struct tally_chain_maker *maker,
			       const struct tally_sample *sample)
{
	uint64_t count = 0;
	uint32_t frames = 0;

	while (count < sample->callchain_nr && count < RECORDED_MOST && frames < maker->most &&
	       !(maker->joined && sample->callchain[count] == PERF_CONTEXT_USER))
		frames += !is_mark(sample->callchain[count++]);
	return count;
}

/* Completes an unwound chain of which the kernel has one by frame pointers, too. */
static uint32_t join(struct tally_chain_maker *maker, const struct tally_sample *sample,
		     const struct tally_unwind_world *world, enum tally_unwind_arch arch,
		     uint64_t *frames, uint32_t count, const struct tally_unwind_trace *trace,
		     enum tally_chain_end *end)
{
	bool zero = trace->end == TALLY_UNWIND_ZERO;
	uint64_t user = 0;
	uint32_t before;

	/* What was read of unknown bytes is no address. */
	while (count > 1 && frames[count - 1] + 1 <= 1)
		count--;
	/* A stack that was exchanged for another one, as Go's for the scheduler's, may end with 0,
	 * too: the kernel's chain then goes on on the other stack. */
	if ((*end == TALLY_CHAIN_WHOLE && !zero) || *end == TALLY_CHAIN_TOO_DEEP)
		return count;
	while (user < sample->callchain_nr && sample->callchain[user] != PERF_CONTEXT_USER)
		user++;
	if (user >= sample->callchain_nr)
		return count;
	user++;
	before = count;
	count = splice(maker, sample->callchain + user, sample->callchain_nr - user, trace->points,
		       frames, count);
	if (count > before &&
	    (is_put_there(maker, frames[count - 1]) || is_entry(world, arch, frames[count - 1])))
		*end = TALLY_CHAIN_WHOLE;
	else if (count == maker->most)
		*end = TALLY_CHAIN_TOO_DEEP;
	return count;
}

/* Whether an address is in memory that is mapped from no file. */
static bool is_made(const struct tally_chain_space *space, uint64_t address)
{
	struct tally_image *image;
	uint64_t place;

	return space->image_at(space->context, address, &image, &place) == -ENODATA;
}

int tally_chain_make(struct tally_chain_maker *maker, const struct tally_sample *sample,
		     enum tally_unwind_arch arch, const struct tally_chain_space *space,
		     bool joined, struct tally_chain *ret)
{
	const struct tally_unwind_world world = {.context = maker,
						 .code = find_code,
						 .read = read_image,
						 .read_code = read_code,
						 .read_file = read_file};
	struct tally_unwind_start start = {
	    .arch = arch,
	    .mask = sample->user_regs_mask,
	    .values = sample->user_regs,
	    .stack = sample->user_stack,
	    .stack_size = sample->user_stack_dyn_size,
	    .as_perf = !joined,
	};
	struct tally_unwind_trace trace = {.how = maker->frames, .stack = maker->stack};
	struct tally_chain chain = {
	    .words = maker->words, .frames = maker->frames, .stack = maker->stack};
	uint32_t count, kept = 0;
	uint64_t *frames;

	if ((sample->present & TALLY_CHAIN_FIELDS) != TALLY_CHAIN_FIELDS || !sample->user_regs ||
	    !sample->user_stack_size || !sample->user_stack_dyn_size)
		return 0;
	if (start.stack_size > sample->user_stack_size)
		start.stack_size = sample->user_stack_size;
	maker->space = space;
	maker->joined = joined;
	maker->arch = arch;
	chain.count = recorded_count(maker, sample);
	memcpy(maker->words, sample->callchain, chain.count * sizeof(*maker->words));
	for (uint64_t i = 0; i < chain.count; i++)
		chain.found[TALLY_CHAIN_KERNEL] += !is_mark(maker->words[i]);
	maker->words[chain.count++] = PERF_CONTEXT_USER;
	chain.unwound = (uint32_t)chain.count;
	frames = maker->words + chain.count;
	count = tally_unwind_traced(&start, &world, frames, maker->most, &trace);
	if (!count && joined)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		maker->frames[i] = frame_of(maker->frames[i]);
	chain.end = end_of(trace.end);
	if (joined)
		count = join(maker, sample, &world, arch, frames, count, &trace, &chain.end);
	/* perf shows nothing of other machines' code, and where it was alone is no chain. */
	else if (arch != TALLY_UNWIND_X86_64 && count < 2)
		return 0;
	chain.made = chain.end == TALLY_CHAIN_LOST && count && is_made(space, frames[count - 1]);
	for (uint32_t i = 0; i < count; i++) {
		if (!frames[i])
			continue;
		chain.found[maker->frames[i]]++;
		maker->frames[kept] = maker->frames[i];
		maker->stack[kept] = maker->stack[i];
		frames[kept++] = frames[i];
	}
	chain.count += kept;
	*ret = chain;
	return 1;
}
