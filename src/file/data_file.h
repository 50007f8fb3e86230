/* What the parts of the reader share: one open perf.data file. */
#ifndef TALLY_FILE_DATA_FILE_H
#define TALLY_FILE_DATA_FILE_H

#include <tally/data.h>
#include "base/arena.h"
#include "base/fs.h"
#include "base/map.h"
#include "file/cursor.h"

/* Sizes of the header.  Source: the perf.data format; the short one has no feature bitmap. */
#define FILE_HEADER_SIZE       104
#define FILE_HEADER_SHORT_SIZE 72
#define FILE_HEADER_PIPE_SIZE  16

/* Bit 0 of the feature bitmap is reserved and nobody writes it; our writer sets it while a
 * recording goes on: see writer.c. */
#define FILE_FEATURE_CHECKPOINT 0
#define FILE_FEATURES           256

/* More events than any recording has; a larger table is damage. */
#define FILE_EVENTS_MAX 65536

struct file_section {
	uint64_t offset, size;
};

/* A block as it was found, and where its place in the file ends: a copy (of swapped or unaligned
 * records) need not be as long as what it was made from. */
struct file_block {
	struct tally_block block;
	uint64_t file_end;
	bool raw; /* the file's own bytes, headers not looked at yet */
};

struct tally_data {
	char *path;
	struct tally_mapped file;
	int fd;          /* of the same; below 0: none */
	bool swapped;    /* the file is of the other byte order */
	bool big_endian; /* the file's order */

	uint64_t header_size, attr_size;
	struct file_section attrs, data; /* as the header says */
	uint64_t features[4];
	uint64_t data_end; /* where the records really end, at most the file's end */
	bool data_cut;     /* the file ends before the data do */

	struct tally_arena arena;
	struct tally_data_event *events;
	size_t event_count;
	struct tally_map ids; /* id -> index */
	int id_at, id_back;   /* see event_of.c; below 0: none */
	bool ids_differ;      /* not all events have their id at the same place */

	struct file_section sections[FILE_FEATURES]; /* clipped to the file; size 0 when absent */
	bool has_section[FILE_FEATURES];
	struct tally_data_info info;
	struct tally_data_damage damage;

	struct file_block *blocks; /* found so far, in file order */
	size_t block_count, block_room, block_next;
	bool blocks_begun, tail_told;
	uint64_t scan_at;        /* copies: where the next one starts; data_end when all is told */
	bool copying;            /* from scan_at on records cannot be used in place */
	bool odd_sizes;          /* a record was seen whose size is no multiple of 8 */
	struct tally_block walk; /* tally_data_next_record()'s place */
	size_t walk_at;
};

/* header.c */
int tally_file_header_read(struct tally_data *data, struct tally_error *error);
/* attrs.c: events, their ids and layouts; leaders and names come from the features. */
int tally_file_attrs_read(struct tally_data *data, struct tally_error *error);
/* feature_table.c: finds the sections; decides where the records end. */
void tally_file_features_locate(struct tally_data *data);
/* features_read.c: their contents. */
int tally_file_features_read(struct tally_data *data, struct tally_error *error);
/* event_of.c */
void tally_file_event_lookup_init(struct tally_data *data);
/* The event of a record in the file's byte order; -ENOENT, -EBADMSG. */
int tally_file_event_of(const struct tally_data *data, const uint8_t *bytes, uint32_t type,
			size_t size, bool swapped);
/* resync.c: the next place from `from` on where records seem to stand, or `end`. */
uint64_t tally_file_resync(const struct tally_data *data, uint64_t from, uint64_t end);
/* event_name.c: a name made from an attr, the arena's; NULL: out of memory. */
const char *tally_file_event_name(struct tally_arena *arena, const struct tally_attr *attr);
/* damage.c: counts a damaged place; the first is kept in words. */
void tally_file_damage(struct tally_data *data, uint64_t offset, uint64_t lost, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

static inline struct file_cursor file_cursor_at(const struct tally_data *data, uint64_t offset,
						uint64_t size)
{
	uint64_t left = offset < data->file.size ? data->file.size - offset : 0;

	if (size > left)
		size = left;
	return (struct file_cursor){
	    .at = data->file.data + (left ? offset : 0),
	    .end = data->file.data + (left ? offset + size : 0),
	    .swapped = data->swapped,
	};
}

static inline bool file_has_feature(const struct tally_data *data, unsigned feature)
{
	return data->features[feature / 64] >> (feature % 64) & 1;
}

#endif
