/* Rows of a database on their way to a thread of their own, in blocks, in order. */
#ifndef TALLY_EXPORT_ROW_QUEUE_H
#define TALLY_EXPORT_ROW_QUEUE_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

struct row_queue;

/* `apply` takes what a block holds, on the queue's thread; after a failure it is not called again.
 * 0 or -errno. */
int tally_row_queue_new(int (*apply)(void *context, const uint8_t *bytes, size_t size),
			void *context, struct row_queue **ret);
/* Ends the thread; what waits is dropped.  NULL is fine. */
void tally_row_queue_free(struct row_queue *queue);
/* Where the next row is appended, whole; its memory is reused. */
struct tally_buf *tally_row_queue_block(struct row_queue *queue);
/* A row was appended: hands the block over when it is full.  0, -ENOMEM, or what `apply` failed
 * with. */
int tally_row_queue_added(struct row_queue *queue);
/* Waits until all rows were taken; the thread does nothing then until the next one.  As above. */
int tally_row_queue_drain(struct row_queue *queue);

#endif
