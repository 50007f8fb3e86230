/* A frame as text, for rows and trees of a report. */
#ifndef TALLY_REPORT_REPORT_FRAME_H
#define TALLY_REPORT_REPORT_FRAME_H

#include <tally/profile.h>
#include "base/buf.h"

/* "[.] main", "[k] 0x0000000000012345". */
void tally_report_symbol(struct tally_buf *to, const struct tally_frame *frame);
/* A node of a tree by its number: its frame, its line if it has one, and what the branches were
 * that end there, in perf's words. */
void tally_report_node(struct tally_buf *to, const struct tally_tree *tree, uint32_t number);
/* In trees: "main", "libc.so.6+0x12345", "0x7f0012345". */
void tally_report_frame(struct tally_buf *to, const struct tally_frame *frame);

#endif
