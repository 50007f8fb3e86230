/* The tables of keys, one a theme. */
#ifndef TALLY_KEY_KEY_TABLES_H
#define TALLY_KEY_KEY_TABLES_H

#include "key/keys.h"

struct key_table {
	const struct profile_key *rows;
	size_t count;
};

#define KEY_TABLE(rows)                              \
	{                                            \
		rows, sizeof(rows) / sizeof(*(rows)) \
	}

/* Rows of equal size are listed by their values of these keys, the first key of the first table
 * first. */
extern const struct key_table tally_keys_sample, tally_keys_weight, tally_keys_memory,
    tally_keys_branch, tally_keys_trace, tally_keys_cgroup, tally_keys_type;

/* "4K", "2M", "N/A" of bytes. */
void tally_key_page_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
			 struct tally_buf *to);
/* The value of a frame's short name. */
uint64_t tally_key_image_text(const struct profile_keys *keys, uint32_t frame);

/* What keys of their theme keep; NULL is fine. */
void tally_key_trace_done(struct profile_keys *keys);
void tally_key_cgroups_free(struct key_cgroups *cgroups);
void tally_key_parent_done(struct profile_keys *keys);

/* key_trace.c: a field of a tracepoint as a key: "prev_comm", "sched:sched_switch.prev_comm",
 * "sched_switch.*" and "trace_fields" (all fields).  Adds those that there are to keys->made and
 * calls `add` with each.  0; -ENOENT: the recording has no such field; -ENOMEM; what `add`
 * returned. */
int tally_key_fields_find(struct profile_keys *keys, struct tally_session *session,
			  const char *name,
			  int (*add)(struct profile_keys *keys, const struct profile_key *key));

#endif
