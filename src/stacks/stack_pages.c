#include "stacks/stack_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/uio.h>
#include "base/bytes.h"
#include "base/fs.h"
#include "process/map_line.h"

#define PAGE       4096U
#define PAGES_MOST (65536 / PAGE + 1)
#define MAPS_MOST  ((size_t)16 << 20)

/* Where the memory of an address ends, if it is of no file: reading a file's may take long. 0: it
 * is not. */
static uint64_t memory_end(uint32_t pid, uint64_t address)
{
	struct map_line map = {0};
	char *text, *line, *rest;
	bool found = false;
	size_t size;

	if (tally_fs_readf(MAPS_MOST, &text, &size, "/proc/%u/maps", pid))
		return 0;
	for (rest = text; !found && (line = strsep(&rest, "\n"));)
		found = tally_map_line_parse(line, &map) && address < map.end;
	free(text);
	return found && address >= map.start && !map.ino ? map.end : 0;
}

void tally_stack_pages_read(struct tally_stack_pages *pages, uint32_t pid, uint32_t tid,
			    uint64_t from, uint64_t until)
{
	uint64_t page = from / PAGE * PAGE, hash = hash_u64((uint64_t)tid << 32 ^ page) | 3;
	uint64_t *asked = &pages->asked[(hash >> 8) % TALLY_STACK_PAGES_KNOWN];
	struct iovec to[PAGES_MOST], at[PAGES_MOST];
	char bytes[PAGES_MOST];
	unsigned long count = 0;

	if (*asked == hash)
		return;
	/* Most threads that end soon are not met again: it would be for nothing. */
	if (*asked != hash - 1) {
		*asked = hash - 1;
		return;
	}
	*asked = hash;
	until = MIN(until, memory_end(pid, page));
	for (; page < until && count < PAGES_MOST; page += PAGE, count++) {
		to[count] = (struct iovec){&bytes[count], 1};
		at[count] = (struct iovec){(void *)(uintptr_t)page, 1};
	}
	if (count)
		(void)process_vm_readv((pid_t)pid, to, count, at, count, 0);
}
