#include "compiled/jit_loads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/abi.h>
#include "base/own_pid.h"
#include "base/table.h"
#include "jit/jit_file.h"
#include "jit/jitdump.h"
#include "process/process.h"

/* A dump's header is written at most so long before its first function. */
#define HEADER_AGE_MOST 10000000000ULL

enum clock {
	CLOCK_SAME,   /* times of the dump are times of the recording, moved by `shift` */
	CLOCK_UNKNOWN /* only the order of loads is known: all are there from the start on */
};

struct loaded_dump {
	uint32_t pid;
	char *path;
	struct tally_jitdump *dump;
	enum clock clock;
	uint64_t shift, mapped; /* when the process mapped the dump */
	size_t next;            /* of its loads */
	uint64_t from, until;   /* of all that was loaded so far */
};

/* Of a process, in which it has code. */
struct memory_range {
	uint32_t pid;
	uint64_t start, end;
};
/* So many are kept of all processes; compilers take their memory in large parts. */
#define RANGES_MOST 4096U

int tally_jit_loads_init(struct tally_jit_loads *loads, const struct tally_jit_search *search,
			 const struct tally_jit_recording *recording)
{
	const char *home = getenv("HOME");

	loads->next = UINT64_MAX;
	loads->search = *search;
	loads->recording = *recording;
	if (search->cache || !home || !*home)
		return 0;
	if (asprintf(&loads->cache, "%s/.debug", home) < 0) {
		loads->cache = NULL;
		return -ENOMEM;
	}
	loads->search.cache = loads->cache;
	return 0;
}

void tally_jit_loads_done(struct tally_jit_loads *loads)
{
	for (size_t i = 0; i < loads->count; i++) {
		tally_jitdump_free(loads->dumps[i].dump);
		free(loads->dumps[i].path);
	}
	free(loads->dumps);
	free(loads->hidden);
	free(loads->fed_ranges);
	free(loads->cache);
}

/* Of a dump that has loads.  Dumps have times of CLOCK_MONOTONIC.  For another clock of the
 * recording they are moved so that the dump began when it was mapped: compilers write the header,
 * or their first function, at once. The header alone is not enough, as V8 writes the time of day
 * there. */
static void relate(const struct tally_jit_loads *loads, struct loaded_dump *dump)
{
	const struct tally_jitdump *facts = dump->dump;
	uint64_t began = facts->loads[0].time;

	enum tally_jit_times times = loads->recording.times(loads->recording.context);

	dump->clock = CLOCK_UNKNOWN;
	if (times == TALLY_JIT_NONE || facts->own_clock)
		return;
	if (times == TALLY_JIT_MONOTONIC) {
		dump->clock = CLOCK_SAME;
		return;
	}
	if (!dump->mapped)
		return;
	if (facts->started <= began && began - facts->started < HEADER_AGE_MOST)
		began = facts->started;
	dump->shift = dump->mapped - began;
	dump->clock = CLOCK_SAME;
}

static uint64_t time_of(const struct loaded_dump *dump, size_t load)
{
	return dump->clock == CLOCK_SAME ? dump->dump->loads[load].time + dump->shift
					 : dump->mapped;
}

static void find_next(struct tally_jit_loads *loads)
{
	loads->next = UINT64_MAX;
	for (size_t i = 0; i < loads->count; i++) {
		const struct loaded_dump *dump = &loads->dumps[i];

		if (dump->next < dump->dump->load_count && time_of(dump, dump->next) < loads->next)
			loads->next = time_of(dump, dump->next);
	}
}

/* A process that was forked has the mapping of its parent's dump, but no code in it. */
static bool is_own(const struct tally_jit_loads *loads, const char *path, uint32_t number,
		   uint32_t pid)
{
	if (number == own_pid(pid) || tally_jit_inner_pid("", pid) == number)
		return true;
	for (size_t i = 0; i < loads->count; i++)
		if (!strcmp(loads->dumps[i].path, path))
			return false;
	return true;
}

/* Opens the dump of a process; NULL: there is none that can be used. */
static struct tally_jitdump *open_dump(const struct tally_jit_loads *loads, uint32_t pid,
				       uint32_t number, const char *path)
{
	const struct tally_jit_recording *recording = &loads->recording;
	struct tally_jitdump *dump;
	uint8_t id[20], id_size = 0;
	struct stat about;
	int fd;

	if (recording->file_id)
		id_size = recording->file_id(recording->context, path, id);
	fd = tally_jit_open_dump(&loads->search, pid, path, id_size ? id : NULL, id_size, &about);
	if (fd < 0 || tally_jitdump_open(fd, &dump))
		return NULL;
	if (dump->pid == number)
		return dump;
	tally_jitdump_free(dump);
	return NULL;
}

