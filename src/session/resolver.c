#include "session/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"

/* Eras of addresses that belong to no space. */
#define ERA_NO_SPACE     0U
#define ERA_GUEST_KERNEL (UINT32_MAX - 1)
#define ERA_GUEST_USER   (UINT32_MAX - 2)
#define ERA_HYPERVISOR   (UINT32_MAX - 3)

/* A mode of our own for the word behind PERF_CONTEXT_USER_DEFERRED: a cookie and no address. */
#define MODE_COOKIE 0x80
/* Of words that were unwound: none of them is a mark, though it may look like one. */
#define MODE_UNWOUND 0x81

/* Marks are the last page of addresses.  Source: PERF_CONTEXT_MAX of perf_event.h, -4095. */
#define FIRST_MARK ((uint64_t)PERF_CONTEXT_MAX)

int tally_resolver_init(struct tally_resolver *resolver, struct tally_session *session)
{
	*resolver = (struct tally_resolver){
	    .session = session,
	    .source = {.data = session->data,
		       .processes = session->processes,
		       .images = session->images,
		       .build_ids = &session->build_ids},
	    .pairs = RESOLVER_PAIRS_LEAST,
	};
	resolver->slots = table_new((size_t)resolver->pairs * 2, sizeof(*resolver->slots));
	resolver->tasks = calloc(RESOLVER_TASKS, sizeof(*resolver->tasks));
	resolver->places = table_new(RESOLVER_PLACES, sizeof(*resolver->places));
	if (!resolver->slots || !resolver->places || !resolver->tasks) {
		tally_resolver_done(resolver);
		return -ENOMEM;
	}
	return 0;
}

void tally_resolver_done(struct tally_resolver *resolver)
{
	free(resolver->slots);
	free(resolver->places);
	free(resolver->tasks);
	free(resolver->words);
	free(resolver->modes);
	free(resolver->frames);
	free(resolver->copy);
	tally_unwinding_free(resolver->unwinding);
	*resolver = (struct tally_resolver){0};
}

int tally_resolver_task_miss(struct tally_resolver *resolver, struct resolver_task *task,
			     uint32_t pid, uint32_t tid, uint64_t time)
{
	struct tally_task_view view;

	tally_process_view(resolver->session->processes, pid, tid, time, &view);
	if (view.comm == UINT32_MAX)
		return -ENOMEM;
	*task = (struct resolver_task){
	    .from = view.from,
	    .until = view.until,
	    .space = view.space,
	    .pid = pid,
	    .tid = tid,
	    .comm = view.comm,
	    .era = view.era,
	};
	return 0;
}

void tally_resolver_kernel_miss(struct tally_resolver *resolver, uint64_t time)
{
	const struct tally_space *kernel = tally_process_kernel_space(resolver->session->processes);

	resolver->kernel_era =
	    tally_space_era_span(kernel, time, &resolver->kernel_from, &resolver->kernel_until);
}

static void grow(struct tally_resolver *resolver)
{
	uint32_t old_pairs = resolver->pairs;
	struct resolver_slot *old = resolver->slots;
	struct resolver_slot *slots = table_new((size_t)old_pairs * 4, sizeof(*slots));

	resolver->misses = 0;
	if (!slots)
		return; /* the old one still does */
	resolver->slots = slots;
	resolver->pairs = old_pairs * 2;
	for (size_t i = (size_t)old_pairs * 2; i-- > 0;) {
		struct resolver_slot *pair = resolver_pair(resolver, old[i].era, old[i].addr);

		if (!old[i].frame)
			continue;
		pair[1] = pair[0];
		pair[0] = old[i];
	}
	free(old);
}

static uint32_t frame_at(struct tally_resolver *resolver, uint32_t image, uint64_t place)
{
	uint64_t hash = hash_u64(place ^ (uint64_t)image << 44);
	struct resolver_place *known = &resolver->places[hash & (RESOLVER_PLACES - 1)];

	if (known->place != place || known->image != image || !known->frame)
		*known = (struct resolver_place){
		    .place = place,
		    .image = image,
		    .frame = tally_frames_find(&resolver->session->frames, image, place,
					       resolver->names_only),
		};
	return known->frame;
}

