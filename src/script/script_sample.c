/* A sample's line, column by column. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include <time.h>
#include "base/digits.h"
#include "resolve/payload_symbols.h"
#include "script/script_state.h"
#include "dump/value_text.h"
#include "session/moves.h"

#define SECOND 1000000000ULL

void tally_script_name_put(const struct script *script, struct tally_buf *to, const char *name)
{
	size_t length;

	if (script->options.raw_text) {
		tally_buf_add(to, name, strlen(name));
		return;
	}
	length = tally_text_escape(name, NULL, 0);
	if (tally_buf_reserve(to, length + 1))
		return;
	tally_text_escape(name, (char *)to->data + to->size, length + 1);
	to->size += length;
}

static void put_comm_text(const struct script *script, struct tally_buf *to, const char *name,
			  bool alone)
{
	struct tally_buf text = {0};

	tally_script_name_put(script, &text, name);
	if (!alone && text.size < 16)
		buf_pad(to, ' ', 16 - text.size);
	tally_buf_add(to, text.data, text.size);
	tally_buf_byte(to, ' ');
	tally_buf_done(&text);
}

static char *put_int_right(char *to, uint32_t value, unsigned width)
{
	unsigned length;

	if (value <= INT32_MAX)
		return put_dec_right(to, value, width);
	value = 0 - value;
	length = digits_dec_length(value) + 1;
	if (length < width)
		to = put_pad(to, ' ', width - length);
	*to++ = '-';
	return put_dec_fixed(to, value, length - 1);
}

static char *put_int_left(char *to, uint32_t value, unsigned width)
{
	char *end = put_int_right(to, value, 0);

	return end - to < (ptrdiff_t)width ? put_pad(end, ' ', width - (size_t)(end - to)) : end;
}

static char *put_ids(char *to, uint8_t columns, uint32_t pid, uint32_t tid)
{
	if (columns & SCRIPT_COLUMN_PID) {
		to = put_int_right(to, pid, 5);
		if (columns & SCRIPT_COLUMN_TID) {
			*to++ = '/';
			to = put_int_left(to, tid, 5);
		}
		*to++ = ' ';
	} else if (columns & SCRIPT_COLUMN_TID) {
		to = put_int_right(to, tid, 5);
		*to++ = ' ';
	}
	return to;
}

static void put_task_text(const struct script *script, struct tally_buf *to, uint8_t columns,
			  const char *name, uint32_t pid, uint32_t tid)
{
	char *put;

	if (columns & SCRIPT_COLUMN_COMM)
		put_comm_text(script, to, name, columns & SCRIPT_COLUMN_ALONE);
	put = buf_put_begin(to, 2 * DIGITS_MOST + 4);
	if (put)
		buf_put_end(to, put_ids(put, columns, pid, tid));
}

/* Threads come again and again; the kernel's names are at most 15 bytes. */
static void put_task(const struct script *script, struct script_worker *worker,
		     struct tally_buf *to, uint8_t columns, uint32_t comm, uint32_t pid,
		     uint32_t tid)
{
	struct script_task *known = &worker->tasks[(tid * 0x9e3779b1U) >> 24];
	const char *name;
	size_t before = to->size;

	if (__builtin_expect(known->tid == tid && known->comm == comm + 1 && known->pid == pid &&
				 known->columns == columns,
			     1)) {
		char *put = buf_put_begin(to, sizeof(known->text));

		if (put) {
			memcpy(put, known->text, sizeof(known->text));
			to->size += known->length;
		}
		return;
	}
	name = tally_session_string(script->session, comm);
	put_task_text(script, to, columns, name ? name : ":-1", pid, tid);
	if (to->failed || to->size - before > sizeof(known->text))
		return;
	*known = (struct script_task){
	    .comm = comm + 1,
	    .pid = pid,
	    .tid = tid,
	    .columns = columns,
	    .length = (uint8_t)(to->size - before),
	};
	memcpy(known->text, to->data + before, known->length);
}

