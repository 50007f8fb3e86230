/* What is mapped where while it is recorded: the side-band's records as processes and images. */
#ifndef TALLY_STACKS_LIVE_SPACES_H
#define TALLY_STACKS_LIVE_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>

struct tally_image;
struct tally_image_store;
struct tally_live_spaces;
struct tally_short_lived;

struct tally_live_spaces_options {
	bool monotonic; /* records have times of CLOCK_MONOTONIC */
	/* See struct tally_image_options. */
	int (*open_held)(void *context, const uint8_t *id, uint8_t id_size);
	void *held;
};

/* 0 or -ENOMEM. */
int tally_live_spaces_new(const struct tally_live_spaces_options *use,
			  struct tally_live_spaces **ret);
void tally_live_spaces_free(struct tally_live_spaces *spaces);
/* How much it holds. Nobody may look up meanwhile. */
struct tally_live_held {
	size_t mappings, names, images, dumps;
};
void tally_live_spaces_held(const struct tally_live_spaces *spaces, struct tally_live_held *ret);

/* Records of the side-band, laid out that way, in any order. */
struct tally_live_feed {
	const struct tally_layout *layout;
	const uint8_t *records;
	size_t size;
	/* Of the first `early` bytes: who has samples is known. Processes that began and ended
	 * there without one are left out. NULL: none is. */
	struct tally_short_lived *short_lived;
	size_t early;
};
/* Takes records that are older than what comes later but for those that come at about the same
 * time; and what compilers have added to their dumps. Nobody may look up meanwhile. 0 or -ENOMEM.
 */
int tally_live_spaces_feed(struct tally_live_spaces *spaces, const struct tally_live_feed *feed);

/* After feeding, now and then: forgets the dumps of processes that ended, and images that no
 * process has mapped for a while. Nobody may look up meanwhile. 1: what is known of images that the
 * store does not have any more must be forgotten; 0: they are the same; -ENOMEM. */
int tally_live_spaces_forget(struct tally_live_spaces *spaces);
const struct tally_image_store *tally_live_spaces_images(const struct tally_live_spaces *spaces);

/* The space of a thread at a time. */
struct tally_live_space {
	struct tally_live_spaces *spaces;
	const struct tally_space *space; /* NULL: unknown */
	uint32_t pid;
	uint64_t time;
	uint64_t number; /* as struct tally_chain_space has it, and `moment` */
	uint32_t moment;
};
void tally_live_space_of(struct tally_live_spaces *spaces, uint32_t pid, uint32_t tid,
			 uint64_t time, struct tally_live_space *ret);
/* As struct tally_chain_space has it; `context` is a struct tally_live_space. */
int tally_live_space_image(void *context, uint64_t address, struct tally_image **ret,
			   uint64_t *ret_place);

/* A process has mapped memory to run code in it: what may be of use later is read. Thread safe. */
void tally_live_spaces_see_code(struct tally_live_spaces *spaces, uint32_t pid, uint64_t start,
				uint64_t size);
/* As struct tally_chain_space has it, too. */
int tally_live_space_read_code(void *context, uint64_t address, void *ret, size_t size);

#endif
