/* perf.data files: reading them in place, and writing them so that every perf reads them.
 * Source: the format as perf 2.6.32 to 7.0 reads and writes it. */
#ifndef TALLY_DATA_H
#define TALLY_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <tally/error.h>
#include <tally/info.h>
#include <tally/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* --- reading --- */

struct tally_data;

struct tally_data_event {
	struct tally_attr attr;
	struct tally_layout layout;
	const char *name; /* the file's, else one made from the attr; borrowed until close */
	const uint64_t *ids;
	size_t id_count;
	uint32_t leader; /* index of the group's leader; itself when alone */
	/* From EVENT_UPDATE records of streams; NULL, 0 where there are none. */
	const char *unit;
	double scale; /* its counts are multiplied by this; 0: unknown */
	const uint32_t *cpus;
	size_t cpu_count;
};

/* A run of records in native byte order, each 8-byte aligned and a multiple of 8 long.
 *
 * The records of a native file's block are not checked yet, so that each is looked at only once.
 * To walk a block, step by tally_record_extent().  Where tally_block_record() finds no record (its
 * size is below 8, not a multiple of 8, or passes the block's end), call tally_data_block_bad() and
 * go on with the block that it gives.  tally_data_next_record() does all of this. */
struct tally_block {
	const uint8_t *bytes;
	size_t size;
	/* Of the first byte in the file.  Records that cannot be used in place (of a directory,
	 * compressed, of the other byte order, not aligned) are copied to a temporary file of plain
	 * records when the first block is read.  Their offsets are those of that file, and
	 * tally_data_place() gives the original ones. */
	uint64_t offset;
};

/* A binary that a recorder holds open, because its path leads elsewhere outside of a container. */
struct tally_held_binary {
	uint8_t id_size, id[20]; /* its build-id */
	int fd;
};

struct tally_data_options {
	size_t size; /* sizeof of this struct */
	/* Called now and then while a stream from a pipe is copied, with the bytes so far; `total`
	 * is 0, as it is unknown.  A result that is not 0 cancels: -ECANCELED. */
	int (*progress)(void *context, uint64_t done, uint64_t total);
	void *progress_context;
	/* Compressed records may expand to so many bytes; what is beyond counts as damage.
	 * 0: 64 MB and 100 times their size. */
	uint64_t expand_most;
	/* What comes through a pipe is read while it grows, for a session (tally_session_new()),
	 * which takes its records in the order of the data; tally_data_next() gives none then.  Its
	 * events are known when the first record of a ring has come.  Files are read as usual. */
	bool live;
	/* With live: keeps the newest records, of samples so many bytes, for tally_data_save(); 0:
	 * none. */
	size_t keep;
};

/* Opens a recording of any kind: a file, a stream that was written to a pipe, or a directory.  "-"
 * is standard input.  A stream that comes from a pipe is copied to an unlinked file below $TMPDIR
 * or /var/tmp.  Damage is not a failure: see tally_data_damage().  0; -EBADMSG: not a recording, or
 * so little of one that no event is known; -ENOMEM; -errno of opening and reading. */
int tally_data_open(const char *path, const struct tally_data_options *options,
		    struct tally_data **ret, struct tally_error *error);
void tally_data_close(struct tally_data *data);
/* Writes the newest samples of a live recording, as many as options.keep holds, and the records
 * that describe their processes, as a stream of records, which perf and this library read as a
 * file.  A file of that name is replaced when all is written.  Any thread may call it.  0; -EINVAL:
 * the data is not live, or keeps none; -ENOMEM; -errno of writing. */
int tally_data_save(const struct tally_data *data, const char *path, struct tally_error *error);
const char *tally_data_path(const struct tally_data *data);
enum tally_data_kind {
	TALLY_DATA_FILE,      /* with a header that says where everything is */
	TALLY_DATA_PIPE,      /* a stream: events and features are records */
	TALLY_DATA_DIRECTORY, /* a file "data", and the files data.N of threads */
};
enum tally_data_kind tally_data_kind(const struct tally_data *data);
/* Bytes of all its files. */
uint64_t tally_data_file_size(const struct tally_data *data);
/* The offset behind the last record; known after the first tally_data_next(). */
uint64_t tally_data_offset_end(const struct tally_data *data);
/* Whether records must be sorted by time over the whole recording, because it has no rounds: a
 * directory.  Records of equal time keep the order of the blocks. */
