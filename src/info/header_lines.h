/* Lines of the header in perf's words, shared by the files that make them. */
#ifndef TALLY_INFO_HEADER_LINES_H
#define TALLY_INFO_HEADER_LINES_H

#include <tally/data.h>
#include "base/buf.h"

/* "# what : text" */
void tally_header_line(struct tally_buf *to, const char *what, const char *text);
/* The lines of a feature about the machine: topology, caches, memory, PMUs; none for others. */
void tally_header_machine_lines(struct tally_buf *to, const struct tally_data_info *info,
				unsigned feature);

#endif
