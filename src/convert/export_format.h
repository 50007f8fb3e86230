/* What defines a format that a recording is exported to. */
#ifndef TALLY_CONVERT_EXPORT_FORMAT_H
#define TALLY_CONVERT_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct convert;
struct tally_session_options;

/* The definition of a format: its file defines tally_export_format_NAME. */
struct export_format {
	const char *name, *help; /* help: of the name, starts small, no full stop */
	bool binary;             /* not for a terminal */
	bool folder;             /* files in options.folder; `to` is NULL */
	bool places;             /* frames are addresses, with their lines */
	bool only_samples;       /* it has no place for what the recording lacks */
	bool as_recorded; /* frames are those of `tally script`, not those of `tally report` */
	uint64_t columns; /* TALLY_COLUMN_* that its samples need */
	int (*write)(struct convert *convert);
};

#endif