/* printf's %03d; of -1 that is -01 */
static char *put_number3(char *to, uint32_t number)
{
	unsigned length;

	if (number < 1000)
		return put_dec_fixed(to, number, 3);
	if (number <= INT32_MAX)
		return put_dec(to, number);
	number = 0 - number;
	length = digits_dec_length(number);
	*to++ = '-';
	return put_dec_fixed(to, number, length < 2 ? 2 : length);
}

static char *put_cpu(char *to, uint32_t cpu)
{
	*to++ = '[';
	to = put_number3(to, cpu);
	*to++ = ']';
	*to++ = ' ';
	return to;
}

/* Time of day: the wall clock at the start of the recording, plus the time since then. */
static void put_wall_time(const struct script *script, struct tally_buf *to, uint64_t time)
{
	const struct tally_data_info *info = tally_data_info(script->data);
	uint64_t wall = info->clock_wall_ns + (time - info->clock_event_ns);
	time_t seconds = (time_t)(wall / SECOND);
	struct tm local;
	char text[64];

	if (!localtime_r(&seconds, &local)) {
		tally_buf_text(to, "failed ");
		return;
	}
	strftime(text, sizeof(text), "%F %H:%M:%S", &local);
	tally_buf_text(to, text);
	tally_buf_byte(to, '.');
	if (script->options.nanoseconds)
		buf_dec_zeros(to, wall % SECOND, 9);
	else
		buf_dec_zeros(to, wall % SECOND / 1000, 6);
	tally_buf_byte(to, ' ');
}

/* --reltime and --deltatime count from what was shown before. */
static uint64_t shown_time(struct script *script, uint64_t time)
{
	uint64_t from;

	if (script->options.relative) {
		if (!script->first_time)
			script->first_time = time;
		return time - script->first_time;
	}
	if (!script->options.delta)
		return time;
	from = script->last_time ? script->last_time : time;
	script->last_time = time;
	return time - from;
}

static char *put_time(struct script_seconds *known, char *to, uint64_t time, bool nanoseconds)
{
	uint64_t seconds = time / SECOND, rest = time % SECOND;

	if (!known->length || known->value != seconds) {
		char text[DIGITS_MOST + 2], *end = put_dec_right(text, seconds, 5);

		*end++ = '.';
		known->value = seconds;
		known->length = (uint32_t)(end - text); /* at most 11 digits, of 64 bits of ns */
		memcpy(known->text, text, sizeof(known->text));
	}
	memcpy(to, known->text, sizeof(known->text));
	to += known->length;
	to = nanoseconds ? put_dec_fixed(to, rest, 9) : put_dec_fixed(to, rest / 1000, 6);
	*to++ = ':';
	*to++ = ' ';
	return to;
}

/* Of a guest's samples: the process that runs it, and its processor. */
static void put_guest(const struct script_out *out, uint64_t fields,
		      const struct tally_sample *sample)
{
	uint64_t id = sample->present & PERF_SAMPLE_IDENTIFIER ? sample->identifier
		      : sample->present & PERF_SAMPLE_ID       ? sample->id
							       : 0;
	const uint64_t *guest = id ? tally_map_find(&out->script->guests, id) : NULL;
	char *put;

	if (!guest || !(*guest >> 32))
		return;
	put = buf_put_begin(out->to, 64);
	if (!put)
		return;
	if (fields & SCRIPT_FIELD(MACHINE_PID)) {
		memcpy(put, (const char[]){'V', 'M', ':'}, 3);
		put = put_int_right(put + 3, (uint32_t)(*guest >> 32), 5);
		*put++ = ' ';
	}
	if (fields & SCRIPT_FIELD(VCPU)) {
		memcpy(put, (const char[]){'V', 'C', 'P', 'U', ':'}, 5);
		put = put_number3(put + 5, (uint32_t)*guest);
		*put++ = ' ';
	}
	buf_put_end(out->to, put);
}

/* Bytes that the columns of numbers take at most. */
#define START_MOST 160

