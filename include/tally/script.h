/* A recording as text, record by record: the same bytes that `perf script` prints. */
#ifndef TALLY_SCRIPT_H
#define TALLY_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Which records other than samples are shown: bits. */
enum tally_script_show {
	TALLY_SHOW_TASK = 1 << 0, /* COMM, FORK, EXIT */
	TALLY_SHOW_MMAP = 1 << 1,
	TALLY_SHOW_SWITCH = 1 << 2,
	TALLY_SHOW_NAMESPACE = 1 << 3,
	TALLY_SHOW_CGROUP = 1 << 4,
	TALLY_SHOW_LOST = 1 << 5,
	TALLY_SHOW_ROUND = 1 << 6,
	TALLY_SHOW_BPF = 1 << 7,
	TALLY_SHOW_TEXT_POKE = 1 << 8,
};

#define TALLY_SCRIPT_NO_FRAMES UINT32_MAX

struct tally_script_options {
	size_t size; /* sizeof of this struct */
	/* Arguments of -F in the order given: "[TYPE:][+-]FIELD,...", TYPE one of hw, sw, trace,
	 * raw, break, synth.  None: the default of each type of event. */
	const char *const *fields;
	size_t field_count;
	bool hide_call_graph;
	uint32_t max_stack; /* frames of a chain; 0: 127; TALLY_SCRIPT_NO_FRAMES: none */
	/* "START,STOP" in seconds, where one may be missing; several are separated by spaces; or
	 * "10%/2", "0%-10%,30%-40%", "50%" of the time that the samples span.  NULL: all. */
	const char *time;
	const char *cpus;                                        /* "0-3,7"; NULL: all */
	const char *const *comms, *const *dsos, *const *symbols; /* only samples of these */
	size_t comm_count, dso_count, symbol_count;
	/* A symbol that is an address, 0x..., matches `addr_range` bytes from there. */
	uint64_t addr_range;
	const uint32_t *pids, *tids;
	size_t pid_count, tid_count;
	const char *const *stops; /* call chains are cut at these symbols */
	size_t stop_count;
	bool nanoseconds, relative,
	    delta;     /* how time is printed; relative and delta exclude each other */
	unsigned show; /* enum tally_script_show */
	/* Write a file "<recording>.<event>.dump" for each event instead. */
	bool per_event_dump;
	bool dump; /* every record's bytes and fields before its line */
	/* JSON instead of text, one object on each line: see tally-script(1). `fields` is ignored
	 * then. */
	bool json;
	bool full_source_path; /* print the whole path of source files */
	bool show_kernel_path;
	bool raw_text; /* text of the recording is not escaped, as in perf: for output that programs
			  read */
	/* Is called with a line about each thing that is left out or ignored. May be NULL. */
	void (*notice)(void *context, const char *text);
	void *notice_context;
	/* Set to whether any sample passed the filters. May be NULL. */
	bool *ret_any_sample;
};

/* Checks the options as far as this is possible without a recording. 0, or -EINVAL with the
 * reason. */
int tally_script_check(const struct tally_script_options *options, struct tally_error *error);

/* Writes the text to `to`, and flushes it.  0; -EPIPE: the reader of a pipe has ended (`error` is
 * not filled then); -EINVAL: the events do not have one of the fields; -errno of writing. */
int tally_script_write(struct tally_session *session, const struct tally_script_options *options,
		       FILE *to, struct tally_error *error);

/* The name of field number `index` (from 0) of those that -F takes, in the order of perf's list;
 * NULL after the last. */
const char *tally_script_field_name(size_t index);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
