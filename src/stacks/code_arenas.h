/* Memory that is full of copies of one small piece of machine code, as Python makes it for its
 * functions (callchain/memory_code.c): kept from when it was mapped, so that chains lead through it
 * when the process has ended. */
#ifndef TALLY_STACKS_CODE_ARENAS_H
#define TALLY_STACKS_CODE_ARENAS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct code_arena;

struct tally_code_arenas { /* thread safe */
	pthread_mutex_t lock;
	struct code_arena *list;
	size_t count, oldest;
};

void tally_code_arenas_init(struct tally_code_arenas *arenas);
void tally_code_arenas_done(struct tally_code_arenas *arenas);

/* Reads memory of a process that runs; what is not such copies is not kept. */
void tally_code_arenas_see(struct tally_code_arenas *arenas, uint32_t pid, uint64_t start,
			   uint64_t size);
/* Reads code of a process: what is there now, else what was kept. 0 or -ENODATA. */
int tally_code_arenas_read(struct tally_code_arenas *arenas, uint32_t pid, uint64_t address,
			   void *ret, size_t size);

#endif
