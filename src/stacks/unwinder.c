#include "stacks/unwinder.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "base/pages.h"
#include "base/fail.h"
#include "base/pool.h"
#include "callchain/chain.h"
#include "stacks/block_queue.h"
#include "stacks/monotonic.h"
#include "stacks/live_spaces.h"
#include "stacks/short_lived.h"
#include "stacks/stack_joins.h"
#include "stacks/stack_pages.h"
#include "wire/sample_read.h"
#include "write/writer.h"
#include "wire/record_view.h"

/* The queue takes a sixteenth of the memory at most. */
#define QUEUE_SHARE 16
#define SPILL_MOST  (16ULL << 30)
/* With less for each, threads cost more than they save: that they start, and that each has the
 * tables in its own processor's cache. */
#define BYTES_OF_WORKER (4ULL << 20)
#define CACHE_LINE      64
#define FETCHED         8192 /* bytes of the next sample */
/* As the recorded programs, unless much waits. */
#define NICE_USUAL  0
#define NICE_BEHIND (-10)

/* Of one thread that unwinds. */
struct worker {
	struct tally_chain_maker *maker;
	struct tally_stack_pages pages;
	struct tally_stack_counts counts;
};

struct tally_unwinder {
	struct tally_unwinder_options options;
	struct tally_stack_events events;
	struct tally_stack_copies copies; /* of the thread that fills blocks */
	struct tally_block_queue queue;
	struct tally_live_spaces *spaces;
	struct tally_short_lived short_lived; /* of the block at hand */
	struct tally_chain_images *images;
	char machine[sizeof(((struct utsname *)NULL)->machine)];
	struct worker *workers;
	unsigned width;
	pthread_t thread;
	bool started;
	atomic_bool done; /* the thread has no more to do */
	/* Of the block at hand. */
	struct tally_stack_block *block;
	struct tally_made_part *made;
	size_t made_room;
	struct tally_stack_joins *joins;
	struct tally_stack_counts joined; /* what these change */
	bool waits; /* a stream: of the last round some may wait for a pass to end */
	int64_t checkpoint_at;
	uint64_t since_mark;
	atomic_int failed; /* why no more is written, or 0 */
	struct tally_error error;
};

/* --- samples to chains --- */

void tally_stack_counts_add(struct tally_stack_counts *to, const struct tally_stack_counts *more)
{
	uint64_t *sums = (uint64_t *)to;
	const uint64_t *values = (const uint64_t *)more;

	_Static_assert(sizeof(*to) % sizeof(uint64_t) == 0, "counts only");
	for (size_t i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
		sums[i] += values[i];
}

/* The sample with its chain, in the file's layout. */
static int make_sample(struct tally_unwinder *unwinder, struct worker *worker, size_t event,
		       const struct tally_record *record, struct tally_made_part *to)
{
	struct tally_body body = {.size = sizeof(body), .type = record->type, .misc = record->misc};
	struct tally_sample *sample = &body.sample, stack;
	const struct tally_layout *files = &unwinder->events.files[event];
	struct tally_live_space live;
	struct tally_chain_space space = {.context = &live,
					  .image_at = tally_live_space_image,
					  .read_code = tally_live_space_read_code};
	struct tally_chain chain;
	int result;

	sample->size = sizeof(*sample);
	if (!sample_read(&unwinder->events.rings[event], record,
			 unwinder->events.rings[event].sample_type, sample))
		return 0; /* the kernel writes none like this */
	tally_live_space_of(unwinder->spaces, sample->pid, sample->tid, sample->time, &live);
	space.number = live.number;
	space.moment = live.moment;
	result = tally_chain_make(worker->maker, sample,
				  tally_chain_arch(unwinder->machine, sample->user_abi), &space,
				  true, &chain);
	if (result < 0)
		return result;
	if (result && chain.end == TALLY_CHAIN_COPY_ENDED && *chain.stack)
		tally_stack_pages_read(
		    &worker->pages, sample->pid, sample->tid,
		    *chain.stack + sample->user_stack_dyn_size,
		    *chain.stack + unwinder->events.plan->events[event].attr.sample_stack_user);
	stack = *sample;
	if (result) {
		sample->callchain = chain.words;
		sample->callchain_nr = chain.count;
	}
	sample->present &= files->sample_type;
	return tally_made_part_add(to, files, &body, result ? &chain : NULL, &stack,
				   &worker->counts);
}

/* Unwinding reads a stack in the order of its frames, each of which says where the next one is: it
 * waits for memory at each one, unless that was asked for before. */
static void fetch(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < MIN(size, FETCHED); at += CACHE_LINE)
		__builtin_prefetch(bytes + at);
}

