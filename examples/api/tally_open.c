/* Opens an event as far as this kernel and these rights allow, and prints what was given up. */
#include <stdio.h>
#include <tally/abi.h>
#include <tally/open.h>
#include <unistd.h>

int main(void)
{
	struct tally_attr attr = {.type = PERF_TYPE_SOFTWARE,
				  .config = PERF_COUNT_SW_CPU_CLOCK,
				  .sample_period = 1000000,
				  .precise_ip = 2};
	const struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	struct tally_error error;
	uint32_t given_up;
	int fd = tally_open_relaxed(&attr, &self, NULL, TALLY_RELAXED_ALL, &given_up, &error);

	if (fd < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	printf("opened with precise_ip %d\n", (int)attr.precise_ip);
	for (unsigned i = 0; i < 32; i++)
		if (given_up >> i & 1)
			printf("%s\n", tally_relaxed_name(1u << i));
	close(fd);
	return 0;
}
