/* What a row's samples have in common besides frames: the event and the values of its keys. */
#ifndef TALLY_PROFILE_CONTEXTS_H
#define TALLY_PROFILE_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

struct tally_context {
	uint32_t event;
	/* Not part of what makes it: the name that a task had last in it. */
	uint32_t last_comm;
	uint64_t last_offset; /* of the record that had it */
};

struct tally_contexts { /* all zero but for `width` is empty and valid */
	struct tally_context *list;
	uint64_t *values; /* `width` for each */
	uint32_t *slots;  /* number + 1; 0: free */
	uint32_t count, room, slot_room;
	uint32_t width; /* number of keys */
};

static inline uint64_t *contexts_values(const struct tally_contexts *contexts, uint32_t number)
{
	return contexts->values + (size_t)number * contexts->width;
}

/* The last record in the file decides the name. */
static inline void context_named(struct tally_context *context, uint32_t comm, uint64_t offset)
{
	if (offset >= context->last_offset) {
		context->last_comm = comm;
		context->last_offset = offset;
	}
}

void tally_contexts_done(struct tally_contexts *contexts);
/* The number of the context with this event and values, added when new; -ENOMEM. */
int64_t tally_contexts_put(struct tally_contexts *contexts, uint32_t event, const uint64_t *values);

#endif
