/* Bytes into a recording's file, or what is behind its descriptor. */
#ifndef TALLY_WRITE_FILE_BYTES_H
#define TALLY_WRITE_FILE_BYTES_H

#include <stdint.h>
#include <sys/uio.h>

#define TALLY_FILE_BEHIND UINT64_MAX /* an offset: the descriptor's own position */

/* Writes all of iov at `at`, also to a pipe that its reader made non-blocking; on failure
 * *ret_wrote is the number of bytes that were written.  0 or -errno. */
int tally_file_write_all(int fd, const struct iovec *iov, int count, uint64_t at,
			 uint64_t *ret_wrote);
/* The bytes of the complete records in the file between `at` and `at + wrote`. */
uint64_t tally_file_whole_records(int fd, uint64_t at, uint64_t wrote);
/* Moves bytes of the file to a lower offset.  0 or -errno. */
int tally_file_move_down(int fd, uint64_t from, uint64_t to, uint64_t size);

#endif
