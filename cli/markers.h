/* Markers (SDT) of programs as entries of `tally list`. */
#ifndef TALLY_CLI_MARKERS_H
#define TALLY_CLI_MARKERS_H

#include <stddef.h>
#include <tally/catalog.h>

struct cli_markers { /* all zero is empty and valid */
	struct tally_catalog_entry *entries;
	size_t count, room;
	char **texts; /* what the entries point to */
	size_t text_count, text_room;
};

/* The markers of the programs; without programs, of all that run now. Returns a status, after
 * having printed what went wrong. */
int cli_markers_read(struct cli_markers *markers, const char *const *programs, size_t count,
		     const char *sysfs);
void cli_markers_done(struct cli_markers *markers);

#endif
