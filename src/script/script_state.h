/* Shared by the parts of the script's text. */
#ifndef TALLY_SCRIPT_SCRIPT_STATE_H
#define TALLY_SCRIPT_SCRIPT_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/script.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/table.h"
#include "script/script_fields.h"
#include "script/script_lines.h"
#include "dump/value_text.h"
#include "trace/trace_text.h"
#include "session/filter.h"
#include "session/numbers.h"
#include "resolve/label.h"
#include "resolve/source_files.h"
#include "session/record_sink.h"
#include "session/run.h"
#include "session/time_spans.h"

#define SCRIPT_FRAMES_USUAL 127 /* perf's, when --max-stack is not given */

/* One event as it is shown. */
struct script_event {
	const struct tally_data_event *event;
	enum script_type type;
	uint64_t fields;
	const char *name; /* padded, with ": " behind it, and room for a piece of copying */
	uint32_t name_length;
	uint8_t columns; /* SCRIPT_COLUMN_* */
	/* numbers of kinds */
	uint8_t chain, single, addr, branch;
	bool chains;   /* chains are shown below the first line */
	bool branches; /* each sample is a branch: BTS */
	bool bpf_output;
	bool addr_named; /* data addresses lead to symbols */
	bool places;     /* nothing is shown but where it was */
};

struct script_filter {
	struct tally_time_span *times;
	size_t time_count;
	uint32_t *cpus; /* ascending */
	size_t cpu_count;
	bool any;                    /* of the following, or times */
	bool any_cpu, frames, tasks; /* whether -C was given; dsos, symbols; comms, pids, tids */
	uint64_t *addresses;         /* of --symbols 0x... */
	size_t address_count;
};

#define SCRIPT_TASKS     256U
#define SCRIPT_TASK_TEXT 48U

/* The first columns of a thread's samples: its name and ids. */
struct script_task {
	uint32_t comm; /* number + 1; 0: none */
	uint32_t pid, tid;
	uint8_t columns, length;
	char text[SCRIPT_TASK_TEXT];
};

/* The columns that there are. */
#define SCRIPT_COLUMN_COMM  1U
#define SCRIPT_COLUMN_PID   2U
#define SCRIPT_COLUMN_TID   4U
#define SCRIPT_COLUMN_ALONE 8U /* the name is not padded */

/* Seconds with the point behind them, which many samples have in common. */
struct script_seconds {
	uint64_t value;
	uint32_t length; /* 0: none */
	char text[16];
};

struct script_worker {
	struct script_lines lines;
	struct script_task *tasks; /* SCRIPT_TASKS */
	struct script_seconds seconds;
	/* of --json: a tracepoint's text and its fields; a sample's frames */
	struct tally_buf spare, trace_fields, frames;
	const struct tally_buf *text; /* its last record's */
	bool any_sample;              /* some sample passed the filters */
} __attribute__((aligned(TABLE_APART)));

/* A batch's text, or by event with --per-event-dump.  Each is in cache lines of its own, as
 * different threads write to adjacent ones. */
struct script_slot {
	struct tally_buf *text;
	uint64_t *samples; /* by event, with --per-event-dump */
};

struct script {
	struct tally_session *session;
	struct tally_data *data;
	struct tally_script_options options;
	struct script_fields fields;
	struct script_filter filter;
	struct tally_arena arena;
	struct script_event *events;
	size_t event_count;
	struct script_kind kinds[SCRIPT_KINDS_MOST];
	unsigned kind_count;
	struct tally_labels labels;
	uint64_t want;
	uint32_t max_stack;
	bool unwritten;    /* text could not be written */
	bool serial;       /* text depends on what was shown before */
	bool asks;         /* the session's filter, itself */
	bool guest_fields; /* some event shows whose guest's it is */
	enum tally_register_arch arch;
	struct tally_script_dump dump;
	struct tally_trace_text *trace; /* NULL: the recording has no tracing data */

