#include "offcpu/blocked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "base/map.h"
#include "base/table.h"
#include "wire/sample_read.h"

/* Numbers of threads that ended are taken out of the table when there are more of them than that,
 * and more than living ones. */
#define ENDED_MOST 4096

enum state {
	RUNS,    /* or unknown */
	BLOCKED, /* since `since` */
	CAME,    /* its return at `since` was seen before the record of its leaving, which another
		    CPU's ring has */
};

struct thread {
	uint32_t pid, tid, next_free;
	enum state state;
	bool used, has_stack;
	uint64_t since, identifier;
	struct tally_buf
	    sample; /* as it was in the ring, its copy of the stack as long as the stack */
};

struct tally_blocked {
	struct tally_blocked_options options;
	struct thread *threads; /* [0] is not used */
	uint32_t count, room, first_free;
	struct tally_map by_tid; /* tid + 1 -> index; 0: it has ended */
	size_t living;
	struct tally_blocked_counts counts;
};

int tally_blocked_new(const struct tally_blocked_options *options, struct tally_blocked **ret)
{
	struct tally_blocked *blocked = calloc(1, sizeof(*blocked));

	if (!blocked)
		return -ENOMEM;
	blocked->options = *options;
	blocked->count = 1;
	*ret = blocked;
	return 0;
}

void tally_blocked_free(struct tally_blocked *blocked)
{
	if (!blocked)
		return;
	for (uint32_t i = 1; i < blocked->count; i++)
		tally_buf_done(&blocked->threads[i].sample);
	free(blocked->threads);
	tally_map_done(&blocked->by_tid);
	free(blocked);
}

const struct tally_blocked_counts *tally_blocked_counts(const struct tally_blocked *blocked)
{
	return &blocked->counts;
}

void tally_blocked_forget_times(struct tally_blocked *blocked)
{
	blocked->counts.first_time = blocked->counts.last_time = 0;
}

/* --- threads --- */

static int take_place(struct tally_blocked *blocked, uint32_t *ret)
{
	uint32_t index = blocked->first_free;

	if (index) {
		blocked->first_free = blocked->threads[index].next_free;
		*ret = index;
		return 0;
	}
	if (!array_reach(&blocked->threads, &blocked->room, blocked->count, 64,
			 sizeof(*blocked->threads)))
		return -ENOMEM;
	blocked->threads[blocked->count] = (struct thread){0};
	*ret = blocked->count++;
	return 0;
}

static struct thread *need_thread(struct tally_blocked *blocked, uint32_t tid)
{
	bool added;
	uint64_t *index = tally_map_put(&blocked->by_tid, tid + 1ULL, &added);
	uint32_t place;

	if (!index)
		return NULL;
	if (!*index) {
		struct thread *thread;

		if (take_place(blocked, &place))
			return NULL;
		thread = &blocked->threads[place];
		*index = place;
		*thread = (struct thread){.tid = tid, .used = true};
		blocked->living++;
	}
	return &blocked->threads[*index];
}

/* A table of those that live. The old one stays when there is no memory. */
static void forget_ended(struct tally_blocked *blocked)
{
	struct tally_map map = {0};
	bool added;

	for (uint32_t i = 1; i < blocked->count; i++) {
		uint64_t *index = blocked->threads[i].used
				      ? tally_map_put(&map, blocked->threads[i].tid + 1ULL, &added)
				      : &(uint64_t){0};

		if (!index) {
			tally_map_done(&map);
			return;
		}
		*index = i;
	}
	tally_map_done(&blocked->by_tid);
	blocked->by_tid = map;
}

static void end_thread(struct tally_blocked *blocked, uint32_t tid)
{
	uint64_t *index = tally_map_find(&blocked->by_tid, tid + 1ULL);
	struct thread *thread;

	if (!index || !*index)
		return;
	thread = &blocked->threads[*index];
	tally_buf_done(&thread->sample);
	*thread = (struct thread){.next_free = blocked->first_free};
	blocked->first_free = (uint32_t)*index;
	*index = 0;
	blocked->living--;
	if (blocked->by_tid.count > ENDED_MOST && blocked->by_tid.count / 2 > blocked->living)
		forget_ended(blocked);
}

/* --- samples --- */

/* The kernel reserves the whole size of a copy, but the stack may have less. Source:
 * perf_output_sample_ustack() of kernel/events/core.c: size, bytes, and last how many of them are
 * valid; nothing but the size when that is 0. */
