/* Shared by all resolvers of a session: the images, frames, stacks and threads so far, by
 * number. */
#ifndef TALLY_RESOLVE_RESOLVE_TABLES_H
#define TALLY_RESOLVE_RESOLVE_TABLES_H

#include <stdatomic.h>
#include "base/map.h"
#include "callchain/lbr_stitch.h"
#include "image/image.h"
#include "resolve/debug_dirs.h"
#include "resolve/frames.h"
#include "resolve/mapping_image.h"
#include "resolve/source_texts.h"
#include "resolve/stacks.h"
#include "resolve/thread_numbers.h"
#include "source/source.h"

struct tally_resolve_tables {
	const struct tally_source *source;
	struct tally_debug_dirs debug_dirs;
	struct tally_image_store *images;
	struct tally_recorded_symbols recorded;
	struct tally_frames frames;
	struct tally_chain_images *chain_images;
	struct tally_stacks stacks;
	struct tally_source_texts source_texts;
	struct tally_thread_numbers threads_met;
	uint32_t unwind_most; /* frames of a chain that is unwound */
	/* struct tally_session_options */
	bool no_inlines, inlines, places, branch_history;
	atomic_bool
	    inlines_met; /* an unwound address had inlined functions, so it is many frames */
	struct tally_lbr_stitches *stitches; /* NULL: chains are not stitched */
	struct tally_map build_ids; /* hash of a filename -> index in the data's info, + 1 */
	const struct tally_mapping *kernel; /* of the kernel's text; NULL: no record has it */
	bool kernel_guessed; /* none does, and it is the running kernel, or the options name it */
};

/* Of a source that was opened, which is borrowed; the memory is all zero.  0, -ENOMEM, or -errno of
 * a folder or archive that an option names; the tables are for tally_resolve_tables_done() in any
 * case. */
int tally_resolve_tables_init(struct tally_resolve_tables *tables,
			      const struct tally_source *source,
			      const struct tally_session_options *options,
			      struct tally_error *error);
void tally_resolve_tables_done(struct tally_resolve_tables *tables);
/* To be called when the source's mappings have changed; numbers do not change.  0 or -ENOMEM. */
int tally_resolve_tables_renew(struct tally_resolve_tables *tables);

/* Samples are read in order from the first one on, or those of the next window of a live source. */
void tally_resolve_tables_begin(struct tally_resolve_tables *tables);

#endif
