/* Prints what the kernel allows this process. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/limits.h>

int main(void)
{
	struct tally_limits limits = {.size = sizeof(limits)};

	if (tally_limits_read(NULL, &limits))
		return 1;
	printf("kernel.perf_event_paranoid is %d\n", limits.paranoid);
	printf("at most %" PRId64 " samples a second, %" PRId64 " frames a call chain\n",
	       limits.max_sample_rate, limits.max_stack);
	printf("%s CAP_PERFMON\n", limits.perfmon ? "with" : "without");
	return 0;
}
