/* What the parts of the writer share. */
#ifndef TALLY_WRITE_WRITER_H
#define TALLY_WRITE_WRITER_H

#include <tally/data.h>
#include <tally/record.h>
#include "base/buf.h"
#include "file/feature.h"
#include "write/pack.h"
#include "write/write_behind.h"

struct file_entry { /* one of the feature table */
	unsigned feature;
	uint64_t offset, size;
};

struct tally_writer {
	char *path;
	int fd;
	uint64_t attr_size; /* of an entry: attr and its section of ids */
	uint64_t attrs_at, attrs_size;
	uint64_t data_at; /* where records start, 8-byte aligned */
	/* After the last complete record. One thread at a time writes, and others may ask for the
	 * size meanwhile. */
	_Atomic uint64_t end;
	bool dirty;    /* records since the last round */
	bool unmarked; /* records or rounds since the last checkpoint */
	bool no_rounds;
	bool failed;     /* an append failed: there may be bytes after `end` */
	uint64_t marked; /* where the last checkpoint ends: records follow one another from here */
	struct file_entry early[FEATURE_COUNT]; /* sections before the data, ascending */
	size_t early_count;
	struct tally_buf build_ids; /* section 2 as it will be written */
	bool has_sample_time;
	uint64_t sample_time_first, sample_time_last;
	struct tally_stack_counts stacks; /* count 0: they are not written */
	struct tally_buf aux_index;       /* {u64 offset, u64 size} of each AUXTRACE record */
	bool folder;                      /* the file is in one of its own */
	bool parts;                       /* records of other files belong to it: no rounds */
	bool stream;                      /* written bytes cannot be changed later */
	struct file_pack *pack;           /* NULL: records are written unchanged */
	struct tally_buf packed;          /* of one append */
	uint64_t pack_in, pack_out;
	struct tally_write_behind *behind; /* NULL: who appends writes */
};

/* Opens a stream, as tally_writer_open() does for "-", on a descriptor, which belongs to the writer
 * if this returns 0. `name` is for messages. */
int tally_writer_open_stream(int fd, const char *name, const struct tally_writer_event *events,
			     size_t event_count, const struct tally_writer_options *options,
			     struct tally_writer **ret, struct tally_error *error);
/* Ends a round of a stream although nothing was appended: all rings were read. */
int tally_writer_empty_round(struct tally_writer *writer, struct tally_error *error);

/* The file gets no ends of rounds: its records are in no order at all. */
void tally_writer_without_rounds(struct tally_writer *writer);
/* Adds to what is written when a file is closed: what call chains were made. A stream has no place
 * for it that perf skips. */
void tally_writer_set_stacks(struct tally_writer *writer, const struct tally_stack_counts *stacks);

/* Appends an AUXTRACE record and the bytes of its trace, `record->size` of them in iov; they are
 * padded to a multiple of 8, which the record's size then includes, as perf's does.  The index at
 * the file's end has its place.  Traces are not compressed.  0 or -errno with words. */
int tally_writer_append_aux(struct tally_writer *writer, const struct tally_record_auxtrace *record,
			    const struct iovec *iov, int iov_count, struct tally_error *error);
/* Adds the section 18: how many AUXTRACE records there are before `end`, and where. */
void tally_file_add_aux_index(const struct tally_writer *writer, struct tally_buf *to);
/* Appends bytes without compressing them. */
int tally_writer_append_plain(struct tally_writer *writer, const struct iovec *iov, int iov_count,
			      struct tally_error *error);

/* Adds what other files of a folder were before and after compression, for the ratio. */
void tally_writer_add_packed(struct tally_writer *writer, uint64_t in, uint64_t out);

/* From now on appends and rounds only copy, to `room` bytes of memory; a thread writes.  A failure
 * is that of a later call, at the latest of the close.  0 or -errno with words.  (writer_behind.c)
 */
int tally_writer_write_behind(struct tally_writer *writer, size_t room, struct tally_error *error);
/* Waits until all is written, and goes back to writing at once. */
int tally_writer_catch_up(struct tally_writer *writer, struct tally_error *error);
/* What the thread does, and who appends without one. */
int tally_writer_append_now(struct tally_writer *writer, const struct iovec *iov, int iov_count,
			    struct tally_error *error);
int tally_writer_round_now(struct tally_writer *writer, bool checkpoint, struct tally_error *error);
int tally_writer_empty_round_now(struct tally_writer *writer, struct tally_error *error);
int tally_writer_append_aux_now(struct tally_writer *writer,
				const struct tally_record_auxtrace *record, const struct iovec *iov,
				int iov_count, struct tally_error *error);

/* Whether only one append at a time is possible; then pieces cannot be used. */
bool tally_writer_is_serial(const struct tally_writer *writer);

/* Records that one of several threads writes at an offset that is reserved for them. */
struct tally_writer_piece {
	uint64_t at;    /* the offset in the file; tally_writer_reserve() sets it */
	uint64_t size;  /* the most bytes that may be written; set by the caller */
	uint64_t wrote; /* of them; starts at 0 */
	int code;       /* the error if a write failed, or 0 */
};
/* Sets the offsets of the pieces, one after the other at the end of the file.  Until the commit
 * only the pieces may be written. */
void tally_writer_reserve(const struct tally_writer *writer, struct tally_writer_piece *pieces,
			  size_t count);
/* Writes the next complete records of a piece.  Several threads may write different pieces at once.
 * 0 or -errno, which the piece keeps. */
int tally_writer_put(const struct tally_writer *writer, struct tally_writer_piece *piece,
		     const struct iovec *iov, int iov_count);
/* Makes the pieces part of the file.  After a piece that is shorter than reserved, the next ones
 * are moved down; bytes after a failed write are left out.  0 or -errno with words. */
int tally_writer_commit(struct tally_writer *writer, const struct tally_writer_piece *pieces,
			size_t count, struct tally_error *error);

/* The sources of the sections. A section to which nothing is added is left out. */
struct file_facts {
	const char *root; /* without a slash at its end */
	const struct tally_writer_options *options;
	const struct tally_writer_event *events;
	size_t event_count;
	uint32_t attr_size; /* of the attrs in EVENT_DESC */
};
typedef void (*file_feature_fn)(const struct file_facts *facts, struct tally_buf *to);

struct file_feature_row {
	enum file_feature feature;
	file_feature_fn write;
	bool empty; /* a flag: written without payload if `wanted` returns true */
	bool (*wanted)(const struct file_facts *facts);
};
/* The sections that are known before the first record, ascending; ends with feature 0. */
const struct file_feature_row *tally_file_early_features(void);

/* u32 length, text, NULs up to a multiple of 64. */
void tally_file_add_string(struct tally_buf *to, const char *text);

/* A record of section 2, type 0. -EINVAL, -ENAMETOOLONG, -ENOMEM. */
int tally_file_add_build_id(struct tally_buf *to, const struct tally_data_build_id *build_id);

/* machine.c: facts of the machine below facts->root */
void tally_file_write_hostname(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_osrelease(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_arch(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_nrcpus(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_cpudesc(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_cpuid(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_total_mem(const struct file_facts *facts, struct tally_buf *to);
/* machine_topology.c */
void tally_file_write_cpu_topology(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_numa_topology(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_cache(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_mem_topology(const struct file_facts *facts, struct tally_buf *to);
/* machine_pmu.c */
void tally_file_write_pmu_mappings(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_cpu_pmu_caps(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_hybrid_topology(const struct file_facts *facts, struct tally_buf *to);
void tally_file_write_pmu_caps(const struct file_facts *facts, struct tally_buf *to);

#endif
