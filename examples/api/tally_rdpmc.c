/* Reads a counter of this thread, without a system call where that is possible. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/abi.h>
#include <tally/open.h>
#include <tally/rdpmc.h>
#include <unistd.h>

int main(void)
{
	const struct tally_attr attr = {
	    .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
	const struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	struct tally_rdpmc *counter;
	struct tally_count count;
	struct tally_error error;
	int fd = tally_open(&attr, &self, NULL, &error);

	if (fd < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	if (tally_rdpmc_open(fd, &attr, &counter))
		return 1;
	if (!tally_rdpmc_read(counter, &count))
		printf("%" PRIu64 " ns, read %s a system call\n", count.raw,
		       tally_rdpmc_direct(counter) ? "without" : "with");
	tally_rdpmc_close(counter);
	close(fd);
	return 0;
}
