/* For going once over the bytes of the file, in its mapping: without this, page faults would cost
 * most of the time, and what was read would fill the memory. */
#ifndef TALLY_FILE_IN_PLACE_H
#define TALLY_FILE_IN_PLACE_H

#include <tally/data.h>

/* Whether the block's bytes are the file's own. */
bool tally_data_block_in_place(const struct tally_data *data, const struct tally_block *block);
/* Maps the block's pages at once if they are the file's own: madvise(2), MADV_POPULATE_READ.  0, or
 * -EIO when the file became shorter than that.  A kernel that cannot (before Linux 5.14) maps them
 * when they are looked at.  Callable by any thread. */
int tally_data_populate(const struct tally_data *data, const struct tally_block *block);
/* The block's bytes take no memory until they are looked at again, if they are the file's own. */
void tally_data_forget(const struct tally_data *data, const struct tally_block *block);

#endif
