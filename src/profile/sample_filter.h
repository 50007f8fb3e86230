/* Which samples are counted. */
#ifndef TALLY_PROFILE_SAMPLE_FILTER_H
#define TALLY_PROFILE_SAMPLE_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/profile.h>
#include <tally/session.h>

/* Unknown is 0, as what an array grows by. */
enum tally_verdict { TALLY_VERDICT_UNKNOWN, TALLY_VERDICT_PASS, TALLY_VERDICT_FAIL };

/* One a thread: it remembers the answers by string and frame number. */
struct tally_filter {
	const struct tally_session *session;
	const struct tally_profile_options *options;
	uint8_t *threads, *frames; /* verdicts */
	uint32_t thread_room, frame_room;
};

void tally_filter_init(struct tally_filter *filter, const struct tally_session *session,
		       const struct tally_profile_options *options);
void tally_filter_done(struct tally_filter *filter);
bool tally_filter_holds(const uint32_t *numbers, size_t count, uint32_t number);
/* 1: the sample passes, 0: not, -ENOMEM. */
int tally_filter_thread(struct tally_filter *filter, uint32_t number);
int tally_filter_frame(struct tally_filter *filter, uint32_t frame);

#endif
