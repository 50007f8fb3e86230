/* Messages for filters that match no sample. */
#ifndef TALLY_CLI_UNMATCHED_H
#define TALLY_CLI_UNMATCHED_H

#include <stdint.h>
#include "filter_expression.h"
#include "filter_lists.h"

/* "0 of 533 samples match", and for each unknown name the most similar ones that exist; where all
 * are known, `what` they do not match: "all filters together". Reads the samples once more. */
void cli_unmatched_say(const char *command, struct tally_session *session, uint64_t samples,
		       const struct cli_filter *filter, const struct cli_choice *choice,
		       const char *what);

#endif
