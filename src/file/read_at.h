/* The file's bytes copied out instead of looked at in the mapping: for who reads a piece once, a
 * copy to a small buffer costs less than the page faults of the mapping. */
#ifndef TALLY_FILE_READ_AT_H
#define TALLY_FILE_READ_AT_H

#include <tally/data.h>

/* Whether the block's bytes are the file's own, so that they can be read from it too. */
bool tally_data_block_in_place(const struct tally_data *data, const struct tally_block *block);
/* All `size` bytes from `offset` of the file on; callable by any thread.  0, -EIO when the file
 * became shorter, or another -errno. */
int tally_data_read_at(const struct tally_data *data, uint64_t offset, void *to, size_t size);
/* The block's bytes take no memory until they are looked at again, if they are the file's own. */
void tally_data_forget(const struct tally_data *data, const struct tally_block *block);
#endif
