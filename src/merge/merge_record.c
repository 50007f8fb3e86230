/* One record, changed for the new file.
 *
 * It is decoded, its numbers are changed, and it is encoded for the event's new attr, which has an
 * id and a time in every record.  So there is one list of what a record consists of, that of
 * src/wire, and nothing here knows where a field is. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "merge/data_merge.h"

#define IDLE_NAME "swapper" /* perf's, of the thread 0 of each CPU */

/* No record is longer than its u16 size says. */
#define RECORD_MOST ((size_t)UINT16_MAX + 1)

struct change {
	struct merge *merge;
	struct merge_input *input;
	struct merge_recording *recording;
	uint32_t number; /* of the recording */
	size_t words;    /* of merge->words in use */
	bool bad;        /* the record cannot be part of the new file */
};

/* --- numbers --- */

static void change_pid(struct change *change, uint32_t *pid)
{
	uint32_t most = change->input->count << RECORDING_PID_BITS;

	if (*pid == UINT32_MAX)
		return;
	if (*pid >= most)
		change->bad = true;
	*pid += change->input->first << RECORDING_PID_BITS;
}

static void change_id(const struct change *change, uint64_t *id)
{
	if (*id)
		*id = merge_id(change->input, *id);
}

static void change_time(const struct change *change, uint64_t *time)
{
	*time = merge_time(change->input, *time);
}

static uint64_t address(const struct change *change, uint64_t address)
{
	const struct merge_kernel *kernel = &change->recording->kernel;

	return address - kernel->start < kernel->size ? address + kernel->shift : address;
}

/* A copy of words that may be changed; NULL: there are too many for a record. */
static uint64_t *own_words(struct change *change, const void *from, uint64_t count)
{
	uint64_t *words = change->merge->words + change->words;

	if (count > RECORD_MOST / 8 - change->words) {
		change->bad = true;
		return NULL;
	}
	memcpy(words, from, (size_t)count * 8);
	change->words += (size_t)count;
	return words;
}

/* --- samples --- */

static void change_read(struct change *change, struct tally_read *read)
{
	bool has_id = read->read_format & PERF_FORMAT_ID;
	size_t each = 1 + has_id + !!(read->read_format & PERF_FORMAT_LOST);
	uint64_t *words;

	if (!has_id)
		return;
	change_id(change, &read->id);
	if (!read->group || read->nr > RECORD_MOST / 8)
		return;
	words = own_words(change, read->group, read->nr * each);
	for (uint64_t i = 0; words && i < read->nr; i++)
		change_id(change, &words[i * each + 1]);
	read->group = words;
}

/* Up to the first mark of a guest: its kernel is another one. */
static void change_chain(struct change *change, struct tally_sample *sample)
{
	uint64_t *words = own_words(change, sample->callchain, sample->callchain_nr);

	for (uint64_t i = 0; words && i < sample->callchain_nr; i++) {
		if (words[i] >= (uint64_t)PERF_CONTEXT_MAX &&
		    words[i] <= (uint64_t)PERF_CONTEXT_GUEST)
			break;
		words[i] = address(change, words[i]);
	}
	sample->callchain = words;
}

static void change_branches(struct change *change, struct tally_sample *sample)
{
	size_t each = sizeof(struct tally_branch) / 8;
	uint64_t *words;

	if (sample->branch_nr > RECORD_MOST / sizeof(struct tally_branch)) {
		change->bad = true;
		return;
	}
	words = own_words(change, sample->branches, sample->branch_nr * each);
	for (uint64_t i = 0; words && i < sample->branch_nr; i++) {
		words[i * each] = address(change, words[i * each]);
		words[i * each + 1] = address(change, words[i * each + 1]);
	}
	sample->branches = (const void *)words;
}

static bool is_of_host(uint16_t misc)
{
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode != PERF_RECORD_MISC_GUEST_KERNEL && mode != PERF_RECORD_MISC_GUEST_USER;
}

static void change_addresses(struct change *change, struct tally_sample *sample)
{
	sample->ip = address(change, sample->ip);
	sample->addr = address(change, sample->addr);
	if (sample->present & PERF_SAMPLE_CALLCHAIN)
		change_chain(change, sample);
	if ((sample->present & PERF_SAMPLE_BRANCH_STACK) && sample->branch_nr)
		change_branches(change, sample);
}

/* A payload begins with the number of its tracepoint, a u16 (common_type of every format). */
static void change_raw(struct change *change, struct tally_sample *sample, uint64_t config)
{
	const uint64_t *format = tally_map_find(&change->input->formats, config);
	uint64_t *words;

	if (!format || *format == config || sample->raw_size < 2)
		return;
	words = own_words(change, sample->raw, (sample->raw_size + 7ULL) / 8);
	if (!words)
		return;
	store_u16(words, (uint16_t)*format);
	sample->raw = (const uint8_t *)words;
}