static int make_part(void *context, unsigned number, size_t part)
{
	struct tally_unwinder *unwinder = context;
	const struct tally_stack_block *block = unwinder->block;
	struct tally_made_part *to = &unwinder->made[part];
	size_t at = block->parts[part];
	size_t end = part + 1 < block->part_count ? block->parts[part + 1] : block->samples.size;
	int result = 0;

	tally_made_part_clear(to);
	while (at < end && !result) {
		const struct tally_record record = record_view(block->samples.data + at);
		int64_t event = tally_stack_events_find(&unwinder->events, &record);

		fetch(record.bytes + record.size, end - at - record.size);
		if (event >= 0)
			result = make_sample(unwinder, &unwinder->workers[number], (size_t)event,
					     &record, to);
		else
			tally_buf_add(&to->records, record.bytes, record.size);
		at += record.size;
	}
	return result ? result : to->records.failed;
}

/* --- blocks to the file --- */

static int append(struct tally_writer *writer, const void *bytes, size_t size,
		  struct tally_error *error)
{
	struct iovec iovec = {(void *)(uintptr_t)bytes, size};

	return size ? tally_writer_append(writer, &iovec, 1, error) : 0;
}

/* The end of a pass: see tally_drain_round(). */
static int write_round(struct tally_unwinder *unwinder, bool appended)
{
	struct tally_writer *writer = unwinder->options.writer;
	int64_t now = monotonic_ns();
	bool checkpoint =
	    !monotonic_same(now, unwinder->checkpoint_at, unwinder->options.checkpoint_ns) ||
	    unwinder->since_mark >= unwinder->options.checkpoint_bytes;
	int result;

	if (!appended && unwinder->waits) {
		unwinder->waits = false;
		return tally_writer_empty_round(writer, &unwinder->error);
	}
	if (!appended)
		return 0;
	result = tally_writer_round(writer, checkpoint, &unwinder->error);
	if (!result && unwinder->options.stacks)
		result = tally_writer_round(unwinder->options.stacks, checkpoint, &unwinder->error);
	unwinder->waits = writer->stream;
	if (checkpoint) {
		unwinder->checkpoint_at = now;
		unwinder->since_mark = 0;
	}
	return result;
}

static int write_block(struct tally_unwinder *unwinder)
{
	const struct tally_stack_block *block = unwinder->block;
	struct tally_writer *writer = unwinder->options.writer, *stacks = unwinder->options.stacks;
	bool appended = block->side.size || block->samples.size;
	int result = append(writer, block->side.data, block->side.size, &unwinder->error);

	for (size_t i = 0; i < block->part_count && result >= 0; i++) {
		const struct tally_buf *records = &unwinder->made[i].records;

		result = append(writer, records->data, records->size, &unwinder->error);
		unwinder->since_mark += records->size;
	}
	if (stacks && result >= 0)
		result = append(stacks, block->side.data, block->side.size, &unwinder->error);
	if (stacks && result >= 0)
		result = append(stacks, block->samples.data, block->samples.size, &unwinder->error);
	return result < 0 ? result : write_round(unwinder, appended);
}

static int need_made(struct tally_unwinder *unwinder, size_t count)
{
	struct tally_made_part *more;

	if (count <= unwinder->made_room)
		return 0;
	more = reallocarray(unwinder->made, count, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + unwinder->made_room, 0, (count - unwinder->made_room) * sizeof(*more));
	unwinder->made = more;
	unwinder->made_room = count;
	return 0;
}

