/* The ioctls of an event's descriptor; source: perf_event_open(2), section "ioctl calls". */
#include <tally/fd.h>

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

/* Newer than the headers of Debian 12; numbers from include/uapi/linux/perf_event.h. */
#ifndef PERF_EVENT_IOC_MODIFY_ATTRIBUTES
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES _IOW('$', 11, struct perf_event_attr *)
#endif

static int fd_ioctl(int fd, unsigned long request, uintptr_t argument)
{
	int result;

	do {
		result = ioctl(fd, request, argument);
	} while (result < 0 && errno == EINTR);
	return result < 0 ? -errno : 0;
}

static uintptr_t ioctl_group(bool group)
{
	return group ? PERF_IOC_FLAG_GROUP : 0;
}

int tally_fd_enable(int fd, bool group)
{
	return fd_ioctl(fd, PERF_EVENT_IOC_ENABLE, ioctl_group(group));
}

int tally_fd_disable(int fd, bool group)
{
	return fd_ioctl(fd, PERF_EVENT_IOC_DISABLE, ioctl_group(group));
}

int tally_fd_reset(int fd, bool group)
{
	return fd_ioctl(fd, PERF_EVENT_IOC_RESET, ioctl_group(group));
}

int tally_fd_refresh(int fd, int count)
{
	if (count < 0)
		return -EINVAL;
	return fd_ioctl(fd, PERF_EVENT_IOC_REFRESH, (uintptr_t)count);
}

int tally_fd_set_period(int fd, uint64_t period)
{
	return fd_ioctl(fd, PERF_EVENT_IOC_PERIOD, (uintptr_t)&period);
}

int tally_fd_set_output(int fd, int to_fd)
{
	return fd_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)(intptr_t)to_fd);
}

int tally_fd_set_filter(int fd, const char *filter)
{
	return fd_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (uintptr_t)filter);
}

int tally_fd_id(int fd, uint64_t *ret)
{
	uint64_t id = 0;
	int error = fd_ioctl(fd, PERF_EVENT_IOC_ID, (uintptr_t)&id);

	if (!error)
		*ret = id;
	return error;
}

int tally_fd_set_bpf(int fd, int program_fd)
{
	return fd_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (uintptr_t)(intptr_t)program_fd);
}

int tally_fd_pause_output(int fd, bool pause)
{
	return fd_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause);
}

int tally_fd_query_bpf(int fd, uint32_t *ids, uint32_t room, uint32_t *ret_count)
{
	struct perf_event_query_bpf *query;
	int error;

	/* The kernel takes at most BPF_TRACE_MAX_PROGS (64) and refuses a larger ids_len. */
	if (room > 64)
		room = 64;
	query = calloc(1, sizeof(*query) + room * sizeof(query->ids[0]));
	if (!query)
		return -ENOMEM;
	query->ids_len = room;
	error = fd_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, (uintptr_t)query);
	/* With -ENOSPC, too, the count is set; the first `room` are filled in. */
	if (!error || error == -ENOSPC) {
		uint32_t filled = query->prog_cnt < room ? query->prog_cnt : room;

		if (filled)
			memcpy(ids, query->ids, filled * sizeof(query->ids[0]));
		*ret_count = query->prog_cnt;
	}
	free(query);
	return error;
}

int tally_fd_modify(int fd, const struct tally_attr *attr)
{
	struct tally_attr sized = *attr;

	sized.size = tally_attr_min_size(attr);
	return fd_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (uintptr_t)&sized);
}

int tally_prctl_enable(void)
{
	return prctl(PR_TASK_PERF_EVENTS_ENABLE) ? -errno : 0;
}

int tally_prctl_disable(void)
{
	return prctl(PR_TASK_PERF_EVENTS_DISABLE) ? -errno : 0;
}
