/* Recording: events over targets, into a perf.data file. */
#ifndef TALLY_RECORDER_H
#define TALLY_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/error.h>
#include <tally/event.h>
#include <tally/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_data;
struct tally_recorder;

/* How traces and records come from the kernel to the disk. */
struct tally_recorder_rings {
	size_t size; /* sizeof of this struct */
	/* AUX areas, to which hardware such as Intel PT, ARM SPE and CoreSight writes a trace; they
	 * are there when an event of such hardware is recorded. */
	size_t aux_pages;    /* of each, a power of two; 0: 4 MiB, or 128 KiB where locked memory is
			      * limited */
	bool aux_snapshot;   /* the areas are overwritten, until tally_recorder_snapshot() */
	bool aux_at_end;     /* a last snapshot when the recording ends */
	size_t aux_newest;   /* bytes of a snapshot; 0: all of the area */
	uint32_t aux_sample; /* bytes of the trace in each sample of the group that the trace's
			      * event leads; 0: none, except where an event says aux-sample-size */
	/* Several threads, each of which drains the rings of some CPUs to files of its own: "cpu",
	 * "core", "package", "numa" or lists of CPUs, as perf's --threads; NULL: one.  The
	 * recording is a folder then, which holds data, data.0, ... */
	const char *threads;
	const char *affinity; /* where the one thread reads a ring: "cpu", "node"; NULL: anywhere */
	size_t flush_least;   /* rings with fewer bytes are left for later, at most a second */
	unsigned behind;      /* another thread writes; so many times the size of all rings may wait
			       * for the disk before the rings do; 0: who drains writes */
};

/* A range of time, in ms from the start of the recording. */
struct tally_recorder_range {
	uint64_t begin_ms, end_ms;
};
#define TALLY_RECORDER_RANGE_OPEN (1ULL << 32) /* end_ms: it has no end; 49 days */

/* A recording in several files, which are each whole and can be read alone. The file that is
 * written has the name of the output; when it is complete, the time is appended:
 * perf.data.2026112306254512. */
struct tally_recorder_files {
	size_t size;         /* sizeof of this struct */
	bool timestamp;      /* the last file, or the only one, is renamed, too */
	bool switches;       /* the next file begins when one of the following says so, and at
				tally_recorder_switch() */
	uint64_t most_bytes; /* the file has so many bytes; 0: any number */
	uint64_t most_ns;    /* so much time has passed; 0: any time */
	const struct tally_event_list
	    *events; /* one of these events happens for a target; NULL: none */
	size_t keep; /* the newest files; older ones are removed; 0: all are kept */
};

