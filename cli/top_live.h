/* What `tally top` shows: a recorder that fills a live session, and a thread that makes a profile
 * of it again and again.
 *
 * Numbers of threads, names and call stacks grow while a session lives; when that is much, the
 * session is thrown away and another one begins. */
#ifndef TALLY_CLI_TOP_LIVE_H
#define TALLY_CLI_TOP_LIVE_H

#include <pthread.h>
#include <signal.h>
#include <tally/profile.h>
#include <tally/recorder.h>
#include "browser.h"

#define TOP_KEYS_MOST 18

struct top_live {
	/* What is wanted, set by the caller. */
	struct tally_recorder_options record;
	struct tally_session_options session_options;
	struct tally_profile_options profile_options; /* keys are those of `keys` */
	const char *keys[TOP_KEYS_MOST];              /* of rows of functions */
	size_t key_count;
	double delay; /* s, between two profiles */
	const volatile sig_atomic_t *stop;

	struct tally_recorder *recorder;
	struct tally_data *data;
	struct tally_session *session;
	pthread_t thread;
	bool runs;
	const char *all_keys[TOP_KEYS_MOST + 2]; /* of all parts */
	size_t all_count;
	size_t memory; /* bytes, when the first profile came */

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct browser_want want, making,
	    made;                   /* asked for; of the profile that is made; of `next` */
	bool asked;                 /* it is wanted soon */
	bool zero;                  /* sums begin anew with each profile */
	struct tally_profile *next; /* not taken yet */
	bool ended, full;
	int result;
	struct tally_error error;
};

void top_live_init(struct top_live *live);
void top_live_done(struct top_live *live);
/* Starts recording.  0 or -errno with words; top_live_end() in both cases. */
int top_live_begin(struct top_live *live, struct tally_error *error);
/* Ends the session; all profiles of it must be freed. */
void top_live_end(struct top_live *live);
/* Asks for profiles of another place from now on; `soon`: the first one at once. */
void top_live_ask(struct top_live *live, const struct browser_want *want, bool soon);
void top_live_set_zero(struct top_live *live, bool zero);
/* The next profile, the caller's to free, and what it is of; NULL: there is none yet. */
struct tally_profile *top_live_next(struct top_live *live, struct browser_want *ret);
/* Waits for the next profile, a second at most, so that signals are seen.  False: there will be
 * none. */
bool top_live_wait(struct top_live *live);
bool top_live_is_over(struct top_live *live);

#endif
