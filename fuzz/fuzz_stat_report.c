/* A recording of counts of any bytes, through `tally stat report`, in each of its forms. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "stat_command.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const forms[] = {"--no-append", "--json",     "-j",          "-x;",
					    "-A",          "--per-core", "--per-thread"};
	int fd = memfd_create("input", MFD_CLOEXEC);
	FILE *quiet = fopen("/dev/null", "we"), *before = stderr;
	char path[64];

	if (!quiet || fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	stderr = quiet; /* what it says of damage; sanitizers write to the descriptor */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		stat_report(5, (char *[]){"report", "-o", "/dev/null", (char *)(uintptr_t)forms[i],
					  path, NULL});
	stderr = before;
	fclose(quiet);
	close(fd);
	return 0;
}
