/* What a row's samples have in common besides frames: the event and the keys in use. */
#ifndef TALLY_PROFILE_CONTEXTS_H
#define TALLY_PROFILE_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

/* Which keys of a row belong to its context, and which to its place. */
struct tally_key_set {
	bool comm, pid, tid, cpu, dso, symbol;
};

struct tally_context {
	uint32_t event;
	uint32_t comm, pid, tid, cpu; /* 0 where they are no key */
	/* Not part of the key: the name that stands beside a pid or tid, the last one it had. */
	uint32_t last_comm;
	uint64_t last_offset; /* of the record that told it */
};

struct tally_contexts { /* all zero is empty and valid */
	struct tally_context *list;
	uint32_t *slots; /* number + 1; 0: free */
	uint32_t count, room, slot_room;
};

void tally_contexts_done(struct tally_contexts *contexts);
/* The number of the context with the same event and keys, added when new; -ENOMEM. */
int64_t tally_contexts_put(struct tally_contexts *contexts, const struct tally_context *key);

#endif
