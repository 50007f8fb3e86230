#include "stacks/code_arenas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* Python takes 64 KiB at a time, for thousands of functions. */
#define ARENAS_MOST  1024U
#define STRIDE_LEAST 8U
#define STRIDE_MOST  512U /* with what Python leaves free for unwinding information of its dump */
#define COPIES       4U   /* that must be equal */

struct code_arena {
	uint32_t pid;
	uint64_t start, end; /* of whole copies */
	size_t stride;
	uint8_t copy[STRIDE_MOST];
};

void tally_code_arenas_init(struct tally_code_arenas *arenas)
{
	*arenas = (struct tally_code_arenas){.count = 0};
	pthread_mutex_init(&arenas->lock, NULL);
}

void tally_code_arenas_done(struct tally_code_arenas *arenas)
{
	free(arenas->list);
	pthread_mutex_destroy(&arenas->lock);
}

static int read_memory(uint32_t pid, uint64_t address, void *ret, size_t size)
{
	const struct iovec to = {ret, size}, from = {(void *)(uintptr_t)address, size};

	return process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) == (ssize_t)size ? 0 : -ENODATA;
}

/* How far the copies at the start of some memory are from each other; 0: these are none. */
static size_t stride_of(const uint8_t *bytes)
{
	static const uint8_t zeros[STRIDE_MOST];

	for (size_t stride = STRIDE_LEAST; stride <= STRIDE_MOST; stride++)
		if (!memcmp(bytes, bytes + stride, stride * (COPIES - 1)))
			return memcmp(bytes, zeros, stride) != 0 ? stride : 0;
	return 0;
}

static void keep(struct tally_code_arenas *arenas, const struct code_arena *arena)
{
	struct code_arena *at = NULL;

	pthread_mutex_lock(&arenas->lock);
	if (!arenas->list)
		arenas->list = calloc(ARENAS_MOST, sizeof(*arenas->list));
	for (size_t i = 0; arenas->list && i < arenas->count && !at; i++)
		if (arenas->list[i].pid == arena->pid && arenas->list[i].start == arena->start)
			at = &arenas->list[i];
	/* The oldest one makes room: its process has probably ended. */
	if (!at && arenas->list && arenas->count == ARENAS_MOST)
		at = &arenas->list[arenas->oldest++ % ARENAS_MOST];
	else if (!at && arenas->list)
		at = &arenas->list[arenas->count++];
	if (at)
		*at = *arena;
	pthread_mutex_unlock(&arenas->lock);
}

void tally_code_arenas_see(struct tally_code_arenas *arenas, uint32_t pid, uint64_t start,
			   uint64_t size)
{
	uint8_t bytes[STRIDE_MOST * COPIES];
	struct code_arena arena = {.pid = pid, .start = start};

	if (size < sizeof(bytes) || read_memory(pid, start, bytes, sizeof(bytes)))
		return;
	arena.stride = stride_of(bytes);
	if (!arena.stride)
		return;
	arena.end = start + size / arena.stride * arena.stride;
	memcpy(arena.copy, bytes, arena.stride);
	keep(arenas, &arena);
}

int tally_code_arenas_read(struct tally_code_arenas *arenas, uint32_t pid, uint64_t address,
			   void *ret, size_t size)
{
	uint8_t *to = ret;
	int result = read_memory(pid, address, ret, size);

	if (!result)
		return 0;
	pthread_mutex_lock(&arenas->lock);
	for (size_t i = 0; i < arenas->count && result; i++) {
		const struct code_arena *arena = &arenas->list[i];

		if (arena->pid != pid || address < arena->start || address >= arena->end ||
		    size > arena->end - address)
			continue;
		for (size_t k = 0; k < size; k++)
			to[k] = arena->copy[(address - arena->start + k) % arena->stride];
		result = 0;
	}
	pthread_mutex_unlock(&arenas->lock);
	return result;
}
