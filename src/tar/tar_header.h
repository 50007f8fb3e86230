/* A header block of a tar file.  Source: POSIX pax, "ustar Interchange Format". */
#ifndef TALLY_TAR_TAR_HEADER_H
#define TALLY_TAR_TAR_HEADER_H

#include <stdint.h>

#define TAR_BLOCK 512U

struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155];
	char rest[12];
};

/* The sum of all bytes, those of the sum itself as spaces. */
static inline uint32_t tar_checksum(const struct tar_header *header)
{
	const uint8_t *bytes = (const uint8_t *)header;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : bytes[i];
	return sum;
}

#endif
