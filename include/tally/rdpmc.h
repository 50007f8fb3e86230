/* A counter of the calling thread, read without a system call where the CPU and the kernel allow
 * it, otherwise by read(2). */
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

/* Reads the counter.  With attr.inherit, and from other threads, it always uses read(2).  The count
 * has times if it was read in user space, or if attr.read_format has them; without them its quality
 * is TALLY_COUNT_PARTIAL.  0; -errno of read(2). */
int tally_rdpmc_read(struct tally_rdpmc *counter, struct tally_count *ret);

/* Whether a read now needs no system call.  A counter that is disabled, or waits for its turn, is
 * not on the hardware, so it needs one. */
bool tally_rdpmc_direct(const struct tally_rdpmc *counter);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
