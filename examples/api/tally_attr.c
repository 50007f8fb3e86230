/* Prints how many bytes of an attr the kernel is given: as few as hold its fields. */
#include <stdio.h>
#include <tally/abi.h>
#include <tally/attr.h>

int main(void)
{
	struct tally_attr attr = {
	    .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .disabled = 1};

	printf("%u bytes\n", tally_attr_min_size(&attr));
	attr.sig_data = 1; /* Linux 5.13 */
	printf("%u bytes with sig_data\n", tally_attr_min_size(&attr));
	return 0;
}
