/* Waits until a counter has overflowed. */
#include <stdio.h>
#include <tally/abi.h>
#include <tally/open.h>
#include <tally/overflow.h>
#include <tally/ring.h>
#include <unistd.h>

int main(void)
{
	const struct tally_attr attr = {.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = 1000000, /* 1 ms */
					.wakeup_events = 1,
					.exclude_kernel = 1};
	const struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	const struct tally_ring_options options = {.size = sizeof(options), .pages = 1};
	struct tally_ring *ring = NULL;
	struct tally_error error;
	int fd = tally_open(&attr, &self, NULL, &error);

	if (fd < 0 || tally_ring_open(fd, &options, NULL, &ring, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	while (!(tally_overflow_wait(fd, 0) & TALLY_OVERFLOW_READY))
		continue; /* CPU time is spent, so the clock runs */
	printf("a sample is in the ring\n");
	tally_ring_close(ring);
	close(fd);
	return 0;
}
