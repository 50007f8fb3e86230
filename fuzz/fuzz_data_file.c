/* A perf.data file of any bytes. */
#include "reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	read_recording(bytes, size);
	return 0;
}
