/* What unwinding costs: the tables of binaries, and the frames of this program's own stack.
 *
 * Prints one JSON object: of each binary that is named the milliseconds to read it, to find the
 * first rules, and to compile all, with the bytes of memory; nanoseconds of a frame, and of a
 * sample of 30 frames whose code was looked up before, the least of many rounds. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include "base/bytes.h"
#include "elf/elf_file.h"
#include "unwind/unwind.h"

#define ROUNDS 20000
#define DEPTH  29
#define COPIED 16384
#define CODES  1024

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

struct table {
	struct tally_cfi *cfi;
	struct cfi_section section;
	double read_ms;
};

static int table_open(const char *path, struct table *ret)
{
	const struct tally_elf_section *section;
	struct cfi_section none = {0};
	struct tally_elf elf;
	double start = now();
	char *bytes;
	int result = tally_elf_open(path, &elf);

	if (result)
		return result;
	section = tally_elf_find(&elf, ".eh_frame", SHT_NULL);
	result = section ? tally_elf_read(&elf, section, &bytes, &ret->section.size) : -1;
	if (!result) {
		ret->section.bytes = (uint8_t *)bytes;
		ret->section.address = section->header.sh_addr;
		result = tally_cfi_new(&ret->section, &none, 8, &ret->cfi);
	}
	tally_elf_close(&elf);
	ret->read_ms = (now() - start) / 1e6;
	return result;
}

static void table_close(struct table *table)
{
	tally_cfi_free(table->cfi);
	free((void *)table->section.bytes);
}

static int first_row(void *context, uint64_t from, const struct cfi_rules *rules)
{
	uint64_t *address = context;

	(void)rules;
	*address = from;
	return 1;
}

static int count_row(void *context, uint64_t from, const struct cfi_rules *rules)
{
	(void)from;
	(void)rules;
	++*(size_t *)context;
	return 0;
}

static int measure_tables(const char *path)
{
	struct table table = {0};
	uint64_t address = 0;
	size_t rows = 0, lazy;
	double start, first, all;

	if (table_open(path, &table)) {
		fprintf(stderr, "unwind_cost: %s: no call frame information\n", path);
		return 1;
	}
	start = now();
	tally_cfi_each(table.cfi, first_row, &address);
	first = now() - start;
	lazy = tally_cfi_memory(table.cfi);
	start = now();
	tally_cfi_each(table.cfi, count_row, &rows);
	all = now() - start;
	printf("{\"path\": \"%s\", \"section_bytes\": %zu, \"functions\": %zu, \"read_ms\": %.2f, "
	       "\"first_us\": %.1f, \"lazy_bytes\": %zu, \"all_ms\": %.1f, \"rows\": %zu, "
	       "\"all_bytes\": %zu}",
	       path, table.section.size, tally_cfi_function_count(table.cfi), table.read_ms,
	       first / 1e3, lazy, all / 1e6, rows, tally_cfi_memory(table.cfi));
	table_close(&table);
	return 0;
}

/* --- this program's own stack --- */

struct own {
	struct table table;
	uint64_t load; /* where the program is mapped */
	struct {
		uint64_t address;
		const struct cfi_rules *rules;
	} codes[CODES];
	ucontext_t context;
	uint8_t stack[COPIED];
};

/* As the recorder looks up code: what was found before is kept by address. */
static const struct cfi_rules *find_code(void *context, uint64_t address)
{
	struct own *own = context;
	size_t slot = hash_u64(address) % CODES;

	if (own->codes[slot].address != address) {
		own->codes[slot].address = address;
		own->codes[slot].rules = tally_cfi_find(own->table.cfi, address - own->load);
	}
	return own->codes[slot].rules;
}

static int read_nothing(void *context, uint64_t address, void *ret, size_t size)
{
	(void)context;
	(void)address;
	(void)ret;
	(void)size;
	return -1;
}

__attribute__((noinline)) static int descend(struct own *own, int depth)
{
	volatile int here = depth;

	if (depth)
		return descend(own, depth - 1) + here;
	getcontext(&own->context);
#ifdef __x86_64__
	memcpy(own->stack, (const void *)own->context.uc_mcontext.gregs[REG_RSP], COPIED);
#endif
	return here;
}

/* A stack that is deep enough to be copied from any frame of it. */
__attribute__((noinline)) static int with_room(struct own *own)
{
	volatile char room[COPIED];

	room[0] = room[COPIED - 1] = 1;
	return descend(own, DEPTH) + room[0];
}

static uint64_t load_address(void)
{
	extern const char __executable_start[];

	return (uint64_t)(uintptr_t)__executable_start;
}

int main(int argc, char **argv)
{
	static struct own own;
	uint64_t frames[64], values[24] = {0};
	struct tally_unwind_start start = {.arch = TALLY_UNWIND_X86_64,
					   .mask = 0xff01ff,
					   .values = values,
					   .stack = own.stack,
					   .stack_size = COPIED};
	const struct tally_unwind_world world = {&own, find_code, read_nothing};
	double least = 1e18, plain = 1e18;
	uint32_t count = 0;

	printf("{\"tables\": [");
	for (int i = 1; i < argc; i++) {
		if (i > 1)
			printf(", ");
		if (measure_tables(argv[i]))
			return 1;
	}
	printf("]");
#ifdef __x86_64__
	if (table_open("/proc/self/exe", &own.table))
		return 1;
	own.load = load_address();
	with_room(&own);
	{
		static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					    REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
					    REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

		for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
			values[i] = (uint64_t)own.context.uc_mcontext.gregs[order[i]];
	}
	for (int round = 0; round < ROUNDS; round++) {
		double from = now(), until;

		count = tally_unwind(&start, &world, frames, 30);
		until = now();
		if (until - from < least)
			least = until - from;
		from = now();
		if (now() - from < plain)
			plain = now() - from;
	}
	printf(", \"frames\": %u, \"sample_ns\": %.0f, \"frame_ns\": %.1f", count, least - plain,
	       (least - plain) / count);
	table_close(&own.table);
#endif
	printf("}\n");
	return 0;
}
