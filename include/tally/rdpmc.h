/* A thread's own counter, read without a system call where the CPU and the kernel let it, else by
 * read(2): the caller need not know which. */
#ifndef TALLY_RDPMC_H
#define TALLY_RDPMC_H

#include <stdbool.h>
#include <tally/attr.h>
#include <tally/count.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_rdpmc;

/* For an event of the calling thread on any CPU, opened with *attr (tally_open(): pid 0, cpu -1);
 * `fd` must outlive it.  On arm64 user space reads what attr.config1 asks for (3: 64 bits, user
 * access) and kernel.perf_user_access allows.  -EINVAL for PERF_FORMAT_GROUP, -ENOMEM. */
int tally_rdpmc_open(int fd, const struct tally_attr *attr, struct tally_rdpmc **ret);
void tally_rdpmc_close(struct tally_rdpmc *counter);

/* Now.  The counter's own: with attr.inherit, and from other threads, it is always read(2).  Times
 * are there when it was read in user space, or attr.read_format has them; without them the quality
 * is TALLY_COUNT_PARTIAL.  0; -errno of read(2). */
int tally_rdpmc_read(struct tally_rdpmc *counter, struct tally_count *ret);

/* Whether a read now would do without a system call.  A counter that is disabled, or waits for its
 * turn, is not on the hardware to be read. */
bool tally_rdpmc_direct(const struct tally_rdpmc *counter);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
