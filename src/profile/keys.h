/* Sort keys: what rows of a profile are made of.
 *
 * Each key is a row of the table in keys.c: from it come the parsing of -s and -F, their help, the
 * manual page and completion, the column of the table, and what JSON and CSV call it. */
#ifndef TALLY_PROFILE_KEYS_H
#define TALLY_PROFILE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/batch.h>
#include <tally/error.h>

struct profile_keys;

/* How values of a key are kept, compared and printed. */
enum key_type {
	KEY_NAME,   /* a string of the session: tally_session_string() */
	KEY_TASK,   /* a number; printed with the name that the task had last */
	KEY_SOURCE, /* a number of tally_session_source() */
	KEY_NUMBER, /* a number */
	KEY_TIME,   /* ns */
	KEY_IMAGE,  /* the image of the row's frame; such keys and the next have no value */
	KEY_SYMBOL, /* the function, which is the frame itself */
};
#define KEY_UNKNOWN UINT64_MAX /* as a value */

/* What the value of a sample is made of: a row of a batch, and its thread. */
struct key_row {
	const struct tally_session *session;
	const struct tally_batch *batch;
	uint32_t at; /* in the batch's columns */
	struct tally_thread thread;
	uint32_t comm; /* the thread's: a string of the session */
};

struct profile_key {
	const char *name, *alias; /* alias: NULL when there is none */
	const char *title;        /* of the column */
	const char *help;         /* starts small, no full stop */
	enum key_type type;
	unsigned digits;  /* KEY_NUMBER: at least so many, with leading zeros */
	uint64_t columns; /* TALLY_COLUMN_* that the key is made of */
	/* NULL: the key is of the place, not of the sample. */
	uint64_t (*value)(const struct profile_keys *keys, const struct key_row *row);
	/* Makes what `value` needs of the recording.  0 or -ENOMEM.  NULL: nothing. */
	int (*prepare)(struct profile_keys *keys, struct tally_session *session);
};

#define PROFILE_KEYS_MOST 16

/* The keys of a profile. */
struct profile_keys {
	const struct profile_key *list[PROFILE_KEYS_MOST]; /* as asked for, each once */
	const char *names[PROFILE_KEYS_MOST];
	unsigned by_rank[PROFILE_KEYS_MOST]; /* their indices in the order of the table */
	size_t count;
	bool symbol, image, tasks; /* one of that type is among them */
	uint64_t columns;          /* of all of them */
	uint64_t time_quantum;
	const struct tally_session *session;
	uint32_t *sockets; /* by CPU */
	uint32_t socket_count;
};

/* The table's row of this name or alias; NULL: there is no such key. */
const struct profile_key *tally_profile_key_find(const char *name, size_t length);
/* Fills `ret`, which is all zero but for time_quantum, by names.  0, -ENOMEM, or -EINVAL with the
 * name's index as the error's position. */
int tally_profile_keys_init(struct profile_keys *ret, struct tally_session *session,
			    const char *const *names, size_t count, struct tally_error *error);
void tally_profile_keys_done(struct profile_keys *keys);

/* Below 0, 0, above 0: how two values of the key are ordered. */
int tally_profile_key_compare(const struct profile_key *key, const struct tally_session *session,
			      uint64_t a, uint64_t b);

/* The columns that a sink asks for.  Samples that differ in a value are not taken together. */
static inline uint64_t profile_keys_columns(const struct profile_keys *keys)
{
	uint64_t apart = keys->columns & (TALLY_COLUMN_TIME | TALLY_COLUMN_PERIOD);

	return keys->columns | TALLY_COLUMN_THREAD | (keys->tasks ? TALLY_COLUMN_OFFSET : 0) |
	       (apart ? TALLY_COLUMN_TIME : TALLY_COLUMN_COUNT);
}

/* Whether rows of one event, thread and CPU have the same values. */
static inline bool profile_keys_are_of_threads(const struct profile_keys *keys)
{
	return !(keys->columns &
		 ~(uint64_t)(TALLY_COLUMN_THREAD | TALLY_COLUMN_CPU | TALLY_COLUMN_FRAME));
}

/* The row's value of each key, in the order of keys->list. */
static inline void profile_keys_values(const struct profile_keys *keys, const struct key_row *row,
				       uint64_t *ret)
{
	for (size_t i = 0; i < keys->count; i++)
		ret[i] = keys->list[i]->value ? keys->list[i]->value(keys, row) : 0;
}

#endif
