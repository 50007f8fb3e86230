#include "file/read_at.h"

#include <errno.h>
#include <unistd.h>
#include "file/flat.h"

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

void tally_data_forget(const struct tally_data *data, const struct tally_block *block)
{
	if (tally_data_block_in_place(data, block))
		tally_file_forget(block->bytes, 0, block->size);
}

int tally_data_read_at(const struct tally_data *data, uint64_t offset, void *to, size_t size)
{
	int fd = data->stream ? data->stream->fd : data->fd;
	uint8_t *at = to;

	if (data->flat && offset >= data->flat->base) {
		fd = data->flat->spool->fd;
		offset -= data->flat->base;
	}
	while (size) {
		ssize_t got = pread(fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}
