/* Prints the kernel's number of a record type that the system's own header may not know yet. */
#include <stdio.h>
#include <tally/abi.h>
#include <tally/record.h>

int main(void)
{
	unsigned type = PERF_RECORD_CALLCHAIN_DEFERRED;

	printf("%u is PERF_RECORD_%s\n", type, tally_record_type_name(type));
	return 0;
}
