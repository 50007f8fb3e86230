#include "elf/debugdata.h"

#include <errno.h>
#include <stdlib.h>
#include <lzma.h>

/* What xz -9 needs. */
#define DECODER_LIMIT ((uint64_t)80 << 20)

static int unpack(lzma_stream *stream, uint64_t most, char **ret, size_t *ret_size)
{
	size_t room = 65536, size = 0;
	char *data = NULL;

	for (;;) {
		char *grown = realloc(data, room);
		lzma_ret state;

		if (!grown) {
			free(data);
			return -ENOMEM;
		}
		data = grown;
		stream->next_out = (uint8_t *)data + size;
		stream->avail_out = room - size;
		state = lzma_code(stream, LZMA_FINISH);
		size = room - stream->avail_out;
		if (state == LZMA_STREAM_END)
			break;
		if (state != LZMA_OK || stream->avail_out || room >= most) {
			free(data);
			return room >= most ? -EFBIG : -EBADMSG;
		}
		room *= 2;
		if (room > most)
			room = (size_t)most;
	}
	*ret = data;
	*ret_size = size;
	return 0;
}

int tally_debugdata_open(const struct tally_elf *elf, struct tally_elf *ret, char **ret_memory)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".gnu_debugdata", SHT_NULL);
	lzma_stream stream = LZMA_STREAM_INIT;
	char *packed, *data;
	size_t packed_size, size;
	int error;

	if (!section || tally_elf_read(elf, section, &packed, &packed_size))
		return -ENOENT;
	if (lzma_stream_decoder(&stream, DECODER_LIMIT, 0) != LZMA_OK) {
		free(packed);
		return -ENOMEM;
	}
	stream.next_in = (const uint8_t *)packed;
	stream.avail_in = packed_size;
	error = unpack(&stream, elf->allowed, &data, &size);
	lzma_end(&stream);
	free(packed);
	if (error)
		return error;
	error = tally_elf_open_memory(data, size, ret);
	if (error) {
		free(data);
		return -EBADMSG;
	}
	*ret_memory = data;
	return 0;
}
