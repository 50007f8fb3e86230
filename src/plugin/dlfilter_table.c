/* A filter's table of functions, which the host fills.
 *
 * Filters that declare it constant, as perf's manual page does, have it in read-only memory, which
 * is made writable first. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/fs.h"
#include "plugin/dlfilter_host.h"

/* No filter's table is longer than its host's; it may be shorter than that. */
static size_t table_size(const void *table)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (dladdr1(table, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	    info.dli_saddr == table && symbol->st_size &&
	    symbol->st_size < sizeof(tally_dlfilter_functions))
		return symbol->st_size;
	return sizeof(tally_dlfilter_functions);
}

/* PROT_* of the page of an address; -ENOENT: none. */
static int rights_of(uintptr_t address)
{
	char *text, *line;
	int rights = -ENOENT;

	if (tally_fs_read("/proc/self/maps", (size_t)64 << 20, &text, NULL))
		return -ENOENT;
	for (line = text; line && *line && rights < 0;) {
		char *end, *next = strchr(line, '\n');
		uintptr_t from = strtoul(line, &end, 16);
		uintptr_t to = *end == '-' ? strtoul(end + 1, &end, 16) : 0;

		if (from <= address && address < to && strlen(end) > 3)
			rights = (end[1] == 'r' ? PROT_READ : 0) |
				 (end[2] == 'w' ? PROT_WRITE : 0) | (end[3] == 'x' ? PROT_EXEC : 0);
		line = next ? next + 1 : NULL;
	}
	free(text);
	return rights;
}

static int make_writable(void *table, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)table & ~(page - 1);

	for (; at < (uintptr_t)table + size; at += page) {
		int rights = rights_of(at);

		if (rights < 0)
			return rights;
		if (!(rights & PROT_WRITE) && mprotect((void *)at, page, rights | PROT_WRITE))
			return -errno;
	}
	return 0;
}

int tally_dlfilter_table_fill(void *table)
{
	size_t size = table_size(table);
	int result = make_writable(table, size);

	if (!result)
		memcpy(table, &tally_dlfilter_functions, size);
	return result;
}
