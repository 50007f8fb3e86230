/* A profile: where the samples of a session fell, by keys and by call chain. */
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

/* Sort keys go by their names: "comm", "dso", "symbol", "cpu", ...  Enumerates them: the name of
 * key number `index`, and what it is; NULL behind the last one.  ret_help may be NULL. */
const char *tally_key_name(size_t index, const char **ret_help);
/* The name of the key that has this name or alias ("sym": "symbol"); equal keys have the same
 * pointer.  NULL: there is no such key. */
const char *tally_key_find(const char *name, size_t length);

enum tally_call_order {
	TALLY_CALLER, /* from the outermost frame in: callees below their callers */
	TALLY_CALLEE, /* from the sampled frame out: callers below */
};

struct tally_profile_options {
	size_t size;             /* sizeof of this struct */
	const char *const *keys; /* names; rows are equal when all these are */
	size_t key_count;
	bool callchains;    /* keep call chains (trees, children) when the events have them */
	bool children;      /* a row also counts what its callees spent */
	uint32_t max_stack; /* frames kept of a chain, without those that were inlined; 0: all */
	/* Only samples where these match; NULL or 0 count: all.  Lists of exact names or numbers.
	 */
	const char *const *comms, *const *dsos, *const *symbols;
	size_t comm_count, dso_count, symbol_count;
	const uint32_t *pids, *tids;
	size_t pid_count, tid_count;
	/* Rows below this share (%) need no tree, so that what they would be made of
	 * need not be kept: without `children` most chains. */
	double tree_least;
	/* Shares are of the samples that pass the filters, those of the session
	 * (tally_choice_use(), dlfilters) too; else of all. */
	bool relative;
	uint64_t time_quantum; /* ns, of the key "time"; 0: 100 ms */
};

struct tally_profile;

/* Reads all samples of the session once and builds the profile of every event.  A sample that does
 * not tell its period counts attr.sample_period, in frequency mode 1.  The session is borrowed
 * until the profile is freed; options only for the call.  -EINVAL, -E2BIG, -ENOMEM, or what reading
 * the session gave. */
int tally_profile_new(struct tally_session *session, const struct tally_profile_options *options,
		      struct tally_profile **ret, struct tally_error *error);
void tally_profile_free(struct tally_profile *profile);
const struct tally_session *tally_profile_session(const struct tally_profile *profile);
/* The keys in the order they were asked for, each once, as tally_key_find() has them.  Borrowed
 * until the profile is freed. */
const char *const *tally_profile_keys(const struct tally_profile *profile, size_t *ret_count);
/* Whether it was made with `children`. */
bool tally_profile_has_children(const struct tally_profile *profile);
/* Whether it was made with `relative`. */
bool tally_profile_is_relative(const struct tally_profile *profile);

struct tally_profile_event {
	size_t size; /* sizeof of this struct, set by the caller */
	const char *name;
	uint64_t samples; /* that passed the filters */
	/* What shares are of: the sum of the periods of all samples, so that filters leave shares
	 * as they are; with `relative` of those that passed. */
	uint64_t total;
	uint64_t row_count;
	bool has_callchains;
	uint64_t all_samples;  /* filters or not */
	uint64_t passed_total; /* sum of the periods of those that passed */
	uint64_t all_total;    /* of all */
};
/* As many as the session's data has, in its order. */
size_t tally_profile_event_count(const struct tally_profile *profile);
/* 0; -EINVAL: there is no such event, or ret->size is not set. */
int tally_profile_event(const struct tally_profile *profile, size_t event,
			struct tally_profile_event *ret);

/* One row.  Members that are no key of the profile are NULL or 0. */
struct tally_profile_row {
	size_t size; /* sizeof of this struct, set by the caller */
	uint64_t self,
	    children;     /* period; children includes self; equal without options.children */
	uint64_t samples; /* whose own (innermost) place this is */
	/* Of the key comm; with pid or tid instead, the last name that the task had. */
	const char *comm;
	struct tally_frame frame; /* of dso and symbol keys */
	/* Of each key, in the order of tally_profile_keys(), its number: of pid, cpu, time (ns)...
	 * UINT64_MAX: it is not recorded.  Those of comm, dso and symbol are of no use.  Borrowed
	 * until the profile is freed. */
	const uint64_t *values;
	uint32_t handle; /* for trees */
};
/* Rows sorted: largest children (else self) first, then by their text.  0; -EINVAL: there is no
 * such row, or ret->size is not set. */
int tally_profile_row(const struct tally_profile *profile, size_t event, uint64_t index,
		      struct tally_profile_row *ret);

/* The call tree below a row, walked on demand and already pruned. */
struct tally_tree_options {
	size_t size;
	enum tally_call_order order;
	uint64_t least; /* branches with a smaller period are left out */
};
struct tally_tree_node {
	struct tally_frame frame;
	uint64_t self, total; /* period; self: what of it goes no further down the tree */
	uint32_t child_count;
	uint32_t first_child; /* index in the nodes; children stand side by side, largest first */
};
struct tally_tree {
	struct tally_tree_node *nodes; /* node 0 is the row itself */
	uint32_t count;
	/* Node 0's frame is where the tree starts; else (CALLER, rows without a symbol key, and
	 * samples whose chain lacks their place) the trees start with node 0's children. */
	bool row_is_frame;
};
/* CALLEE gives who called the row.  CALLER gives what it called, from the row on, of the samples
 * that passed through it, and of those in it the whole paths down to it; in a profile without
 * children there are only the latter.  Of a frame that called itself, CALLEE takes the innermost
 * call, CALLER the outermost.
 * -EINVAL: the profile was made without callchains, the row is below its tree_least, or there is no
 * such row; -ENOMEM. */
int tally_profile_tree(const struct tally_profile *profile, size_t event,
		       const struct tally_profile_row *row,
		       const struct tally_tree_options *options, struct tally_tree *ret);
void tally_tree_done(struct tally_tree *tree);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
