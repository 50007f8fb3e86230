/* The encodings of values in pages of Parquet.  Source: parquet-format, Encodings.md. */
#ifndef TALLY_PARQUET_ENCODINGS_H
#define TALLY_PARQUET_ENCODINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

/* Bits that numbers up to `most` need; 0 for 0. */
unsigned tally_parquet_bits(uint64_t most);

/* "RLE": runs of equal numbers and groups of packed ones; each below 2^bits, bits up to 32. */
void tally_parquet_runs(const uint32_t *values, size_t count, unsigned bits, struct tally_buf *to);

/* "DELTA_BINARY_PACKED": differences, packed.  Of a column of 32 bits (`narrow`) they wrap at 32
 * bits. */
void tally_parquet_deltas(const uint64_t *values, size_t count, bool narrow, struct tally_buf *to);

#endif
