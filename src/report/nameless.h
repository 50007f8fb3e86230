/* The binaries of a profile whose functions have no names, the largest first. */
#ifndef TALLY_REPORT_NAMELESS_H
#define TALLY_REPORT_NAMELESS_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/profile.h>
#include "base/buf.h"
#include "session/numbers.h"

#define NAMELESS_MOST 64U

struct nameless_image {
	uint32_t image; /* struct tally_frame's; UINT32_MAX: the kernel */
	uint64_t period;
	struct tally_image_facts facts;
	char *package; /* the Debian package with its symbols; NULL: none is known */
};

struct nameless {
	struct nameless_image images[NAMELESS_MOST];
	size_t count;
	uint64_t total;
};

/* Finds those of an event, with their packages: all, or the few that are worth a note.  Release
 * with tally_nameless_done().  A profile without a key for symbols has none.  0 or -ENOMEM. */
int tally_nameless_find(const struct tally_profile *profile, size_t event, bool all,
			struct nameless *ret);
void tally_nameless_done(struct nameless *nameless);

/* The same of other sums than a profile's rows: adds what was spent in a frame, the largest first
 * (it is left out if it has a name); then, with `total` set, chooses among them. */
void tally_nameless_add(struct nameless *nameless, const struct tally_frame *frame,
			uint64_t period);
int tally_nameless_choose(const struct tally_session *session, bool all, struct nameless *nameless);

/* For code without names that was made at run time: "code made at run time; programs can name it:"
 * and the options by which those do that ran, as far as they are known. */
void tally_nameless_advise(const struct tally_session *session, struct tally_buf *to);

/* Where its symbols are: "Debian package x-dbgsym" or "build-id y"; nothing when neither is known.
 */
void tally_nameless_where(const struct nameless_image *image, struct tally_buf *to);

#endif
