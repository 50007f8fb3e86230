/* A profile: the samples of a session, added up by keys and by call chain. */
#ifndef TALLY_PROFILE_H
#define TALLY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Sort keys have names: "comm", "dso", "symbol", "cpu", ... Returns the name of key number `index`
 * (from 0), and in *ret_help what it is; NULL after the last one. ret_help may be NULL. */
const char *tally_key_name(size_t index, const char **ret_help);
/* The name of the key that has this name or alias ("sym": "symbol"), else of the first that begins
 * so ("sock": "socket"); equal keys have the same pointer.  NULL: there is no such key.  Fields of
 * a recording's tracepoints are keys, too, by names that this does not know: "prev_comm",
 * "sched:sched_switch.prev_comm", "sched_switch.*", "trace_fields". */
const char *tally_key_find(const char *name, size_t length);

/* What a node of a tree is. */
enum tally_tree_key {
	TALLY_TREE_FUNCTION,
	/* An address, or a source line of a function: of sessions with `places`. */
	TALLY_TREE_ADDRESS,
	TALLY_TREE_LINE,
};

enum tally_call_order {
	TALLY_CALLER, /* from the outermost frame: callees below their callers */
	TALLY_CALLEE, /* from the sampled frame: callers below */
};

/* What rows are made of. */
enum tally_profile_kind {
	TALLY_PROFILE_SAMPLES,
	/* Each branch of a sample's branch stack, as a sample of period 1 at its target. */
	TALLY_PROFILE_BRANCHES,
	/* Samples of memory accesses, whose weight (at least 1) is their period. */
	TALLY_PROFILE_MEMORY,
};

struct tally_profile_options {
	size_t size;             /* sizeof of this struct */
	const char *const *keys; /* names; rows are equal when all these are */
	size_t key_count;
	bool callchains;    /* keep call chains (trees, children) when the events have them */
	bool children;      /* a row also counts the periods of its callees */
	uint32_t max_stack; /* frames kept of a chain, without those that were inlined; 0: all */
	/* Only samples that match these lists of exact names or numbers.  NULL, or a count of 0:
	 * all. */
	const char *const *comms, *const *dsos, *const *symbols;
	size_t comm_count, dso_count, symbol_count;
	const uint32_t *pids, *tids;
	size_t pid_count, tid_count;
	/* Rows below this share (%) get no tree.  Then the chains of most samples need not be kept,
	 * unless `children` is set. */
	double tree_least;
	/* True: 100 % are the samples that pass the filters, also those of the session
	 * (tally_choice_use(), dlfilters).  False: 100 % are all samples. */
	bool relative;
	uint64_t time_quantum; /* ns, of the key "time"; 0: 100 ms */
	/* Spans of time, as tally_script_options has them, and numbers of CPUs: what is outside
	 * counts nowhere, not even in what 100 % is.  NULL, or a count of 0: all. */
	const char *time;
	const uint32_t *cpus;
	size_t cpu_count;
	/* Branches and memory accesses have no call chains. */
	enum tally_profile_kind kind;
	/* Each period is divided by the number of the recorded threads that ran at its time, so
	 * that sums are shares of the time that passed, not of CPUs.  Needs records of context
	 * switches: -ENOENT without. */
	bool latency;
	bool by_mode;         /* tally_profile_row's `modes` */
	bool hide_unresolved; /* only samples with a symbol; of branches, at both ends */
	bool exclude_other;   /* only samples with a caller that `parent` matches */
	bool raw_trace;       /* fields of tracepoints as their values, not as formats say */
	bool only_socket;     /* only samples of the CPUs of this socket: */
	uint32_t socket;
	/* Extended regular expressions (regex(7)): of the key "parent"; of functions that count
	 * what they call as their own.  NULL: perf's, none. */
	const char *parent, *ignore_callees;
	/* Cycles of branch stacks are added up, too, where the recording has them: what the column
	 * "ipc" and tally_report_options.blocks need. */
	bool cycles;
	bool tree_samples;       /* nodes of trees have their numbers of samples, too */
	const char *symbol_part; /* only functions whose names contain this; NULL: all */
	enum tally_tree_key tree_key;
	/* Chains have the branches of branch stacks (session option `branch_history`): events with
	 * branch stacks have trees, too, and these the counts of struct tally_branch_counts. */
	bool branch_history;
};