void tally_script_start_put(const struct script_out *out, const struct script_event *event,
			    const char *name)
{
	struct script *script = out->script;
	struct script_worker *worker = out->worker;
	struct tally_buf *to = out->to;
	const struct tally_sample *sample = &out->at->sample;
	uint64_t fields = event->fields, has = sample->present;
	uint64_t time = has & PERF_SAMPLE_TIME ? sample->time : UINT64_MAX;
	bool task = has & PERF_SAMPLE_TID;
	uint32_t pid = task ? sample->pid : UINT32_MAX, tid = task ? sample->tid : UINT32_MAX;
	char *put;

	if (script->guest_fields)
		put_guest(out, fields, sample);
	if (name)
		put_task_text(script, to, event->columns, name, pid, tid);
	else
		put_task(script, worker, to, event->columns, out->at->comm, pid, tid);
	put = buf_put_begin(to, START_MOST);
	if (!put)
		return;
	if (fields & SCRIPT_FIELD(CPU))
		put = put_cpu(put, has & PERF_SAMPLE_CPU ? sample->cpu : UINT32_MAX);
	if (fields & (SCRIPT_FIELD(MISC) | SCRIPT_FIELD(TOD))) {
		buf_put_end(to, put);
		if (fields & SCRIPT_FIELD(MISC))
			tally_script_misc(to, out->record->type, out->record->misc);
		if (fields & SCRIPT_FIELD(TOD))
			put_wall_time(script, to, time);
		put = buf_put_begin(to, START_MOST);
		if (!put)
			return;
	}
	if (fields & SCRIPT_FIELD(TIME)) {
		if (script->serial)
			time = shown_time(script, time);
		put = put_time(&worker->seconds, put, time, script->options.nanoseconds);
	}
	buf_put_end(to, put);
}

static void put_period_and_name(struct tally_buf *to, const struct script_event *event,
				uint64_t period)
{
	char *put = buf_put_begin(to, event->name_length + 40 + SCRIPT_COPY_PIECE);

	if (!put)
		return;
	if (event->fields & SCRIPT_FIELD(PERIOD)) {
		put = put_dec_right(put, period, 10);
		*put++ = ' ';
	}
	if (event->fields & SCRIPT_FIELD(EVENT)) {
		put = (char *)script_copy_over((uint8_t *)put, (const uint8_t *)event->name,
					       event->name_length);
	}
	buf_put_end(to, put);
}

static int put_addr(const struct script_out *out, const struct script_event *event)
{
	uint64_t addr = out->at->sample.present & PERF_SAMPLE_ADDR ? out->at->sample.addr : 0;

	buf_hex_right(out->to, addr, 16);
	if (!event->addr_named)
		return 0;
	return tally_script_line_put(out, out->at->cpumode, addr, event->addr);
}

static int put_ip(const struct script_out *out, const struct script_event *event)
{
	if (event->chains && (out->at->sample.present & PERF_SAMPLE_CALLCHAIN)) {
		buf_byte(out->to, '\n');
		return tally_script_chain_put(out, event->chain);
	}
	buf_byte(out->to, ' ');
	return tally_script_line_put(
	    out, out->at->cpumode,
	    out->at->sample.present & PERF_SAMPLE_IP ? out->at->sample.ip : 0, event->single);
}

static int put_source(const struct script_out *out, const struct script_event *event)
{
	if (!(event->fields & SCRIPT_FIELD(SRCCODE)) || !(out->at->sample.present & PERF_SAMPLE_IP))
		return 0;
	return tally_script_source_put(out, out->at->cpumode, out->at->sample.ip);
}

static int put_branch_event(const struct script_out *out, const struct script_event *event)
{
	int result = 0;

	if (event->fields & SCRIPT_FIELD(IP))
		result = put_ip(out, event);
	if (!result && ((event->fields & SCRIPT_FIELD(ADDR)) ||
			((event->event->attr.sample_type & PERF_SAMPLE_ADDR) &&
			 !out->script->fields.types[event->type].user_set))) {
		tally_buf_add(out->to, " => ", 4);
		result = put_addr(out, event);
	}
	tally_buf_byte(out->to, '\n');
	return result ? result : put_source(out, event);
}