	struct script_worker *workers;
	unsigned worker_count;
	struct script_slot *slots;
	unsigned slot_count;
	size_t outputs; /* 1, or one an event */
	FILE **files;
	uint64_t *samples;

	/* Serial only. */
	uint64_t first_time, last_time; /* of --reltime, --deltatime */
	struct tally_map counters;      /* id -> last value, of samples that read counters */
	struct tally_map cgroups;       /* id -> path: a const char *, the arena's */
	struct tally_map guests;        /* id -> pid of the guest's machine << 32 | its processor */
	struct tally_map names;         /* tid -> name of the thread so far, as in cgroups */
	size_t data_src_width;          /* the widest so far */
	struct tally_source_files *sources; /* of srccode; NULL: it is not shown */
	struct tally_map source_shown;      /* thread -> hash of the line shown last */
};

/* A record whose text is being made. */
struct script_out {
	struct script *script;
	struct script_worker *worker;
	struct tally_buf *to;
	struct tally_resolver *resolver;
	const struct tally_resolved *at; /* the sample, or what is known of another record */
	const struct tally_record *record;
};

/* script_filter.c */
/* --cpu: ascending numbers, the caller's to free(). */
int tally_script_cpus_parse(const char *list, uint32_t **ret, size_t *ret_count,
			    struct tally_error *error);
int tally_script_filter_init(struct script *script, struct tally_error *error);
void tally_script_filter_done(struct script_filter *filter);
/* By time or CPU; and TALLY_FILTERED_* bits of all else. */
bool tally_script_skips(void *context, const struct tally_resolved *sample);
unsigned tally_script_filtered(void *context, struct tally_resolver *resolver,
			       const struct tally_resolved *sample);
bool tally_script_passes(const struct script_out *out);
bool tally_script_cpu_passes(const struct script_filter *filter, uint32_t cpu);

/* script_sample.c */
/* 0; 1: the filter ended the visit; -errno. */
int tally_script_sample_put(const struct script_out *out);
/* What the session's filter makes of a sample; what it prints is appended.  An enum
 * tally_filter_answer, or -errno. */
int tally_script_ask(const struct script_out *out);
/* A tracepoint's payload. */
void tally_script_trace_put(const struct script_out *out, const struct script_event *event,
			    const uint8_t *raw, uint32_t raw_size);
/* The columns before the event, as of any record; `name`: of the thread, NULL: the sample's. */
void tally_script_start_put(const struct script_out *out, const struct script_event *event,
			    const char *name);
/* Any record other than a sample, if it is shown. */
int tally_script_other_put(const struct script_out *out);
/* -D: the record's bytes and fields; of a sample also what its address leads to. */
int tally_script_dump_put(const struct script_out *out);
int tally_script_dump_location(const struct script_out *out);
/* script_objects.c: --json, of samples and other records. */
int tally_script_object_put(const struct script_out *out);
/* Remembers the name that a COMM or FORK gives a thread.  0 or -ENOMEM. */
int tally_script_names_learn(const struct script_out *out);
/* The bit of enum tally_script_show that shows records of a type; 0: none does. */
unsigned tally_script_show_of(uint32_t type);
/* script_branch.c */
int tally_script_branches_put(const struct script_out *out, const struct script_event *event);

/* script_insn.c: fields insn, insnlen, brstackinsn, brstackinsnlen. */
int tally_script_insn_put(const struct script_out *out, uint64_t fields);

/* script_source.c: field srccode. */
/* 0 or -ENOMEM. */
int tally_script_source_init(struct script *script);
void tally_script_source_done(struct script *script);
/* The line of the source that an address of the sample's thread is of, on a line of its own, if it
 * is another one than the last. */
int tally_script_source_put(const struct script_out *out, uint8_t mode, uint64_t addr);

/* A name from outside, escaped unless raw text was asked for. */
void tally_script_name_put(const struct script *script, struct tally_buf *to, const char *name);

#endif
