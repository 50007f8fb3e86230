/* Words for kinds of branches (attr.branch_sample_type), as perf's -j and branch_type= have them.
 */
#ifndef TALLY_ABI_BRANCH_WORDS_H
#define TALLY_ABI_BRANCH_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct tally_branch_word {
	char name[16], help[48];
	uint64_t bits; /* PERF_SAMPLE_BRANCH_* */
};

/* NULL behind the last one. */
const struct tally_branch_word *tally_branch_word_at(size_t index);
/* NULL: unknown. */
const struct tally_branch_word *tally_branch_word_find(const char *text, size_t length);

#endif
