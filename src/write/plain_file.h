/* The parts of a file that is written from its start to its end: header, ids, attrs; records; the
 * table of features and their payloads. */
#ifndef TALLY_WRITE_PLAIN_FILE_H
#define TALLY_WRITE_PLAIN_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <tally/attr.h>
#include "base/buf.h"
#include "file/data_file.h"

struct plain_file_event {
	const struct tally_attr *attr;
	const uint64_t *ids;
	size_t id_count;
};

struct plain_file {
	uint32_t attr_size; /* of every attr */
	size_t event_count;
	uint64_t attrs_at, data_at, data_end;
	/* Payloads of features that were added so far, in ascending order of their numbers. */
	uint64_t features[4], sizes[FILE_FEATURES];
	unsigned feature_count;
	struct tally_buf payloads;
};

/* Adds everything before the records to an empty buffer; the header is zero, so that an incomplete
 * file is not valid.  `attr_size` is set. */
void tally_plain_file_front(struct plain_file *file, const struct plain_file_event *events,
			    size_t count, struct tally_buf *to);
/* Whatever was added to file->payloads since the last call (or nothing, of a flag) is the payload
 * of this feature. */
void tally_plain_file_feature(struct plain_file *file, unsigned feature);
/* The end of the file, for the offset `data_end`, and the header. */
void tally_plain_file_end(const struct plain_file *file, struct tally_buf *to,
			  uint64_t ret_header[FILE_HEADER_SIZE / 8]);
void tally_plain_file_done(struct plain_file *file);

#endif