void tally_script_trace_put(const struct script_out *out, const struct script_event *event,
			    const uint8_t *raw, uint32_t raw_size)
{
	struct kernel_symbols of_sample = {out->resolver, out->at};
	struct tally_trace_symbols symbols = {tally_kernel_symbol, &of_sample};

	tally_trace_text_add(out->script->trace, out->to, event->event->attr.config, raw, raw_size,
			     &symbols);
}

#define MEMORY_FIELDS                                                            \
	(SCRIPT_FIELD(DATA_SRC) | SCRIPT_FIELD(WEIGHT) | SCRIPT_FIELD(INS_LAT) | \
	 SCRIPT_FIELD(RETIRE_LAT))
#define LATE_FIELDS                                                                      \
	(SCRIPT_FIELD(IREGS) | SCRIPT_FIELD(UREGS) | SCRIPT_FIELD(BRSTACK) |             \
	 SCRIPT_FIELD(BRSTACKSYM) | SCRIPT_FIELD(BRSTACKOFF) | SCRIPT_FIELD(PHYS_ADDR) | \
	 SCRIPT_FIELD(DATA_PAGE_SIZE) | SCRIPT_FIELD(CODE_PAGE_SIZE) | SCRIPT_FIELD(CGROUP))

#define INSN_FIELDS                                                               \
	(SCRIPT_FIELD(INSN) | SCRIPT_FIELD(INSNLEN) | SCRIPT_FIELD(BRSTACKINSN) | \
	 SCRIPT_FIELD(BRSTACKINSNLEN))

/* perf's value for memory accesses without information: "not available" of operation, level, snoop,
 * lock and TLB.  Source: PERF_MEM_*_NA of perf_event.h. */
#define NO_DATA_SRC 0x5080021ULL

static void put_memory(const struct script_out *out, uint64_t fields,
		       const struct tally_sample *sample)
{
	struct tally_buf *to = out->to;
	if (fields & SCRIPT_FIELD(DATA_SRC))
		tally_script_data_src(
		    to, sample->present & PERF_SAMPLE_DATA_SRC ? sample->data_src : NO_DATA_SRC,
		    &out->script->data_src_width);
	if (fields & SCRIPT_FIELD(WEIGHT))
		tally_script_weight(to, sample);
	if (fields & SCRIPT_FIELD(INS_LAT))
		tally_script_ins_lat(to, sample);
	if (fields & SCRIPT_FIELD(RETIRE_LAT))
		tally_script_retire_lat(to, sample);
}

static int put_late(const struct script_out *out, const struct script_event *event)
{
	struct tally_buf *to = out->to;
	const struct tally_sample *sample = &out->at->sample;
	uint64_t fields = event->fields;
	int result = 0;

	if (fields & SCRIPT_FIELD(IREGS))
		tally_script_regs(to, out->script->arch, sample->intr_abi, sample->intr_regs_mask,
				  sample->present & PERF_SAMPLE_REGS_INTR ? sample->intr_regs
									  : NULL);
	if (fields & SCRIPT_FIELD(UREGS))
		tally_script_regs(to, out->script->arch, sample->user_abi, sample->user_regs_mask,
				  sample->present & PERF_SAMPLE_REGS_USER ? sample->user_regs
									  : NULL);
	if (fields & (SCRIPT_FIELD(BRSTACK) | SCRIPT_FIELD(BRSTACKSYM) | SCRIPT_FIELD(BRSTACKOFF)))
		result = tally_script_branches_put(out, event);
	return result;
}

