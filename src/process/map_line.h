/* A line of /proc/PID/maps: what is mapped where. */
#ifndef TALLY_PROCESS_MAP_LINE_H
#define TALLY_PROCESS_MAP_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct map_line {
	uint64_t start, end, pgoff, ino;
	uint32_t maj, min;
	bool read, write, exec, shared;
	const char *path; /* until the line's end; "" without one */
};

/* "start-end perms offset major:minor inode   path", all numbers but the inode in hex (proc(5));
 * `line` ends with a NUL. False: it is none. */
bool tally_map_line_parse(const char *line, struct map_line *ret);

#endif
