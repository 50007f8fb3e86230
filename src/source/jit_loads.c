#include "source/jit_loads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "jit/jit_file.h"
#include "jit/jitdump.h"
#include "source/source.h"

/* A dump's header is written at most so long before its first function. */
#define HEADER_AGE_MOST 10000000000ULL

enum clock {
	CLOCK_SAME,   /* times of the dump are times of the recording, moved by `shift` */
	CLOCK_UNKNOWN /* only the order of loads is known: all are there from the start on */
};

struct source_jit_dump {
	uint32_t pid;
	char *path;
	struct tally_jitdump *dump;
	enum clock clock;
	uint64_t shift, mapped; /* when the process mapped the dump */
	size_t next;            /* of its loads */
	uint64_t from, until;   /* of all that was loaded so far */
};

int tally_jit_loads_init(struct source_jit_loads *loads, const struct tally_tar *archive,
			 const struct tally_session_options *options)
{
	const char *home = getenv("HOME");

	loads->next = UINT64_MAX;
	loads->places.recording = archive;
	loads->search = (struct tally_jit_search){
	    .places = &loads->places,
	    .root = "",
	    .symfs = options->symfs ? options->symfs : "",
	    .cache = options->build_id_dir,
	};
	if (options->build_id_dir || !home || !*home)
		return 0;
	if (asprintf(&loads->cache, "%s/.debug", home) < 0) {
		loads->cache = NULL;
		return -ENOMEM;
	}
	loads->search.cache = loads->cache;
	return 0;
}

void tally_jit_loads_done(struct source_jit_loads *loads)
{
	for (size_t i = 0; i < loads->count; i++) {
		tally_jitdump_free(loads->dumps[i].dump);
		free(loads->dumps[i].path);
	}
	free(loads->dumps);
	free(loads->hidden);
	free(loads->cache);
}

static bool is_monotonic(const struct tally_source *source)
{
	for (size_t i = 0; i < source->event_count; i++) {
		const struct tally_attr *attr = &tally_data_event(source->data, i)->attr;

		if (!attr->use_clockid || attr->clockid != CLOCK_MONOTONIC)
			return false;
	}
	return true;
}

/* Of a dump that has loads.  Dumps have times of CLOCK_MONOTONIC.  For another clock of the
 * recording they are moved so that the dump began when it was mapped: compilers write the header,
 * or their first function, at once. The header alone is not enough, as V8 writes the time of day
 * there. */
