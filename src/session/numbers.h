/* What the numbers of a session stand for, for the layers above: frames, threads, names and images,
 * and what is missing of these. */
#ifndef TALLY_SESSION_NUMBERS_H
#define TALLY_SESSION_NUMBERS_H

#include <tally/session.h>
#include "resolve/thread_start.h"

/* For resolvers of one's own; borrowed. */
struct tally_resolve_tables *tally_session_tables(struct tally_session *session);

/* Fetches what tally_session_frame() will read, when it is known some time before. */
void tally_session_frame_ahead(const struct tally_session *session, uint32_t frame);
uint32_t tally_session_frame_count(const struct tally_session *session);
/* Whether a stack begins in a frame: that of the outermost of a chain. */
enum tally_thread_start tally_session_thread_start(const struct tally_session *session,
						   uint32_t frame);

/* The tree of stacks itself (resolve/stacks.h), for who reads many. */
struct tally_stacks;
const struct tally_stacks *tally_session_stacks(const struct tally_session *session);

/* What a frame of a branch's end was made of (resolve/frames.h). */
struct tally_branch_end;
bool tally_session_branch_end(const struct tally_session *session, uint32_t frame,
			      struct tally_branch_end *ret, uint32_t *ret_frame);
/* What a frame is made of (resolve/frames.h). */
struct tally_frame_place;
void tally_session_frame_placed(const struct tally_session *session, uint32_t frame,
				struct tally_frame_place *ret);
/* The line of a frame that is at a place: a number of tally_session_source().  0 or -ENOMEM. */
int tally_session_frame_line(struct tally_session *session, uint32_t frame, uint32_t *ret);
/* The line and file of the call in a frame at a place, which a call returns to, or where what it
 * calls was inlined: numbers of tally_session_source(), as TALLY_COLUMN_LINE and _FILE have them.
 * 0 or -ENOMEM. */
int tally_session_call_source(struct tally_session *session, uint32_t frame, bool returned_to,
			      bool calls_inlined, uint32_t *ret_line, uint32_t *ret_file);
/* Bytes of a frame's symbol, and of the mapping that its place is in; UINT64_MAX: unknown. */
uint64_t tally_session_frame_size(const struct tally_session *session, uint32_t frame);
uint64_t tally_session_frame_map_size(const struct tally_session *session, uint32_t frame);
/* Whether frames are at places (session option `places`). */
bool tally_session_places(const struct tally_session *session);
/* Whether samples of an event have their times. */
bool tally_session_has_time(const struct tally_session *session, size_t event);
/* Number of the string that is the thread's name. */
uint32_t tally_session_thread_comm(const struct tally_session *session, uint32_t thread);

const char *tally_session_string(const struct tally_session *session, uint32_t number);

/* What is known of the image of a frame (struct tally_frame's `image`). */
struct tally_image_facts {
	const char *name, *path;
	const char *why; /* why symbols are missing; NULL: none are, as far as is known */
	bool is_file;    /* of this build, and at hand: a package may have it */
	const uint8_t *build_id;
	uint8_t build_id_size;
};
/* False: there is no such image, or none that is read. */
bool tally_session_image_facts(const struct tally_session *session, uint32_t image,
			       struct tally_image_facts *ret);
/* Whether an image's code was made at run time. */
bool tally_session_image_is_made(const struct tally_session *session, uint32_t image);
/* The process whose perf map is to have the names of it; 0: none. */
uint32_t tally_session_image_map_pid(const struct tally_session *session, uint32_t image);
/* Whether an image with this short name was met. */
bool tally_session_has_image(const struct tally_session *session, const char *name);
/* Why the kernel's symbols are missing; NULL: they are not, or it is not known. */
const char *tally_session_why_no_kernel(const struct tally_session *session);
/* How many files the recording has symbols of that were not asked for. */
size_t tally_session_symbols_left(const struct tally_session *session);

/* For -v: a line for each image whose symbols are missing though samples fell into it. */
typedef void (*tally_missing_fn)(void *context, const char *image_path, const char *why);
void tally_session_each_missing(const struct tally_session *session, tally_missing_fn visit,
				void *context);
/* The same for what is left out of images because it would take too much. */
void tally_session_each_left_out(const struct tally_session *session,
				 void (*visit)(void *context, const char *line), void *context);

#endif
