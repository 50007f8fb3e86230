/* The plain records of a recording that cannot be read in place: decoded, in native byte order,
 * each aligned to 8 and a multiple of 8 long, one after the other in a temporary file (the
 * spool). */
#ifndef TALLY_FILE_FLATTEN_H
#define TALLY_FILE_FLATTEN_H

#include "file/data_file.h"
#include "file/spool.h"

/* From `at` in the plain records on, the records are from offset `source` and the following ones in
 * a file. */
struct flat_place {
	uint64_t at, source;
	unsigned part; /* 0: the file itself, else one of data->parts, + 1 */
	bool packed;   /* they are all decoded from the record at `source` */
};

struct file_flat {
	struct file_spool *spool;
	uint64_t base; /* the offset that its first record is given */
	struct flat_place *places;
	size_t place_count, place_room;
	uint64_t source_bytes; /* of the records so far, for the sizes below */
	struct tally_data_packed packed;
	uint64_t folded_bytes, unfolded_bytes; /* of samples with stacks in a table */
};

/* Makes data->flat from all records of the file from `from` on, and from the parts of a directory.
 * 0 or -errno with words; damage is reported on the way. */
int tally_file_flatten(struct tally_data *data, uint64_t from, struct tally_error *error);
void tally_file_flat_free(struct file_flat *flat);

#endif
