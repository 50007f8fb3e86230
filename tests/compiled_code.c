/* A program for tests, which makes machine code at run time as compilers do, runs it, and says so
 * in a perf map or in a dump.  Usage: compiled_code [OPTION]... map          writes
 * /tmp/perf-PID.map, with names as Python's trampolines have dump         writes jit-PID.dump here
 *   swapped      the dump is in the other byte order
 *   unwind       the dump has call frame information of `second`
 *   v8           the addresses of lines are as V8 has them, and the header has the time of day
 *   wait=FILE    creates FILE when all has run, and ends when it is removed
 *   arena        only calls functions through trampolines as Python's, named by a map
 * Each function runs for a while: `first` at one address, then `second` at the same address, then
 * `moved` at another address and, once moved, at the address of `second`.
 * Prints its process id.  Exit status 77: this machine is none that it has code for. */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE  4096U
#define SHIFT 0x40U /* of V8 */

static bool swapped, v8;
static FILE *map, *dump;
static volatile uint64_t sink;

/* push %rbp; mov %rsp,%rbp; mov %rdi,%rcx; 1: dec %rcx; jnz 1b; pop %rbp; ret */
static const uint8_t with_frame_pointer[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf9,
					     0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3};
/* sub $72,%rsp; mov %rdi,%rcx; 1: dec %rcx; jnz 1b; add $72,%rsp; ret */
static const uint8_t without_frame_pointer[] = {0x48, 0x83, 0xec, 0x48, 0x48, 0x89,
						0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb,
						0x48, 0x83, 0xc4, 0x48, 0xc3};
#define CODE_ROOM 24U /* where call frame information of the second is laid out */

static void put(uint64_t value, size_t size)
{
	if (swapped && size == 8)
		value = __builtin_bswap64(value);
	else if (swapped && size == 4)
		value = __builtin_bswap32((uint32_t)value);
	fwrite(&value, size, 1, dump);
}

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void prefix(uint32_t id, size_t size)
{
	put(id, 4);
	put(size, 4);
	put(now(CLOCK_MONOTONIC), 8);
}

static void open_dump(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	dump = fd < 0 ? NULL : fdopen(fd, "w");
	if (!dump || ftruncate(fd, 1) || /* profilers find the file by this mapping */
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		exit(1);
	put(0x4A695444, 4);
	put(1, 4);
	put(40, 4);
	put(EM_X86_64, 4);
	put(0, 4);
	put((uint64_t)getpid(), 4);
	put(v8 ? now(CLOCK_REALTIME) / 1000 : now(CLOCK_MONOTONIC), 8);
	put(0, 8);
}

/* Two lines: 10 from the start on, 20 for the loop. */
static void dump_lines(const uint8_t *at)
{
	static const char file[] = "/srv/made up.js";
	uint64_t shift = v8 ? SHIFT : 0;

	prefix(2, 32 + 2 * 16 + sizeof(file) + 2);
	put((uintptr_t)at, 8);
	put(2, 8);
	put((uintptr_t)at + shift, 8);
	put(10, 4);
	put(0, 4);
	fwrite(file, sizeof(file), 1, dump);
	put((uintptr_t)at + 7 + shift, 8);
	put(20, 4);
	put(0, 4);
	fwrite("\xff", 2, 1, dump); /* the same file */
}

/* Of a function that takes 72 bytes of the stack in its first 4 bytes. */
static void dump_unwinding(void)
{
	static const uint8_t common[] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
					 1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};
	const uint32_t frame[] = {16, 28, -(CODE_ROOM + 32), sizeof(without_frame_pointer)};
	static const uint8_t rules[] = {0, 0x44, 0x0e, 80, 0, 0, 0, 0}; /* and the end */
	static const uint8_t kinds[] = {1, 0x1b, 3, 0x3b};
	const uint32_t index[] = {-(uint32_t)52, 1, -(CODE_ROOM + 48), -(uint32_t)24};

	prefix(4, 40 + 48 + 20);
	put(48 + 20, 8);
	put(20, 8);
	put(48 + 20, 8);
	fwrite(common, sizeof(common), 1, dump);
	fwrite(frame, sizeof(frame), 1, dump);
	fwrite(rules, sizeof(rules), 1, dump);
	fwrite(kinds, sizeof(kinds), 1, dump);
	fwrite(index, sizeof(index), 1, dump);
}

static void say(const uint8_t *at, const char *name, const uint8_t *code, size_t size,
		unsigned index)
{
	if (map) {
		fprintf(map, "%lx %zx py::%s:/srv/app.py\n", (unsigned long)(uintptr_t)at, size,
			name);
		fflush(map);
	}
	if (!dump)
		return;
	prefix(0, 56 + strlen(name) + 1 + size);
	put((uint64_t)getpid(), 4);
	put((uint64_t)getpid(), 4);
	put((uintptr_t)at, 8);
	put((uintptr_t)at, 8);
	put(size, 8);
	put(index, 8);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, size, 1, dump);
	fflush(dump);
}