struct tally_recorder_options {
	size_t size;        /* sizeof of this struct */
	const char *output; /* NULL: "perf.data"; "-": a stream to standard output */
	const struct tally_event_list *events; /* NULL or empty: cycles, else cpu-clock */
	/* Targets: a command, or pids, tids, or system-wide; cpus narrow it. Of tids without pids,
	 * no threads and children that they start. */
	char *const
	    *command; /* argv, NULL-terminated; started by tally_recorder_new(), held at exec */
	const pid_t *pids, *tids;
	size_t pid_count, tid_count;
	bool system_wide;
	const uint32_t *cpus;
	size_t cpu_count;
	bool by_uid;
	uid_t uid;
	uint64_t frequency; /* Hz; 0: 4000, clipped to the machine's limit */
	bool max_frequency; /* -F max */
	uint64_t period;    /* not 0: a sample every so many, instead of a frequency */
	bool callchain;     /* call chains, by "auto": see call_graph */
	bool no_inherit;
	size_t ring_pages;          /* 0: as large as the limits allow within reason */
	int64_t delay_ms;           /* start so many ms after the command; -1: disabled */
	const char *const *cmdline; /* for the file's header */
	size_t cmdline_count;
	/* Is called with a line for each thing that was chosen, lowered or left out, and why.  May
	 * be NULL. */
	void (*notice)(void *context, const char *text);
	void *notice_context;
	bool verbose;
	int compress_level; /* of zstd, 1 to 22; 0: records are not compressed */
	/* How call chains are taken: "fp" (the kernel's, by frame pointers), "dwarf" or
	 * "dwarf,SIZE" (copies of the stack, unwound while recording, joined with the kernel's),
	 * "auto" (the same where it is possible, else fp), "lbr", "no"; NULL: as `callchain` says.
	 * Events' own terms come first. */
	const char *call_graph;
	bool no_build_ids;    /* the file gets no table of build-ids */
	const pid_t *parents; /* targets: processes with all that run below them */
	size_t parent_count;
	bool keep_stacks; /* "dwarf" and "auto" write copies of the stack to the file, as perf does
			   */
	/* A second recording of the same samples, with registers and copies of the stack, for
	 * comparing chains; NULL: none. */
	const char *stacks_output;
	/* Also samples of an event "offcpu-time": each is a time that a thread was blocked, with
	 * its stack; the period is that time in ns. Times below `off_cpu_least_ns` are left out. */
	bool off_cpu;
	uint64_t off_cpu_least_ns;
	const struct tally_recorder_rings *rings; /* NULL: all 0 */
	/* --- What samples hold besides their identifier, address of the instruction, process and
	 * thread, time, CPU and period, which are always recorded. --- */
	uint64_t sample_type; /* PERF_SAMPLE_*: TALLY_RECORDER_FIELDS; with PERF_SAMPLE_PERIOD and a
			       * period, each event of the software is a sample, as in perf -P */
	uint64_t branch_filter; /* branch stacks, PERF_SAMPLE_BRANCH_*: <tally/sample_words.h> */
	uint64_t intr_registers, user_registers; /* masks of registers: the same header */
	bool no_samples;    /* events are opened, and take no samples: the side-band alone */
	bool thread_counts; /* READ records: what each thread counted, when it ends */
	bool read_times;    /* of events that are read with a leader: the times of running */
	/* --- Which records besides samples --- */
	bool data_maps;        /* maps of data, as those of code */
	bool context_switches; /* SWITCH records */
	bool namespaces;       /* NAMESPACES records */
	bool cgroups;          /* CGROUP records, and the cgroup of each sample */
	bool no_bpf_events;    /* no BPF_EVENT records */
	bool build_id_maps;    /* MMAP2 records have build-ids also when CPUs are recorded */
	/* --- What is sampled of what happens --- */
	bool all_user, all_kernel;           /* whatever an event's modifiers say */
	bool no_user_chain, no_kernel_chain; /* of call chains */
	bool strict_frequency;               /* a frequency above the machine's limit is an error */
	bool per_thread;                     /* a ring for each thread, on any CPU; no children */
	bool wake_each;                      /* the recorder is woken for each sample */
	bool use_clockid; /* the clock of all times is clockid: <tally/sample_words.h> */
	int32_t clockid;
	unsigned realtime; /* the recorder's priority of SCHED_FIFO, 1 to 99; 0: the usual */
	/* --- The records that describe what already runs --- */
	uint32_t no_descriptions;  /* TALLY_DESCRIBE_* that are left out */
	bool describe_last;        /* they are made when the recording ends */
	unsigned describe_threads; /* how many threads make them; 0: as many as are of use */
	uint64_t maps_timeout_ms;  /* for the maps of one process; 0: no limit */
	const struct tally_recorder_files *files; /* NULL: one file, with the name of the output */
	uint64_t most_bytes; /* the recording ends when a file has so many bytes; 0: any number */
	/* When samples are taken, in place of delay_ms: ascending. */
	const struct tally_recorder_range *ranges;
	size_t range_count;
	/* Samples of all events go to rings whose oldest samples are overwritten: they are read at
	 * tally_recorder_snapshot(), tally_recorder_switch() and the end. */
	bool overwrite;
	/* The recording is a folder, with the kernel's code and symbols beside the records
	 * (kcore_dir), for reports on other machines; needs CAP_SYS_RAWIO. */
	bool kernel_copy;
	/* Of tally_recorder_start(): struct tally_data_options' `keep`. */
	size_t keep;
};

/* Bits of tally_recorder_options.sample_type. */
#define TALLY_RECORDER_FIELDS                                                          \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |      \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT | \
	 PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TRANSACTION |     \
	 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |     \
	 PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_WEIGHT_STRUCT)

/* Bits of tally_recorder_options.no_descriptions. */
#define TALLY_DESCRIBE_THREADS (1u << 0) /* FORK, COMM and NAMESPACES; without them no MMAP2 */
#define TALLY_DESCRIBE_MAPS    (1u << 1) /* MMAP2 */
#define TALLY_DESCRIBE_CGROUPS (1u << 2) /* CGROUP */

