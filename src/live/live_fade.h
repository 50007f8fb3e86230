/* Older samples of a live profile count less with each one that is made. */
#ifndef TALLY_LIVE_LIVE_FADE_H
#define TALLY_LIVE_LIVE_FADE_H

#include "profile/worker.h"

/* Leaves `keep` 128ths of all sums, of which there is one of each kind.  A sum that is less than
 * one sample was when it came, divided by FADE_LEAST, is dropped, and taken from the sums of its
 * event, so that shares add up: after a minute with the usual 7/8 every two seconds nothing is left
 * of a sample that had no equal ones.  0 or -ENOMEM. */
int tally_live_fade(struct profile_worker *total, unsigned keep);
#define FADE_LEAST 64U

#endif