static void relate(const struct tally_source *source, struct source_jit_dump *dump)
{
	const struct tally_jitdump *facts = dump->dump;
	uint64_t began = facts->loads[0].time;

	dump->clock = CLOCK_UNKNOWN;
	if (source->by_offset || facts->own_clock)
		return;
	if (is_monotonic(source)) {
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

static uint64_t time_of(const struct source_jit_dump *dump, size_t load)
{
	return dump->clock == CLOCK_SAME ? dump->dump->loads[load].time + dump->shift
					 : dump->mapped;
}

static void find_next(struct source_jit_loads *loads)
{
	loads->next = UINT64_MAX;
	for (size_t i = 0; i < loads->count; i++) {
		const struct source_jit_dump *dump = &loads->dumps[i];

		if (dump->next < dump->dump->load_count && time_of(dump, dump->next) < loads->next)
			loads->next = time_of(dump, dump->next);
	}
}

/* A process that was forked has the mapping of its parent's dump, but no code in it. */
static bool is_own(const struct source_jit_loads *loads, const char *path, uint32_t number,
		   uint32_t pid)
{
	if (number == pid || tally_jit_inner_pid("", pid) == number)
		return true;
	for (size_t i = 0; i < loads->count; i++)
		if (!strcmp(loads->dumps[i].path, path))
			return false;
	return true;
}

/* What was recorded of the file in place of a build-id; NULL: nothing. */
static const struct tally_data_build_id *recorded_id(const struct tally_source *source,
						     const char *path)
{
	const struct tally_data_info *info = tally_data_info(source->data);

	for (size_t i = 0; i < info->build_id_count; i++)
		if (info->build_ids[i].filename && !strcmp(info->build_ids[i].filename, path))
			return &info->build_ids[i];
	return NULL;
}

/* Opens the dump of a process; NULL: there is none that can be used. */
static struct tally_jitdump *open_dump(const struct tally_source *source, uint32_t pid,
				       uint32_t number, const char *path)
{
	const struct tally_data_build_id *id = recorded_id(source, path);
	struct tally_jitdump *dump;
	struct stat about;
	int fd = tally_jit_open_dump(&source->jit_loads.search, pid, path, id ? id->id : NULL,
				     id ? id->size : 0, &about);

	if (fd < 0 || tally_jitdump_open(fd, &dump))
		return NULL;
	if (dump->pid == number)
		return dump;
	tally_jitdump_free(dump);
	return NULL;
}

static int add(struct tally_source *source, uint32_t pid, const char *path, uint32_t number,
	       uint64_t time)
{
	struct source_jit_loads *loads = &source->jit_loads;
	struct source_jit_dump made = {.pid = pid, .mapped = time, .from = UINT64_MAX};

	for (size_t i = 0; i < loads->count; i++)
		if (loads->dumps[i].pid == pid && !strcmp(loads->dumps[i].path, path))
			return 0;
	if (!is_own(loads, path, number, pid))
		return 0;
	if (loads->count == loads->room) {
		size_t room = loads->room ? loads->room * 2 : 8;
		void *grown = reallocarray(loads->dumps, room, sizeof(*loads->dumps));

		if (!grown)
			return -ENOMEM;
		loads->dumps = grown;
		loads->room = room;
	}
	made.dump = open_dump(source, pid, number, path);
	if (!made.dump)
		return 0;
	made.path = strdup(path);
	if (!made.path) {
		tally_jitdump_free(made.dump);
		return -ENOMEM;
	}
	if (made.dump->load_count)
		relate(source, &made);
	loads->dumps[loads->count++] = made;
	find_next(loads);
	return 0;
}

/* Compilers make their memory writable and executable in turn, and each time there is a record of
 * it; the code in it stays. */
static bool is_over_code(const struct source_jit_loads *loads, uint32_t pid, uint64_t start,
			 uint64_t length)
{
	for (size_t i = 0; i < loads->count; i++) {
		const struct source_jit_dump *dump = &loads->dumps[i];

		if (dump->pid == pid && start < dump->until &&
		    (dump->from <= start || dump->from - start < length))
			return true;
	}
	return false;
}

static int hide(struct source_jit_loads *loads, uint64_t offset)
{
	if (loads->hidden_count == loads->hidden_room) {
		size_t room = loads->hidden_room ? loads->hidden_room * 2 : 64;
		void *grown = reallocarray(loads->hidden, room, sizeof(*loads->hidden));

		if (!grown)
			return -ENOMEM;
		loads->hidden = grown;
		loads->hidden_room = room;
	}
	loads->hidden[loads->hidden_count++] = offset;
	return 1;
}

int tally_jit_loads_note(struct tally_source *source, const struct tally_body *body, uint64_t time,
			 uint64_t offset)
{
	const char *path;
	uint64_t start, length;
	uint32_t pid, number;

	if (body->type == PERF_RECORD_MMAP2) {
		pid = body->mmap2.pid;
		path = body->mmap2.filename;
		start = body->mmap2.addr;
		length = body->mmap2.len;
	} else if (body->type == PERF_RECORD_MMAP) {
		pid = body->mmap.pid;
		path = body->mmap.filename;
		start = body->mmap.addr;
		length = body->mmap.len;
	} else {
		return 0;
	}
	if ((body->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return 0;
	if (tally_jit_is_dump(path, &number))
		return add(source, pid, path, number, time);
	if (!source->jit_loads.count ||
	    (strncmp(path, "//anon", 6) != 0 && strncmp(path, "[anon:", 6) != 0 &&
	     strncmp(path, "/memfd:", 7) != 0) ||
	    !is_over_code(&source->jit_loads, pid, start, length))
		return 0;
	return hide(&source->jit_loads, offset);
}

static int feed(struct tally_source *source, struct source_jit_dump *dump)
{
	const struct tally_jit_load *load = &dump->dump->loads[dump->next];
	uint64_t time = time_of(dump, dump->next++), end = load->address + load->size;
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

	if (load->address < dump->from)
		dump->from = load->address;
	if (end > dump->until)
		dump->until = end;
	/* times ascend, though threads may have written theirs a little late */
	if (time < dump->mapped)
		time = dump->mapped;
	if (time > source->jit_loads.fed)
		source->jit_loads.fed = time;
	return tally_process_feed(source->processes, &body, source->jit_loads.fed);
}

int tally_jit_loads_feed(struct tally_source *source, uint64_t until)
{
	struct source_jit_loads *loads = &source->jit_loads;
	int result = 0;

	while (loads->count && loads->next <= until && loads->next != UINT64_MAX && !result) {
		uint64_t next = loads->next;

		for (size_t i = 0; i < loads->count && !result; i++) {
			struct source_jit_dump *dump = &loads->dumps[i];

			while (dump->next < dump->dump->load_count &&
			       time_of(dump, dump->next) <= next && !result)
				result = feed(source, dump);
		}
		find_next(loads);
	}
	if (loads->count && loads->fed < until)
		loads->fed = until;
	return result;
}

int tally_jit_loads_read_on(struct tally_source *source, uint64_t until)
{
	struct source_jit_loads *loads = &source->jit_loads;

	for (size_t i = 0; i < loads->count; i++) {
		struct source_jit_dump *dump = &loads->dumps[i];
		bool first = !dump->dump->load_count;

		if (tally_jitdump_read_on(dump->dump) == -ENOMEM)
			return -ENOMEM;
		if (first && dump->dump->load_count)
			relate(source, dump);
	}
	find_next(loads);
	return loads->next <= until && loads->next != UINT64_MAX;
}

bool tally_jit_loads_dump(const struct source_jit_loads *loads, size_t number,
			  struct source_jit_view *ret)
{
	const struct source_jit_dump *dump;

	if (number >= loads->count)
		return false;
	dump = &loads->dumps[number];
	*ret = (struct source_jit_view){.pid = dump->pid, .path = dump->path, .dump = dump->dump};
	return true;
}

uint64_t tally_jit_loads_time(const struct source_jit_loads *loads, size_t number, size_t load)
{
	uint64_t time = time_of(&loads->dumps[number], load);

	return time < loads->dumps[number].mapped ? loads->dumps[number].mapped : time;
}