const struct tally_mapping *tally_resolver_mapping(const struct tally_resolver *resolver,
						   const struct tally_resolved *sample,
						   uint8_t cpumode, uint64_t addr, char *ret_level)
{
	const struct tally_session *session = resolver->session;
	uint64_t time = session->by_offset ? sample->offset : sample->sample.time;

	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		*ret_level = 'k';
		return tally_space_find(tally_process_kernel_space(session->processes), addr, time);
	case PERF_RECORD_MISC_GUEST_KERNEL:
		*ret_level = 'g';
		return NULL;
	case PERF_RECORD_MISC_GUEST_USER:
		*ret_level = 'u';
		return NULL;
	case PERF_RECORD_MISC_HYPERVISOR:
		*ret_level = 'H';
		return NULL;
	default:
		*ret_level = '.';
		return sample->space ? tally_space_find(sample->space, addr, time) : NULL;
	}
}

static __attribute__((noinline)) uint32_t resolve(struct tally_resolver *resolver,
						  const struct tally_resolved *sample,
						  uint8_t cpumode, uint32_t era, uint64_t addr)
{
	struct tally_session *session = resolver->session;
	const struct tally_mapping *mapping;
	struct resolver_slot *pair;
	uint32_t frame = 0;
	char level;

	mapping = tally_resolver_mapping(resolver, sample, cpumode, addr, &level);
	/* What is told of the kernel is its text; its code from booting lies beyond. */
	if (!mapping && level == 'k' && (session->kernel || session->kernel_guessed))
		frame = tally_frames_find_kernel(&session->frames, &resolver->source,
						 session->kernel, addr);
	if (!frame) {
		uint32_t image;
		uint64_t place;

		if (tally_frames_place(&session->frames, &resolver->source, mapping, level, addr,
				       &image, &place))
			return 0;
		/* Not remembered: such words hardly come again, and would drive out others. */
		if (!mapping && resolver->names_only)
			return frame_at(resolver, image, 0);
		frame = frame_at(resolver, image, place);
	}
	if (!frame)
		return 0;
	if (++resolver->misses > resolver->pairs && resolver->pairs < RESOLVER_PAIRS_MOST)
		grow(resolver);
	pair = resolver_pair(resolver, era, addr);
	pair[1] = pair[0];
	pair[0] = (struct resolver_slot){.addr = addr, .era = era, .frame = frame};
	return frame;
}

/* The era under which addresses of a mode are remembered. */
static inline uint32_t era_of(const struct tally_resolved *sample, uint8_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		return sample->kernel_era;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return ERA_GUEST_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER:
		return ERA_GUEST_USER;
	case PERF_RECORD_MISC_HYPERVISOR:
		return ERA_HYPERVISOR;
	default:
		return sample->space ? sample->era : ERA_NO_SPACE;
	}
}

static inline uint32_t frame_of(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint8_t cpumode, uint64_t addr)
{
	const struct resolver_slot *pair;
	uint32_t era;

	cpumode = resolver_cpumode(cpumode, addr);
	era = era_of(sample, cpumode);
	pair = resolver_pair(resolver, era, addr);
	if (pair[0].addr == addr && pair[0].era == era && pair[0].frame)
		return pair[0].frame;
	if (pair[1].addr == addr && pair[1].era == era && pair[1].frame)
		return pair[1].frame;
	return resolve(resolver, sample, cpumode, era, addr);
}

uint32_t tally_resolver_frame(struct tally_resolver *resolver, const struct tally_resolved *sample,
			      uint8_t cpumode, uint64_t addr)
{
	return frame_of(resolver, sample, cpumode, addr);
}

/* Room for a chain of `count` words; false: out of memory. */
static bool chain_room(struct tally_resolver *resolver, uint32_t count)
{
	uint32_t room = resolver->word_room ? resolver->word_room : 256;

	if (count <= resolver->word_room)
		return true;
	while (room < count)
		room *= 2;
	if (!array_resize(&resolver->words, room, sizeof(*resolver->words)) ||
	    !array_resize(&resolver->modes, room, sizeof(*resolver->modes)) ||
	    !array_resize(&resolver->frames, room, sizeof(*resolver->frames)))
		return false;
	resolver->word_room = room;
	return true;
}

static bool is_frame(uint64_t word, uint8_t mode)
{
	return mode == MODE_UNWOUND || (word < FIRST_MARK && mode != MODE_COOKIE);
}

/* The mode that a frame's address is looked up in. */
static uint8_t frame_mode(uint8_t mode)
{
	return mode == MODE_UNWOUND ? PERF_RECORD_MISC_USER : mode;
}

