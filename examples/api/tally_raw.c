/* Opens an event with the system call itself. */
#include <stdio.h>
#include <tally/abi.h>
#include <tally/attr.h>
#include <tally/raw.h>
#include <unistd.h>

int main(void)
{
	struct tally_attr attr = {.type = PERF_TYPE_SOFTWARE,
				  .size = PERF_ATTR_SIZE_VER0,
				  .config = PERF_COUNT_SW_PAGE_FAULTS,
				  .exclude_kernel = 1};
	int fd = tally_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		perror("perf_event_open");
		return 1;
	}
	printf("opened\n");
	close(fd);
	return 0;
}
