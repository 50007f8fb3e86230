/* The folder in which profiles wait until they are sent: a file each, whose name begins with the
 * time when it was added, so that the order of names is that of age.
 *
 * A file is written under another name, synchronised and renamed, so that those of its own kind are
 * complete.  Several processes may add files; one sends at a time (tally_push_spool_lock()). */
#ifndef TALLY_PUSH_PUSH_SPOOL_H
#define TALLY_PUSH_PUSH_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/error.h>
#include "base/buf.h"

#define SPOOL_NAME_SIZE 40 /* of a file's name, with its NUL */

struct push_spool {
	const char *path; /* borrowed */
	uint64_t most;    /* bytes on disk */
	int folder, lock; /* descriptors; lock: -1 unless it is held */
	uint32_t added;   /* by this process */
};

struct push_entry {
	char name[SPOOL_NAME_SIZE];
	uint64_t size;
};

/* 0; -EPERM, -errno, with words. */
int tally_push_spool_open(struct push_spool *spool, const char *path, uint64_t most,
			  struct tally_error *error);
void tally_push_spool_close(struct push_spool *spool);

/* The entries, the oldest first, the caller's to free(); 0 or -errno. */
int tally_push_spool_list(const struct push_spool *spool, struct push_entry **ret,
			  size_t *ret_count);
/* Called for an entry that makes room for another one. */
typedef void (*push_dropped)(void *context, const struct push_entry *entry);
/* Adds an entry: `head`, then `size` bytes of `body`.  0; -EFBIG: it is larger than the spool;
 * -errno. */
int tally_push_spool_add(struct push_spool *spool, const struct tally_buf *head, FILE *body,
			 uint64_t size, push_dropped dropped, void *context);
/* A descriptor to read it, and its size; -errno. */
int tally_push_spool_read(const struct push_spool *spool, const char *name, uint64_t *ret_size);
/* 0 or -errno. */
int tally_push_spool_remove(const struct push_spool *spool, const char *name);
/* Takes the right to send, without waiting, and removes what writers that were killed left.  0;
 * -EWOULDBLOCK: another process has it; -errno. */
int tally_push_spool_lock(struct push_spool *spool);
void tally_push_spool_unlock(struct push_spool *spool);

#endif