static int add(struct tally_jit_loads *loads, uint32_t pid, const char *path, uint32_t number,
	       uint64_t time)
{
	struct loaded_dump made = {.pid = pid, .mapped = time, .from = UINT64_MAX};

	for (size_t i = 0; i < loads->count; i++)
		if (loads->dumps[i].pid == pid && !strcmp(loads->dumps[i].path, path))
			return 0;
	if (!is_own(loads, path, number, pid))
		return 0;
	if (!array_next(&loads->dumps, &loads->room, loads->count, 8, sizeof(*loads->dumps)))
		return -ENOMEM;
	made.dump = open_dump(loads, pid, number, path);
	if (!made.dump)
		return 0;
	made.path = strdup(path);
	if (!made.path) {
		tally_jitdump_free(made.dump);
		return -ENOMEM;
	}
	if (made.dump->load_count)
		relate(loads, &made);
	loads->dumps[loads->count++] = made;
	find_next(loads);
	return 0;
}

/* Compilers make their memory writable and executable in turn, and each time there is a record of
 * it; the code in it stays. */
static bool is_over_code(const struct tally_jit_loads *loads, uint32_t pid, uint64_t start,
			 uint64_t length)
{
	for (size_t i = 0; i < loads->count; i++) {
		const struct loaded_dump *dump = &loads->dumps[i];

		if (dump->pid == pid && start < dump->until &&
		    (dump->from <= start || dump->from - start < length))
			return true;
	}
	return false;
}

static int hide(struct tally_jit_loads *loads, uint64_t offset)
{
	if (!array_next(&loads->hidden, &loads->hidden_room, loads->hidden_count, 64,
			sizeof(*loads->hidden)))
		return -ENOMEM;
	loads->hidden[loads->hidden_count++] = offset;
	return 1;
}

static int feed_load(struct tally_jit_loads *loads, struct tally_process_table *processes,
		     const struct loaded_dump *dump, size_t number, uint64_t time)
{
	const struct tally_jit_load *load = &dump->dump->loads[number];
	const struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_MMAP2,
	    .misc = PERF_RECORD_MISC_USER,
	    .mmap2 = {.pid = dump->pid,
		      .tid = load->tid,
		      .addr = load->address,
		      .len = load->size,
		      .pgoff = dump->dump->codes[load->code].place,
		      .prot = PROT_READ | PROT_EXEC,
		      .filename = dump->path},
	};

	if (time > loads->fed)
		loads->fed = time;
	return tally_process_feed(processes, &body, loads->fed);
}

static int feed_next(struct tally_jit_loads *loads, struct tally_process_table *processes,
		     struct loaded_dump *dump)
{
	const struct tally_jit_load *load = &dump->dump->loads[dump->next];
	uint64_t time = time_of(dump, dump->next), end = load->address + load->size;

	if (load->address < dump->from)
		dump->from = load->address;
	if (end > dump->until)
		dump->until = end;
	/* times ascend, though threads may have written theirs a little late */
	return feed_load(loads, processes, dump, dump->next++,
			 time < dump->mapped ? dump->mapped : time);
}

/* Whether such memory was fed before; if not, it is kept as one that is. */
static int was_fed(struct tally_jit_loads *loads, uint32_t pid, uint64_t start, uint64_t length)
{
	const struct memory_range range = {pid, start, start + length};

	for (size_t i = 0; i < loads->fed_range_count; i++) {
		const struct memory_range *known = &loads->fed_ranges[i];

		if (known->pid == pid && known->start <= start && known->end >= range.end)
			return 1;
	}
	if (loads->fed_range_count == RANGES_MOST)
		return 1;
	if (!loads->fed_ranges)
		loads->fed_ranges = calloc(RANGES_MOST, sizeof(*loads->fed_ranges));
	if (!loads->fed_ranges)
		return -ENOMEM;
	loads->fed_ranges[loads->fed_range_count++] = range;
	return 0;
}

/* The memory is what the record says, but for the code in it that is known. */
static int feed_below_code(struct tally_jit_loads *loads, struct tally_process_table *processes,
			   const struct tally_body *body, uint64_t time,
			   const struct memory_range *range)
{
	int result = tally_process_feed(processes, body, time);

	for (size_t i = 0; i < loads->count; i++) {
		const struct loaded_dump *dump = &loads->dumps[i];

		for (size_t number = 0; dump->pid == range->pid && number < dump->next && !result;
		     number++) {
			const struct tally_jit_load *load = &dump->dump->loads[number];

			if (load->address < range->end && load->address + load->size > range->start)
				result = feed_load(loads, processes, dump, number, time);
		}
	}
	return result;
}

