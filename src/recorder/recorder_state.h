/* A recorder, for the files of this folder: what it holds while it runs. */
#ifndef TALLY_RECORDER_STATE_H
#define TALLY_RECORDER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <tally/limits.h>
#include <tally/recorder.h>
#include "collect/event_plan.h"
#include "collect/notice.h"
#include "collect/openset.h"
#include "collect/targets.h"
#include "collect/workload.h"
#include "synth/build_ids.h"
#include "synth/describe.h"
#include "record/drain.h"
#include "record/drain_aux.h"
#include "record/look.h"
#include "synth/left_running.h"
#include "synth/synth.h"
#include "stacks/unwinder.h"
#include "record/writing.h"
#include "recorder/orders.h"
#include "recorder/schedule.h"
#include "recorder/trigger.h"
#include "recorder/waiting.h"
#include "write/file_series.h"
#include "write/writer.h"

/* Between two checkpoints. The first pass makes the first one, as if one had been so long ago. */
#define TALLY_CHECKPOINT_NS 1000000000LL

/* What samples a file has, once no more of them are taken. */
struct tally_recorder_taken {
	bool ended;
	uint64_t samples; /* in all files up to this one */
	uint64_t first_time, last_time;
};

struct tally_recorder {
	struct tally_recorder_options options;
	const char *output;
	struct tally_notice notice;
	struct tally_limits limits;
	struct tally_targets targets;
	struct tally_workload workload;
	struct tally_plan plan;
	struct tally_openset set;
	struct tally_build_ids build_ids;
	struct tally_build_ids *file_ids; /* of the file that `writer` has */
	struct tally_writer *writer;
	struct tally_writer *stacks_writer;           /* of options.stacks_output */
	struct tally_unwinder *unwinder;              /* NULL: no chains are made here */
	struct tally_stack_counts stacks, all_stacks; /* of this file, and of all */
	struct tally_drain drain;
	struct tally_side_kept side_kept;
	struct tally_drain_aux aux;
	struct tally_recorder_rings rings;
	struct tally_writing writing;
	struct tally_left_running left_running;
	pid_t *running; /* that the command left running */
	size_t running_count;
	struct tally_waiting waiting;
	struct tally_orders orders;
	struct tally_schedule schedule; /* of the delay, or of ranges */
	/* Of a recording in several files. */
	struct tally_recorder_files files;
	struct tally_file_series series;
	struct tally_trigger trigger;
	int64_t switch_at; /* ns; when the next file is due; 0: never */
	const char *path;  /* of the last complete file */
	size_t file_count;
	uint64_t samples_before; /* in earlier files */
	struct tally_recorder_taken taken;
	uint64_t sideband_lost; /* when what runs was described to the unwinder */
	bool limit_reached;
	int stop_fd; /* an eventfd: written to by tally_recorder_stop() */
	atomic_int stop_signal;
	bool ran; /* or runs now */
	bool to_stdout;
	struct tally_kernel_text kernel_text;
	uint64_t wrote;        /* bytes of the recording */
	int exec_error;        /* of the command: not found, or its exec failed */
	bool kernel_hidden;    /* struct tally_recorder_result */
	int64_t checkpoint_at; /* ns; when the last one was written */
	/* Of tally_recorder_start(). */
	int stream_fd; /* where the stream goes; below 0: it is not used, or the writer's */
	pthread_t thread;
	bool started, streams;
	struct tally_recorder_result result;
	struct tally_error error;
	int code;
};

/* --- recorder_files.c: the file that is written now, and the next one.  0 or -errno with words.
 * --- */

int tally_recorder_open_files(struct tally_recorder *recorder, struct tally_error *error);
/* Appends records that describe what runs already; `late`: those that were left for the end. */
int tally_recorder_describe(struct tally_recorder *recorder, bool late, struct tally_error *error);
/* What runs now, for tally_describe_running(). */
struct tally_describe tally_recorder_describing(struct tally_recorder *recorder);
void tally_recorder_use_unwinder(struct tally_recorder *recorder);
/* Samples that are taken from now on are the next file's. */
void tally_recorder_end_samples(struct tally_recorder *recorder);
/* Appends what all rings hold now. */
int tally_recorder_pass(struct tally_recorder *recorder, struct tally_error *error);
/* Until the last chain is in the file. */
int tally_recorder_finish_chains(struct tally_recorder *recorder, struct tally_error *error);
int tally_recorder_finish_file(struct tally_recorder *recorder, struct tally_error *error);

/* --- next_file.c: the same --- */

/* Completes the file and begins the next one. */
int tally_recorder_next_file(struct tally_recorder *recorder, struct tally_error *error);
/* Whether the file is as large or as old as it may be, or an event happened that ends it. */
bool tally_recorder_next_due(struct tally_recorder *recorder);
/* The complete file gets its name with the time, where that is asked for. */
int tally_recorder_name_file(struct tally_recorder *recorder, struct tally_error *error);

#endif
