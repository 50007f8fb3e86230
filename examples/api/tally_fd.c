/* Switches an event on and off, and reads its value. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/abi.h>
#include <tally/fd.h>
#include <tally/open.h>
#include <tally/record.h>
#include <unistd.h>

int main(void)
{
	const struct tally_attr attr = {.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_TASK_CLOCK,
					.disabled = 1,
					.exclude_kernel = 1};
	const struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	struct tally_error error;
	struct tally_read value;
	uint64_t words[1];
	int fd = tally_open(&attr, &self, NULL, &error);

	if (fd < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	tally_fd_enable(fd, false);
	for (volatile int i = 0; i < 1000000; i++)
		continue;
	tally_fd_disable(fd, false);
	if (!tally_fd_read(fd, attr.read_format, words, 1, &value))
		printf("%" PRIu64 " ns of CPU time\n", value.value);
	close(fd);
	return 0;
}