/* What larger blocks before this one needed is given back. */
static void need_no_more(struct tally_unwinder *unwinder, size_t count)
{
	for (size_t i = count; i < unwinder->made_room; i++)
		tally_made_part_done(&unwinder->made[i]);
}

/* How many threads take the block at hand: when others wait, all. */
static unsigned width_of(struct tally_unwinder *unwinder)
{
	size_t wanted = 1 + unwinder->block->samples.size / BYTES_OF_WORKER;

	return tally_block_queue_waits(&unwinder->queue) || wanted > unwinder->width
		   ? unwinder->width
		   : (unsigned)wanted;
}

/* What processes had that ended. */
static int forget(struct tally_unwinder *unwinder)
{
	int result = tally_live_spaces_forget(unwinder->spaces);

	if (result <= 0)
		return result;
	for (unsigned i = 0; i < unwinder->width; i++)
		tally_chain_maker_forget(unwinder->workers[i].maker);
	return tally_chain_images_forget(unwinder->images,
					 tally_live_spaces_images(unwinder->spaces));
}

/* Which processes have samples whose chains are made. */
static int note_sampled(struct tally_unwinder *unwinder)
{
	const struct tally_buf *samples = &unwinder->block->samples;
	int result = 0;

	tally_short_lived_done(&unwinder->short_lived);
	for (size_t at = 0; at < samples->size && !result;) {
		const struct tally_record record = record_view(samples->data + at);
		int64_t event = tally_stack_events_find(&unwinder->events, &record);
		int pid_at = event < 0 ? -1 : unwinder->events.rings[event].at[TALLY_FIXED_TID];

		if (pid_at >= 0 && record.size >= pid_at + 4)
			result = tally_short_lived_sampled(&unwinder->short_lived,
							   load_u32(record.bytes + pid_at));
		at += record.size;
	}
	return result;
}

static int feed_spaces(struct tally_unwinder *unwinder)
{
	const struct tally_stack_block *block = unwinder->block;
	const struct tally_live_feed feed = {
	    .layout = &unwinder->events.rings[tally_plan_sideband(unwinder->options.plan)],
	    .records = block->side.data,
	    .size = block->side.size,
	    .short_lived = block->early ? &unwinder->short_lived : NULL,
	    .early = block->early,
	};
	int result = feed.short_lived ? note_sampled(unwinder) : 0;

	return result ? result : tally_live_spaces_feed(unwinder->spaces, &feed);
}

static int take_block(struct tally_unwinder *unwinder)
{
	struct tally_stack_block *block = unwinder->block;
	int result = need_made(unwinder, block->part_count);

	need_no_more(unwinder, block->part_count);
	if (!result)
		result = feed_spaces(unwinder);
	if (!result)
		result = forget(unwinder);
	if (!result)
		result = tally_pool_run(width_of(unwinder), block->part_count, make_part, unwinder);
	if (!result)
		result = tally_stack_joins_run(unwinder->joins, unwinder->made, block->part_count,
					       &unwinder->joined);
	if (result)
		return tally_fail(&unwinder->error, result, -1, "call chains cannot be unwound: %s",
				  strerror(-result));
	return write_block(unwinder);
}

static void *unwinder_main(void *context)
{
	struct tally_unwinder *unwinder = context;
	int result, nice = NICE_BEHIND;
	/* Its own priority does not say so: what a real-time thread starts begins with the usual
	 * one. */
	bool may_raise = !setpriority(PRIO_PROCESS, 0, nice);

	for (;;) {
		int wanted = tally_block_queue_is_long(&unwinder->queue) ? NICE_BEHIND : NICE_USUAL;

		/* The threads that share a block begin with this one's. */
		if (may_raise && wanted != nice)
			setpriority(PRIO_PROCESS, 0, nice = wanted);
		result = tally_block_queue_next(&unwinder->queue, &unwinder->block);
		if (!unwinder->block)
			break;
		if (result)
			tally_fail(&unwinder->error, result, -1,
				   "stacks cannot be read back from a temporary file: %s",
				   strerror(-result));
		/* After a failure blocks are thrown away, until no more come. */
		if (!result && !atomic_load(&unwinder->failed))
			result = take_block(unwinder);
		if (result < 0)
			atomic_store(&unwinder->failed, result);
		tally_block_queue_give(&unwinder->queue, unwinder->block);
	}
	atomic_store(&unwinder->done, true);
	return NULL;
}

