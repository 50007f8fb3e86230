/* The frame table: every (image, symbol) or (image, place) that was met, by number.
 *
 * Numbers are given in order of arrival and their rows never move, so that threads can read while
 * others add.  A symbol's number is kept in an array of its image: after the first time it is found
 * there. */
#ifndef TALLY_RESOLVE_FRAMES_H
#define TALLY_RESOLVE_FRAMES_H

#include <pthread.h>
#include <stdatomic.h>
#include <tally/session.h>
#include "base/chunks.h"
#include "base/map.h"
#include "image/image.h"
#include "process/process.h"
#include "resolve/resolve.h"
#include "unwind/functions.h"

/* An image as frames see it. */
struct tally_frame_image {
	struct tally_image *image; /* NULL: [unknown], or a KSYMBOL */
	const char *name, *path;
	const char *symbol; /* of a KSYMBOL: all of it */
	char level;
	bool places_are_addresses;
	bool given;          /* it has no file here: its frames are struct tally_given_function */
	uint64_t base;       /* tally_image_base() of its first mapping */
	uint64_t shown_from; /* what places without a symbol are shown from: a module's base */
	uint32_t number;
	_Atomic uint32_t symbol_count;
	_Atomic uint32_t *_Atomic frames; /* by symbol; 0: not met yet */
	/* For places without a symbol; NULL: not asked for yet. */
	_Atomic(struct tally_functions *) functions;
};

/* Frames by their contents, in parts by their hash, so that threads seldom wait for the same
 * lock. */
#define FRAME_SHARES 32

struct tally_frame_share {
	pthread_mutex_t lock;    /* taken before the table's own, when both are */
	uint64_t *_Atomic slots; /* the hash's upper half, then the number; 0: free */
	_Atomic uint32_t room;   /* both are changed with the lock, and looked at to fetch */
	uint32_t count;
} __attribute__((aligned(64)));

struct tally_frames {
	pthread_mutex_t lock;         /* for whoever adds to a list */
	struct tally_chunks images;   /* struct tally_frame_image */
	struct tally_chunks list;     /* struct frame_row; number 0 is none */
	_Atomic uint32_t *by_mapping; /* image + 1; 0: not met yet */
	struct tally_map image_ids;
	struct tally_frame_share shares[FRAME_SHARES];
	uint32_t unknown[5];     /* image numbers of [unknown], by level */
	_Atomic uint32_t kernel; /* image + 1: of addresses that no mapping holds */
	bool functions;          /* struct tally_session_options */
	/* With it, of code that was compiled at run time: */
	struct tally_map compiled; /* hash of image and name -> the first frame of the name */
	struct tally_arena names;  /* that are shown instead of the symbols' */
};

/* What the table stands on, borrowed in each call. */
struct tally_frame_source {
	const struct tally_data *data;
	const struct tally_process_table *processes;
	struct tally_image_store *images;
	const struct tally_map *build_ids; /* hash of a filename -> index in the data's info, + 1 */
};

int tally_frames_init(struct tally_frames *frames, size_t mappings, bool functions);
void tally_frames_done(struct tally_frames *frames);
/* To be called when the mappings have changed; numbers of frames and images do not change.  0 or
 * -ENOMEM. */
int tally_frames_renew(struct tally_frames *frames, size_t mappings);
/* The code at an address in a mapping (NULL: in none), for one of the levels of struct tally_frame:
 * the number of an image, and a place in it.  0 or -ENOMEM. */
int tally_frames_place(struct tally_frames *frames, const struct tally_frame_source *source,
		       const struct tally_mapping *mapping, char level, uint64_t addr,
		       uint32_t *ret_image, uint64_t *ret_place);
/* The frame of a place in the image of that number; 0: out of memory.  `names_only`: places without
 * a symbol are one frame. */
uint32_t tally_frames_find(struct tally_frames *frames, uint32_t number, uint64_t place,
			   bool names_only);
/* The frames of places in images, of those numbers, that have no symbol.  0 or -ENOMEM. */
int tally_frames_nameless(struct tally_frames *frames, const struct tally_image_place *places,
			  uint32_t count, uint32_t *ret);
/* The frame of a symbol of the image of that number; 0: out of memory. */
uint32_t tally_frames_symbol_frame(struct tally_frames *frames, uint32_t number, int64_t symbol);
/* The function around a place without a symbol, in the image of that number; false: its start is
 * unknown, or functions are not requested. */
bool tally_frames_function(struct tally_frames *frames, uint32_t number, uint64_t place,
			   struct tally_function *ret);
/* The frame of such a function; 0: out of memory. */
uint32_t tally_frames_function_frame(struct tally_frames *frames, uint32_t number,
				     const struct tally_function *function);
