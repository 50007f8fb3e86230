#include "resolve/thread_start.h"

#include <string.h>
#include "base/bytes.h"
#include "resolve/frames.h"

/* In a C library without its local symbols the functions where threads start have no names; each is
 * right before the function of its source file that has one.  Source: glibc 2.34 and later,
 * csu/libc-start.c (__libc_start_call_main) and nptl/pthread_create.c (start_thread). */
static bool is_before_start(struct tally_image *image, const struct tally_function *function)
{
	uint64_t behind = align_up(function->end, 16);
	int64_t index = tally_image_find_symbol(image, behind);
	const struct tally_symbol *next;

	if (behind < function->end || index < 0)
		return false;
	next = tally_image_symbol(image, index);
	return next && next->start == behind &&
	       (!strncmp(next->name, "__libc_start_main", 17) ||
		!strncmp(next->name, "pthread_create", 14));
}

enum tally_thread_start tally_thread_start_of(const struct tally_frames *frames, uint32_t frame)
{
	const struct tally_frame facts = tally_frames_get(frames, frame);
	struct tally_image *image;
	struct tally_function function;

	/* The kernel follows its own stacks to their end. */
	if (facts.level != '.')
		return TALLY_START_YES;
	if (facts.symbol)
		return tally_thread_start_name(facts.symbol) ? TALLY_START_YES : TALLY_START_NO;
	if (facts.image == UINT32_MAX) /* no code at all: of chains that go astray most are */
		return TALLY_START_NO;
	image = tally_frames_image(frames, frame);
	if (!image || tally_image_places_are_addresses(image))
		return TALLY_START_NO;
	if (!tally_image_symbol_count(image))
		return TALLY_START_UNKNOWN;
	return !tally_frames_function_at(frames, frame, &function) &&
		       is_before_start(image, &function)
		   ? TALLY_START_YES
		   : TALLY_START_NO;
}
