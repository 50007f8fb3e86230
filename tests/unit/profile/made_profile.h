/* Profiles of made-up samples, and what tests ask of them. */
#ifndef TALLY_TESTS_MADE_PROFILE_H
#define TALLY_TESTS_MADE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/profile.h>
#include "fake_session.h"

/* The frames of sessions, but where a test has its own. */
enum { MAIN = 1, A, B, C, KERNEL, NOWHERE, A_AGAIN, LEAF, FRAMES };

extern const struct tally_frame made_frames[FRAMES];
extern const char *const made_strings[]; /* names of threads */
extern const char *const usual_keys[3];

struct tally_profile_event event_at(const struct tally_profile *profile, size_t index);
struct tally_profile_row row_at(const struct tally_profile *profile, size_t event, uint64_t index);
struct tally_session session_of(const struct fake_sample *samples, size_t count);
struct tally_profile *profile_of(struct tally_session *session, const char *const *keys,
				 size_t key_count, bool callchains, bool children);
/* Only rows of at least `least` percent have trees. */
struct tally_profile *large_rows_of(struct tally_session *session, double least);
/* The row of a symbol (or binary); fails the test when there is none. */
struct tally_profile_row row_of(const struct tally_profile *profile, const char *comm,
				const char *symbol);
struct tally_tree tree_of(const struct tally_profile *profile, struct tally_profile_row row,
			  enum tally_call_order order, uint64_t least);
/* Adds "a(172,12){b(110,10){...}...}" of a node to a text. */
void spell(const struct tally_tree *tree, uint32_t at, char *to, size_t room);

#endif
