#include "probe/kernel_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/fs.h"
#include "base/sorted.h"
#include "base/table.h"

#define KALLSYMS_MOST ((size_t)1 << 30)

static int in_order(const void *a, const void *b)
{
	const struct kernel_symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* "ffffffff81000000 T name\t[module]"; the line is cut into its parts. */
static bool take_line(char *line, struct kernel_symbol *ret, char *ret_type)
{
	char *end, *module;

	ret->address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return false;
	*ret_type = end[1];
	ret->name = end + 3;
	ret->module = NULL;
	module = strchr(end + 3, '\t');
	if (module) {
		*module++ = '\0';
		if (*module == '[') {
			module[strcspn(module, "]")] = '\0';
			ret->module = module + 1;
		}
	}
	return true;
}

static int read_lines(struct kernel_symbols *symbols)
{
	size_t room = 0;

	for (char *line = symbols->memory, *next; *line; line = next) {
		struct kernel_symbol symbol;
		char type;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (!take_line(line, &symbol, &type) || !symbol.address)
			continue;
		if (!strcmp(symbol.name, "_text"))
			symbols->text = symbol.address;
		else if (!strcmp(symbol.name, "_etext"))
			symbols->text_end = symbol.address;
		if (!strchr("tTwW", type))
			continue;
		if (!array_next(&symbols->list, &room, symbols->count, 65536,
				sizeof(*symbols->list)))
			return -ENOMEM;
		symbols->list[symbols->count++] = symbol;
	}
	return 0;
}

int tally_kernel_symbols_open(const char *procfs, struct kernel_symbols *ret,
			      struct tally_error *error)
{
	struct kernel_symbols symbols = {0};
	const char *root = procfs ? procfs : "/proc";
	size_t size;
	int result = tally_fs_readf(KALLSYMS_MOST, &symbols.memory, &size, "%s/kallsyms", root);

	if (result)
		return tally_fail(error, result, -1, "%s/kallsyms: %s", root, strerror(-result));
	result = read_lines(&symbols);
	if (result || !symbols.count) {
		tally_kernel_symbols_close(&symbols);
		if (result)
			return tally_fail(error, result, -1, "out of memory");
		return tally_fail(
		    error, -EACCES, -1,
		    "%s/kallsyms hides the kernel's addresses: run it with sudo or with "
		    "CAP_SYSLOG, and where kernel.kptr_restrict is 2, set it to 1",
		    root);
	}
	qsort(symbols.list, symbols.count, sizeof(*symbols.list), in_order);
	*ret = symbols;
	return 0;
}

void tally_kernel_symbols_close(struct kernel_symbols *symbols)
{
	free(symbols->list);
	free(symbols->memory);
	*symbols = (struct kernel_symbols){0};
}

const struct kernel_symbol *tally_kernel_symbols_at(const struct kernel_symbols *symbols,
						    uint64_t address)
{
	size_t from = SORTED_BOUND(at, 0, symbols->count, symbols->list[at].address <= address);

	return from && !symbols->list[from - 1].module ? &symbols->list[from - 1] : NULL;
}
