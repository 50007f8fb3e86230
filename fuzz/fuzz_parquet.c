/* A Parquet file: its end, and all columns of all groups. */
#include <stddef.h>
#include <stdint.h>
#include "parquet/parquet_read.h"

/* Groups and columns of one input: a small file may list many, each of which names the same
 * pages. */
#define READ_MOST 64U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parquet_reader reader;
	const char *why;
	uint32_t read = 0;

	if (!tally_parquet_open(&reader, data, size, &why))
		for (uint32_t group = 0; group < reader.group_count; group++)
			for (uint32_t leaf = 0; leaf < reader.leaf_count && read < READ_MOST;
			     leaf++, read++) {
				struct parquet_values values;

				/* Long runs are short in a file: they only take time. */
				if (reader.groups[group].places[leaf].values > 1U << 16)
					continue;
				if (!tally_parquet_column(&reader, group, (int)leaf, &values, &why))
					tally_parquet_values_done(&values);
			}
	tally_parquet_close(&reader);
	return 0;
}
