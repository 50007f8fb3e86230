/* Binaries that are made to exhaust or to block the program that reads them, each mapped by a small
 * recording that is then read in every way: a process a binary, so that its memory and time are its
 * own.
 *
 * What must hold: no crash, at most 10 seconds of processor time and 500 MB, no waiting.
 * Usage: binaries [--count N] [--seed N] [--scale N]: N binaries of all kinds in turn, most small,
 *        some as large as --scale (1000: some megabytes)
 *        binaries --full [--only N]: each kind once, large
 *        binaries [--only N] [--scale N] --write FOLDER: each kind, and its recording, in a folder
 *        that has the kind's number */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tally/data.h>
#include <tally/probe.h>
#include <tally/profile.h>
#include <tally/report.h>
#include <tally/script.h>
#include <tally/session.h>
#include "hostile.h"
#include "elf/build_id.h"
#include "image/image.h"
#include "elf/needed.h"
#include "elf/place.h"

#define MAPPED_AT 0x400000ULL
#define REGISTERS 0xff0fffULL /* those of x86-64 */
#define SAMPLES   3000
#define CHAIN     16
#define PATH_SIZE 256

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#define SECONDS_MOST (SANITIZED ? 100 : 10)
#define KB_MOST      (500 * 1024)

static bool failed;

/* --- the recording --- */

struct recording {
	struct tally_writer *writer;
	struct tally_writer_event events[2];
	struct tally_layout layout[2];
};

static void require(bool truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "binaries: cannot make %s\n", what);
	exit(2);
}

static void put(struct recording *recording, size_t event, struct tally_body *body)
{
	uint64_t bytes[1024];
	struct iovec iov = {.iov_base = bytes};
	int size;

	body->id.present = recording->layout[0].sample_type &
			   (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER);
	body->id.identifier = 100 + event;
	body->id.pid = body->id.tid = 1000;
	body->id.time = 1000000;
	size = tally_record_encode(&recording->layout[event], body, bytes, sizeof(bytes));
	require(size > 0, "a record");
	iov.iov_len = (size_t)size;
	require(!tally_writer_append(recording->writer, &iov, 1, NULL), "a recording");
}

static uint64_t place(struct hostile *hostile)
{
	uint64_t size = hostile->code_end - hostile->code;

	return MAPPED_AT + hostile->code + hostile_draw(hostile, size ? size : 1);
}

/* What is sampled: in event 0 with a chain, in 1 with registers and a stack that has addresses of
 * the code in every second word. */
static void put_sample(struct recording *recording, struct hostile *hostile, unsigned number)
{
	uint64_t registers[20], chain[CHAIN] = {PERF_CONTEXT_USER}, stack[32];
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER};
	struct tally_sample *sample = &body.sample;
	size_t event = number & 1;

	for (size_t i = 1; i < CHAIN; i++)
		chain[i] = place(hostile);
	for (size_t i = 0; i < 20; i++)
		registers[i] = 0x7fff0000 + i * 8;
	for (size_t i = 0; i < 32; i++)
		stack[i] = i & 1 ? place(hostile) : 0x7fff0000 + 8 * i;
	registers[7] = 0x7fff0000; /* the stack pointer */
	registers[8] = chain[1];
	sample->present = recording->layout[event].sample_type;
	sample->identifier = 100 + event;
	sample->ip = chain[1];
	sample->pid = sample->tid = 1000;
	sample->time = 1000000 + number;
	sample->period = 1;
	sample->callchain = chain;
	sample->callchain_nr = event ? 0 : CHAIN;
	sample->user_abi = 2;
	sample->user_regs_mask = REGISTERS;
	sample->user_regs = registers;
	sample->user_stack = (const uint8_t *)stack;
	sample->user_stack_size = sample->user_stack_dyn_size = sizeof(stack);
	put(recording, event, &body);
}

