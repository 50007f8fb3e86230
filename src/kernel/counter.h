/* Decodes the words of one read(2) of a counter. */
#ifndef TALLY_KERNEL_COUNTER_H
#define TALLY_KERNEL_COUNTER_H

#include <stddef.h>
#include <stdint.h>

struct tally_read;

/* `count` words from the kernel for `read_format`. *ret borrows them. -EBADMSG when their number
 * does not fit the format, -EINVAL for undefined bits of read_format. */
int tally_counter_split(uint64_t read_format, const uint64_t *words, size_t count,
			struct tally_read *ret);

#endif
