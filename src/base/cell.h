/* Cells of text tables: numbers and names into a buffer, without printf. */
#ifndef TALLY_BASE_CELL_H
#define TALLY_BASE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

/* Columns that UTF-8 text needs, one for each character. */
size_t tally_cell_columns(const char *text, size_t length);
/* Bytes of the longest prefix that needs at most `columns`. */
size_t tally_cell_cut(const char *text, size_t length, size_t columns);

void tally_cell_spaces(struct tally_buf *to, size_t count);
void tally_cell_u64(struct tally_buf *to, uint64_t value);
/* At least `digits` digits with leading zeros. */
void tally_cell_padded(struct tally_buf *to, uint64_t value, unsigned digits);
/* " time" of 1, " times" of all other numbers. */
void tally_cell_noun(struct tally_buf *to, uint64_t count, const char *noun);
void tally_cell_hex(struct tally_buf *to, uint64_t value, unsigned digits);
/* `part` of `whole` in hundredths of a percent, rounded as printf rounds a double; 0 if `whole` is
 * 0. */
uint64_t tally_cell_share(uint64_t part, uint64_t whole);
/* "12.34%" of hundredths. */
void tally_cell_percent(struct tally_buf *to, uint64_t hundredths);
/* 999, 9K, 12M, 1G: as perf shortens counts (rounded down, units of 1000). */
void tally_cell_count(struct tally_buf *to, uint64_t value);

/* A name from a file or process, escaped. */
void tally_cell_name(struct tally_buf *to, const char *name);

/* Begins the colour of a share, as in perf: red from 5 %, green from 0.5 %.  Does nothing without
 * `colour`. Returns whether tally_cell_plain() must end the colour. */
bool tally_cell_tint(struct tally_buf *to, uint64_t hundredths, bool colour);
void tally_cell_plain(struct tally_buf *to, bool tinted);

#endif