static void put_last(const struct script_out *out, const struct script_event *event,
		     const struct tally_sample *sample)
{
	struct tally_buf *to = out->to;
	uint64_t fields = event->fields, has = sample->present;

	if (fields & SCRIPT_FIELD(PHYS_ADDR))
		buf_hex_right(to, has & PERF_SAMPLE_PHYS_ADDR ? sample->phys_addr : 0, 16);
	if (fields & SCRIPT_FIELD(DATA_PAGE_SIZE))
		tally_script_page_size(to, has & PERF_SAMPLE_DATA_PAGE_SIZE ? sample->data_page_size
									    : 0);
	if (fields & SCRIPT_FIELD(CODE_PAGE_SIZE))
		tally_script_page_size(to, has & PERF_SAMPLE_CODE_PAGE_SIZE ? sample->code_page_size
									    : 0);
	if (fields & SCRIPT_FIELD(CGROUP)) {
		uint64_t id = has & PERF_SAMPLE_CGROUP ? sample->cgroup : 0;
		const uint64_t *known = tally_map_find(&out->script->cgroups, id);

		tally_script_cgroup(to, known ? (const char *)(uintptr_t)*known : NULL);
	}
}

/* The line of a sample as it is of one event with one period. */
static int put_as(const struct script_out *out, const struct script_event *event, uint64_t period)
{
	const struct script *script = out->script;
	struct tally_buf *to = out->to;
	const struct tally_resolved *at = out->at;
	const struct tally_sample *sample = &at->sample;
	uint64_t fields = event->fields;
	int result = 0;

	if (event->places) {
		result = put_ip(out, event);
		buf_byte(to, '\n');
		return result ? result : to->failed;
	}
	tally_script_start_put(out, event, NULL);
	put_period_and_name(to, event, period);
	if (script->fields.flags)
		tally_script_flags(to, 0);
	if (event->branches)
		return put_branch_event(out, event);
	if ((fields & SCRIPT_FIELD(TRACE)) && script->trace && (sample->present & PERF_SAMPLE_RAW))
		tally_script_trace_put(out, event, sample->raw, sample->raw_size);
	if (fields & SCRIPT_FIELD(ADDR))
		result = put_addr(out, event);
	if (fields & MEMORY_FIELDS)
		put_memory(out, fields, sample);
	if (!result && (fields & SCRIPT_FIELD(IP)))
		result = put_ip(out, event);
	if (!result && (fields & LATE_FIELDS))
		result = put_late(out, event);
	if (event->bpf_output && (fields & SCRIPT_FIELD(BPF_OUTPUT)))
		tally_script_bpf_output(to, sample->present & PERF_SAMPLE_RAW ? sample->raw : NULL,
					sample->present & PERF_SAMPLE_RAW ? sample->raw_size : 0);
	if (!result && fields & INSN_FIELDS)
		result = tally_script_insn_put(out, fields);
	if (fields & LATE_FIELDS)
		put_last(out, event, sample);
	buf_byte(to, '\n');
	if (!result)
		result = put_source(out, event);
	return result ? result : to->failed;
}

/* A sample that read counters is shown once for each that has moved. */
static int put_move(void *context, uint32_t event, uint64_t id, uint64_t by)
{
	const struct script_out *out = context;
	const struct script *script = out->script;

	if (event >= script->event_count)
		return 0;
	if (script->options.dump && tally_script_dump_location(out))
		return -ENOMEM;
	if (script->asks) {
		struct tally_resolved as = *out->at;
		struct script_out own = *out;
		int verdict;

		as.event = event;
		as.sample.id = id;
		as.sample.period = by;
		as.sample.present |= PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD;
		own.at = &as;
		verdict = tally_script_ask(&own);
		if (verdict != TALLY_FILTER_KEEP)
			return verdict < 0 ? verdict : verdict == TALLY_FILTER_END;
	}
	if (!script->events[event].fields || !tally_script_passes(out))
		return 0;
	return put_as(out, &script->events[event], by);
}

int tally_script_sample_put(const struct script_out *out)
{
	const struct tally_resolved *sample = out->at;
	const struct script_event *event = &out->script->events[sample->event];

	if (sample->sample.present & PERF_SAMPLE_READ)
		return tally_moves_each(&out->script->counters, out->script->data,
					&sample->sample.read, put_move, (void *)out);
	if (!event->fields)
		return 0;
	return put_as(out, event,
		      sample->sample.present & PERF_SAMPLE_PERIOD
			  ? sample->sample.period
			  : event->event->attr.sample_period);
}