/* 1: the record is not for the processes; 0: it is; -ENOMEM. */
static int note(struct tally_jit_loads *loads, struct tally_process_table *processes,
		const struct tally_body *body, uint64_t time, uint64_t offset)
{
	struct memory_range range;
	const char *path;
	uint64_t length;
	uint32_t number;
	int result;

	if (body->type == PERF_RECORD_MMAP2) {
		range.pid = body->mmap2.pid;
		path = body->mmap2.filename;
		range.start = body->mmap2.addr;
		length = body->mmap2.len;
	} else if (body->type == PERF_RECORD_MMAP) {
		range.pid = body->mmap.pid;
		path = body->mmap.filename;
		range.start = body->mmap.addr;
		length = body->mmap.len;
	} else {
		return 0;
	}
	if ((body->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return 0;
	if (tally_jit_is_dump(path, &number))
		return add(loads, range.pid, path, number, time);
	if (!loads->count ||
	    (strncmp(path, "//anon", 6) != 0 && strncmp(path, "[anon:", 6) != 0 &&
	     strncmp(path, "/memfd:", 7) != 0) ||
	    !is_over_code(loads, range.pid, range.start, length))
		return 0;
	if (!loads->behind)
		return hide(loads, offset);
	range.end = range.start + length;
	result = was_fed(loads, range.pid, range.start, length);
	if (!result)
		result = feed_below_code(loads, processes, body, time, &range);
	return result ? result : 1;
}

int tally_jit_loads_feed(struct tally_jit_loads *loads, struct tally_process_table *processes,
			 uint64_t until)
{
	int result = 0;

	while (loads->count && loads->next <= until && loads->next != UINT64_MAX && !result) {
		uint64_t next = loads->next;

		for (size_t i = 0; i < loads->count && !result; i++) {
			struct loaded_dump *dump = &loads->dumps[i];

			while (dump->next < dump->dump->load_count &&
			       time_of(dump, dump->next) <= next && !result)
				result = feed_next(loads, processes, dump);
		}
		find_next(loads);
	}
	if (loads->count && loads->fed < until)
		loads->fed = until;
	return result;
}

int tally_jit_loads_record(struct tally_jit_loads *loads, struct tally_process_table *processes,
			   const struct tally_body *body, uint64_t time, uint64_t offset)
{
	int result = tally_jit_loads_feed(loads, processes, time);

	/* Code that was read late may have come after this: see tally_jit_loads_latest(). */
	if (loads->behind && time < loads->fed)
		time = loads->fed;
	if (!result)
		result = note(loads, processes, body, time, offset);
	if (result)
		return result < 0 ? result : 0;
	return tally_process_feed(processes, body, time);
}

int tally_jit_loads_read_on(struct tally_jit_loads *loads, uint64_t until)
{
	for (size_t i = 0; i < loads->count; i++) {
		struct loaded_dump *dump = &loads->dumps[i];
		bool first = !dump->dump->load_count;

		if (tally_jitdump_read_on(dump->dump) == -ENOMEM)
			return -ENOMEM;
		if (first && dump->dump->load_count)
			relate(loads, dump);
	}
	find_next(loads);
	return loads->next <= until && loads->next != UINT64_MAX;
}

static bool is_known(const struct tally_process_table *processes, uint32_t pid)
{
	return tally_process_space(processes, pid, UINT64_MAX) != NULL;
}

void tally_jit_loads_forget(struct tally_jit_loads *loads,
			    const struct tally_process_table *processes)
{
	size_t kept = 0, ranges = 0;

	for (size_t i = 0; i < loads->count; i++) {
		struct loaded_dump *dump = &loads->dumps[i];

		if (is_known(processes, dump->pid)) {
			loads->dumps[kept++] = *dump;
			continue;
		}
		tally_jitdump_free(dump->dump);
		free(dump->path);
	}
	loads->count = kept;
	for (size_t i = 0; i < loads->fed_range_count; i++)
		if (is_known(processes, loads->fed_ranges[i].pid))
			loads->fed_ranges[ranges++] = loads->fed_ranges[i];
	loads->fed_range_count = ranges;
	find_next(loads);
}

uint64_t tally_jit_loads_latest(const struct tally_jit_loads *loads)
{
	uint64_t latest = loads->fed;

	for (size_t i = 0; i < loads->count; i++) {
		const struct loaded_dump *dump = &loads->dumps[i];

		for (size_t load = dump->next; load < dump->dump->load_count; load++)
			if (time_of(dump, load) > latest)
				latest = time_of(dump, load);
	}
	return latest;
}

bool tally_jit_loads_dump(const struct tally_jit_loads *loads, size_t number,
			  struct tally_jit_view *ret)
{
	const struct loaded_dump *dump;

	if (number >= loads->count)
		return false;
	dump = &loads->dumps[number];
	*ret = (struct tally_jit_view){.pid = dump->pid, .path = dump->path, .dump = dump->dump};
	return true;
}

uint64_t tally_jit_loads_time(const struct tally_jit_loads *loads, size_t number, size_t load)
{
	uint64_t time = time_of(&loads->dumps[number], load);

	return time < loads->dumps[number].mapped ? loads->dumps[number].mapped : time;
}
