/* What the parts of tally_data_repair() share. */
#ifndef TALLY_WRITE_REPAIR_H
#define TALLY_WRITE_REPAIR_H

#include <tally/repair.h>
#include "base/buf.h"
#include "file/data_file.h"
#include "write/plain_file.h"

/* A file that is written from start to end. */
struct repair_out {
	int fd;
	bool stream;        /* to standard output: nothing can be written later */
	uint64_t at;        /* the offset after the written bytes */
	const uint8_t *run; /* records that follow one another in memory, not yet written */
	size_t run_size;
};

struct file_repair {
	struct tally_data *data;
	struct tally_repair_options options;
	struct tally_repair_result result;
	struct repair_out out;
	struct tally_attr *attrs; /* as they will be written, each of result.attr_size */
	struct plain_file file;
	struct tally_buf aux; /* feature 18: count, then {place, size} each */
	uint64_t aux_count;
};

/* A section of build-ids: those of the recording and those that the caller adds. */
void tally_repair_build_ids(const struct file_repair *repair, struct tally_buf *to);
/* Whether a new file of this name would replace the recording or one of its files. */
bool tally_repair_is_in_place(const struct tally_data *data, const char *path);
/* repair_stream.c: the part of a stream before the records: header, events, features. */
int tally_repair_stream_front(struct file_repair *repair, struct tally_buf *to,
			      struct tally_error *error);
/* Whether the recording's own section is valid: readers trust its sizes. */
bool tally_repair_trusts_tracing(const uint8_t *bytes, size_t size);
/* Adds a feature's payload in native byte order; false if it is lost. */
bool tally_repair_feature(const struct file_repair *repair, unsigned feature, struct tally_buf *to);
bool tally_repair_wants(const struct file_repair *repair, unsigned feature);
/* The same of a section that is valid for itself, whoever writes it. */
bool tally_repair_kept(const struct tally_data *data, unsigned feature, struct tally_buf *to);
/* repair_features.c: the payloads, to repair->file. */
int tally_repair_features(struct file_repair *repair);

#endif
