/* Reading a counter or a group; source of the layout: perf_event_open(2), "Reading results", and
 * enum perf_event_read_format of include/uapi/linux/perf_event.h. */
#include <tally/fd.h>

#include <errno.h>
#include <tally/record.h>
#include <unistd.h>
#include "kernel/counter.h"

#define FORMAT_LOST  (1ULL << 4) /* PERF_FORMAT_LOST, Linux 6.0 */
#define FORMAT_TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define FORMAT_KNOWN                                                                        \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | \
	 PERF_FORMAT_GROUP | FORMAT_LOST)

int tally_counter_split(uint64_t read_format, const uint64_t *words, size_t count,
			struct tally_read *ret)
{
	struct tally_read read = {.read_format = read_format, .nr = 1};
	size_t each =
	    1 + (size_t)__builtin_popcountll(read_format & (PERF_FORMAT_ID | FORMAT_LOST));
	bool group = read_format & PERF_FORMAT_GROUP;
	size_t at = 1, head = 1 + (size_t)__builtin_popcountll(read_format & FORMAT_TIMES);

	if (read_format & ~(uint64_t)FORMAT_KNOWN)
		return -EINVAL;
	if (count < head)
		return -EBADMSG;
	if (group)
		read.nr = words[0];
	else
		read.value = words[0];
	if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		read.time_enabled = words[at++];
	if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		read.time_running = words[at++];
	if (group) {
		if (read.nr > (count - at) / each || read.nr * each != count - at)
			return -EBADMSG;
		read.group = words + at;
	} else {
		if (count != at + each - 1)
			return -EBADMSG;
		if (read_format & PERF_FORMAT_ID)
			read.id = words[at++];
		if (read_format & FORMAT_LOST)
			read.lost = words[at];
	}
	*ret = read;
	return 0;
}

int tally_fd_read(int fd, uint64_t read_format, uint64_t *words, size_t room,
		  struct tally_read *ret)
{
	ssize_t got;

	if (room > SIZE_MAX / sizeof(*words))
		room = SIZE_MAX / sizeof(*words);
	do {
		got = read(fd, words, room * sizeof(*words));
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	/* End of file: a pinned event that did not get onto its PMU, and no longer counts. */
	if (!got)
		return -ENODATA;
	if ((size_t)got % sizeof(*words))
		return -EBADMSG;
	return tally_counter_split(read_format, words, (size_t)got / sizeof(*words), ret);
}