/* --- from outside --- */

static int make_workers(struct tally_unwinder *unwinder)
{
	int result = 0;

	unwinder->width = tally_pool_width();
	unwinder->workers = calloc(unwinder->width, sizeof(*unwinder->workers));
	if (!unwinder->workers)
		return -ENOMEM;
	for (unsigned i = 0; i < unwinder->width && !result; i++)
		result = tally_chain_maker_new(unwinder->images, TALLY_STACK_FRAMES_MOST,
					       &unwinder->workers[i].maker);
	return result;
}

static int start_thread(struct tally_unwinder *unwinder)
{
	int result;

	atomic_store(&unwinder->done, false);
	result = tally_thread_start_quiet(&unwinder->thread, unwinder_main, unwinder);
	unwinder->started = !result;
	return result;
}

static bool is_monotonic(const struct tally_plan *plan)
{
	const struct tally_attr *attr = &plan->events[tally_plan_sideband(plan)].attr;

	return attr->use_clockid && attr->clockid == CLOCK_MONOTONIC;
}

/* What is known of processes and binaries, and those who use it. */
static int make_known(struct tally_unwinder *unwinder, const uint8_t *records, size_t size)
{
	const struct tally_live_spaces_options spaces = {.monotonic =
							     is_monotonic(unwinder->options.plan),
							 .open_held = unwinder->options.open_held,
							 .held = unwinder->options.held};
	int result = tally_chain_images_new(&unwinder->images);

	if (!result)
		result = tally_live_spaces_new(&spaces, &unwinder->spaces);
	if (!result)
		result = tally_live_spaces_feed(
		    unwinder->spaces,
		    &(struct tally_live_feed){
			.layout = &unwinder->events.rings[0], .records = records, .size = size});
	return result ? result : make_workers(unwinder);
}

static void free_known(struct tally_unwinder *unwinder)
{
	for (unsigned i = 0; unwinder->workers && i < unwinder->width; i++)
		tally_chain_maker_free(unwinder->workers[i].maker);
	free(unwinder->workers);
	tally_chain_images_free(unwinder->images);
	tally_live_spaces_free(unwinder->spaces);
	unwinder->workers = NULL;
	unwinder->images = NULL;
	unwinder->spaces = NULL;
}

int tally_unwinder_new(const struct tally_unwinder_options *options, const uint8_t *records,
		       size_t size, struct tally_unwinder **ret, struct tally_error *error)
{
	struct tally_unwinder *unwinder = calloc(1, sizeof(*unwinder));
	struct utsname here = {0};
	int result;

	if (!unwinder)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	unwinder->options = *options;
	unwinder->checkpoint_at = monotonic_ns() - unwinder->options.checkpoint_ns;
	uname(&here);
	memcpy(unwinder->machine, here.machine, sizeof(unwinder->machine));
	tally_block_queue_init(&unwinder->queue,
			       MIN(options->waiting_most, memory_size() / QUEUE_SHARE), SPILL_MOST);
	result = tally_stack_events_init(&unwinder->events, options->plan);
	if (!result)
		result = tally_stack_joins_new(&unwinder->joins);
	if (!result)
		result = make_known(unwinder, records, size);
	if (!result)
		result = start_thread(unwinder);
	if (result) {
		tally_unwinder_free(unwinder);
		return tally_fail(error, result, -1, "call chains cannot be unwound: %s",
				  strerror(-result));
	}
	*ret = unwinder;
	return 0;
}

