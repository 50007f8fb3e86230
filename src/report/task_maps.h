/* What processes have mapped when a recording ends, for tally_report_mmaps(). */
#ifndef TALLY_REPORT_TASK_MAPS_H
#define TALLY_REPORT_TASK_MAPS_H

#include <tally/record.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

struct task_map_list;

struct task_maps {               /* all zero is empty and valid */
	struct tally_map by_pid; /* index of the list, + 1 */
	struct task_map_list **lists;
	size_t count, room;
	uint64_t copied; /* mappings in all lists */
	struct tally_strings names;
};

/* Takes MMAP, MMAP2, FORK and COMM records in the order of time, and ignores others.  0; -ENOMEM;
 * -E2BIG: the lists would take too much memory. */
int tally_task_maps_take(struct task_maps *maps, const struct tally_body *body);
/* Adds a line for each mapping of a process, after so many spaces. */
void tally_task_maps_put(const struct task_maps *maps, uint32_t pid, unsigned indent,
			 struct tally_buf *to);
void tally_task_maps_done(struct task_maps *maps);

#endif