static void record(struct hostile *hostile, const char *path)
{
	static const uint64_t ids[] = {100, 101};
	const struct tally_writer_options options = {.size = sizeof(options), .root = "/nowhere"};
	struct recording recording = {0};
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_COMM};

	for (size_t i = 0; i < 2; i++) {
		recording.events[i] =
		    (struct tally_writer_event){.ids = &ids[i],
						.id_count = 1,
						.name = i ? "cpu-clock" : "task-clock",
						.leader = (uint32_t)i};
		recording.events[i].attr = (struct tally_attr){
		    .type = PERF_TYPE_SOFTWARE,
		    .config = i,
		    .sample_period = 1,
		    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				   PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
				   (i ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0),
		    .sample_regs_user = i ? REGISTERS : 0,
		    .sample_stack_user = i ? 256 : 0,
		    .sample_id_all = true,
		};
		recording.events[i].attr.exclude_callchain_user = i != 0;
		tally_layout_init(&recording.layout[i], &recording.events[i].attr);
	}
	require(!tally_writer_open(path, recording.events, 2, &options, &recording.writer, NULL),
		"a recording");
	body.comm = (struct tally_record_comm){.pid = 1000, .tid = 1000, .comm = "hostile"};
	put(&recording, 0, &body);
	body = (struct tally_body){
	    .size = sizeof(body), .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	body.mmap2 = (struct tally_record_mmap2){.pid = 1000,
						 .tid = 1000,
						 .addr = MAPPED_AT,
						 .len = hostile->code_end,
						 .prot = PROT_READ | PROT_EXEC,
						 .filename = hostile->path};
	put(&recording, 0, &body);
	for (unsigned i = 0; i < SAMPLES; i++)
		put_sample(&recording, hostile, i);
	require(!tally_writer_close(recording.writer, NULL), "a recording");
}

/* --- reading --- */

static FILE *nowhere;

static void read_profile(struct tally_session *session)
{
	static const char *const keys[] = {"dso", "symbol"};
	const struct tally_profile_options options = {
	    .size = sizeof(options), .keys = keys, .key_count = 2, .callchains = true};
	const struct tally_report_options report = {.size = sizeof(report), .trees = true};
	struct tally_profile *profile;

	if (tally_profile_new(session, &options, &profile, NULL))
		return;
	tally_report_write(profile, &report, nowhere);
	tally_report_missing(session, nowhere);
	tally_profile_free(profile);
}

static void read_script(struct tally_session *session)
{
	static const char *const fields[] = {"ip,sym,symoff,dso,srcline,insn"};
	struct tally_script_options script = {
	    .size = sizeof(script), .fields = fields, .field_count = 1};

	tally_script_write(session, &script, nowhere, NULL);
}

static void read_recording(const char *path)
{
	const struct tally_session_options options = {
	    .size = sizeof(options), .kallsyms = "/dev/null", .threads = 2};
	struct tally_session *session;
	struct tally_data *data;

	require(!tally_data_open(path, NULL, &data, NULL), "sense of the recording");
	if (!tally_session_new(data, &options, &session, NULL)) {
		read_profile(session);
		read_script(session);
		tally_session_free(session);
	}
	tally_data_close(data);
}

static void read_binary(const char *path)
{
	struct tally_strings libraries = {0}, folders = {0};
	uint8_t id[20], size;
	uint64_t *places;
	size_t count;
	struct tally_sdt *markers;

	tally_image_read_build_id(path, id, &size);
	tally_image_needed(path, &libraries, &folders);
	tally_strings_done(&libraries);
	tally_strings_done(&folders);
	if (!tally_image_find_function(path, "main", &places, &count, NULL))
		free(places);
	if (!tally_sdt_open(path, &markers, NULL))
		tally_sdt_close(markers);
}

