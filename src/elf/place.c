#include "elf/place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "elf/debug_file.h"
#include "elf/debugdata.h"
#include "elf/demangle.h"
#include "elf/elf_symbols.h"
#include "elf/go_table.h"
#include "elf/symbol_list.h"

static int fail_open(const char *path, int result, struct tally_error *error)
{
	if (result == -ENOEXEC)
		return tally_fail(error, result, -1, "%s is not an ELF binary", path);
	if (result == -ENODEV)
		return tally_fail(error, result, -1, "%s is not a regular file", path);
	return tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
}

/* A table that is missing or damaged adds nothing. */
static int add(struct tally_symbol_list *list, const struct tally_elf *elf, uint32_t type,
	       const struct tally_elf *runtime)
{
	struct tally_elf_places places = {.runtime = runtime};
	int64_t count = tally_elf_symbols_add(elf, type, &places, list);

	return count == -ENOMEM ? -ENOMEM : 0;
}

static int add_debugdata(struct tally_symbol_list *list, const struct tally_elf *elf)
{
	struct tally_elf small;
	char *memory;
	int result = tally_debugdata_open(elf, &small, &memory);

	if (result)
		return result == -ENOMEM ? result : 0;
	result = add(list, &small, SHT_SYMTAB, elf);
	tally_elf_close(&small);
	free(memory);
	return result;
}

static int add_debug_file(struct tally_symbol_list *list, const struct tally_elf *elf,
			  const char *path)
{
	struct tally_debug_search search = {.symfs = "",
					    .debug_root = "/usr/lib/debug",
					    .path = path,
					    .opened = path,
					    .binary = elf};
	struct tally_elf debug;
	int result = 0;

	tally_elf_build_id(elf, search.build_id, &search.build_id_size);
	if (tally_debug_file_open(&search, &debug))
		return 0;
	result = add(list, &debug, SHT_SYMTAB, elf);
	tally_elf_close(&debug);
	return result;
}

static int add_all(struct tally_symbol_list *list, const struct tally_elf *elf, const char *path)
{
	int result = add(list, elf, SHT_SYMTAB, elf);

	if (!result)
		result = add(list, elf, SHT_DYNSYM, elf);
	if (!result && !tally_elf_find(elf, ".symtab", SHT_SYMTAB)) {
		result = add_debug_file(list, elf, path);
		if (!result && tally_go_symbols_add(elf, list) == -ENOMEM)
			result = -ENOMEM;
	}
	return result ? result : add_debugdata(list, elf);
}

/* --- by name --- */

static bool is_function(const struct tally_symbol_list *list, size_t index)
{
	unsigned type = list->infos[index] & 15;

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static bool is_called(const char *symbol, const char *name, bool shown, uint64_t *left)
{
	char *text;
	bool same;

	if (!shown)
		return !strcmp(symbol, name);
	text = tally_demangle_wanted(symbol) ? tally_demangle(symbol, left) : NULL;
	same = text && !strcmp(text, name);
	free(text);
	return same;
}

static int in_order(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Returns how many there are, or -ENOMEM, or -ENOTSUP: only as STT_GNU_IFUNC. */
static int64_t collect(const struct tally_symbol_list *list, const char *name, bool shown,
		       uint64_t *to)
{
	uint64_t left = elf_allowed(symbol_list_text_end(list));
	size_t count = 0, kept = 0;
	bool chosen_late = false;

	for (size_t i = 0; i < list->count; i++) {
		if (!is_function(list, i) ||
		    !is_called(tally_symbol_list_name(list, i), name, shown, &left))
			continue;
		if ((list->infos[i] & 15) == STT_GNU_IFUNC)
			chosen_late = true;
		else
			to[count++] = list->starts[i];
	}
	/* Besides a function that is chosen at start there is at most an old version, which new
	 * programs do not call. */
	if (!count || chosen_late)
		return chosen_late ? -ENOTSUP : 0;
	qsort(to, count, sizeof(*to), in_order);
	for (size_t i = 0; i < count; i++) /* .symtab and .dynsym both have it */
		if (!i || to[i] != to[i - 1])
			to[kept++] = to[i];
	return (int64_t)kept;
}

static int fail_absent(const struct tally_symbol_list *list, const char *path, const char *name,
		       struct tally_error *error)
{
	const char **names = calloc(list->count + 1, sizeof(*names)), *closest = NULL;
	size_t count = 0;

	for (size_t i = 0; names && i < list->count; i++)
		if (is_function(list, i))
			names[count++] = tally_symbol_list_name(list, i);
	if (count)
		closest = tally_text_nearest(name, names, count);
	free(names);
	if (!count)
		return tally_fail(error, -ENOENT, -1,
				  "%s has no function %s: it has no symbols; give an address", path,
				  name);
	return tally_fail(error, -ENOENT, -1, "%s has no function %s%s%s%s", path, name,
			  closest ? "; did you mean " : "", closest ? closest : "",
			  closest ? "?" : "");
}

static int find(const struct tally_symbol_list *list, const char *path, const char *name,
		uint64_t **ret, size_t *ret_count, struct tally_error *error)
{
	uint64_t *offsets = calloc(list->count + 1, sizeof(*offsets));
	int64_t count = offsets ? collect(list, name, false, offsets) : -ENOMEM;
	uint64_t *sized;

	if (!count)
		count = collect(list, name, true, offsets);
	if (count > 0) {
		sized = realloc(offsets, (size_t)count * sizeof(*offsets));
		*ret = sized ? sized : offsets;
		*ret_count = (size_t)count;
		return 0;
	}
	free(offsets);
	if (!count)
		return fail_absent(list, path, name, error);
	if (count == -ENOTSUP)
		return tally_fail(error, -ENOTSUP, -1,
				  "%s chooses %s among several functions when it starts: name one "
				  "of these",
				  path, name);
	return tally_fail(error, (int)count, -1, "out of memory");
}

int tally_image_find_function(const char *path, const char *name, uint64_t **ret, size_t *ret_count,
			      struct tally_error *error)
{
	struct tally_symbol_list list = {0};
	struct tally_elf elf;
	int result = tally_elf_open(path, &elf);

	if (result)
		return fail_open(path, result, error);
	result = add_all(&list, &elf, path);
	tally_elf_close(&elf);
	if (result)
		tally_fail(error, result, -1, "out of memory");
	else
		result = find(&list, path, name, ret, ret_count, error);
	tally_symbol_list_done(&list);
	return result;
}

int tally_image_symbols(const char *path, struct tally_symbol_list *ret, struct tally_error *error)
{
	struct tally_symbol_list list = {0};
	struct tally_elf elf;
	uint64_t left;
	int result = tally_elf_open(path, &elf);

	if (result)
		return fail_open(path, result, error);
	result = add_all(&list, &elf, path);
	if (!result)
		result = tally_symbol_list_sort(&list);
	tally_elf_close(&elf);
	if (result) {
		tally_symbol_list_done(&list);
		return tally_fail(error, result, -1, "out of memory");
	}
	left = elf_allowed(symbol_list_text_end(&list));
	tally_symbol_list_finish(&list, &left);
	*ret = list;
	return 0;
}

int tally_image_find_address(const char *path, uint64_t address, uint64_t *ret,
			     struct tally_error *error)
{
	struct tally_elf elf;
	int result = tally_elf_open(path, &elf);

	if (result)
		return fail_open(path, result, error);
	result = tally_elf_offset(&elf, address, ret);
	tally_elf_close(&elf);
	return result ? tally_fail(error, result, -1,
				   "%s has nothing at address %#llx: give one as nm shows it", path,
				   (unsigned long long)address)
		      : 0;
}
