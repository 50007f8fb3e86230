/* Preloaded into a program, appends to $OPENS_LOG a line for each perf_event_open(2): the attr in
 * hex, 144 bytes, then pid, cpu, group descriptor, flags, and 0 or the error. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define ATTR 144

__attribute__((visibility("default"))) long syscall(long number, ...);

long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	const char *path = getenv("OPENS_LOG");
	uint8_t attr[ATTR] = {0};
	long arguments[6], result;
	uint32_t size;
	va_list list;
	int error;
	FILE *log;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) { /* the kernel writes to it when it fails */
		memcpy(&size, (const char *)arguments[0] + 4, sizeof(size));
		memcpy(attr, (const void *)arguments[0], size < ATTR ? size : ATTR);
	}
	result = next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		      arguments[5]);
	if (number != SYS_perf_event_open || !path)
		return result;
	error = errno;
	log = fopen(path, "ae");
	if (log) {
		for (int i = 0; i < ATTR; i++)
			fprintf(log, "%02x", attr[i]);
		fprintf(log, " %d %d %d %lu %d\n", (int)arguments[1], (int)arguments[2],
			(int)arguments[3], (unsigned long)arguments[4], result < 0 ? error : 0);
		fclose(log);
	}
	errno = error;
	return result;
}