bool tally_data_total_order(const struct tally_data *data);

/* Sums over the compressed records; known after the first tally_data_next(). */
struct tally_data_packed {
	uint64_t records; /* COMPRESSED and COMPRESSED2, which a walk does not give */
	uint64_t bytes_in, bytes_out;
};
const struct tally_data_packed *tally_data_packed(const struct tally_data *data);

/* Where a record is in its file. */
struct tally_data_place {
	size_t size;     /* sizeof of this struct, set by the caller */
	uint64_t offset; /* in the file; of the compressed record, when packed */
	int part;        /* N of a directory's file data.N; -1: the file itself, or "data" */
	bool packed;
};
/* Finds the original place of a record by its offset.  0; -EINVAL: ret->size is not set. */
int tally_data_place(const struct tally_data *data, uint64_t offset, struct tally_data_place *ret);
/* Events in the order of the file; each is borrowed until close. */
size_t tally_data_event_count(const struct tally_data *data);
const struct tally_data_event *tally_data_event(const struct tally_data *data, size_t index);
/* Index of the event that has this id.  0: the id is 0, or there is only one event; -ENOENT:
 * unknown. */
int tally_data_find_event(const struct tally_data *data, uint64_t id);
/* The index of the event that a record belongs to, by its sample or trailer.  -ENOENT: the event is
 * unknown; -EBADMSG: the record is too short. */
int tally_data_event_of(const struct tally_data *data, const struct tally_record *record);
const struct tally_data_info *tally_data_info(const struct tally_data *data);

/* Visits the symbols of a file of tally_data_info()->files, in the order of the recording.  The
 * name is not escaped, and has no NUL behind it.  A result of `visit` that is not 0 ends the visit,
 * and is the result.  What is damaged ends it, too. */
typedef int (*tally_data_symbol_fn)(void *context, uint64_t address, uint64_t size,
				    const char *name, size_t name_size);
int tally_data_file_symbols(const struct tally_data *data, const struct tally_data_file *file,
			    tally_data_symbol_fn visit, void *context);
/* The payload of a feature section, {NULL, 0} when absent. */
struct tally_block tally_data_feature(const struct tally_data *data, unsigned feature);

/* The next block of records.  1; 0: the end; -errno.  Blocks stay readable until close.
 * tally_data_rewind() starts another pass.  A block ends where damage begins; tally_data_damage()
 * counts it. */
int tally_data_next(struct tally_data *data, struct tally_block *ret, struct tally_error *error);
void tally_data_rewind(struct tally_data *data);

struct tally_data_damage {
	uint64_t count;       /* places */
	uint64_t first_at;    /* offset of the first */
	uint64_t lost_bytes;  /* of the file, skipped */
	bool no_end;          /* the recorder was killed: data size 0, or features missing */
	char text[256];       /* the first place in words */
	uint64_t passed_over; /* records of a size that cannot be made a multiple of 8 */
	/* Of the places: invalid records.  Their event is unknown, their fields do not fit, or a
	 * count is impossibly large. */
	uint64_t refused;
	uint64_t features; /* of the places: feature sections; they cost no record */
};
/* What was damaged so far; complete when all records were read.  Borrowed until close. */
const struct tally_data_damage *tally_data_damage(const struct tally_data *data);

/* Says that there is no record at this offset, in a block of tally_data_next().  The block then
 * ends there, the damage is counted, and the next block begins at the next record that is found. 1;
 * 0: the end; -errno, as tally_data_next().  Records before the offset stay valid. */
int tally_data_block_bad(struct tally_data *data, uint64_t offset, struct tally_block *ret,
			 struct tally_error *error);

/* The next valid record of all blocks (see tally_data_damage.refused).  1; 0: the end; -errno.
 * Do not mix with tally_data_next(), whose blocks hold all records. */
int tally_data_next_record(struct tally_data *data, struct tally_record *ret,
			   struct tally_error *error);

/* How many bytes of tracing data are behind its record, of a size of at least 12: all, or none, as
 * in simpleperf's, which has them within. */
static inline uint32_t tally_tracing_data_outside(uint16_t record_size, uint32_t data_size)
{
	return data_size <= record_size - 12U ? 0 : data_size;
}

