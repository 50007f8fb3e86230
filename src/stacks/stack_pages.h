/* Pages of stacks that a thread never used: large buffers have such. They are not in memory, and
 * the kernel, which waits for nothing while it samples, ends its copy of the stack there, although
 * the callers are behind. Once they were read they are there, and the next copies go on. */
#ifndef TALLY_STACKS_STACK_PAGES_H
#define TALLY_STACKS_STACK_PAGES_H

#include <stdint.h>

#define TALLY_STACK_PAGES_KNOWN 256

/* One a thread that unwinds; all zero is empty and valid. */
struct tally_stack_pages {
	uint64_t asked[TALLY_STACK_PAGES_KNOWN]; /* hashes of threads and places */
};

/* A copy of the thread's stack ended at `from`, which should have reached `until`. When one ends
 * there again, a byte of each page in between is read, as far as it is the same memory of no file;
 * once for each such place. What
 * cannot be read is left: the process may be another user's, or gone. */
void tally_stack_pages_read(struct tally_stack_pages *pages, uint32_t pid, uint32_t tid,
			    uint64_t from, uint64_t until);

#endif
