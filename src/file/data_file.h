/* What the parts of the reader share: one open perf.data file. */
#ifndef TALLY_FILE_DATA_FILE_H
#define TALLY_FILE_DATA_FILE_H

#include <tally/data.h>
#include "base/arena.h"
#include "base/bits.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "file/cursor.h"
#include "file/trust.h"
#include "tar/tar.h"

/* Sizes of the header.  Source: the perf.data format; the short one has no feature bitmap. */
#define FILE_HEADER_SIZE       104
#define FILE_HEADER_SHORT_SIZE 72
#define FILE_HEADER_PIPE_SIZE  16

/* Bit 0 of the feature bitmap is reserved and unused; our writer sets it during a recording: see
 * writer.c. */
#define FILE_FEATURE_CHECKPOINT 0
#define FILE_CHECKPOINT_RECORD  PERF_RECORD_HEADER_EVENT_TYPE
#define FILE_FEATURES           256

/* No recording has so many events; a larger table is damage. */
#define FILE_EVENTS_MAX 65536

struct file_section {
	uint64_t offset, size;
};

/* The content of a feature, from a section of the file or from records of a stream. */
struct file_payload {
	const uint8_t *bytes;
	uint64_t offset; /* of the first byte in the file, for messages */
	size_t size;
};

/* A sequence of records: a file's data, a stream, one file of a directory, the content of a
 * compressed record.  Offsets in it count from `bytes`. */
struct file_region {
	const uint8_t *bytes;
	uint64_t start, end; /* of the records */
	const char *name;    /* before a place in messages; "" for the file itself */
	bool cut;            /* it ends where its writer was stopped, perhaps within a record */
	bool odd_sizes;      /* a record was seen whose size is no multiple of 8 */
	bool packed;         /* decoded from the record at `packed_at`, which messages name */
	uint64_t packed_at;
};

/* A block and its end in the file, which is up to 7 bytes after the last readable record if the
 * file is cut. */
struct file_block {
	struct tally_block block;
	uint64_t file_end;
	bool raw; /* the file's own bytes, with unchecked headers */
};

/* A file data.N of a directory. */
struct file_part {
	struct tally_mapped map; /* of the archive, if there is one */
	char *name;              /* "data.3: ", for messages */
	unsigned number;
};

struct tally_data {
	char *path;
	struct tally_data_options options;
	struct tally_mapped file;
	struct tally_tar *archive; /* that `file` and the parts are in; NULL: they are files */
	int64_t modified;          /* of the file in it, or of a compressed one; 0: as `fd` says */
	int fd;                    /* of the same; below 0: none */
	bool swapped;              /* the file is of the other byte order */
	bool big_endian;           /* the file's order */

	uint64_t header_size, attr_size;
	struct file_section attrs, data; /* as the header says */
	uint64_t features[4];
	struct file_region records; /* of the file; ends at the file's end at most */

	enum tally_data_kind kind;
	struct file_part *parts; /* of a directory, in the order of their numbers */
	size_t part_count;
	struct file_spool *stream;    /* contains `file` if that came through a pipe; else NULL */
	struct file_live *live;       /* of a stream that is read while it grows; else NULL */
	struct file_updates *updates; /* of a stream, until they are applied */
	struct tally_buf build_ids;   /* of a stream: its HEADER_BUILD_ID records */

	struct tally_arena arena;
	struct tally_data_event *events; /* close frees them */
	size_t event_count;
	struct tally_map ids; /* id -> index */
	int id_at, id_back;   /* see event_of.c; below 0: none */
	bool ids_differ;      /* not all events have their id at the same place */

	struct file_payload sections[FILE_FEATURES]; /* clipped to the file; size 0 when absent */
	bool has_section[FILE_FEATURES];
	struct tally_data_info info;
	struct tally_data_damage damage;
	struct file_trust *trust;    /* by event; close frees it */
	struct file_refused refused; /* by the last walk; part of the damage */

	struct file_block *blocks; /* found so far, in file order */
	size_t block_count, block_room, block_next;
	bool blocks_begun, tail_reported;
	bool flat_needed;             /* a stream whose records cannot be read in place */
	struct hiperf_stacks *hiperf; /* of hiperf; NULL: none */
	struct file_flat *flat;  /* the records as plain ones, from some place on; NULL: not made */
	struct tally_block walk; /* tally_data_next_record()'s place */
	size_t walk_at;
};

