/* Reads the samples of a piece of the file whose headers were already checked. */
#ifndef TALLY_SOURCE_PIECE_H
#define TALLY_SOURCE_PIECE_H

#include "source/source.h"

/* Releases the memory of the pieces' bytes, which are read again when they are accessed.  Each call
 * stops all threads for a moment (because of the page tables), so use it for some MB at once. */
void tally_pieces_forget(const struct tally_source *source, size_t from, size_t until);

/* The next sample from *at on, which is then behind it; false: there is none. */
static inline bool piece_next_sample(const struct source_piece *piece, size_t *at,
				     struct tally_record *ret)
{
	while (*at < piece->size) {
		const uint8_t *bytes = piece->bytes + *at;
		const struct perf_event_header *header = (const void *)bytes;
		const struct tally_record record = {
		    .bytes = bytes,
		    .offset = piece->offset + *at,
		    .type = header->type,
		    .misc = header->misc,
		    .size = header->size,
		};
		size_t size = (size_t)tally_record_extent(&record);

		source_prefetch(bytes, record.size);
		/* It was checked before, but the file may have been changed. */
		if (size < sizeof(*header) || record.size > piece->size - *at)
			return false;
		*at += size;
		if (record.type == PERF_RECORD_SAMPLE) {
			*ret = record;
			return true;
		}
	}
	return false;
}

#endif