struct tally_profile;

/* Reads all samples of the session once and builds the profile of every event.  A sample without a
 * recorded period counts attr.sample_period, in frequency mode 1.  The session is borrowed until
 * the profile is freed; options only for the call.  -EINVAL, -E2BIG, -ENOMEM, or an error of
 * reading. */
int tally_profile_new(struct tally_session *session, const struct tally_profile_options *options,
		      struct tally_profile **ret, struct tally_error *error);
void tally_profile_free(struct tally_profile *profile);

/* What one of the profiles of a live session shows. */
struct tally_profile_shown {
	size_t size; /* sizeof of this struct, set by the library */
	/* Keys of the options, in any order; set to all of them before.  Borrowed until the profile
	 * is made. */
	const char *const *keys;
	size_t key_count;
	/* Only samples that have this value of a key of the options; NULL: all.  Shares are of all
	 * samples in both cases. */
	const char *only_key;
	uint64_t only_value;
	unsigned keep; /* as in struct tally_profile_live, which it is set to before */
};

/* A profile of a live session, made again and again while samples come. */
struct tally_profile_live {
	size_t size;       /* sizeof of this struct */
	uint64_t interval; /* ns of the clock CLOCK_MONOTONIC between two profiles, at least */
	/* How much of the periods of older samples stays when a profile was made, in 128ths: 128
	 * keeps all, 112 lets them fade as in `perf top`, 0 begins anew. */
	unsigned keep;
	/* Takes a profile and frees it, here or later in any thread, before the session is freed.
	 * Called in the thread of the caller, while no samples are added up.  A result below 0 ends
	 * the run. */
	int (*take)(void *context, struct tally_profile *profile);
	void *context;
	/* Changes what the next profile shows; called before each one is made, in the thread of the
	 * caller.  NULL: all of the options. */
	void (*choose)(void *context, struct tally_profile_shown *shown);
	/* Whether a profile is wanted before the interval has passed; asked some ten times a
	 * second. Such a profile lets no sum fade.  NULL: never. */
	bool (*wanted)(void *context);
};
/* Runs a live session until it ends, and gives a profile each interval in which there are samples,
 * and one at the end.  Options are as for tally_profile_new(), but `time`, `latency` and the key
 * parallelism are not possible: -EINVAL.  The
 * errors of tally_session_run() and tally_profile_new(), or what `take` returned. */
int tally_profile_follow(struct tally_session *session, const struct tally_profile_options *options,
			 const struct tally_profile_live *live, struct tally_error *error);
const struct tally_session *tally_profile_session(const struct tally_profile *profile);
/* The keys in the order of the options, each once, as tally_key_find() gives them.  Borrowed until
 * the profile is freed. */
const char *const *tally_profile_keys(const struct tally_profile *profile, size_t *ret_count);
/* Whether it was made with `children`. */
bool tally_profile_has_children(const struct tally_profile *profile);
/* Whether it was made with `relative`. */
bool tally_profile_is_relative(const struct tally_profile *profile);

struct tally_profile_event {
	size_t size; /* sizeof of this struct, set by the caller */
	const char *name;
	uint64_t samples; /* that passed the filters */
	/* What 100 % is: the sum of the periods of all samples, so that filters do not change
	 * shares; with `relative`, of those that passed. */
	uint64_t total;
	uint64_t row_count;
	bool has_callchains;
	uint64_t all_samples;  /* filters or not */
	uint64_t passed_total; /* sum of the periods of those that passed */
	uint64_t all_total;    /* of all */
	uint64_t undivided;    /* with latency: the sum of the periods as they were */
};
/* The events are those of the session's data, in the same order. */
size_t tally_profile_event_count(const struct tally_profile *profile);
/* 0; -EINVAL: there is no such event, or ret->size is not set. */
int tally_profile_event(const struct tally_profile *profile, size_t event,
			struct tally_profile_event *ret);

