#include <tally/overflow.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/option_struct.h"

/* Newer than glibc 2.36; source: include/uapi/asm-generic/siginfo.h. */
#define CODE_TRAP_PERF  6
#define FLAG_PERF_ASYNC 1

/* The kernel's siginfo of a SIGTRAP with TRAP_PERF; same source. */
struct perf_siginfo {
	int number, error, code;
	void *addr;
	unsigned long data;
	uint32_t type, flags;
};

_Static_assert(sizeof(struct perf_siginfo) <= sizeof(siginfo_t), "within any siginfo_t");

int tally_overflow_signal(int fd, int signal, pid_t tid)
{
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if (!signal)
		return fcntl(fd, F_SETFL, flags & ~O_ASYNC) ? -errno : 0;
	if (!owner.pid)
		owner.pid = (pid_t)syscall(SYS_gettid);
	/* The receiver and the signal first, so that no overflow is sent elsewhere, or as a plain
	 * SIGIO. */
	if (fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, signal) ||
	    fcntl(fd, F_SETFL, flags | O_ASYNC))
		return -errno;
	return 0;
}

int tally_overflow_wait(int fd, int timeout_ms)
{
	struct pollfd item = {.fd = fd, .events = POLLIN};
	int got = poll(&item, 1, timeout_ms);

	if (got < 0)
		return -errno;
	if (item.revents & POLLNVAL)
		return -EBADF;
	return (item.revents & POLLIN ? TALLY_OVERFLOW_READY : 0) |
	       (item.revents & (POLLHUP | POLLERR) ? TALLY_OVERFLOW_HUNGUP : 0);
}

int tally_sigtrap_decode(const void *info, struct tally_sigtrap *ret)
{
	struct tally_sigtrap own;
	struct perf_siginfo perf;

	memcpy(&perf, info, sizeof(perf));
	if (perf.number != SIGTRAP || perf.code != CODE_TRAP_PERF)
		return -EINVAL;
	own = (struct tally_sigtrap){
	    .addr = (uintptr_t)perf.addr,
	    .data = perf.data,
	    .type = perf.type,
	    .async = perf.flags & FLAG_PERF_ASYNC,
	};
	return tally_result_copy(ret, sizeof(own), &own);
}