/* --- one binary --- */

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *at)
{
	(void)about;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_folder(const char *folder)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void name_files(const char *folder, char *ret_binary, char *ret_data)
{
	snprintf(ret_binary, PATH_SIZE, "%.200s/binary", folder);
	snprintf(ret_data, PATH_SIZE, "%.200s/data", folder);
}

static void make(size_t which, const char *folder, uint64_t scale, uint64_t seed, char *ret_binary,
		 char *ret_data)
{
	struct hostile hostile = {
	    .folder = folder, .random = seed * 0x9e3779b97f4a7c15ULL + 1, .scale = scale};

	require(!mkdir(folder, 0700), "a folder");
	name_files(folder, ret_binary, ret_data);
	hostile.path = ret_binary;
	hostile_write(which, &hostile);
	record(&hostile, ret_data);
}

static double seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static void read_apart(const char *binary, const char *data)
{
	const struct rlimit time = {SECONDS_MOST, SECONDS_MOST};

	setrlimit(RLIMIT_CPU, &time);
	alarm(20 * SECONDS_MOST);
	read_recording(data);
	read_binary(binary);
	_exit(0);
}

static void judge(size_t which, uint64_t scale, uint64_t seed, int status,
		  const struct rusage *usage, bool talk)
{
	const char *what = NULL;

	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU))
		what = "takes too long";
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		what = "HANGS";
	else if (status)
		what = "CRASHES";
	else if (!SANITIZED && usage->ru_maxrss > KB_MOST)
		what = "takes too much memory";
	if (what || talk)
		printf("binaries: %s (kind %zu, scale %llu, seed %llu): %s: %.2f s, %ld MB\n",
		       hostile_name(which), which, (unsigned long long)scale,
		       (unsigned long long)seed, what ? what : "ok", seconds(usage),
		       usage->ru_maxrss / 1024);
	fflush(stdout);
	failed |= what != NULL;
}

static void try_one(const char *work, size_t which, uint64_t scale, uint64_t seed, bool talk)
{
	char folder[PATH_SIZE - 16], binary[PATH_SIZE], data[PATH_SIZE];
	struct rusage usage;
	int status;
	pid_t child;

	snprintf(folder, sizeof(folder), "%s/one", work);
	/* Made in a process of its own too, so that what that took is not counted. */
	child = fork();
	if (!child) {
		make(which, folder, scale, seed, binary, data);
		_exit(0);
	}
	require(child > 0 && waitpid(child, &status, 0) == child && !status, "a binary");
	name_files(folder, binary, data);
	child = fork();
	if (!child)
		read_apart(binary, data);
	require(child > 0 && wait4(child, &status, 0, &usage) == child, "a process");
	judge(which, scale, seed, status, &usage, talk);
	remove_folder(folder);
}

static void try_many(const char *work, unsigned count, uint64_t seed, uint64_t most)
{
	struct hostile hostile = {.random = seed * 0x9e3779b97f4a7c15ULL + 1};

	for (unsigned i = 0; i < count; i++) {
		/* As many of each order of magnitude. */
		uint64_t scale = 1 + hostile_draw(&hostile, 1 + hostile_draw(&hostile, most));

		if (hostile_draw(&hostile, 8))
			scale = 1 + scale / 32;
		try_one(work, i % hostile_count(), scale, seed + i, false);
	}
	printf("binaries: %u from seed %llu\n", count, (unsigned long long)seed);
}

static void write_all(const char *folder, size_t only, uint64_t scale, uint64_t seed)
{
	char at[PATH_SIZE - 16], binary[PATH_SIZE], data[PATH_SIZE];

	for (size_t i = 0; i < hostile_count(); i++) {
		if (only != SIZE_MAX && i != only)
			continue;
		snprintf(at, sizeof(at), "%s/%zu", folder, i);
		make(i, at, scale, seed, binary, data);
		printf("%s: %s\n", at, hostile_name(i));
	}
}

static unsigned number(const char *text)
{
	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	unsigned count = 0, seed = 1, scale = 1000;
	size_t only = SIZE_MAX;
	char work[] = "/tmp/tally-binaries-XXXXXX";
	bool full = false;

	nowhere = fopen("/dev/null", "we");
	require(nowhere && mkdtemp(work) && !setenv("HOME", work, 1) && !unsetenv("XDG_CACHE_HOME"),
		"a folder");
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--count"))
			count = number(argv[++i]);
		else if (!strcmp(argv[i], "--seed"))
			seed = number(argv[++i]);
		else if (!strcmp(argv[i], "--scale"))
			scale = number(argv[++i]);
		else if (!strcmp(argv[i], "--only"))
			only = number(argv[++i]);
		else if (!strcmp(argv[i], "--full"))
			full = true;
		else if (!strcmp(argv[i], "--write") && argv[i + 1])
			write_all(argv[++i], only, scale, seed);
	}
	for (size_t i = 0; full && i < hostile_count(); i++)
		if (only == SIZE_MAX || i == only)
			try_one(work, i, scale, seed, true);
	if (count)
		try_many(work, count, seed, scale);
	remove_folder(work);
	fclose(nowhere);
	return failed;
}
