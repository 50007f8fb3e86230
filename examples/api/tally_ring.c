/* Counts the samples of a function's page faults in its ring. */
#include <stdio.h>
#include <tally/abi.h>
#include <tally/fd.h>
#include <tally/open.h>
#include <tally/record.h>
#include <tally/ring.h>
#include <unistd.h>

static volatile char memory[1 << 20];

int main(void)
{
	const struct tally_attr attr = {.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_PAGE_FAULTS,
					.sample_period = 1,
					.sample_type = PERF_SAMPLE_IP,
					.exclude_kernel = 1};
	const struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	const struct tally_ring_options options = {.size = sizeof(options), .pages = 8};
	struct tally_ring *ring = NULL;
	struct tally_record record;
	struct tally_error error;
	int samples = 0, fd = tally_open(&attr, &self, NULL, &error);

	if (fd < 0 || tally_ring_open(fd, &options, NULL, &ring, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t i = 0; i < sizeof(memory); i += 4096)
		memory[i] = 1;
	tally_fd_disable(fd, false);
	while (tally_ring_next(ring, &record) > 0)
		samples += record.type == PERF_RECORD_SAMPLE;
	printf("%d samples\n", samples);
	tally_ring_close(ring);
	close(fd);
	return 0;
}
