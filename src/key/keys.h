/* Sort keys: what rows of a profile are made of.
 *
 * Each key is a row of a table, one table a theme: key_sample.c, key_weight.c, key_memory.c,
 * key_branch.c, key_trace.c, key_cgroup.c, key_type.c.  From the rows come the parsing of -s and
 * -F, their help, the manual page and completion, the columns of tables, and what JSON and CSV call
 * them. */
#ifndef TALLY_KEY_KEYS_H
#define TALLY_KEY_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/batch.h>
#include <tally/error.h>
#include "base/buf.h"
#include "key/key_texts.h"

struct profile_keys;
struct tally_trace_text;
struct key_cgroups;
struct key_parallel;

/* How values of a key are kept, compared and printed. */
enum key_type {
	KEY_NAME,   /* a string of the session: tally_session_string() */
	KEY_TASK,   /* a number; printed with the name that the task had last */
	KEY_SOURCE, /* a number of tally_session_source() */
	KEY_NUMBER, /* a number */
	KEY_TIME,   /* ns */
	KEY_TEXT,   /* a number of profile_keys.texts */
	KEY_CODE,   /* a number that profile_key.text prints */
	KEY_FRAME,  /* a number of tally_session_frame() */
	KEY_IMAGE,  /* the image of the row's frame; such keys and the next have no value */
	KEY_SYMBOL, /* the function, which is the frame itself */
};
#define KEY_UNKNOWN UINT64_MAX /* as a value */

/* The samples that a key is for. */
enum key_needs {
	KEY_NEEDS_NOTHING,
	KEY_NEEDS_BRANCHES, /* rows are of branches: PROFILE_BRANCHES */
	KEY_NEEDS_MEMORY,   /* rows are of memory accesses: PROFILE_MEMORY */
};

/* What the value of a sample is made of: a row of a batch, and its thread. */
struct key_row {
	const struct tally_session *session;
	const struct tally_batch *batch;
	uint32_t at; /* in the batch's columns */
	struct tally_thread thread;
	uint32_t comm; /* the thread's: a string of the session */
	/* With TALLY_COLUMN_SAMPLE: the whole sample; of a branch stack, the branch that the row is
	 * of, or NULL. */
	const struct tally_sample *sample;
	const struct tally_branch *branch;
	uint32_t frame, stack;
	const struct profile_key *key; /* whose value is asked for */
};

struct profile_key {
	const char *name, *alias; /* alias: NULL when there is none */
	const char *title;        /* of the column */
	const char *help;         /* starts small, no full stop */
	enum key_type type;
	enum key_needs needs;
	unsigned digits;  /* KEY_NUMBER: at least so many, with leading zeros */
	bool left;        /* KEY_NUMBER: aligned to the left, as perf has it */
	uint64_t columns; /* TALLY_COLUMN_* that the key is made of */
	/* NULL: the key is of the place, not of the sample. */
	uint64_t (*value)(const struct profile_keys *keys, const struct key_row *row);
	/* KEY_CODE: the value of a caller's row, by its frame; KEY_UNKNOWN: none.  NULL: that of
	 * the sample. */
	uint64_t (*of_caller)(const struct tally_session *session, uint32_t frame);
	/* Makes what `value` needs of the recording and of options.  0; -ENOMEM; -EINVAL with
	 * words: an option is wrong.  NULL: nothing. */
	int (*prepare)(struct profile_keys *keys, struct tally_session *session,
		       struct tally_error *error);
	/* KEY_CODE: the value as text; of a row that so many samples are in. */
	void (*text)(const struct profile_keys *keys, uint64_t value, uint64_t samples,
		     struct tally_buf *to);
	const char *field; /* KEY_TEXT: of a tracepoint's payload; NULL: another key */
	uint64_t events;   /* of a field: bits of the events that it is asked of; see below */
};

/* Whether an event's samples have the key; those behind the 64th are taken to have all. */
static inline bool profile_key_is_of(const struct profile_key *key, size_t event)
{
	return !key->field || event >= 64 || key->events >> event & 1;
}

#define PROFILE_KEYS_MOST 24