static void change_sample(struct change *change, struct tally_sample *sample, uint16_t misc,
			  size_t event)
{
	const struct tally_attr *attr = &change->input->data->events[event].attr;
	const uint64_t *cgroup;

	if (sample->present & PERF_SAMPLE_TID) {
		change_pid(change, &sample->pid);
		change_pid(change, &sample->tid);
	}
	if (sample->present & PERF_SAMPLE_TIME)
		change_time(change, &sample->time);
	else
		sample->time = change->input->last_time;
	if (sample->present & PERF_SAMPLE_STREAM_ID)
		change_id(change, &sample->stream_id);
	if (sample->present & PERF_SAMPLE_READ)
		change_read(change, &sample->read);
	if (change->recording->kernel.shift && is_of_host(misc))
		change_addresses(change, sample);
	if ((sample->present & PERF_SAMPLE_RAW) && attr->type == PERF_TYPE_TRACEPOINT)
		change_raw(change, sample, attr->config);
	if (sample->present & PERF_SAMPLE_CGROUP) {
		cgroup = tally_map_find(&change->recording->cgroups, sample->cgroup);
		sample->cgroup = cgroup ? *cgroup : sample->cgroup;
	}
}

/* --- other records --- */

/* Of a mapping; 0 stands for any guest there. */
static void change_owner(struct change *change, uint16_t misc, uint32_t *pid, uint32_t *tid)
{
	if (!*pid && !is_of_host(misc))
		return;
	change_pid(change, pid);
	change_pid(change, tid);
}

