/* Makes call chains of what the rings held, while the recording goes on: a thread takes blocks in
 * their order, several threads unwind the samples of one, and then it is written. */
#ifndef TALLY_STACKS_UNWINDER_H
#define TALLY_STACKS_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/data.h>
#include <tally/recorder.h>
#include "collect/event_plan.h"
#include "stacks/stack_block.h"

struct tally_unwinder;

struct tally_unwinder_options {
	const struct tally_plan *plan; /* opened */
	struct tally_writer *writer;
	struct tally_writer *stacks; /* gets the samples as they were; NULL: nothing */
	/* What is written between two checkpoints: time in ns, and bytes. */
	int64_t checkpoint_ns;
	uint64_t checkpoint_bytes;
	/* Of copies that wait in memory; more wait in a file. */
	size_t waiting_most;
	/* Binaries that the recorder holds open: see struct tally_image_options. */
	int (*open_held)(void *context, const uint8_t *id, uint8_t id_size);
	void *held;
};

/* Borrows all of the options. `records`, laid out as of the first event,
 * describe what already runs. 0 or -errno with words. */
int tally_unwinder_new(const struct tally_unwinder_options *options, const uint8_t *records,
		       size_t size, struct tally_unwinder **ret, struct tally_error *error);
void tally_stack_counts_add(struct tally_stack_counts *to, const struct tally_stack_counts *more);
/* Ends the thread, if it still runs. NULL does nothing. */
void tally_unwinder_free(struct tally_unwinder *unwinder);

/* Blocks that are put after this are for the next file. */
void tally_unwinder_end(struct tally_unwinder *unwinder);
/* Whether all before are written, so that tally_unwinder_finish() does not wait. */
bool tally_unwinder_is_done(const struct tally_unwinder *unwinder);
/* After tally_unwinder_finish(): what comes next goes to another file. What is known of processes
 * and binaries stays; or, where these records are given that describe what runs, as those of
 * tally_unwinder_new(), it is replaced by them. 0 or -errno with words. */
int tally_unwinder_turn(struct tally_unwinder *unwinder, struct tally_writer *writer,
			struct tally_writer *stacks, const struct tally_buf *anew,
			struct tally_error *error);

/* A process has mapped memory to run code in it; `context` is the unwinder. Any thread. */
void tally_unwinder_see_code(void *context, uint32_t pid, uint64_t start, uint64_t size);

/* An empty block to fill, and one that was filled: by the thread that empties the rings. */
struct tally_stack_block *tally_unwinder_take_empty(struct tally_unwinder *unwinder);
void tally_unwinder_put(struct tally_unwinder *unwinder, struct tally_stack_block *block);
const struct tally_stack_events *tally_unwinder_events(const struct tally_unwinder *unwinder);
/* What the next block may keep of copies. */
struct tally_stack_copies *tally_unwinder_copies(struct tally_unwinder *unwinder);
/* 0, or -errno with words when a block could not be written: no more need come. */
int tally_unwinder_check(struct tally_unwinder *unwinder, struct tally_error *error);

/* Waits until all blocks are written. 0 or -errno with words. */
int tally_unwinder_finish(struct tally_unwinder *unwinder, struct tally_stack_counts *ret,
			  struct tally_error *error);

#endif
