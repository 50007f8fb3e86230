/* What a page says of its recording in words: what ran, what is unknown and why, what limits. */
#ifndef TALLY_PAGE_PAGE_FACTS_H
#define TALLY_PAGE_PAGE_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/profile.h>
#include "base/buf.h"
#include "base/json.h"
#include "page/page_tables.h"

/* page_notes.c: adds objects {"text", "remedy"}: losses, functions without names, cut call chains.
 * `profile` has the keys dso and symbol.  0 or -ENOMEM. */
int tally_page_notes(const struct tally_profile *profile, const struct page_tables *tables,
		     struct json *json);

/* page_sentence.c: adds the sentence about what limits.  `tables` are complete. 0 or -ENOMEM. */
int tally_page_sentence(const struct tally_session *session, const struct page_tables *tables,
			struct tally_buf *to);

/* page_summary.c: the whole summary.  0 or -ENOMEM. */
int tally_page_summary(const struct tally_profile *profile, const struct page_tables *tables,
		       const char *title, struct tally_buf *to);

/* page_flat.c: a profile by function alone of sums that have other keys, which stay as they are. 0,
 * -ENOMEM, or an error with words. */
struct profile_worker;
int tally_page_flat(struct tally_session *session, const struct tally_profile_options *options,
		    const struct profile_worker *worker, struct tally_profile **ret,
		    struct tally_error *error);

#endif
