/* The file that keeps the running kernel's symbols between runs: whatever it holds, look-ups end
 * and stay within it. Its key and its size are made to fit, so that the tables behind them are
 * reached. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "kallsyms/kernel_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY_AT \
	16 /* of struct head in kernel_cache.c: behind the magic, the version and the order */
#define SIZE_AT (KEY_AT + sizeof(struct tally_kernel_key))
#define LOOKED  64 /* symbols of a table */

static char folder[] = "/tmp/tally-fuzz-XXXXXX";
static volatile size_t sink;

static void remove_folder(void)
{
	rmdir(folder);
}

static void look_up(const struct tally_symbol_table *table)
{
	for (size_t i = 0; i < table->count && i < LOOKED; i++) {
		struct tally_symbol symbol = tally_symbol_table_get(table, i);
		int64_t found = tally_symbol_table_find(table, symbol.start);

		if (found >= (int64_t)table->count)
			abort();
		if (symbol.name)
			sink += strlen(symbol.name);
	}
	sink += (size_t)tally_symbol_table_find(table, 0);
	sink += (size_t)tally_symbol_table_find(table, UINT64_MAX);
}

static void read_back(const struct tally_kernel_key *key)
{
	struct tally_kallsyms kallsyms = {0};

	if (tally_kernel_cache_read(folder, key, &kallsyms))
		return;
	if (!kallsyms.hidden && !kallsyms.group_count)
		abort();
	sink += tally_kallsyms_anchor(&kallsyms, "_text");
	for (size_t i = 0; i < kallsyms.group_count; i++) {
		if (kallsyms.modules[i])
			sink += tally_kallsyms_find(&kallsyms, kallsyms.modules[i]) != NULL;
		look_up(&kallsyms.tables[i]);
	}
	tally_kallsyms_shift(&kallsyms, 0x1000);
	for (size_t i = 0; i < kallsyms.group_count; i++)
		look_up(&kallsyms.tables[i]);
	tally_kallsyms_done(&kallsyms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_kernel_key key;
	uint64_t whole = size;
	char path[sizeof(folder) + 32];
	static bool made;
	int fd;

	if (size < SIZE_AT + sizeof(whole))
		return 0;
	if (!made) {
		if (!mkdtemp(folder))
			abort();
		made = true;
		atexit(remove_folder);
	}
	memcpy(&key, data + KEY_AT, sizeof(key));
	snprintf(path, sizeof(path), "%s/kernel-%016llx", folder,
		 (unsigned long long)tally_hash_bytes(&key, sizeof(key)));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	if (write(fd, data, size) == (ssize_t)size &&
	    pwrite(fd, &whole, sizeof(whole), SIZE_AT) == sizeof(whole))
		read_back(&key);
	close(fd);
	unlink(path);
	return 0;
}
