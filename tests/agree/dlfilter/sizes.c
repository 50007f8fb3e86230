/* Asks resolve_address() and al_cleanup() for answers of all sizes, in memory of exactly that size:
 * a host that writes past it is found by the address sanitizer, and by the bytes around. */
#include <perf/perf_dlfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

static int ask(void *ctx, unsigned long long address, __u32 size)
{
	size_t room = size < sizeof(__u32) ? sizeof(__u32)
		      : size > 4096        ? sizeof(struct perf_dlfilter_al)
					   : size;
	unsigned char *memory = malloc(room), expected[sizeof(struct perf_dlfilter_al)];
	struct perf_dlfilter_al full = {.size = sizeof(full)};
	size_t filled = room < sizeof(full) ? room : sizeof(full);
	int wrong;

	if (!memory)
		return 1;
	memset(memory, 0xa5, room);
	memcpy(memory, &size, sizeof(size));
	wrong = perf_dlfilter_fns.resolve_address(ctx, address, (void *)memory) ||
		perf_dlfilter_fns.resolve_address(ctx, address, &full);
	memcpy(expected, &full, sizeof(full));
	memcpy(expected, &size, sizeof(size)); /* stays what it was */
	wrong |= size >= sizeof(size) && memcmp(memory, expected, filled) != 0;
	for (size_t i = filled; i < room; i++)
		wrong |= memory[i] != 0xa5;
	if (perf_dlfilter_fns.al_cleanup)
		perf_dlfilter_fns.al_cleanup(ctx, (void *)memory);
	free(memory);
	return wrong;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	static const __u32 sizes[] = {0, 1, 4, 8, 16, 24, 79, 80, 87, 88, 104, 4096, 4294967295U};
	unsigned char code[8], guard[8];

	(void)data;
	if (sample->size != sizeof(*sample))
		printf("sample of %u bytes\n", sample->size);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (ask(ctx, sample->ip, sizes[i]) || ask(ctx, 1, sizes[i]))
			printf("size %u is wrong\n", sizes[i]);
	memset(guard, 0xa5, sizeof(guard));
	memcpy(code, guard, sizeof(code));
	/* Where there is code at all. */
	if (!perf_dlfilter_fns.object_code(ctx, sample->ip, code, 0) &&
	    (perf_dlfilter_fns.object_code(ctx, sample->ip, code, 3) != 3 ||
	     memcmp(code + 3, guard, 5) != 0))
		printf("three bytes of code are wrong\n");
	if (perf_dlfilter_fns.resolve_address(ctx, sample->ip, NULL) != -1)
		printf("no answer wanted is wrong\n");
	printf("asked\n");
	return 1;
}
