/* The table of samples of a fleet, made while several threads read the recording.  Groups of rows
 * are in the order of time. */
#ifndef TALLY_FLEET_PARQUET_SAMPLES_H
#define TALLY_FLEET_PARQUET_SAMPLES_H

#include "convert/stack_table.h"
#include "fleet/parquet_file.h"
#include "fleet/parquet_ids.h"

struct samples_worker;

/* What all rows of a recording have in common. */
struct parquet_recording {
	const char *name, *host, *service, *version;
	int64_t wall_offset; /* ns to be added to the times of samples */
};

#define COMMS_KNOWN 256

struct parquet_samples {
	struct convert *convert;
	struct parquet_file *file; /* of tally_parquet_samples_table */
	const struct parquet_recording *recording;
	struct parquet_ids ids;
	struct samples_worker *workers;
	unsigned worker_count;
	struct tally_map cgroups; /* id -> number of the path */
	struct tally_strings paths;
	struct last_text event, cgroup;      /* of the last row */
	struct last_text comms[COMMS_KNOWN]; /* by their pointers */
	int failed;
	/* Stacks that samples have, once they are written, and the number of each: by pair, then by
	 * node of the table. */
	struct stack_table stacks;
	uint64_t *stack_ids;
	uint32_t stack_id_room;
};

extern const struct parquet_table tally_parquet_samples_table;

/* Microseconds since 1970: readers know these best, and a byte of each sample is saved. */
uint64_t tally_parquet_time(const struct parquet_recording *recording, uint64_t time);
/* Writes the samples that were chosen.  The members up to `recording` are set, all others zero.  0
 * or -errno; to be released in any case. */
int tally_parquet_samples_write(struct parquet_samples *samples);
/* Makes the table of their stacks, once the file of samples has its end.  0 or -ENOMEM. */
int tally_parquet_samples_make_stacks(struct parquet_samples *samples);
void tally_parquet_samples_done(struct parquet_samples *samples);

#endif