/* One row. Members for keys that the profile does not have are NULL or 0. */
struct tally_profile_row {
	size_t size; /* sizeof of this struct, set by the caller */
	uint64_t self,
	    children;     /* period; children includes self; equal without options.children */
	uint64_t samples; /* whose own (innermost) frame this is */
	/* Of the key comm; without it, but with pid or tid, the last name of the task. */
	const char *comm;
	struct tally_frame frame; /* of dso and symbol keys */
	/* The number of each key, in the order of tally_profile_keys(): the pid, the cpu, the time
	 * (ns)... UINT64_MAX: it is not recorded.  For comm, dso and symbol it has no meaning.
	 * Borrowed until the profile is freed. */
	const uint64_t *values;
	uint32_t handle; /* for trees */
	/* With by_mode: the parts of `self` in the kernel, in user space, in the kernels and the
	 * user space of guests.  With latency: in undivided, `self` as it was before. */
	uint64_t modes[4], undivided;
};
/* Rows sorted: largest children (else self) first, then by their text.  0; -EINVAL: there is no
 * such row, or ret->size is not set. */
int tally_profile_row(const struct tally_profile *profile, size_t event, uint64_t index,
		      struct tally_profile_row *ret);

/* What the branches were that end in a node of a tree. */
struct tally_branch_counts {
	uint64_t to, from;           /* how many led there, and came from there */
	uint64_t predicted, aborts;  /* of those that led there */
	uint64_t cycles;             /* since the branch before, of those that came from there */
	uint64_t loops, loop_cycles; /* turns that were left out behind `from`, and their cycles */
	/* Of those that led there, where their types were recorded: bits PERF_BR_* of perf_event.h
	 * (later types from bit 16 on), but conditional ones in `forward` and `backward`; and those
	 * that led into another area of 4 KiB, and of 2 MiB. */
	uint64_t types;
	bool forward, backward, crosses_4k, crosses_2m;
};

/* The call tree below a row, made when it is asked for, without small branches. */
struct tally_tree_options {
	size_t size;
	enum tally_call_order order;
	uint64_t least; /* branches with a smaller period are left out */
};
struct tally_tree_node {
	struct tally_frame frame;
	uint64_t self, total; /* periods; self: the part that is in no child */
	uint32_t child_count;
	uint32_t first_child; /* index in the nodes; children are side by side, largest first */
	/* With tree_samples: how many samples `self` and `total` are of. */
	uint64_t self_samples, total_samples;
	const char *line; /* of trees that are not of functions: "qsort.c:81", "+4", or "" */
};
struct tally_tree {
	struct tally_tree_node *nodes; /* node 0 is the row itself */
	uint32_t count;
	/* True: the tree starts with node 0's frame.  False (CALLER, rows without a symbol key, and
	 * samples whose chain does not have the sampled frame): trees start with node 0's
	 * children. */
	bool row_is_frame;
	struct tally_branch_counts *branches; /* of each node, with branch_history; else NULL */
};
/* CALLEE gives the callers of the row.  CALLER gives two things: what the row's function called,
 * for the samples in its callees, and the whole paths from the outermost frame to it, for its own
 * samples.  A profile without children has only the second.  If a frame called itself, CALLEE
 * starts at the innermost call, CALLER at the outermost. -EINVAL: the profile was made without
 * callchains, the row is below its tree_least, or there is no such row; -ENOMEM. */
int tally_profile_tree(const struct tally_profile *profile, size_t event,
		       const struct tally_profile_row *row,
		       const struct tally_tree_options *options, struct tally_tree *ret);
void tally_tree_done(struct tally_tree *tree);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
