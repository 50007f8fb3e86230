/* What the parts of tally_data_repair() share. */
#ifndef TALLY_FILE_REPAIR_H
#define TALLY_FILE_REPAIR_H

#include <tally/repair.h>
#include "base/buf.h"
#include "file/data_file.h"

/* A file that is written from its front to its end. */
struct repair_out {
	int fd;
	uint64_t at;        /* behind what is written */
	const uint8_t *run; /* records that follow one another in memory, not yet written */
	size_t run_size;
};

struct file_repair {
	struct tally_data *data;
	struct tally_repair_options options;
	struct tally_repair_result result;
	struct repair_out out;
	struct tally_attr *attrs; /* as they will stand, each of result.attr_size */
	uint64_t attrs_at, data_at, data_end;
	struct tally_buf aux; /* feature 18: count, then {place, size} each */
	uint64_t aux_count;
};

/* repair_features.c: the table and the payloads, to stand at repair->out.at; the bitmap. */
int tally_repair_features(struct file_repair *repair, uint64_t bitmap[4], struct tally_buf *to);

#endif
