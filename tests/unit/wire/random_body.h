/* Random attrs and random bodies of every record type, made from the same rows that walk them. */
#ifndef TALLY_TESTS_RANDOM_BODY_H
#define TALLY_TESTS_RANDOM_BODY_H

#include <tally/record.h>

struct random_source {
	uint64_t state;
	uint64_t words[64]; /* what array members point to */
	char texts[8][64];
};

uint64_t random_next(struct random_source *source);
void random_refill(struct random_source *source);
void random_attr(struct random_source *source, struct tally_attr *ret);
/* Pointers lead into `source` until the next refill. */
void random_body(struct random_source *source, const struct tally_layout *layout, uint32_t type,
		 struct tally_body *ret);

#endif
