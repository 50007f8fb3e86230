/* The different sets of rules of an image, each kept once, at places that stay while more are
 * added: readers need no lock. */
#ifndef TALLY_UNWIND_CFI_SETS_H
#define TALLY_UNWIND_CFI_SETS_H

#include "base/map.h"
#include "unwind/cfi_program.h"

#define CFI_SET_BLOCKS 22U

struct cfi_sets {
	uint8_t *blocks[CFI_SET_BLOCKS]; /* each twice as large as the one before */
	size_t used;                     /* offsets up to here are taken */
	size_t most;                     /* bytes; no more are kept */
	size_t taken;                    /* bytes of memory */
	struct tally_map known;          /* hash -> offset + 1 */
};

/* The offset of a set; -EINVAL: it cannot be kept; -ENOSPC: nor any other new one; -ENOMEM.
 * `section`: where expressions are. */
int64_t tally_cfi_sets_add(struct cfi_sets *sets, const struct cfi_section *section,
			   const struct cfi_common *common, const struct cfi_state *state);
const struct cfi_rules *tally_cfi_sets_at(const struct cfi_sets *sets, uint32_t offset);
void tally_cfi_sets_done(struct cfi_sets *sets);

#endif
