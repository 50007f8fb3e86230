#include "session/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "image/insn_length.h"

/* Eras of addresses that belong to no space. */
#define ERA_NO_SPACE     0U
#define ERA_GUEST_KERNEL (UINT32_MAX - 1)
#define ERA_GUEST_USER   (UINT32_MAX - 2)
#define ERA_HYPERVISOR   (UINT32_MAX - 3)

/* A mode of our own for the word behind PERF_CONTEXT_USER_DEFERRED: a cookie and no address. */
#define MODE_COOKIE 0x80
/* Behind a mark that nobody defined: a stack was followed where there is none. */
#define MODE_BROKEN 0x82
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
	if (!resolver->slots || !resolver->tasks) {
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
	free(resolver->depths);
	tally_resolver_runs_done(&resolver->runs);
	for (size_t i = 0; i < 2; i++)
		tally_insn_decoder_free(resolver->decoders[i]);
	tally_unwinding_free(resolver->unwinding);
	*resolver = (struct tally_resolver){0};
}

int tally_resolver_task_miss(struct tally_resolver *resolver, struct resolver_task *task,
			     uint32_t pid, uint32_t tid, uint64_t time)
{
	struct tally_task_view view;
	struct thread_row row = {.pid = pid, .tid = tid};
	uint32_t thread;

	tally_process_view(resolver->session->processes, pid, tid, time, &view);
	row.comm = view.comm;
	row.space = tally_space_id(view.space);
	thread = view.comm == UINT32_MAX
		     ? UINT32_MAX
		     : tally_thread_number(&resolver->session->threads_met, &row);
	if (thread == UINT32_MAX)
		return -ENOMEM;
	*task = (struct resolver_task){
	    .from = view.from,
	    .until = view.until,
	    .space = view.space,
	    .pid = pid,
	    .tid = tid,
	    .comm = view.comm,
	    .era = view.era,
	    .thread = thread,
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

void tally_resolver_keep(struct tally_resolver *resolver, uint32_t era, uint64_t addr,
			 uint32_t frame)
{
	struct resolver_slot *pair;

	if (++resolver->misses > resolver->pairs && resolver->pairs < RESOLVER_PAIRS_MOST)
		grow(resolver);
	pair = resolver_pair(resolver, era, addr);
	pair[1] = pair[0];
	pair[0] = (struct resolver_slot){.addr = addr, .era = era, .frame = frame};
}

uint32_t tally_resolver_place(struct tally_resolver *resolver, uint32_t image, uint64_t place)
{
	uint64_t hash = hash_u64(place ^ (uint64_t)image << 44);
	struct resolver_place *known;

	if (!resolver->places &&
	    !(resolver->places = table_new(RESOLVER_PLACES, sizeof(*resolver->places))))
		return 0;
	known = &resolver->places[hash & (RESOLVER_PLACES - 1)];
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
			return tally_resolver_place(resolver, image, 0);
		frame = tally_resolver_place(resolver, image, place);
	}
	if (!frame)
		return 0;
	tally_resolver_keep(resolver, era, addr, frame);
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
	case MODE_UNWOUND:
		return (sample->space ? sample->era : ERA_NO_SPACE) | RESOLVER_ERA_UNWOUND;
	default:
		return sample->space ? sample->era : ERA_NO_SPACE;
	}
}

static inline uint32_t kept(const struct tally_resolver *resolver, uint32_t era, uint64_t addr)
{
	const struct resolver_slot *pair = resolver_pair(resolver, era, addr);

	if (pair[0].addr == addr && pair[0].era == era && pair[0].frame)
		return pair[0].frame;
	return pair[1].addr == addr && pair[1].era == era ? pair[1].frame : 0;
}

static inline uint32_t frame_of(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint8_t cpumode, uint64_t addr)
{
	uint32_t era, frame;

	cpumode = resolver_cpumode(cpumode, addr);
	era = era_of(sample, cpumode);
	frame = kept(resolver, era, addr);
	return frame ? frame : resolve(resolver, sample, cpumode, era, addr);
}

/* Frames that one word leads to, innermost first. */
struct run {
	const uint32_t *frames;
	uint32_t count, inlined_in;
};

/* Of an address that was unwound.  `room` is for a single frame.  False: out of memory. */
static inline bool run_of(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint64_t addr, uint32_t *room, struct run *ret)
{
	uint32_t era = era_of(sample, MODE_UNWOUND);
	uint32_t frame = kept(resolver, era, addr);
	const uint32_t *words;

	if (!frame)
		frame = tally_resolver_run_miss(resolver, sample, era, addr);
	*room = frame;
	*ret = (struct run){.frames = room, .count = 1};
	if (frame & RESOLVER_RUN) {
		words = &resolver->runs.words[frame & ~RESOLVER_RUN];
		*ret = (struct run){.frames = words + 2, .count = words[1], .inlined_in = words[0]};
	}
	return frame;
}

uint32_t tally_resolver_unwound(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint64_t addr,
				const uint32_t **ret)
{
	struct run run;

	if (!run_of(resolver, sample, addr, &resolver->single, &run))
		return 0;
	*ret = run.frames;
	return run.count;
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
	    !array_resize(&resolver->depths, room, sizeof(*resolver->depths)))
		return false;
	resolver->word_room = room;
	return true;
}

static bool frame_room(struct tally_resolver *resolver, uint32_t count)
{
	uint32_t room = resolver->frame_room ? resolver->frame_room : 256;

	if (count <= resolver->frame_room)
		return true;
	while (room < count)
		room *= 2;
	if (!array_resize(&resolver->frames, room, sizeof(*resolver->frames)))
		return false;
	resolver->frame_room = room;
	return true;
}