/* header.c */
int tally_file_header_read(struct tally_data *data, struct tally_error *error);
/* attrs.c: events, their ids and layouts; leaders and names come from the features. */
int tally_file_attrs_read(struct tally_data *data, struct tally_error *error);
/* Adds an event's ids, except those that another event already has. 0, -ENOMEM. */
int tally_file_add_ids(struct tally_data *data, size_t index, struct file_cursor cursor);
/* Reads the known members of an attr of any length; returns the attr's size member, where 0 means
 * the first published size. */
uint32_t tally_file_attr_read(const uint8_t *bytes, size_t room, bool swapped,
			      struct tally_attr *ret);
/* feature_table.c: finds the sections and the end of the records. */
void tally_file_features_locate(struct tally_data *data);
/* features_read.c: their contents. */
int tally_file_features_read(struct tally_data *data, struct tally_error *error);
/* event_of.c */
void tally_file_event_lookup_init(struct tally_data *data);
/* The event of a record in the file's byte order; -ENOENT, -EBADMSG. */
int tally_file_event_of(const struct tally_data *data, const uint8_t *bytes, uint32_t type,
			size_t size, bool swapped);
/* resync.c: the next offset from `from` on where records seem to begin, or the region's end. */
uint64_t tally_file_resync(const struct tally_data *data, const struct file_region *region,
			   uint64_t from);
/* Bytes of a part of the region that the file does not store, and which are read as zeros. */
uint64_t tally_file_holes(const struct tally_data *data, const struct file_region *region,
			  uint64_t from, uint64_t end);
/* Whether the region ends at `at`, or a record seems to begin there. */
bool tally_file_goes_on(const struct tally_data *data, const struct file_region *region,
			uint64_t at);
/* Whether the size of an invalid record at `at` seems valid: at `end` the region ends or a record
 * seems to begin, and no records seem to begin before that. */
bool tally_file_ends_at(const struct tally_data *data, const struct file_region *region,
			uint64_t at, uint64_t end);
/* damage.c: reports a place where no record is possible as damage, and returns where to go on. */
uint64_t tally_file_pass_bad(struct tally_data *data, struct file_region *region, uint64_t at);
/* Bytes at the very end that cannot be a whole record. */
void tally_file_lose_tail(struct tally_data *data, const struct file_region *region, uint64_t at);
/* input.c: opens what data->path names and maps it; a stream is kept in a file first. */
int tally_file_input_open(struct tally_data *data, struct tally_error *error);
/* Maps the file that data->fd has. */
int tally_file_input_map(struct tally_data *data, struct tally_error *error);
/* The same as tally_data_open() of a file that was made here; the descriptor belongs to the data
 * then, in any case.  `name` is what messages call it. */
int tally_data_open_file(int fd, const char *name, struct tally_data **ret,
			 struct tally_error *error);
void tally_file_input_close(struct tally_data *data);
/* stream.c: events and features of a stream, from its records. */
int tally_file_stream_read(struct tally_data *data, struct tally_error *error);
/* Later information about events, which replaces that of the features. */
int tally_file_stream_update(struct tally_data *data, struct tally_error *error);
/* event_name.c: a name made from an attr, the arena's; NULL: out of memory. */
const char *tally_file_event_name(struct tally_arena *arena, const struct tally_attr *attr);
/* tracepoint_name.c: "SYSTEM:NAME" of the tracepoint with that id, the arena's; NULL: the tracing
 * data (a section, or size 0) does not have it. */
const char *tally_file_tracepoint_name(struct tally_arena *arena, struct tally_block tracing,
				       uint64_t id);
/* trust.c: when the events are known; 0, -ENOMEM. */
int tally_file_trust_init(struct tally_data *data);
/* damage.c: counts a damaged place; the first one is described in words. */
void tally_file_damage(struct tally_data *data, uint64_t offset, uint64_t lost, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

/* The same for a feature section: no record is lost by it. */
void tally_file_feature_damage(struct tally_data *data, unsigned feature, uint64_t offset,
			       const char *what);

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

/* damage.c: releases the memory of mapped bytes that a long walk has passed. */
void tally_file_forget(const uint8_t *bytes, uint64_t from, uint64_t to);

static inline bool file_has_feature(const struct tally_data *data, unsigned feature)
{
	return bits_has(data->features, feature);
}

/* The archive that the recording is in; NULL: it is none. */
const struct tally_tar *tally_data_archive(const struct tally_data *data);

#endif
