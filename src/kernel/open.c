/* perf_event_open(2) itself. */
#include <tally/limits.h>
#include <tally/open.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

int tally_open(const struct tally_attr *attr, const struct tally_open_target *target,
	       const struct tally_limits *limits, struct tally_error *error)
{
	struct tally_attr sized = *attr;
	long fd;

	sized.size = tally_attr_min_size(attr);
	fd = syscall(SYS_perf_event_open, &sized, target->pid, target->cpu, target->group_fd,
		     target->flags | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		int errnum = errno;

		/* With E2BIG the kernel has written the size of its own attr. */
		tally_open_explain(errnum, errnum == E2BIG ? &sized : attr, target, limits, error);
		return -errnum;
	}
	return (int)fd;
}