/* The record as one with a build-id, as files of one name may differ between recordings. */
static void change_mmap(struct change *change, struct tally_body *body)
{
	bool kernel = (body->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	const struct tally_data_build_id *id;

	change_owner(change, body->misc, &body->mmap.pid, &body->mmap.tid);
	if (kernel) {
		body->mmap.addr = address(change, body->mmap.addr);
		body->mmap.pgoff = address(change, body->mmap.pgoff);
	}
	id = is_of_host(body->misc)
		 ? tally_merge_build_id(change->input, body->mmap.filename, kernel)
		 : NULL;
	if (!id || !id->size || id->size > sizeof(body->mmap2.build_id))
		return;
	body->type = PERF_RECORD_MMAP2;
	body->mmap2 = (struct tally_record_mmap2){
	    .pid = body->mmap.pid,
	    .tid = body->mmap.tid,
	    .addr = body->mmap.addr,
	    .len = body->mmap.len,
	    .pgoff = body->mmap.pgoff,
	    .prot = body->misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ : PROT_READ | PROT_EXEC,
	    .flags = MAP_PRIVATE,
	    .build_id_size = id->size,
	    .filename = body->mmap.filename,
	};
	memcpy(body->mmap2.build_id, id->id, id->size);
	body->misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
}

static void change_mmap2(struct change *change, struct tally_body *body)
{
	struct tally_record_mmap2 *mmap = &body->mmap2;
	bool kernel = (body->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	const struct tally_data_build_id *id;

	change_owner(change, body->misc, &mmap->pid, &mmap->tid);
	if (kernel) {
		mmap->addr = address(change, mmap->addr);
		mmap->pgoff = address(change, mmap->pgoff);
	}
	if ((body->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) || !is_of_host(body->misc))
		return;
	id = tally_merge_build_id(change->input, mmap->filename, kernel);
	if (!id || !id->size || id->size > sizeof(mmap->build_id))
		return;
	mmap->build_id_size = id->size;
	memcpy(mmap->build_id, id->id, id->size);
	body->misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
}

static void change_task(struct change *change, struct tally_record_task *task)
{
	change_pid(change, &task->pid);
	change_pid(change, &task->ppid);
	change_pid(change, &task->tid);
	change_pid(change, &task->ptid);
	change_time(change, &task->time);
}

static void change_cgroup(const struct change *change, struct tally_record_cgroup *cgroup)
{
	const uint64_t *other = tally_map_find(&change->recording->cgroups, cgroup->id);

	cgroup->id = other ? *other : cgroup->id;
}

/* False: records of that type are left out. */
static bool change_body(struct change *change, struct tally_body *body)
{
	switch (body->type) {
	case PERF_RECORD_MMAP:
		change_mmap(change, body);
		return true;
	case PERF_RECORD_MMAP2:
		change_mmap2(change, body);
		return true;
	case PERF_RECORD_LOST:
		change_id(change, &body->lost.id);
		return true;
	case PERF_RECORD_COMM:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_NAMESPACES:
		/* These begin with pid and tid. */
		change_pid(change, &body->comm.pid);
		change_pid(change, &body->comm.tid);
		return true;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		change_task(change, &body->task);
		return true;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		change_time(change, &body->throttle.time);
		change_id(change, &body->throttle.id);
		change_id(change, &body->throttle.stream_id);
		return true;
	case PERF_RECORD_READ:
		change_pid(change, &body->read.pid);
		change_pid(change, &body->read.tid);
		change_read(change, &body->read.read);
		return true;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		change_pid(change, &body->switch_cpu_wide.next_prev_pid);
		change_pid(change, &body->switch_cpu_wide.next_prev_tid);
		return true;
	case PERF_RECORD_CGROUP:
		change_cgroup(change, &body->cgroup);
		return true;
	case PERF_RECORD_TEXT_POKE:
		body->text_poke.addr = address(change, body->text_poke.addr);
		return true;
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		return true;
	default:
		return false;
	}
}

/* Whether the record changes what the kernel has: that of another recording was there before. */
static bool is_of_kernel(const struct tally_body *body)
{
	return body->type == PERF_RECORD_KSYMBOL ||
	       ((body->type == PERF_RECORD_MMAP || body->type == PERF_RECORD_MMAP2) &&
		(body->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL);
}

static void change_trailer(struct change *change, struct tally_body *body, size_t event)
{
	const struct merge_input *input = change->input;
	struct tally_sample_id *id = &body->id;
	uint64_t old = id->present & PERF_SAMPLE_IDENTIFIER ? id->identifier : id->id;

	if (id->present & PERF_SAMPLE_TID) {
		change_pid(change, &id->pid);
		change_pid(change, &id->tid);
	}
	if (id->present & PERF_SAMPLE_TIME)
		change_time(change, &id->time);
	else
		id->time = input->last_time;
	if (id->present & PERF_SAMPLE_STREAM_ID)
		change_id(change, &id->stream_id);
	id->id = id->identifier = merge_event_id(change->merge, input, event, old);
	if (change->number && is_of_kernel(body) && !id->time && input->least <= input->most)
		id->time = merge_time(input, input->least);
}

/* --- to the new file --- */

static int add_body(struct merge *merge, const struct merge_event *event,
		    const struct tally_body *body)
{
	struct tally_buf *buf = &merge->out.buf;
	int size;

	if (tally_buf_reserve(buf, RECORD_MOST))
		return -ENOMEM;
	size = tally_record_encode(&event->layout, body, buf->data + buf->size, RECORD_MOST);
	if (size < 0)
		return 0;
	buf->size += (size_t)size;
	merge->result.records++;
	return 1;
}

/* A copy of the stack that fills the longest record gives the room for an id and a time.  False:
 * there is none. */
static bool cut_stack(struct tally_sample *sample)
{
	if (!(sample->present & PERF_SAMPLE_STACK_USER) || sample->user_stack_size < 16)
		return false;
	sample->user_stack_size -= 16;
	if (sample->user_stack_dyn_size > sample->user_stack_size)
		sample->user_stack_dyn_size = sample->user_stack_size;
	return true;
}

static int add_sample(struct change *change, struct tally_body *body, size_t event)
{
	struct tally_sample *sample = &body->sample;
	struct merge *merge = change->merge;
	uint64_t old = sample->present & PERF_SAMPLE_IDENTIFIER ? sample->identifier
		       : sample->present & PERF_SAMPLE_ID       ? sample->id
								: 0;
	int code;

	change_sample(change, sample, body->misc, event);
	sample->identifier = merge_event_id(merge, change->input, event, old);
	sample->id = sample->identifier;
	if (change->bad)
		return 0;
	code = add_body(merge, &merge->events[change->input->events[event]], body);
	if (!code && cut_stack(sample))
		code = add_body(merge, &merge->events[change->input->events[event]], body);
	if (code <= 0)
		return code;
	merge->result.samples++;
	change->recording->facts.samples++;
	change->input->last_time = sample->time;
	if (sample->time) {
		merge->least = sample->time < merge->least ? sample->time : merge->least;
		merge->most = sample->time > merge->most ? sample->time : merge->most;
	}
	return code;
}

int tally_merge_record(struct merge *merge, struct merge_input *input,
		       const struct tally_record *record)
{
	int event = tally_data_event_of(input->data, record);
	struct tally_body body = {.size = sizeof(body)};
	struct change change = {.merge = merge, .input = input};
	uint64_t id = 0;

	if (event < 0 ||
	    tally_record_decode(&input->data->events[event].layout, record, &body, NULL))
		return 0;
	if (body.type != PERF_RECORD_SAMPLE)
		id = body.id.identifier;
	else if (body.sample.present & PERF_SAMPLE_IDENTIFIER)
		id = body.sample.identifier;
	change.number = input->first + merge_part_of_id(input, id);
	change.recording = &merge->recordings[change.number];
	if (body.type == PERF_RECORD_SAMPLE)
		return add_sample(&change, &body, (size_t)event);
	if (!change_body(&change, &body))
		return 0;
	change_trailer(&change, &body, (size_t)event);
	if (change.bad)
		return 0;
	return add_body(merge, &merge->events[input->events[event]], &body);
}

/* No record names the thread 0, as readers know its name; they do not know that of a changed
 * number. */
int tally_merge_idle(struct merge *merge, const struct merge_input *input)
{
	uint32_t pid = input->first << RECORDING_PID_BITS;
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_COMM,
	    .id = {.pid = pid,
		   .tid = pid,
		   .id = input->usual_ids[0],
		   .identifier = input->usual_ids[0]},
	    .comm = {.pid = pid, .tid = pid, .comm = IDLE_NAME},
	};
	int code = pid ? add_body(merge, &merge->events[input->events[0]], &body) : 1;

	return code < 0 ? code : 0;
}