static void keep_sample(struct tally_blocked *blocked, struct thread *thread,
			const struct tally_record *record)
{
	struct tally_sample sample = {.size = sizeof(sample)};
	const struct tally_layout *layout = &blocked->options.layout;
	struct perf_event_header header;
	size_t keep = record->size, at;
	uint64_t valid, padded;

	tally_buf_clear(&thread->sample);
	thread->has_stack = false;
	if (!sample_read(layout, record, layout->sample_type, &sample))
		return;
	thread->has_stack = true;
	if (!(sample.present & PERF_SAMPLE_STACK_USER) || !sample.user_stack ||
	    !sample.user_stack_size) {
		tally_buf_add(&thread->sample, record->bytes, keep);
		return;
	}
	valid = MIN(sample.user_stack_dyn_size, sample.user_stack_size);
	padded = (valid + 7) & ~7ULL;
	at = (size_t)(sample.user_stack - record->bytes);
	tally_buf_add(&thread->sample, record->bytes, at - 8);
	tally_buf_u64(&thread->sample, padded);
	if (padded) {
		tally_buf_add(&thread->sample, record->bytes + at, (size_t)padded);
		tally_buf_u64(&thread->sample, valid);
	}
	if (thread->sample.failed)
		return;
	memcpy(&header, record->bytes, sizeof(header));
	header.size = (uint16_t)thread->sample.size;
	memcpy(thread->sample.data, &header, sizeof(header));
}

static struct tally_record view(const struct tally_buf *sample)
{
	return (struct tally_record){
	    .bytes = sample->data, .type = PERF_RECORD_SAMPLE, .size = (uint16_t)sample->size};
}

/* The first address of user space in the chain, or 0: then it is a thread of the kernel. */
static uint64_t user_place(const struct tally_sample *sample)
{
	bool user = false;

	for (uint64_t i = 0; i < sample->callchain_nr; i++) {
		uint64_t word = load_u64((const uint8_t *)(sample->callchain + i));

		if (word == (uint64_t)PERF_CONTEXT_USER)
			user = true;
		else if (user && word < (uint64_t)PERF_CONTEXT_MAX)
			return word;
	}
	return 0;
}

/* A sample of a thread of which there is no stack. */
static int make_bare(const struct tally_blocked *blocked, const struct tally_sample_id *id,
		     uint64_t period, struct tally_buf *to)
{
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER};
	const struct tally_layout *layout = &blocked->options.layout;
	struct tally_sample *sample = &body.sample;
	int size;

	sample->size = sizeof(*sample);
	sample->present = layout->sample_type;
	sample->identifier = sample->id = id->identifier;
	sample->pid = id->pid;
	sample->tid = id->tid;
	sample->time = id->time;
	sample->cpu = id->cpu;
	sample->period = period;
	size = tally_record_size(layout, &body);
	if (size < 0)
		return 0;
	if (tally_buf_reserve(to, (size_t)size))
		return -ENOMEM;
	size = tally_record_encode(layout, &body, to->data + to->size, (size_t)size);
	to->size += size > 0 ? (size_t)size : 0;
	return 0;
}

static void store_word(const struct tally_layout *layout, uint8_t *bytes, enum tally_fixed field,
		       uint64_t value)
{
	if (layout->at[field] >= 0)
		store_u64(bytes + layout->at[field], value);
}

/* The thread's sample, with the time of its return. Returns 1 when it was appended, 0 when it is of
 * the kernel, or -ENOMEM. */
static int make_sample(const struct tally_blocked *blocked, const struct thread *thread,
		       uint64_t time, uint64_t period, struct tally_buf *to)
{
	const struct tally_layout *layout = &blocked->options.layout;
	const struct tally_record record = view(&thread->sample);
	struct tally_sample sample = {.size = sizeof(sample)};
	struct perf_event_header header;
	uint64_t place;
	uint8_t *bytes;

	if (!sample_read(layout, &record, PERF_SAMPLE_CALLCHAIN, &sample))
		return 0;
	place = user_place(&sample);
	if (!place)
		return 0;
	if (tally_buf_reserve(to, thread->sample.size))
		return -ENOMEM;
	bytes = to->data + to->size;
	memcpy(bytes, thread->sample.data, thread->sample.size);
	to->size += thread->sample.size;
	memcpy(&header, bytes, sizeof(header));
	header.misc = PERF_RECORD_MISC_USER;
	memcpy(bytes, &header, sizeof(header));
	store_word(layout, bytes, TALLY_FIXED_IP, place);
	store_word(layout, bytes, TALLY_FIXED_TIME, time);
	store_word(layout, bytes, TALLY_FIXED_PERIOD, period);
	return 1;
}

static int add_time(struct tally_blocked *blocked, struct thread *thread,
		    const struct tally_sample_id *id, uint64_t from, struct tally_buf *to)
{
	struct tally_blocked_counts *counts = &blocked->counts;
	uint64_t period = id->time > from ? id->time - from : 0;
	int result = 1;

	if (!period || period < blocked->options.least_ns) {
		counts->short_ones++;
		return 0;
	}
	if (thread->has_stack && thread->sample.size && !thread->sample.failed) {
		result = make_sample(blocked, thread, id->time, period, to);
	} else if (blocked->options.last_stack) {
		result = make_bare(blocked, id, period, to) ? -ENOMEM : 1;
	} else {
		counts->no_stack++;
		return thread->sample.failed;
	}
	if (result <= 0)
		return result;
	counts->samples++;
	counts->ns += period;
	if (!counts->first_time || id->time < counts->first_time)
		counts->first_time = id->time;
	counts->last_time = MAX(counts->last_time, id->time);
	return 0;
}

