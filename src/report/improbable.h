/* Counts of samples that no processor can have reached: a kernel that sets periods by a frequency
 * can get them wrong by orders of magnitude, and so can damage. */
#ifndef TALLY_REPORT_IMPROBABLE_H
#define TALLY_REPORT_IMPROBABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/abi.h>
#include <tally/attr.h>

/* Cycles of an hour at 5 GHz. */
#define IMPROBABLE_ABOVE (1ULL << 44)

/* Their share that is worth a note, in hundredths of a percent. */
#define IMPROBABLE_LEAST 100U

#define IMPROBABLE_WHAT "of samples that count more than an hour of a processor each"

/* Whether `samples` of an event cannot have counted `period` together. */
static inline bool report_improbable(const struct tally_attr *attr, uint64_t period,
				     uint64_t samples)
{
	if (!samples || period / samples <= IMPROBABLE_ABOVE)
		return false;
	/* Times that threads waited, or what was asked for, may be as large. */
	return attr->type != PERF_TYPE_TRACEPOINT &&
	       !(attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT) &&
	       (attr->freq || attr->sample_period <= IMPROBABLE_ABOVE);
}

#endif