void tally_unwinder_end(struct tally_unwinder *unwinder)
{
	tally_block_queue_end(&unwinder->queue);
}

bool tally_unwinder_is_done(const struct tally_unwinder *unwinder)
{
	return !unwinder->started || atomic_load(&unwinder->done);
}

static void join(struct tally_unwinder *unwinder)
{
	if (!unwinder->started)
		return;
	tally_block_queue_end(&unwinder->queue);
	pthread_join(unwinder->thread, NULL);
	unwinder->started = false;
}

void tally_unwinder_free(struct tally_unwinder *unwinder)
{
	if (!unwinder)
		return;
	join(unwinder);
	free_known(unwinder);
	for (size_t i = 0; i < unwinder->made_room; i++)
		tally_made_part_done(&unwinder->made[i]);
	free(unwinder->made);
	tally_block_queue_done(&unwinder->queue);
	tally_stack_joins_free(unwinder->joins);
	tally_short_lived_done(&unwinder->short_lived);
	tally_stack_events_done(&unwinder->events);
	free(unwinder);
}

int tally_unwinder_turn(struct tally_unwinder *unwinder, struct tally_writer *writer,
			struct tally_writer *stacks, const struct tally_buf *anew,
			struct tally_error *error)
{
	int result = 0;

	unwinder->options.writer = writer;
	unwinder->options.stacks = stacks;
	unwinder->joined = (struct tally_stack_counts){0};
	if (anew) {
		free_known(unwinder);
		result = make_known(unwinder, anew->data, anew->size);
	}
	for (unsigned i = 0; !result && i < unwinder->width; i++)
		unwinder->workers[i].counts = (struct tally_stack_counts){0};
	unwinder->copies = (struct tally_stack_copies){0};
	unwinder->waits = false;
	unwinder->since_mark = 0;
	unwinder->checkpoint_at = monotonic_ns() - unwinder->options.checkpoint_ns;
	tally_block_queue_begin(&unwinder->queue);
	if (!result)
		result = start_thread(unwinder);
	return result ? tally_fail(error, result, -1, "call chains cannot be unwound: %s",
				   strerror(-result))
		      : 0;
}

void tally_unwinder_see_code(void *context, uint32_t pid, uint64_t start, uint64_t size)
{
	struct tally_unwinder *unwinder = context;

	tally_live_spaces_see_code(unwinder->spaces, pid, start, size);
}

struct tally_stack_block *tally_unwinder_take_empty(struct tally_unwinder *unwinder)
{
	return tally_block_queue_take_empty(&unwinder->queue);
}

void tally_unwinder_put(struct tally_unwinder *unwinder, struct tally_stack_block *block)
{
	tally_block_queue_put(&unwinder->queue, block, &unwinder->events, &unwinder->copies);
}

const struct tally_stack_events *tally_unwinder_events(const struct tally_unwinder *unwinder)
{
	return &unwinder->events;
}

struct tally_stack_copies *tally_unwinder_copies(struct tally_unwinder *unwinder)
{
	unwinder->copies.most = tally_block_queue_copy_most(&unwinder->queue);
	return &unwinder->copies;
}

int tally_unwinder_check(struct tally_unwinder *unwinder, struct tally_error *error)
{
	int failed = atomic_load(&unwinder->failed);

	if (failed && error)
		*error = unwinder->error;
	return failed;
}

int tally_unwinder_finish(struct tally_unwinder *unwinder, struct tally_stack_counts *ret,
			  struct tally_error *error)
{
	struct tally_stack_counts sum;

	join(unwinder);
	sum = unwinder->joined;
	for (unsigned i = 0; i < unwinder->width; i++)
		tally_stack_counts_add(&sum, &unwinder->workers[i].counts);
	sum.cut_copies = unwinder->copies.cut;
	sum.dropped = unwinder->copies.dropped;
	sum.spilled_bytes = unwinder->queue.spilled;
	*ret = sum;
	return tally_unwinder_check(unwinder, error);
}
