/* Why call chains of an event end before the start of their thread, and what to do about it. */
#ifndef TALLY_REPORT_CUT_CHAINS_H
#define TALLY_REPORT_CUT_CHAINS_H

#include <stdbool.h>
#include <tally/data.h>

/* Their share that is worth a note, in hundredths of a percent. */
#define CUT_CHAINS_LEAST 1000U

struct cut_chains {
	const char *where; /* "with the copy of the stack": where most of them end; NULL: unknown */
	const char *remedy; /* "record larger stacks: ..." */
	bool few; /* of the recording's stacks, though they may be of long waits: no remedy helps */
};

/* By the recorder's counts of the whole recording; where it has none, by how chains were recorded.
 * Strings are constant. */
struct cut_chains tally_cut_chains(const struct tally_data *data, size_t event);

#endif