static bool is_frame(uint64_t word, uint8_t mode)
{
	return mode == MODE_UNWOUND ||
	       (word < FIRST_MARK && mode != MODE_COOKIE && mode != MODE_BROKEN);
}

/* The mode of the words behind one. */
static uint8_t mode_behind(uint64_t word, uint8_t mode)
{
	if (mode == MODE_COOKIE)
		return PERF_RECORD_MISC_USER;
	if (word < FIRST_MARK || mode == MODE_UNWOUND || mode == MODE_BROKEN)
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
	case (uint64_t)PERF_CONTEXT_GUEST: /* stands alone only before its two */
		return mode;
	default:
		return MODE_BROKEN;
	}
}

/* Nothing holds of the last chain. */
static int forget(struct tally_resolver *resolver)
{
	resolver->word_count = resolver->frame_count = 0;
	return -ENOMEM;
}

/* How many of the outermost words are those of the last chain.  What they lead to is equal too when
 * they are read under the same mode, in the same eras. */
static uint32_t equal_words(const struct tally_resolver *resolver,
			    const struct tally_resolved *sample, uint32_t count)
{
	const uint64_t *chain = sample->sample.callchain;
	uint32_t most = count < resolver->word_count ? count : resolver->word_count, equal = 0;

	if (resolver->chain_era != sample->era || resolver->chain_kernel_era != sample->kernel_era)
		return 0;
	/* Of what the innermost frame is part of nothing is kept. */
	if (sample->unwound && most > count - sample->unwound - 1)
		most = count - sample->unwound - 1;
	while (equal < most && resolver->words[equal] == chain[count - 1 - equal])
		equal++;
	return equal;
}

/* Keeps the chain's words and their modes; returns `equal`, or 0 when the modes of those words have
 * changed; -1: the chain is broken. */
static int64_t take_words(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint32_t count, uint32_t equal)
{
	const uint64_t *chain = sample->sample.callchain;
	uint8_t mode = sample->cpumode;

	for (uint32_t i = 0; i < count - equal; i++) {
		uint32_t at = count - 1 - i;

		if (i == sample->unwound && i)
			mode = MODE_UNWOUND;
		resolver->words[at] = chain[i];
		resolver->modes[at] = mode;
		/* Several slots on their way at once: each is a miss of the caches of its own. */
		if (is_frame(chain[i], mode))
			__builtin_prefetch(resolver_pair(resolver, era_of(sample, mode), chain[i]));
		mode = mode_behind(chain[i], mode);
	}
	if (equal && resolver->modes[equal - 1] == mode)
		return equal;
	for (uint32_t i = count - equal; i < count; i++) {
		if (i == sample->unwound && i)
			mode = MODE_UNWOUND;
		resolver->modes[count - 1 - i] = mode;
		mode = mode_behind(chain[i], mode);
	}
	return mode == MODE_BROKEN ? -1 : 0;
}

int tally_resolver_chain(struct tally_resolver *resolver, const struct tally_resolved *sample,
			 struct tally_chain_frames *ret)
{
	uint32_t count, equal, same, depth, inlined_in = 0;
	bool alike = true;
	int64_t taken;

	*ret = (struct tally_chain_frames){0};
	/* A record is at most 64 KiB long, so the count is small. */
	if (!(sample->sample.present & PERF_SAMPLE_CALLCHAIN) || !sample->sample.callchain_nr)
		return 0;
	count = (uint32_t)sample->sample.callchain_nr;
	if (!chain_room(resolver, count))
		return forget(resolver);
	taken = take_words(resolver, sample, count, equal_words(resolver, sample, count));
	if (taken < 0) { /* as in perf, nothing of it is worth showing */
		forget(resolver);
		return 0;
	}
	equal = (uint32_t)taken;
	resolver->chain_era = sample->era;
	resolver->chain_kernel_era = sample->kernel_era;
	resolver->word_count = count;
	same = depth = equal ? resolver->depths[equal - 1] : 0;
	if (!frame_room(resolver, depth + count - equal))
		return forget(resolver);
	for (uint32_t at = equal; at < count; at++) {
		uint8_t mode = resolver->modes[at];
		uint64_t word = resolver->words[at];
		uint32_t frame;
		struct run run = {.frames = &frame, .count = 1};

		if (!is_frame(word, mode)) {
			resolver->depths[at] = depth;
			continue;
		}
		if (mode != MODE_UNWOUND)
			frame = frame_of(resolver, sample, mode, word);
		else if (!run_of(resolver, sample, word, &frame, &run) ||
			 !frame_room(resolver, depth + run.count + count - at))
			frame = 0;
		if (!frame)
			return forget(resolver);
		for (uint32_t i = run.count; i-- > 0; depth++) {
			/* Two places in one function are one frame. */
			alike = alike && depth < resolver->frame_count &&
				resolver->frames[depth] == run.frames[i];
			same += alike;
			resolver->frames[depth] = run.frames[i];
		}
		inlined_in = run.inlined_in;
		resolver->depths[at] = depth;
	}
	resolver->frame_count = depth;
	*ret = (struct tally_chain_frames){
	    .frames = resolver->frames, .count = depth, .same = same, .inlined_in = inlined_in};
	return 0;
}

struct tally_resolver *tally_resolver_new(struct tally_session *session)
{
	struct tally_resolver *resolver = table_apart(1, sizeof(*resolver));

	if (resolver && tally_resolver_init(resolver, session)) {
		free(resolver);
		return NULL;
	}
	if (resolver)
		resolver->names_only = true;
	return resolver;
}

void tally_resolver_free(struct tally_resolver *resolver)
{
	if (resolver)
		tally_resolver_done(resolver);
	free(resolver);
}
