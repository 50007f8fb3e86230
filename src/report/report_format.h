/* Formats that a report is written in: one file and one row each.  doc/HOWTO-add-output-format.md
 * says how to add one. */
#ifndef TALLY_REPORT_REPORT_FORMAT_H
#define TALLY_REPORT_REPORT_FORMAT_H

#include <stdbool.h>
#include <stdio.h>
#include <tally/report.h>

/* The definition of a format: its file defines tally_report_format_NAME. */
struct report_format {
	const char *name; /* of the option too; of the first format none */
	const char *help; /* of the option: starts small, no full stop */
	bool trees;       /* it may show call trees, so chains are needed */
	int (*write)(const struct tally_profile *profile,
		     const struct tally_report_options *options, FILE *to);
};

/* The first one is the default. */
#define REPORT_FORMATS(FORMAT) \
	FORMAT(text)           \
	FORMAT(csv)            \
	FORMAT(json)

#define REPORT_FORMAT_DECLARE(name) extern const struct report_format tally_report_format_##name;
REPORT_FORMATS(REPORT_FORMAT_DECLARE)
#undef REPORT_FORMAT_DECLARE

#endif
