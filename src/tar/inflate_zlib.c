#include "tar/inflate_zlib.h"

#include <errno.h>
#include <libdeflate.h>

int tally_inflate_zlib(const uint8_t *from, size_t size, uint8_t *to, size_t to_size)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	enum libdeflate_result result;

	if (!decompressor)
		return -ENOMEM;
	result = libdeflate_zlib_decompress(decompressor, from, size, to, to_size, NULL);
	libdeflate_free_decompressor(decompressor);
	return result == LIBDEFLATE_SUCCESS ? 0 : -EBADMSG;
}
