/* Blocks of code by what they cost, instead of rows: tally_report_options.blocks. */
#ifndef TALLY_REPORT_REPORT_BLOCKS_H
#define TALLY_REPORT_REPORT_BLOCKS_H

#include <tally/report.h>
#include "base/buf.h"

/* Adds the table of all blocks above the options' limit, the most expensive first.  0 or -ENOMEM.
 */
int tally_report_blocks(const struct tally_profile *profile,
			const struct tally_report_options *options, struct tally_buf *to);

#endif
