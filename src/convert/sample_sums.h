/* The samples of an export as sums: one for each event, thread, CPU and stack, in an order that is
 * always the same.  For formats that do not show time. */
#ifndef TALLY_CONVERT_SAMPLE_SUMS_H
#define TALLY_CONVERT_SAMPLE_SUMS_H

#include <stdint.h>
#include "convert/convert.h"
#include "convert/stack_table.h"

/* What a sum is apart from others by, besides its event and stack. */
#define SUMS_BY_COMM   1u
#define SUMS_BY_THREAD 2u /* pid and tid */
#define SUMS_BY_CPU    4u

/* Samples with one event, name, thread and CPU.  What sums are not apart by is NULL or UINT32_MAX,
 * as is what was not recorded. */
struct sum_context {
	uint32_t event, pid, tid, cpu;
	const char *comm;
};

struct sample_sum {
	uint64_t period, samples;
	uint32_t context; /* index */
	uint32_t node;    /* of the stacks */
};

struct sample_sums {
	struct stack_table stacks;
	struct sum_context *contexts;
	uint32_t context_count;
	struct sample_sum *list; /* by context, then by node */
	uint32_t count;
};

/* Reads the samples that the options choose.  0 or -errno with words; to be released in any
 * case. */
int tally_sample_sums_make(struct convert *convert, unsigned apart_by, struct sample_sums *ret);
void tally_sample_sums_done(struct sample_sums *sums);

#endif
