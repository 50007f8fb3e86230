#include "made.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <unistd.h>
#include <tally/data.h>
#include "../unit/wire/random_body.h"
#include "base/bytes.h"
#include "wire/attr_wire.h"

#define EVENTS 3

struct kind {
	const char *name;
	uint64_t sample_type;
	size_t events;
	int level;      /* of zstd */
	bool stream;    /* records and events in a stream */
	bool all_types; /* records of every type between the samples */
	bool killed;    /* the writer never came to its end */
	bool swapped;   /* into the other byte order */
	bool trailers;  /* sample_id_all */
};

#define PLAIN \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define NAMED (PLAIN | PERF_SAMPLE_IDENTIFIER)
#define RICH                                                                                       \
	(NAMED | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |              \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC |                   \
	 PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_READ | PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | \
	 PERF_SAMPLE_CGROUP | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_AUX)

static const struct kind kinds[MADE_COUNT] = {
    {"plain", NAMED, 2, .trailers = true},
    {"one event without ids", PLAIN, 1},
    {"call chains", NAMED | PERF_SAMPLE_CALLCHAIN, 3, .trailers = true},
    {"rich samples", RICH, 2, .trailers = true},
    {"every type of record", NAMED, 2, .all_types = true, .trailers = true},
    {"stream", NAMED | PERF_SAMPLE_CALLCHAIN, 3, .stream = true, .trailers = true},
    {"compressed", NAMED | PERF_SAMPLE_CALLCHAIN, 2, .level = 1, .trailers = true},
    {"compressed stream", RICH, 2, .level = 3, .stream = true, .trailers = true},
    {"killed", NAMED, 2, .killed = true, .trailers = true},
    {"other byte order", RICH, 2, .swapped = true, .all_types = true, .trailers = true},
};

struct maker {
	const struct kind *kind;
	struct random_source source;
	struct tally_writer *writer;
	struct tally_writer_event events[EVENTS];
	struct tally_layout layouts[EVENTS];
	uint64_t time;
	uint64_t chain[24];
};

static void require(bool truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "cannot make a recording: %s\n", what);
	exit(2);
}

static void put(struct maker *maker, size_t event, struct tally_body *body)
{
	uint64_t bytes[8192];
	struct iovec iov = {.iov_base = bytes};
	int size;

	body->id.present =
	    maker->kind->trailers ? maker->kind->sample_type & maker->layouts[0].sample_type : 0;
	body->id.identifier = body->id.id = 100 + event;
	body->id.time = maker->time;
	body->id.cpu_reserved = 0;
	body->id.pid = body->id.tid = 1000 + (uint32_t)(random_next(&maker->source) % 3);
	size = tally_record_encode(&maker->layouts[event], body, bytes, sizeof(bytes));
	if (size < 0) /* a random body that cannot be */
		return;
	iov.iov_len = (size_t)size;
	require(tally_writer_append(maker->writer, &iov, 1, NULL) == 0, "append");
}

static void put_process(struct maker *maker, uint32_t pid)
{
	static const char *const files[] = {"/usr/bin/made", "/lib/libmade.so", "[vdso]", "//anon"};
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_COMM};

	body.comm = (struct tally_record_comm){.pid = pid, .tid = pid, .comm = "made"};
	put(maker, 0, &body);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		body = (struct tally_body){
		    .size = sizeof(body), .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
		body.mmap2 = (struct tally_record_mmap2){
		    .pid = pid,
		    .tid = pid,
		    .addr = 0x400000 + 0x100000 * i,
		    .len = 0x80000,
		    .prot = PROT_READ | PROT_EXEC,
		    .filename = files[i],
		};
		put(maker, 0, &body);
	}
}

static uint64_t random_place(struct maker *maker)
{
	uint64_t random = random_next(&maker->source);

	return 0x400000 + 0x100000 * (random % 5) + (random >> 40) % 0x90000;
}

static void put_sample(struct maker *maker, size_t event)
{
	struct tally_body body = {.size = sizeof(body)};
	struct tally_sample *sample = &body.sample;
	size_t depth = random_next(&maker->source) % 24;

	random_refill(&maker->source);
	random_body(&maker->source, &maker->layouts[event], PERF_RECORD_SAMPLE, &body);
	body.misc = PERF_RECORD_MISC_USER;
	sample->identifier = sample->id = 100 + event;
	sample->ip = random_place(maker);
	sample->pid = sample->tid = 1000 + (uint32_t)(random_next(&maker->source) % 3);
	sample->read.id = sample->id; /* its own counter, which moves */
	sample->time = maker->time += 1000 + random_next(&maker->source) % 1000;
	sample->cpu = (uint32_t)(random_next(&maker->source) % 4);
	sample->cpu_reserved = 0;
	sample->user_stack_dyn_size = MIN(sample->user_stack_dyn_size, sample->user_stack_size);
	sample->period = 1 + random_next(&maker->source) % 100000;
	for (size_t i = 0; i < depth; i++)
		maker->chain[i] = i ? random_place(maker) : PERF_CONTEXT_USER;
	sample->callchain = maker->chain;
	sample->callchain_nr = depth;
	put(maker, event, &body);
}

