/* perf's own clock (sched_clock) cannot be read from user space on all machines. But the kernel
 * stamps a record for each renaming of a thread, so this thread sets the name that it has, and
 * reads the record. Source: perf_event_open(2), attr.comm; prctl(2), PR_SET_NAME. */
#include "offcpu/perf_clock.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <tally/abi.h>
#include <tally/fd.h>
#include <tally/open.h>
#include <tally/record.h>
#include <tally/ring.h>

int tally_perf_clock_now(const struct tally_attr *like, uint64_t *ret)
{
	struct tally_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .size = PERF_ATTR_SIZE_VER5,
	    .sample_type = PERF_SAMPLE_TIME,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .sample_id_all = 1,
	    .comm = 1,
	    .use_clockid = like->use_clockid,
	    .clockid = like->clockid,
	};
	struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1, .name = "clock"};
	const struct tally_ring_options options = {.size = sizeof(options), .pages = 1};
	struct tally_sample_id id = {0};
	struct tally_layout layout;
	struct tally_record record;
	struct tally_ring *ring;
	char name[16] = "";
	int fd, result;

	tally_layout_init(&layout, &attr);
	fd = tally_open(&attr, &self, NULL, NULL);
	if (fd < 0)
		return fd;
	result = tally_ring_open(fd, &options, NULL, &ring, NULL);
	if (!result) {
		if (prctl(PR_GET_NAME, name) || prctl(PR_SET_NAME, name))
			result = -errno;
		else if (tally_ring_next(ring, &record) <= 0)
			result = -ENODATA;
		else
			result = tally_sample_id_decode(&layout, &record, &id, NULL);
		tally_ring_close(ring);
	}
	close(fd);
	if (!result)
		*ret = id.time;
	return result;
}
