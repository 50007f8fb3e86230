/* Call frame information: the first byte chooses section and width of addresses, the rest is the
 * section.  The table is in order, every rule of it can be run, and unwinding through it ends. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STACK_AT 0x7ff000

static void find_code(void *context, uint64_t address, struct tally_unwind_code *ret)
{
	struct tally_cfi *cfi = context;

	*ret = (struct tally_unwind_code){cfi, tally_cfi_find(cfi, address)};
}

static int read_nothing(void *context, uint64_t address, void *ret, size_t size)
{
	(void)context;
	memset(ret, 0, size);
	return address % 2 ? 1 : -ENOENT;
}

static void unwind_from(struct tally_cfi *cfi, enum tally_unwind_arch arch, uint64_t address)
{
	static uint64_t stack[512], values[33];
	uint64_t frames[64];
	const struct tally_unwind_start start = {.arch = arch,
						 .mask = (1ULL << 33) - 1,
						 .values = values,
						 .stack = (const uint8_t *)stack,
						 .stack_size = sizeof(stack)};
	const struct tally_unwind_world world = {cfi, find_code, read_nothing};

	for (unsigned i = 0; i < 33; i++)
		values[i] = STACK_AT + i * 8;
	for (unsigned i = 0; i < 512; i++)
		stack[i] = i % 2 ? address + i % 7 : STACK_AT + i * 8;
	values[arch == TALLY_UNWIND_ARM64 ? 32 : 8] = address;
	values[arch == TALLY_UNWIND_ARM64 ? 31 : 7] = STACK_AT;
	if (tally_unwind(&start, &world, frames, 64) > 64)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_section section, none = {0};
	struct tally_cfi cfi;
	unsigned word;
	bool debug;

	if (!size)
		return 0;
	word = data[0] & 1 ? 4 : 8;
	debug = data[0] & 2;
	section = (struct cfi_section){data + 1, size - 1, 0x4000};
	if (tally_cfi_compile(debug ? &none : &section, debug ? &section : &none, word, &cfi))
		return 0;
	for (size_t i = 0; i < cfi.row_count; i++) {
		uint64_t address = cfi.base + cfi.rows[i].from;

		if ((i && cfi.rows[i].from <= cfi.rows[i - 1].from) ||
		    tally_cfi_find(&cfi, address) != cfi.rows[i].rules)
			abort();
		if (i < 64)
			unwind_from(&cfi, TALLY_UNWIND_X86_64 + i % 3, address);
	}
	tally_cfi_done(&cfi);
	return 0;
}
