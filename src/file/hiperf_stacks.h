/* Samples of OpenHarmony's hiperf whose call chains are in a table behind the data (its
 * --dedup_stack): each has a chain of length 0, and behind its last field one more word, the number
 * of its stack. */
#ifndef TALLY_FILE_HIPERF_STACKS_H
#define TALLY_FILE_HIPERF_STACKS_H

#include "file/data_file.h"

/* Reads the table of a recording that has one; the events must be known. 0, -ENOMEM. */
int tally_hiperf_stacks_read(struct tally_data *data);
void tally_hiperf_stacks_free(struct hiperf_stacks *table);

/* Whether it is a sample, in native byte order, with the number of a stack at its end. */
bool tally_hiperf_stacks_numbers(const struct tally_data *data, const struct tally_record *record);
/* Writes such a sample with its call chain to `to`, which has room for UINT16_MAX + 1 bytes, and
 * returns its new size.  *whole: the table has all of the chain. */
size_t tally_hiperf_stacks_unfold(const struct tally_data *data, const struct tally_record *record,
				  uint8_t *to, bool *whole);

#endif
