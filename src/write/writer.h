/* What the parts of the writer share. */
#ifndef TALLY_WRITE_WRITER_H
#define TALLY_WRITE_WRITER_H

#include <tally/data.h>
#include "base/buf.h"
#include "file/feature.h"
#include "write/pack.h"

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
	uint64_t end;     /* behind the last whole record */
	bool dirty;       /* records since the last round */
	bool unmarked;    /* records or rounds since the last checkpoint */
	bool failed;      /* an append did not go through: bytes may stand behind `end` */
	uint64_t marked;  /* where the last checkpoint ends: records follow one another from here */
	struct file_entry early[FEATURE_COUNT]; /* sections in front of the data, ascending */
	size_t early_count;
	struct tally_buf build_ids; /* section 2 as it will stand */
	bool has_sample_time;
	uint64_t sample_time_first, sample_time_last;
	bool stream;             /* what was written can never be changed */
	struct file_pack *pack;  /* NULL: records are written unchanged */
	struct tally_buf packed; /* of one append */
	uint64_t pack_in, pack_out;
};

/* A stream as tally_writer_open() makes it for "-", to a descriptor, which becomes the writer's
 * when this gives 0.  `name` is of messages. */
int tally_writer_open_stream(int fd, const char *name, const struct tally_writer_event *events,
			     size_t event_count, const struct tally_writer_options *options,
			     struct tally_writer **ret, struct tally_error *error);
/* Ends a round of a stream although nothing was appended to it: all rings were looked at. */
int tally_writer_empty_round(struct tally_writer *writer, struct tally_error *error);

/* Whether records must come one append after another: pieces are not taken then. */
bool tally_writer_is_serial(const struct tally_writer *writer);

/* Records that one of several threads writes at their own place, which is kept free for them. */
struct tally_writer_piece {
	uint64_t at;    /* the place in the file; tally_writer_reserve() sets it */
	uint64_t size;  /* bytes that may come, the caller's to say */
	uint64_t wrote; /* of them; starts at 0 */
	int code;       /* why they are not all there: a write that failed, or 0 */
};
/* Places for the pieces, one behind the other behind what the file holds.  Until the commit nothing
 * else may be written but the pieces. */
void tally_writer_reserve(const struct tally_writer *writer, struct tally_writer_piece *pieces,
			  size_t count);
/* The next whole records of a piece; distinct pieces by several threads at once.  0 or -errno,
 * which stays in the piece. */
int tally_writer_put(const struct tally_writer *writer, struct tally_writer_piece *piece,
		     const struct iovec *iov, int iov_count);
/* Makes the pieces part of the file.  A piece that is shorter than it might have been lets the next
 * ones move up; what stands behind a failed write is left out.  0 or -errno with words. */
int tally_writer_commit(struct tally_writer *writer, const struct tally_writer_piece *pieces,
			size_t count, struct tally_error *error);

/* One section's payload as the machine or the caller gives it; nothing added: it is left out. */
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
	bool empty; /* a flag: written without payload when `wanted` says so */
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