/* The keys of a profile. */
struct profile_keys {
	const struct profile_key *list[PROFILE_KEYS_MOST]; /* as asked for, each once */
	const char *names[PROFILE_KEYS_MOST];
	unsigned ranks[PROFILE_KEYS_MOST];   /* of each in the tables */
	unsigned by_rank[PROFILE_KEYS_MOST]; /* their indices in the order of the tables */
	size_t count;
	bool symbol, image, tasks; /* one of that type is among them */
	bool moment;               /* one differs within an interval of `time_quantum` */
	uint64_t columns;          /* of all of them */
	uint64_t time_quantum;
	const struct tally_session *session;
	uint32_t *sockets, *cores, *nodes; /* by CPU */
	uint32_t cpu_count, node_count;
	const char *parent; /* pattern of the key "parent"; NULL: perf's */
	void *parent_regex;
	bool raw_trace; /* fields of tracepoints as numbers, without the format's words */
	struct tally_trace_text *trace;
	struct key_cgroups *cgroups;
	const struct key_parallel *parallel; /* borrowed; NULL: not known */
	struct key_texts *texts;
	struct profile_key *made[PROFILE_KEYS_MOST]; /* keys that are fields of tracepoints */
	size_t made_count;
};

/* The table's row of this name or alias; NULL: there is no such key. */
const struct profile_key *tally_profile_key_find(const char *name, size_t length);
/* The row by its place; NULL: behind the last one. */
const struct profile_key *tally_profile_key_at(size_t index);
/* Fills `ret`, which is all zero but for options, by names.  0, -ENOMEM, or -EINVAL with the
 * name's index as the error's position. */
int tally_profile_keys_init(struct profile_keys *ret, struct tally_session *session,
			    const char *const *names, size_t count, struct tally_error *error);
void tally_profile_keys_done(struct profile_keys *keys);

/* Below 0, 0, above 0: how two values of the key are ordered. */
int tally_profile_key_compare(const struct profile_keys *keys, size_t index, uint64_t a,
			      uint64_t b);
/* Makes what the keys socket and parent need, where something else than these needs it.  0,
 * -ENOMEM; -EINVAL: `parent` is not a regular expression. */
int tally_profile_keys_sockets(struct profile_keys *keys, struct tally_session *session);
int tally_profile_keys_parent(struct profile_keys *keys, struct tally_session *session,
			      struct tally_error *error);
/* The innermost function of the row's chain that `parent` matches, once that is made; NULL: none.
 */
const char *tally_profile_keys_parent_of(const struct profile_keys *keys,
					 const struct key_row *row);
/* Whether a key of those is for such samples. */
bool tally_profile_keys_need(const struct profile_keys *keys, enum key_needs needs);

/* The columns that a sink asks for.  Samples that differ in a value are not taken together. */
static inline uint64_t profile_keys_columns(const struct profile_keys *keys)
{
	uint64_t apart =
	    keys->columns & (TALLY_COLUMN_TIME | TALLY_COLUMN_PERIOD | TALLY_COLUMN_SAMPLE);

	return keys->columns | TALLY_COLUMN_THREAD | (keys->tasks ? TALLY_COLUMN_OFFSET : 0) |
	       (apart ? TALLY_COLUMN_TIME : TALLY_COLUMN_COUNT);
}

/* Whether rows of one event, thread and CPU have the same values, in each interval of so many
 * nanoseconds of their own where *ret_interval is not 0. */
static inline bool profile_keys_are_of_threads(const struct profile_keys *keys,
					       uint64_t *ret_interval)
{
	uint64_t others = keys->columns &
			  ~(uint64_t)(TALLY_COLUMN_THREAD | TALLY_COLUMN_CPU | TALLY_COLUMN_FRAME);

	*ret_interval = others == TALLY_COLUMN_TIME && !keys->moment ? keys->time_quantum : 0;
	return !others || *ret_interval;
}

/* The row's value of each key, in the order of keys->list. */
static inline void profile_keys_values(const struct profile_keys *keys, struct key_row *row,
				       uint64_t *ret)
{
	for (size_t i = 0; i < keys->count; i++) {
		row->key = keys->list[i];
		ret[i] = row->key->value ? row->key->value(keys, row) : 0;
	}
}

#endif