static void place(uint8_t *at, const uint8_t *code, size_t size)
{
	uint8_t *page = (uint8_t *)((uintptr_t)at / PAGE * PAGE);

	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		exit(1);
	memcpy(at, code, size);
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		exit(1);
}

/* A quarter of a second of the processor's time. */
__attribute__((noinline)) void run_code(const uint8_t *at);
void run_code(const uint8_t *at)
{
	uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + 250000000;

	while (now(CLOCK_PROCESS_CPUTIME_ID) < end) {
		((void (*)(uint64_t))(uintptr_t)at)(100000);
		sink++;
	}
}

/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret: as Python/asm_trampoline.S of CPython 3.12. */
static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
				     0x48, 0x83, 0xc4, 0x08, 0xc3};

struct arena {
	const uint8_t *inner;
	uint64_t end;
};
typedef long (*evaluator)(struct arena *arena, long inside);
typedef long (*through)(struct arena *arena, long inside, long unused, evaluator call);

__attribute__((noinline)) long evaluate(struct arena *arena, long inside);
long evaluate(struct arena *arena, long inside)
{
	volatile long sum = inside;

	if (!inside)
		sum += ((through)(uintptr_t)arena->inner)(arena, 1, 0, evaluate);
	while (inside && now(CLOCK_PROCESS_CPUTIME_ID) < arena->end) {
		for (long i = 0; i < 1000000; i++)
			sum += i;
	}
	return sum;
}

/* Copies fill memory before it may be run, the first of them is in use, too. */
__attribute__((noinline)) int run_arena(void);
int run_arena(void)
{
	size_t size = (size_t)PAGE * 16;
	uint8_t *memory =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct arena arena = {.end = now(CLOCK_PROCESS_CPUTIME_ID) + 300000000};

	if (memory == MAP_FAILED)
		return 1;
	for (size_t at = 0; at + sizeof(trampoline) <= size; at += sizeof(trampoline))
		memcpy(memory + at, trampoline, sizeof(trampoline));
	if (mprotect(memory, size, PROT_READ | PROT_EXEC))
		return 1;
	arena.inner = memory + 300 * sizeof(trampoline);
	say(memory, "outer", trampoline, sizeof(trampoline), 0);
	say(arena.inner, "inner", trampoline, sizeof(trampoline), 0);
	sink += (uint64_t)((through)(uintptr_t)memory)(&arena, 0, 0, evaluate);
	sink++;
	return 0;
}

static void wait_for(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT, 0644);

	close(fd);
	while (!access(file, F_OK))
		usleep(20000);
}

int main(int argc, char **argv)
{
	const char *file = NULL;
	bool unwind = false, has_dump = false, has_arena = false;
	uint8_t *memory, *other;

	setvbuf(stdout, NULL, _IOLBF, 0);
#ifndef __x86_64__
	return 77;
#endif
	for (int i = 1; i < argc; i++) {
		char name[64];

		swapped |= !strcmp(argv[i], "swapped");
		v8 |= !strcmp(argv[i], "v8");
		unwind |= !strcmp(argv[i], "unwind");
		has_dump |= !strcmp(argv[i], "dump");
		has_arena |= !strcmp(argv[i], "arena");
		if (!strncmp(argv[i], "wait=", 5))
			file = argv[i] + 5;
		snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
		if (!strcmp(argv[i], "map") || has_arena)
			map = fopen(name, "w");
	}
	if (has_arena)
		return run_arena();
	if (has_dump)
		open_dump();
	memory =
	    mmap(NULL, (size_t)PAGE * 2, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	other = memory + PAGE;
	printf("%d\n", (int)getpid());
	if (dump)
		dump_lines(memory);
	say(memory, "first", with_frame_pointer, sizeof(with_frame_pointer), 0);
	place(memory, with_frame_pointer, sizeof(with_frame_pointer));
	run_code(memory);
	if (dump && unwind)
		dump_unwinding();
	say(dump ? memory : memory + 256, "second", without_frame_pointer,
	    sizeof(without_frame_pointer), 1);
	place(dump ? memory : memory + 256, without_frame_pointer, sizeof(without_frame_pointer));
	run_code(dump ? memory : memory + 256);
	say(other, "moved", with_frame_pointer, sizeof(with_frame_pointer), 2);
	place(other, with_frame_pointer, sizeof(with_frame_pointer));
	run_code(other);
	if (dump) {
		prefix(1, 64);
		put((uint64_t)getpid(), 4);
		put((uint64_t)getpid(), 4);
		put((uintptr_t)memory, 8);
		put((uintptr_t)other, 8);
		put((uintptr_t)memory, 8);
		put(sizeof(with_frame_pointer), 8);
		put(2, 8);
		fflush(dump);
		place(memory, with_frame_pointer, sizeof(with_frame_pointer));
		run_code(memory);
		prefix(3, 16);
		fclose(dump);
	}
	if (map)
		fclose(map);
	if (file)
		wait_for(file);
	return 0;
}
