#include "offcpu/off_cpu_rings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "kernel/ring_parts.h"
#include "offcpu/perf_clock.h"
#include "wire/record_view.h"

#define RECORD_MOST 65536 /* header.size is a u16 */

static const struct tally_planned *find_event(const struct tally_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->events[i].off_cpu)
			return &plan->events[i];
	return NULL;
}

int tally_off_cpu_new(const struct tally_openset *set, uint64_t least_ns,
		      struct tally_off_cpu **ret)
{
	const struct tally_planned *event = find_event(set->plan);
	struct tally_blocked_options options = {.least_ns = least_ns};
	struct tally_off_cpu *off_cpu;

	*ret = NULL;
	if (!event)
		return 0;
	off_cpu = calloc(1, sizeof(*off_cpu));
	if (!off_cpu)
		return -ENOMEM;
	off_cpu->set = set;
	tally_layout_init(&options.layout, &event->attr);
	options.last_stack = event->attr.config != PERF_COUNT_SW_CONTEXT_SWITCHES;
	if (tally_blocked_new(&options, &off_cpu->blocked) ||
	    tally_buf_reserve(&off_cpu->joined, tally_openset_places(set) * RECORD_MOST)) {
		tally_off_cpu_free(off_cpu);
		return -ENOMEM;
	}
	*ret = off_cpu;
	return 0;
}

void tally_off_cpu_free(struct tally_off_cpu *off_cpu)
{
	if (!off_cpu)
		return;
	tally_blocked_free(off_cpu->blocked);
	tally_buf_done(&off_cpu->joined);
	tally_buf_done(&off_cpu->samples);
	free(off_cpu->records);
	free(off_cpu->room);
	free(off_cpu);
}

static int add_record(struct tally_off_cpu *off_cpu, const uint8_t *bytes, uint64_t time)
{
	if (off_cpu->count == off_cpu->most) {
		size_t most = off_cpu->most ? off_cpu->most * 2 : 4096;
		struct tally_timed *records =
		    reallocarray(off_cpu->records, most, sizeof(*records));
		struct tally_timed *room;

		if (!records)
			return -ENOMEM;
		off_cpu->records = records;
		room = reallocarray(off_cpu->room, most, sizeof(*room));
		if (!room)
			return -ENOMEM;
		off_cpu->room = room;
		off_cpu->most = most;
	}
	off_cpu->records[off_cpu->count++] = (struct tally_timed){time, bytes};
	return 0;
}

/* Source: include/uapi/linux/perf_event.h: LOST is {u64 id, lost}, LOST_SAMPLES {u64 lost}. */
static void count_lost(struct tally_off_cpu_counts *counts, const struct tally_record *record)
{
	if (record->type == PERF_RECORD_LOST && record->size >= 24)
		counts->lost += load_u64(record->bytes + 16);
	else if (record->type == PERF_RECORD_LOST_SAMPLES && record->size >= 16)
		counts->lost += load_u64(record->bytes + 8);
	else if (record->type == PERF_RECORD_THROTTLE)
		counts->throttled++;
}

static int read_ring(struct tally_off_cpu *off_cpu, size_t cpu,
		     const struct tally_ring_bytes *bytes, size_t total,
		     struct tally_off_cpu_counts *counts)
{
	uint8_t *joined = off_cpu->joined.data + cpu * RECORD_MOST;
	uint64_t time = 0;

	for (size_t at = 0; at < total;) {
		const struct perf_event_header header = ring_parts_header(bytes, at);
		struct tally_record record;
		const uint8_t *start;
		uint64_t own;

		if (!header.size) {
			counts->bad_bytes += total - at;
			break;
		}
		start = ring_parts_whole(bytes, at, header.size, joined);
		record = record_view(start);
		count_lost(counts, &record);
		/* A record without a time stays behind the one before it. */
		own = tally_blocked_time(off_cpu->blocked, &record);
		if (own)
			time = own;
		if (add_record(off_cpu, start, time))
			return -ENOMEM;
		at += record.size;
	}
	return 0;
}

int tally_off_cpu_pass(struct tally_off_cpu *off_cpu)
{
	size_t cpus = tally_openset_places(off_cpu->set), page = (size_t)sysconf(_SC_PAGESIZE);
	struct tally_ring_bytes *bytes = calloc(cpus, sizeof(*bytes));
	int result = bytes ? 0 : -ENOMEM;

	off_cpu->count = off_cpu->fullest = 0;
	tally_blocked_forget_times(off_cpu->blocked);
	tally_buf_clear(&off_cpu->samples);
	/* All rings at about one time: a thread's return on one CPU is seldom seen before its
	 * leaving of another. */
	for (size_t cpu = 0; cpu < cpus && !result; cpu++)
		if (off_cpu->set->off_cpu[cpu])
			tally_ring_peek(off_cpu->set->off_cpu[cpu], &bytes[cpu]);
	for (size_t cpu = 0; cpu < cpus && !result; cpu++) {
		size_t total = bytes[cpu].first_size + bytes[cpu].second_size;

		if (!total)
			continue;
		off_cpu->fullest =
		    MAX(off_cpu->fullest,
			total * 256 / (tally_ring_pages(off_cpu->set->off_cpu[cpu]) * page));
		result = read_ring(off_cpu, cpu, &bytes[cpu], total, &off_cpu->counts);
	}
	if (!result)
		tally_timed_sort(off_cpu->records, off_cpu->room, off_cpu->count);
	for (size_t i = 0; i < off_cpu->count && !result; i++) {
		const struct tally_record record = record_view(off_cpu->records[i].bytes);

		result = tally_blocked_feed(off_cpu->blocked, &record, &off_cpu->samples);
	}
	for (size_t cpu = 0; cpu < cpus && bytes; cpu++)
		if (off_cpu->set->off_cpu[cpu])
			tally_ring_consume(off_cpu->set->off_cpu[cpu],
					   bytes[cpu].first_size + bytes[cpu].second_size);
	free(bytes);
	return result ? result : off_cpu->samples.failed;
}

static bool lives(uint32_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", tid);
	return !access(path, F_OK);
}

int tally_off_cpu_end(struct tally_off_cpu *off_cpu)
{
	const struct tally_planned *event = find_event(off_cpu->set->plan);
	uint64_t now;
	int result = tally_perf_clock_now(&event->attr, &now);

	tally_buf_clear(&off_cpu->samples);
	tally_blocked_forget_times(off_cpu->blocked);
	if (result)
		return result == -ENOMEM ? result
					 : 0; /* no time: what is still blocked is left out */
	result = tally_blocked_end(off_cpu->blocked, now, lives, &off_cpu->samples);
	return result ? result : off_cpu->samples.failed;
}
