/* The records of a batch's rows, for sinks that need all fields of a sample, and addresses as its
 * thread saw them. */
#ifndef TALLY_SESSION_BATCH_SAMPLE_H
#define TALLY_SESSION_BATCH_SAMPLE_H

#include <tally/batch.h>
#include <tally/data.h>
#include "resolve/source_texts.h"

struct tally_located;
struct tally_location;
struct tally_resolved;
struct tally_resolver;

/* NULL: out of memory. */
struct tally_batch_rows *tally_batch_rows_new(struct tally_data *data, uint32_t rows);
void tally_batch_rows_free(struct tally_batch_rows *rows);
/* The resolver is borrowed until the batch was taken. */
void tally_batch_rows_put(struct tally_batch_rows *rows, uint32_t row,
			  const struct tally_record *record, const struct tally_resolved *sample,
			  struct tally_resolver *resolver);

/* What follows is for sinks that asked for TALLY_COLUMN_SAMPLE, within their function `batch`. */

/* The record's PERF_RECORD_MISC_CPUMODE_MASK. */
uint8_t tally_batch_cpumode(const struct tally_batch *batch, uint32_t row);
/* The frame of another address of the row's sample, in a mode PERF_RECORD_MISC_*;
 * PERF_RECORD_MISC_CPUMODE_UNKNOWN: the upper half of the addresses is the kernel's.  0: out of
 * memory. */
uint32_t tally_batch_frame(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
			   uint64_t addr);
/* The source line and file of such an address.  0 or -ENOMEM. */
int tally_batch_source(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
		       uint64_t addr, struct source_numbers *ret);
/* The same address with its mapping and symbol.  0 or -ENOMEM. */
int tally_batch_location(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
			 uint64_t addr, struct tally_location *ret);
/* The same with its frame, and without names.  0 or -ENOMEM. */
int tally_batch_locate(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
		       uint64_t addr, struct tally_located *ret);

#endif
