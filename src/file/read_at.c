#include "file/read_at.h"

#include <errno.h>
#include <unistd.h>
#include "file/data_file.h"

bool tally_data_block_in_place(const struct tally_data *data, const struct tally_block *block)
{
	return data->fd >= 0 && block->offset <= data->file.size &&
	       block->size <= data->file.size - block->offset &&
	       block->bytes == data->file.data + block->offset;
}

int tally_data_read_at(const struct tally_data *data, uint64_t offset, void *to, size_t size)
{
	uint8_t *at = to;

	while (size) {
		ssize_t got = pread(data->fd, at, size, (off_t)offset);

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