static void put_other(struct maker *maker)
{
	static const uint32_t tool[] = {69, 70, 73, 74, 75, 76, 77, 78, 79, 82, 84, 85};
	uint64_t random = random_next(&maker->source);
	uint32_t type = random & 1 ? 1 + (uint32_t)(random >> 8) % 22
				   : tool[(random >> 8) % (sizeof(tool) / sizeof(*tool))];
	struct tally_body body = {.size = sizeof(body)};

	if (type == PERF_RECORD_SAMPLE)
		return;
	random_refill(&maker->source);
	random_body(&maker->source, &maker->layouts[0], type, &body);
	put(maker, 0, &body);
}

static void write_records(struct maker *maker)
{
	for (uint32_t pid = 1000; pid < 1003; pid++)
		put_process(maker, pid);
	for (unsigned i = 0; i < 150; i++) {
		put_sample(maker, i % maker->kind->events);
		if (maker->kind->all_types)
			put_other(maker);
		if (i % 40 == 39)
			require(tally_writer_round(maker->writer, i == 79, NULL) == 0, "round");
	}
}

static void make_events(struct maker *maker)
{
	static const uint64_t ids[EVENTS] = {100, 101, 102};
	static const char *const names[EVENTS] = {"cpu-clock", "page-faults", "dummy:u"};

	for (size_t i = 0; i < EVENTS; i++) {
		struct tally_attr *attr = &maker->events[i].attr;

		*attr = (struct tally_attr){
		    .type = PERF_TYPE_SOFTWARE,
		    .config = i,
		    .sample_period = 1000,
		    .sample_type = maker->kind->sample_type,
		    .read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
		    .branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
		    .sample_regs_user = 0xff,
		    .sample_stack_user = 64,
		    .sample_id_all = maker->kind->trailers,
		};
		maker->events[i].ids = &ids[i];
		maker->events[i].id_count = maker->kind->events > 1;
		maker->events[i].name = names[i];
		maker->events[i].leader = (uint32_t)i;
		tally_layout_init(&maker->layouts[i], attr);
	}
}

/* --- the other byte order --- */

/* Header, attrs, ids and records; features stay away. */
static void swap_file(struct maker *maker, const char *path)
{
	static uint64_t words[1 << 18];
	uint8_t *bytes = (uint8_t *)words;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	ssize_t size = read(fd, bytes, sizeof(words));
	uint64_t attr_size = words[2], attrs = words[3], attrs_end = attrs + words[4];
	uint64_t at = words[5], end = at + words[6];

	require(size > 0 && (uint64_t)size >= end, "swapping");
	while (at < end) {
		size_t length = load_u16(bytes + at + 6);

		tally_record_swap(&maker->layouts[0], bytes + at, length, false, NULL);
		at += length;
	}
	for (at = 104; at < attrs; at += 8)
		store_u64(bytes + at, __builtin_bswap64(load_u64(bytes + at)));
	for (at = attrs; at < attrs_end; at += attr_size) {
		tally_attr_swap(bytes + at, (size_t)attr_size - 16, false);
		words[(at + attr_size) / 8 - 2] =
		    __builtin_bswap64(words[(at + attr_size) / 8 - 2]);
		words[(at + attr_size) / 8 - 1] =
		    __builtin_bswap64(words[(at + attr_size) / 8 - 1]);
	}
	for (size_t i = 0; i < 13; i++)
		words[i] = i < 9 ? __builtin_bswap64(words[i]) : 0;
	require(pwrite(fd, bytes, (size_t)end, 0) == (ssize_t)end && !ftruncate(fd, (off_t)end),
		"swapping");
	close(fd);
}

/* --- */

static int open_writer(struct maker *maker, const char *path)
{
	const struct tally_writer_options options = {
	    .size = sizeof(options),
	    .root = "/nowhere",
	    .compress_level = maker->kind->level,
	};
	int before, fd, code;

	if (!maker->kind->stream)
		return tally_writer_open(path, maker->events, maker->kind->events, &options,
					 &maker->writer, NULL);
	/* A stream goes where standard output is. */
	before = dup(STDOUT_FILENO);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(before >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0, "standard output");
	code = tally_writer_open("-", maker->events, maker->kind->events, &options, &maker->writer,
				 NULL);
	require(dup2(before, STDOUT_FILENO) >= 0, "standard output");
	close(before);
	close(fd);
	return code;
}

const char *made_write(size_t which, const char *path)
{
	struct maker maker = {
	    .kind = &kinds[which], .source = {.state = 1 + which}, .time = 1000000};
	int code;

	make_events(&maker);
	code = open_writer(&maker, path);
	if (code == -ENOTSUP)
		return NULL;
	require(code == 0, "open");
	write_records(&maker);
	if (maker.kind->killed) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		static uint8_t bytes[1 << 20];
		ssize_t size = read(fd, bytes, sizeof(bytes));

		require(size > 0, "read back");
		close(fd);
		require(tally_writer_close(maker.writer, NULL) == 0, "close");
		fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		require(write(fd, bytes, (size_t)size) == size, "write back");
		close(fd);
		return maker.kind->name;
	}
	require(tally_writer_close(maker.writer, NULL) == 0, "close");
	if (maker.kind->swapped)
		swap_file(&maker, path);
	return maker.kind->name;
}
