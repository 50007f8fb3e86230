/* A string in libpfm4's language, split into its words: [pmu::]EVENT[:attribute[=value]]... A dot
 * is the same as a colon. Words borrow from the string. */
#ifndef TALLY_PFM_PFM_TEXT_H
#define TALLY_PFM_PFM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFM_WORDS 64 /* the library takes fewer */

struct pfm_word {
	const char *text; /* a unit mask or modifier, without its value */
	size_t length;
	size_t position;   /* column of its first byte */
	const char *value; /* behind the first `=`; NULL: none */
	size_t value_length;
};

struct pfm_text {
	struct pfm_word pmu;   /* text NULL: none */
	struct pfm_word event; /* may be empty */
	struct pfm_word words[PFM_WORDS];
	size_t count;
};

/* TALLY_PFM_INVAL with *position: a byte that no event contains (`,`, space, tab, newline);
 * TALLY_PFM_TOOMANY. */
int tally_pfm_text_parse(const char *text, struct pfm_text *ret, size_t *position);
/* "y", "t", "1" and "n", "f", "0", in any case; no value means 1. */
bool tally_pfm_word_bool(const struct pfm_word *word, uint64_t *ret);
/* As strtoull() with base 0 reads it: 010 is 8. */
bool tally_pfm_word_integer(const struct pfm_word *word, uint64_t *ret);
bool tally_pfm_word_is(const struct pfm_word *word, const char *name);

#endif
