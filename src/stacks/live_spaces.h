/* What is mapped where while it is recorded: the side-band's records as processes and images. */
#ifndef TALLY_STACKS_LIVE_SPACES_H
#define TALLY_STACKS_LIVE_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>

struct tally_image;
struct tally_live_spaces;

/* `monotonic`: records have times of CLOCK_MONOTONIC. 0 or -ENOMEM. */
int tally_live_spaces_new(bool monotonic, struct tally_live_spaces **ret);
void tally_live_spaces_free(struct tally_live_spaces *spaces);

/* Takes records of the side-band, laid out that way, in any order, that are older than what comes
 * later but for those that come at about the same time; and what compilers have added to their
 * dumps. Nobody may look up meanwhile. 0 or -ENOMEM. */
int tally_live_spaces_feed(struct tally_live_spaces *spaces, const struct tally_layout *layout,
			   const uint8_t *records, size_t size);

/* The space of a thread at a time. */
struct tally_live_space {
	const struct tally_live_spaces *spaces;
	const struct tally_space *space; /* NULL: unknown */
	uint32_t pid;
	uint64_t time;
	uint64_t number; /* as struct tally_chain_space has it */
};
void tally_live_space_of(const struct tally_live_spaces *spaces, uint32_t pid, uint32_t tid,
			 uint64_t time, struct tally_live_space *ret);
/* As struct tally_chain_space has it; `context` is a struct tally_live_space. */
int tally_live_space_image(void *context, uint64_t address, struct tally_image **ret,
			   uint64_t *ret_place);

/* The same, of code that is in the memory of a process which still runs. */
int tally_live_space_read_code(void *context, uint64_t address, void *ret, size_t size);

#endif
