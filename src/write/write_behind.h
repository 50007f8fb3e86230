/* A thread that does writes later, so that who asks for them does not wait for the disk.
 *
 * What is to be written is copied to a buffer of a fixed size; only when that is full the caller
 * waits.  The writes are done one after another, in the order in which they were put. */
#ifndef TALLY_WRITE_WRITE_BEHIND_H
#define TALLY_WRITE_WRITE_BEHIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <tally/error.h>

struct tally_write_behind;

/* Does one write: what `op` means is the user's; `bytes` are those that were put.  0 or -errno with
 * words. */
typedef int (*tally_write_behind_fn)(void *context, unsigned op, const void *bytes, size_t size,
				     struct tally_error *error);

int tally_write_behind_new(size_t room, tally_write_behind_fn write, void *context,
			   struct tally_write_behind **ret);
/* One thread at a time.  0, or the failure of an earlier write: after it nothing is written. */
int tally_write_behind_put(struct tally_write_behind *behind, unsigned op, const struct iovec *iov,
			   int count, struct tally_error *error);
/* Waits until all is written, and ends the thread.  0, or the failure of a write.  NULL is fine. */
int tally_write_behind_finish(struct tally_write_behind *behind, struct tally_error *error);

#endif
