/* The words of one read(2) of a counter, taken apart. */
#ifndef TALLY_KERNEL_COUNTER_H
#define TALLY_KERNEL_COUNTER_H

#include <stddef.h>
#include <stdint.h>

struct tally_read;

/* `count` words as the kernel gave them for `read_format`.  *ret borrows them.  -EBADMSG when their
 * number is not what the format says, -EINVAL for bits of read_format that nobody defined. */
int tally_counter_split(uint64_t read_format, const uint64_t *words, size_t count,
			struct tally_read *ret);

#endif
