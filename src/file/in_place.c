#include "file/in_place.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "file/flatten.h"

/* Source: asm-generic/mman-common.h of Linux 5.14; older headers lack it. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

bool tally_data_block_in_place(const struct tally_data *data, const struct tally_block *block)
{
	const struct tally_mapped *map = &data->file;
	uint64_t base = 0;

	if (data->flat && block->offset >= data->flat->base) {
		map = &data->flat->spool->map;
		base = data->flat->base;
	} else if (data->stream) {
		map = &data->stream->map;
	}
	return block->offset - base <= map->size &&
	       block->size <= map->size - (block->offset - base) &&
	       block->bytes == map->data + (block->offset - base);
}

int tally_data_populate(const struct tally_data *data, const struct tally_block *block)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)block->bytes & ~(page - 1);
	uintptr_t end = (uintptr_t)block->bytes + block->size;

	if (start >= end || !tally_data_block_in_place(data, block))
		return 0;
	while (madvise((void *)start, end - start, MADV_POPULATE_READ))
		if (errno != EINTR)
			return errno == EFAULT ? -EIO : 0;
	return 0;
}

void tally_data_forget(const struct tally_data *data, const struct tally_block *block)
{
	if (tally_data_block_in_place(data, block))
		tally_file_forget(block->bytes, 0, block->size);
}
