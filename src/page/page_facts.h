/* What a page says of its recording in words: what ran, what is unknown and why, what limits. */
#ifndef TALLY_PAGE_PAGE_FACTS_H
#define TALLY_PAGE_PAGE_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/page.h>
#include <tally/profile.h>
#include "base/buf.h"
#include "base/json.h"
#include "page/page_tables.h"
#include "profile/chain_ends.h"
#include "profile/worker.h"

struct tally_diff;

/* What the page is made of. */
struct page_facts {
	const struct page_source *sources;
	size_t source_count;
	const struct page_source *source; /* the one that words are about */
	const struct tally_profile_options *options;
	const struct page_tables *tables;
	const struct tally_diff *diff; /* NULL: the page is of one recording */
};

/* Whether a sample of the page is of this event of the recording that words are about. */
static inline bool page_facts_have(const struct page_facts *facts, uint32_t event,
				   const struct page_sample *sample)
{
	return sample->event == facts->source->events[event] &&
	       (facts->source_count == 1 ||
		facts->tables->threads[sample->thread].recording == facts->source->number);
}

/* What is written in the summary, and as lines for people. */
struct page_words {
	struct json json;
	struct tally_buf lines;
};

/* page_notes.c: adds objects {"text", "remedy"}, and lines "TEXT: REMEDY": losses, what filters
 * chose, improbable counts, functions without names, cut call chains.  0 or -ENOMEM. */
int tally_page_notes(const struct page_facts *facts, struct page_words *words);

/* page_sentence.c: adds the sentence about what limits, on a machine of so many CPUs (0: unknown).
 * `tables` are complete.  0 or -ENOMEM. */
int tally_page_sentence(const struct page_tables *tables, uint32_t cpus, struct tally_buf *to);

/* page_rows.c: gives the options' `row` the hottest functions, then the longest waits.  0 or
 * -ENOMEM. */
int tally_page_rows(const struct page_tables *tables, const struct tally_page_options *page);

/* page_difference.c: the same of a difference: how much more or less there is, and which functions
 * changed most.  0 or -ENOMEM. */
int tally_page_difference_sentence(const struct page_facts *facts, struct tally_buf *to);

/* page_cut.c: how much of an event's call chains does not reach the start of its thread, as
 * profile/chain_ends.h has it.  0 or -ENOMEM. */
int tally_page_cut_chains(const struct page_facts *facts, uint32_t event,
			  struct tally_chain_ends *ret);

/* page_summary.c: the whole summary; of the lines, the first is the sentence.  0 or -ENOMEM. */
int tally_page_summary(const struct page_facts *facts, const char *title, struct page_words *words);

#endif