/* Bytes from this record to the next.  AUXTRACE and TRACING_DATA are followed by bytes that
 * record->size does not count.  UINT64_MAX: the size is impossible. */
static inline uint64_t tally_record_extent(const struct tally_record *record)
{
	uint64_t outside = 0;

	if (__builtin_expect(record->type != PERF_RECORD_AUXTRACE &&
				 record->type != PERF_RECORD_HEADER_TRACING_DATA,
			     1))
		return record->size;
	if (record->type == PERF_RECORD_AUXTRACE && record->size >= 16)
		outside = *(const uint64_t *)(const void *)(record->bytes + 8);
	else if (record->type == PERF_RECORD_HEADER_TRACING_DATA && record->size >= 12)
		outside = tally_tracing_data_outside(
		    record->size, *(const uint32_t *)(const void *)(record->bytes + 8));
	return outside > INT64_MAX ? UINT64_MAX : record->size + ((outside + 7) & ~7ULL);
}

/* Gives the record at this place (a multiple of 8) of a block; false: no record is possible there.
 */
static inline bool tally_block_record(const struct tally_block *block, size_t at,
				      struct tally_record *ret)
{
	const struct perf_event_header *header;
	struct tally_record record;

	if (at >= block->size || block->size - at < sizeof(*header))
		return false;
	header = (const struct perf_event_header *)(const void *)(block->bytes + at);
	record.bytes = block->bytes + at;
	record.offset = block->offset + at;
	record.type = header->type;
	record.misc = header->misc;
	record.size = header->size;
	if (record.size < sizeof(*header) || record.size % 8 || record.size > block->size - at ||
	    tally_record_extent(&record) > block->size - at)
		return false;
	*ret = record;
	return true;
}

/* --- writing --- */

struct tally_writer;

struct tally_writer_event {
	struct tally_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t id_count;
	uint32_t leader;
};

struct tally_writer_options {
	size_t size; /* sizeof of this struct */
	const char *const *cmdline;
	size_t cmdline_count;
	const char *root;         /* NULL: "/"; where proc and sys are read for the features */
	bool has_clockid;         /* events use attr.clockid */
	const void *tracing_data; /* feature 1's payload, or NULL; borrowed until close */
	size_t tracing_data_size;
	int compress_level; /* of zstd, 1 to 22; 0: records are not compressed */
	bool has_stat;      /* the records are counts, not samples (feature 19) */
	bool folder; /* the path is a folder, which is made, and the writer's file is "data" in
		      * it; others may write data.0, data.1, ... there.  No record ends a round */
	bool alone;  /* with `folder`: nobody else writes records there; rounds end as in a file */
};

/* Creates the file and writes the header, ids, attrs and the features that are known at the start.
 * An old file of that name is renamed to NAME.old.  "-" is a stream to standard output, where
 * events and features are records; perf reads it too.  When its reader goes away, appends fail with
 * -EPIPE, unless SIGPIPE ends the process before.  Release with tally_writer_close(). */
int tally_writer_open(const char *path, const struct tally_writer_event *events, size_t event_count,
		      const struct tally_writer_options *options, struct tally_writer **ret,
		      struct tally_error *error);
/* Appends whole records, unchanged.  One thread at a time. */
int tally_writer_append(struct tally_writer *writer, const struct iovec *iov, int iov_count,
			struct tally_error *error);
/* Ends a round (FINISHED_ROUND).  With `checkpoint` the file can be read even if the process is
 * killed afterwards. */
int tally_writer_round(struct tally_writer *writer, bool checkpoint, struct tally_error *error);
/* Adds to the features that are written when the file is closed: a build-id. */
int tally_writer_add_build_id(struct tally_writer *writer,
			      const struct tally_data_build_id *build_id);
/* The same: the times of the first and last sample, ns of the recording's clock. */
void tally_writer_set_sample_time(struct tally_writer *writer, uint64_t first, uint64_t last);
uint64_t tally_writer_size(const struct tally_writer *writer); /* bytes of the file so far */
/* Writes the last features and the final header, closes the file, and frees the writer.  Call it
 * also after a failed append: what was written before stays readable.  -ENOENT: the file has been
 * removed meanwhile. */
int tally_writer_close(struct tally_writer *writer, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
