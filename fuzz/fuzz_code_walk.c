/* Machine code without call frame information: the input is code, and unwinding from each of its
 * bytes ends. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CODE_AT  0x3000
#define STACK_AT 0x7ff000

struct code {
	const uint8_t *bytes;
	size_t size;
};

static const struct cfi_rules *find_code(void *context, uint64_t address)
{
	(void)context;
	(void)address;
	return &tally_cfi_none;
}

static int read_code(void *context, uint64_t address, void *ret, size_t size)
{
	const struct code *code = context;

	memset(ret, 0, size);
	if (address < CODE_AT || address - CODE_AT > code->size ||
	    size > code->size - (address - CODE_AT))
		return -ENOENT;
	memcpy(ret, code->bytes + (address - CODE_AT), size);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code code = {data, size};
	uint64_t values[17], stack[64], frames[16];
	const struct tally_unwind_start start = {.arch = TALLY_UNWIND_X86_64,
						 .mask = 0xff01ff,
						 .values = values,
						 .stack = (const uint8_t *)stack,
						 .stack_size = sizeof(stack)};
	const struct tally_unwind_world world = {&code, find_code, read_code, NULL};

	for (size_t at = 0; at < size && at < 256; at++) {
		for (unsigned i = 0; i < 64; i++)
			stack[i] = i % 2 ? CODE_AT + (at + i) % size : STACK_AT + i * 8 + 8;
		for (unsigned i = 0; i < 17; i++)
			values[i] = STACK_AT + i * 8;
		values[7] = STACK_AT;
		values[8] = CODE_AT + at;
		if (tally_unwind(&start, &world, frames, 16) > 16)
			abort();
	}
	return 0;
}