/* --- records --- */

/* The sample of a leaving thread is of use once. */
static void drop_stack(const struct tally_blocked *blocked, struct thread *thread)
{
	if (!blocked->options.last_stack)
		thread->has_stack = false;
}

static int take_leaving(struct tally_blocked *blocked, struct thread *thread,
			struct tally_sample_id *id, bool preempted, struct tally_buf *to)
{
	bool came = thread->state == CAME && thread->since >= id->time;
	uint64_t left = id->time;
	int result = 0;

	thread->state = RUNS;
	if (preempted) {
		drop_stack(blocked, thread);
		return 0;
	}
	if (!came) {
		thread->state = BLOCKED;
		thread->since = left;
		return 0;
	}
	id->time = thread->since;
	result = add_time(blocked, thread, id, left, to);
	drop_stack(blocked, thread);
	return result;
}

static int take_return(struct tally_blocked *blocked, struct thread *thread,
		       const struct tally_sample_id *id, struct tally_buf *to)
{
	int result;

	if (thread->state != BLOCKED) {
		thread->state = CAME;
		thread->since = id->time;
		return 0;
	}
	thread->state = RUNS;
	result = add_time(blocked, thread, id, thread->since, to);
	drop_stack(blocked, thread);
	return result;
}

static int take_switch(struct tally_blocked *blocked, const struct tally_record *record,
		       struct tally_buf *to)
{
	struct tally_sample_id id = {0};
	struct thread *thread;

	/* Thread 0 is an idle CPU. */
	if (tally_sample_id_decode(&blocked->options.layout, record, &id, NULL) || !id.tid)
		return 0;
	thread = need_thread(blocked, id.tid);
	if (!thread)
		return -ENOMEM;
	thread->pid = id.pid;
	thread->identifier = id.identifier;
	return record->misc & PERF_RECORD_MISC_SWITCH_OUT
		   ? take_leaving(blocked, thread, &id,
				  record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, to)
		   : take_return(blocked, thread, &id, to);
}

static int take_sample(struct tally_blocked *blocked, const struct tally_record *record)
{
	const struct tally_layout *layout = &blocked->options.layout;
	struct thread *thread;
	uint32_t tid;

	if (!sample_holds(layout, record))
		return 0;
	tid = sample_tid(layout, record->bytes);
	if (!tid)
		return 0;
	thread = need_thread(blocked, tid);
	if (!thread)
		return -ENOMEM;
	if (thread->state == BLOCKED)
		thread->state = RUNS; /* the record of its return was lost */
	keep_sample(blocked, thread, record);
	return thread->sample.failed;
}

uint64_t tally_blocked_time(const struct tally_blocked *blocked, const struct tally_record *record)
{
	const struct tally_layout *layout = &blocked->options.layout;
	struct tally_sample_id id = {0};

	if (record->type == PERF_RECORD_SAMPLE)
		return sample_holds(layout, record)
			   ? sample_word(layout, record->bytes, TALLY_FIXED_TIME)
			   : 0;
	return tally_sample_id_decode(layout, record, &id, NULL) ? 0 : id.time;
}

int tally_blocked_feed(struct tally_blocked *blocked, const struct tally_record *record,
		       struct tally_buf *to)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(blocked, record);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return take_switch(blocked, record, to);
	case PERF_RECORD_EXIT:
		/* u32 pid, ppid, tid, ptid: perf_event_open(2) */
		if (record->size >= sizeof(struct perf_event_header) + 16)
			end_thread(blocked,
				   load_u32(record->bytes + sizeof(struct perf_event_header) + 8));
		return 0;
	default:
		return 0;
	}
}

void tally_blocked_forget(struct tally_blocked *blocked)
{
	for (uint32_t i = 1; i < blocked->count; i++) {
		blocked->threads[i].state = RUNS;
		blocked->threads[i].has_stack = false;
	}
}

int tally_blocked_end(struct tally_blocked *blocked, uint64_t time, bool (*lives)(uint32_t tid),
		      struct tally_buf *to)
{
	int result = 0;

	for (uint32_t i = 1; i < blocked->count && !result; i++) {
		struct thread *thread = &blocked->threads[i];
		struct tally_sample_id id = {.time = time,
					     .pid = thread->pid,
					     .tid = thread->tid,
					     .identifier = thread->identifier};

		if (!thread->used || thread->state != BLOCKED || !lives(thread->tid))
			continue;
		result = add_time(blocked, thread, &id, thread->since, to);
		thread->state = RUNS;
	}
	return result;
}
