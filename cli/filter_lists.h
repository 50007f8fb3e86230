/* Options that choose samples by command, binary, function, process and thread. */
#ifndef TALLY_CLI_FILTER_LISTS_H
#define TALLY_CLI_FILTER_LISTS_H

#include <stdint.h>
#include "options.h"

struct cli_filter {
	struct cli_list comms, dsos, symbols, pids, tids;
	uint32_t *pid_numbers, *tid_numbers; /* as many as pids and tids have */
};

/* Parses pids and tids as numbers; 0, or an exit status after having printed why not. */
int cli_filter_numbers(const struct cli_usage *usage, struct cli_filter *filter);

void cli_filter_done(struct cli_filter *filter);

/* Members of the library's option structs, which have the same names. */
#define CLI_FILTER_FIELDS(filter)                                                               \
	.comms = (const char *const *)(filter).comms.items, .comm_count = (filter).comms.count, \
	.dsos = (const char *const *)(filter).dsos.items, .dso_count = (filter).dsos.count,     \
	.symbols = (const char *const *)(filter).symbols.items,                                 \
	.symbol_count = (filter).symbols.count, .pids = (filter).pid_numbers,                   \
	.pid_count = (filter).pids.count, .tids = (filter).tid_numbers,                         \
	.tid_count = (filter).tids.count

#endif
