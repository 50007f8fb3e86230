/* For one pass over the mapped bytes of a file: without this, page faults would take most of the
 * time, and the bytes that were read would fill the memory. */
#ifndef TALLY_FILE_IN_PLACE_H
#define TALLY_FILE_IN_PLACE_H

#include <tally/data.h>

/* Whether the block's bytes are the file's own. */
bool tally_data_block_in_place(const struct tally_data *data, const struct tally_block *block);
/* Maps the block's pages at once if they are the file's own: madvise(2), MADV_POPULATE_READ.  0, or
 * -EIO when the file became shorter than that.  Kernels before Linux 5.14 map them when they are
 * accessed.  Callable by any thread. */
int tally_data_populate(const struct tally_data *data, const struct tally_block *block);
/* Releases the memory of the block's bytes, if they are the file's own; they are read again when
 * they are accessed. */
void tally_data_forget(const struct tally_data *data, const struct tally_block *block);

#endif
