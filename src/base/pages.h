/* Memory in pages of its own, which go back to the system when they are freed. malloc() would keep
 * freed memory, and a report's memory use is measured by its maximum. */
#ifndef TALLY_BASE_PAGES_H
#define TALLY_BASE_PAGES_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* `size` zeroed bytes; NULL: out of memory.  For pages_free() with the same size. */
static inline void *pages_new(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

static inline void pages_free(void *pages, size_t size)
{
	if (pages)
		munmap(pages, size);
}

/* The memory of this machine in bytes; 0: unknown. */
static inline uint64_t memory_size(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

/* Gives memory back to the system that malloc() keeps between what is used. */
static inline void memory_give_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

#endif
