/* Whether a stack begins in a function: where threads start, so that nothing called it. */
#ifndef TALLY_RESOLVE_THREAD_START_H
#define TALLY_RESOLVE_THREAD_START_H

#include <stdbool.h>
#include <stdint.h>

struct tally_frames;

enum tally_thread_start {
	TALLY_START_NO,
	TALLY_START_YES,
	TALLY_START_UNKNOWN, /* of code that nothing names */
};

/* Of the outermost frame of a chain. */
enum tally_thread_start tally_thread_start_of(const struct tally_frames *frames, uint32_t frame);
/* The same of a name alone: whether threads start in a function that is called so. */
bool tally_thread_start_name(const char *symbol);

#endif