/* The same, also if functions are not requested. */
bool tally_frames_function_around(const struct tally_frames *frames, uint32_t number,
				  uint64_t place, struct tally_function *ret);
/* The function around a frame's place without a symbol, also if functions are not requested.  0, or
 * -ENOENT. */
int tally_frames_function_at(const struct tally_frames *frames, uint32_t frame,
			     struct tally_function *ret);
/* The frame of a function that was inlined where `place` is, within a symbol of the image, to which
 * its name belongs: one pointer for all that are equal.  0: out of memory. */
uint32_t tally_frames_inlined(struct tally_frames *frames, uint32_t number, uint64_t place,
			      const char *name);
/* The frame that is another one at a place of its image; 0: out of memory. */
uint32_t tally_frames_at_place(struct tally_frames *frames, uint32_t frame, uint64_t place);
/* Fetches what that will read, before the frame is known. */
void tally_frames_fetch_place(struct tally_frames *frames, uint64_t place);
/* A function of an image that is known by its path alone. */
struct tally_given_function {
	const char *symbol;
	uint64_t place; /* where it begins: functions of equal names are different ones by it */
};
/* Such an image, and a frame in it: of a function (NULL: of a place).  Texts and functions are
 * borrowed as long as the table lives, and equal ones must be one pointer.  The frame is 0: out of
 * memory. */
int tally_frames_given_image(struct tally_frames *frames, const char *name, const char *path,
			     char level, uint32_t *ret);
uint32_t tally_frames_given(struct tally_frames *frames, uint32_t image,
			    const struct tally_given_function *function, uint64_t place,
			    bool inlined);
/* One end of a branch of a branch stack. */
struct tally_branch_end {
	bool to;               /* where it led; else where it came from */
	bool predicted, abort; /* of `to` */
	uint8_t type;          /* of `to`: PERF_BR_*; 0: not recorded */
	bool forward;          /* of `to`: to a higher address */
	uint8_t crosses;       /* of `to`: bit 0: into another area of 4 KiB, bit 1: of 2 MiB */
	uint16_t cycles;       /* of `from`: since the branch before it */
	uint8_t loops;         /* of `from`: turns that were left out behind it */
	uint32_t loop_cycles;  /* and the cycles of the last of them; 24 bits */
};
/* The frame that is another one as an end of a branch; 0: out of memory. */
uint32_t tally_frames_branch(struct tally_frames *frames, uint32_t frame,
			     const struct tally_branch_end *end);
/* What that was made of; false: the frame is no end of a branch, and *ret_frame is itself. */
bool tally_frames_branch_end(const struct tally_frames *frames, uint32_t frame,
			     struct tally_branch_end *ret, uint32_t *ret_frame);
/* What a frame is made of: the number of its image, its place there, and the frame without the
 * place.  Of a frame of no certain place, that of its symbol's start, and the frame itself. */
struct tally_frame_place {
	uint64_t place;
	uint32_t image, frame;
};
void tally_frames_placed(const struct tally_frames *frames, uint32_t frame,
			 struct tally_frame_place *ret);
/* The same as tally_frames_find() for a kernel address that no mapping holds: `kernel` is the
 * mapping of the kernel's text, or NULL when the file has none and the running kernel is guessed.
 * Only a symbol makes it a place in the kernel. */
uint32_t tally_frames_find_kernel(struct tally_frames *frames,
				  const struct tally_frame_source *source,
				  const struct tally_mapping *kernel, uint64_t addr);
/* The extent of a frame's symbol, or of that which it was inlined into, in the image's places;
 * false when it has none. */
bool tally_frames_symbol(const struct tally_frames *frames, uint32_t frame, uint64_t *ret_start,
			 uint64_t *ret_end);
/* The image that a frame is in; NULL: none that is read. */
struct tally_image *tally_frames_image(const struct tally_frames *frames, uint32_t frame);
/* What an image number stands for. */
const struct tally_frame_image *tally_frames_image_at(const struct tally_frames *frames,
						      uint32_t number);
/* Prefetches the memory that tally_frames_get() reads first. */
void tally_frames_ahead(const struct tally_frames *frames, uint32_t frame);
struct tally_frame tally_frames_get(const struct tally_frames *frames, uint32_t frame);

/* What to take off places in an image to get those that are the same in every process and boot: 0
 * of a file.  False: there is none, as of code that was compiled at run time. */
static inline bool frames_base(const struct tally_frames *frames, uint32_t number, uint64_t *ret)
{
	const struct tally_frame_image *image = tally_frames_image_at(frames, number);

	*ret = image->base;
	return image->base != TALLY_IMAGE_NO_BASE && (image->base || !image->places_are_addresses);
}

#endif