/* The mode of the words behind one. */
static uint8_t mode_behind(uint64_t word, uint8_t mode)
{
	if (mode == MODE_COOKIE)
		return PERF_RECORD_MISC_USER;
	if (word < FIRST_MARK || mode == MODE_UNWOUND)
		return mode;
	switch (word) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case PERF_CONTEXT_USER_DEFERRED:
		return MODE_COOKIE;
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	default: /* PERF_CONTEXT_GUEST stands alone only before its two; others nobody defined */
		return mode;
	}
}

int64_t tally_resolver_frames(struct tally_resolver *resolver, const struct tally_resolved *sample,
			      const uint32_t **ret, uint32_t *ret_same)
{
	const uint64_t *chain = sample->sample.callchain;
	uint32_t count, equal = 0, same = 0, depth = 0;
	bool alike = true;
	uint8_t mode = sample->cpumode;

	*ret = NULL;
	*ret_same = 0;
	/* A record is at most 64 KiB long, so the count is small. */
	if (!(sample->sample.present & PERF_SAMPLE_CALLCHAIN) || !sample->sample.callchain_nr)
		return 0;
	count = (uint32_t)sample->sample.callchain_nr;
	if (!chain_room(resolver, count)) {
		resolver->word_count = resolver->frame_count = 0;
		return -ENOMEM;
	}
	/* Words that are equal from the outermost in.  What they lead to is equal too when they are
	 * read under the same mode, in the same eras. */
	if (resolver->chain_era == sample->era &&
	    resolver->chain_kernel_era == sample->kernel_era) {
		uint32_t most = count < resolver->word_count ? count : resolver->word_count;

		while (equal < most && resolver->words[equal] == chain[count - 1 - equal])
			equal++;
	}
	for (uint32_t i = 0; i < count - equal; i++) {
		uint32_t at = count - 1 - i;

		if (i == sample->unwound && i)
			mode = MODE_UNWOUND;
		resolver->words[at] = chain[i];
		resolver->modes[at] = mode;
		/* Several slots on their way at once: each is a miss of the caches of its own. */
		if (is_frame(chain[i], mode))
			__builtin_prefetch(
			    resolver_pair(resolver, era_of(sample, frame_mode(mode)), chain[i]));
		mode = mode_behind(chain[i], mode);
	}
	if (equal && count - equal == sample->unwound && sample->unwound)
		mode = MODE_UNWOUND;
	if (equal && resolver->modes[equal - 1] != mode) {
		for (uint32_t i = count - equal; i < count; i++) {
			if (i == sample->unwound && i)
				mode = MODE_UNWOUND;
			resolver->modes[count - 1 - i] = mode;
			mode = mode_behind(chain[i], mode);
		}
		equal = 0;
	}
	resolver->chain_era = sample->era;
	resolver->chain_kernel_era = sample->kernel_era;
	resolver->word_count = count;
	for (uint32_t at = 0; at < equal; at++)
		depth += is_frame(resolver->words[at], resolver->modes[at]);
	same = depth;
	for (uint32_t at = equal; at < count; at++) {
		uint32_t frame;

		if (!is_frame(resolver->words[at], resolver->modes[at]))
			continue;
		frame = frame_of(resolver, sample, frame_mode(resolver->modes[at]),
				 resolver->words[at]);
		if (!frame) {
			resolver->word_count = resolver->frame_count = 0;
			return -ENOMEM;
		}
		/* Two places in one function are one frame. */
		alike = alike && depth < resolver->frame_count && resolver->frames[depth] == frame;
		same += alike;
		resolver->frames[depth++] = frame;
	}
	resolver->frame_count = depth;
	*ret = resolver->frames;
	*ret_same = resolver->chain_whole ? same : 0;
	resolver->chain_whole = true;
	return depth;
}

uint32_t tally_resolver_chain(struct tally_resolver *resolver, const struct tally_resolved *sample,
			      uint32_t *frames, uint32_t room, uint32_t *ret_same)
{
	const uint32_t *all;
	int64_t depth = tally_resolver_frames(resolver, sample, &all, ret_same);
	uint32_t out;

	if (depth < 0) {
		if (room)
			frames[0] = 0;
		return room ? 1 : 0;
	}
	out = depth < room ? (uint32_t)depth : room;
	for (uint32_t i = 0; i < out; i++)
		frames[i] = all[depth - 1 - i];
	if (out < depth) {
		*ret_same = 0;
		resolver->chain_whole = false;
	}
	return out;
}