struct tally_recorder_result {
	size_t size; /* sizeof of this struct, set by the caller */
	uint64_t samples;
	uint64_t bytes;         /* of the file */
	uint64_t lost;          /* records that the kernel could not store */
	uint64_t sideband_lost; /* those of them about processes and maps */
	uint64_t throttled;     /* how often the kernel throttled sampling */
	int wait_status;        /* of the command, as waitpid(2) gives it; -1 without a command */
	int ended_by;           /* signal that ended the recording, or 0 */
	/* The kernel was sampled too, and the recording does not say where its functions are, as
	 * this user may not see their addresses. */
	bool kernel_hidden;
	const pid_t *running; /* processes that the command started and that still run; borrowed
			       * until tally_recorder_free() */
	size_t running_count;
	struct tally_stack_counts stacks; /* call chains that were unwound while recording */
	/* Binaries of processes in other mount namespaces, for struct tally_build_id_cache_options;
	 * borrowed until tally_recorder_free(). */
	const struct tally_held_binary *held;
	size_t held_count;
	uint64_t aux_bytes; /* of traces */
	uint64_t aux_cut;   /* how often a trace had no room, so that some of it is lost */
	uint64_t aux_gaps;  /* how often hardware left a part out or another user took it */
	const char *path;   /* of the last file; borrowed until tally_recorder_free() */
	size_t file_count;  /* files that were completed */
	bool limit_reached; /* the recording ended because of options.most_bytes */
};

/* Opens everything; nothing counts yet.  What options point to is borrowed until free.  Errors name
 * the reason and what to do. */
int tally_recorder_new(const struct tally_recorder_options *options, struct tally_recorder **ret,
		       struct tally_error *error);
/* Creates the file and records until the command ends, the targets are gone, or
 * tally_recorder_stop(); the file is complete when it returns, and the command has ended.  A
 * command that still runs then is passed the signal of tally_recorder_stop(), and SIGTERM 2 s
 * later.  Once only.  After a failure the part that was written stays readable. */
int tally_recorder_run(struct tally_recorder *recorder, struct tally_recorder_result *ret,
		       struct tally_error *error);
/* The same in a thread of its own, into memory instead of a file: *ret is the growing recording,
 * for tally_session_new(), and is the caller's to close. `output` is not used.  Records wait in the
 * data until the session takes them; it drops samples when too many wait (see struct
 * tally_session_counts).  Closing the data before the end ends the recording too. */
int tally_recorder_start(struct tally_recorder *recorder, struct tally_data **ret,
			 struct tally_error *error);
/* Waits until the recording that was started has ended: results as of tally_recorder_run(). */
int tally_recorder_finish(struct tally_recorder *recorder, struct tally_recorder_result *ret,
			  struct tally_error *error);
/* The errno of the exec that made tally_recorder_run() fail, or 0 when that was not the reason. */
int tally_recorder_exec_error(const struct tally_recorder *recorder);
/* Ends the recording.  Async-signal-safe. */
void tally_recorder_stop(struct tally_recorder *recorder, int signal);
/* Asks for the next file (options.files), for a snapshot of the rings and AUX areas that are
 * overwritten (options.overwrite, rings->aux_snapshot), or to go on or to stop taking samples, of a
 * recording that runs; one that begins does it then. Async-signal-safe. */
void tally_recorder_switch(struct tally_recorder *recorder);
void tally_recorder_snapshot(struct tally_recorder *recorder);
void tally_recorder_enable(struct tally_recorder *recorder);
void tally_recorder_disable(struct tally_recorder *recorder);
/* The name of an event that is recorded, by its index from 0; NULL after the last one.  Borrowed
 * until the recorder is freed. */
const char *tally_recorder_event_name(const struct tally_recorder *recorder, size_t event);
/* Goes on or stops taking samples of one event alone: of a leader, its group.  At once, from any
 * thread.  0; -EINVAL: there is no such event; -EBADF: its threads have ended; -errno. */
int tally_recorder_enable_event(struct tally_recorder *recorder, size_t event, bool on);
/* Waits, in another thread than the recording's, until all that was asked before is done. 0;
 * -ECANCELED: the recording ended before. */
int tally_recorder_sync(struct tally_recorder *recorder);
/* Ends a command that still runs. */
void tally_recorder_free(struct tally_recorder *recorder);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
