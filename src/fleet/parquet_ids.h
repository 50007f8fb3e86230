/* Numbers of stacks that are equal on every host: a hash of the frames, by build-id and place in
 * the file; of code that has no file, by its name.
 *
 * What is found is kept by stack and frame of the session, for all threads; two that look the same
 * up at once find the same. */
#ifndef TALLY_FLEET_PARQUET_IDS_H
#define TALLY_FLEET_PARQUET_IDS_H

#include <stdatomic.h>
#include <stdint.h>
#include "convert/convert.h"

#define PARQUET_WORDS_BITS  16
#define PARQUET_WORDS_PARTS (1U << 17)

/* Words by number, 0 at first, made in parts when they are met. */
struct parquet_words {
	_Atomic uint64_t *_Atomic *parts;
};

struct tally_stacks;
struct tally_frames;

struct parquet_ids {
	struct tally_session *session;
	const struct tally_stacks *stacks;
	const struct tally_frames *frames;
	struct parquet_words by_stack; /* two of each: as a sample's, and as a caller's */
	struct parquet_words by_frame; /* four of each */
	struct parquet_words by_image;
};

/* A stack that is walked; each thread has its own, all zero at first. */
struct parquet_path {
	struct parquet_step {
		_Atomic uint64_t *id;
		uint64_t part;
	} * steps;
	uint32_t room;
};

/* 0 or -ENOMEM; to be released in any case. */
int tally_parquet_ids_init(struct parquet_ids *ids, struct tally_session *session);
void tally_parquet_ids_done(struct parquet_ids *ids);
void tally_parquet_path_done(struct parquet_path *path);
/* Fetches what is known of a stack. */
void tally_parquet_id_fetch(const struct parquet_ids *ids, uint32_t stack);
/* The number of a sample's stack and frame, of the session; 0: neither is known.  By any thread.
 * 0 or -ENOMEM. */
int tally_parquet_id(struct parquet_ids *ids, struct parquet_path *path, uint32_t stack,
		     uint32_t frame, uint64_t *ret);

#endif
