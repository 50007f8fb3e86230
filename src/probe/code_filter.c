#include "probe/code_filter.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/text.h>
#include "base/buf.h"
#include "base/fail.h"
#include "elf/place.h"
#include "probe/find_program.h"
#include "probe/kernel_symbols.h"

#define WORD_MOST 256

/* A number, or a function and which of its places. */
struct place {
	bool given;
	uint64_t number;
	char function[WORD_MOST]; /* "": a number; "*": all of the file */
	uint64_t which;           /* from 1 on; 0: there must be one */
	int64_t position;
};

struct range {
	const struct action *action;
	struct place start, size;
	char file[PATH_MAX]; /* "": the kernel */
};

static const struct action {
	const char *word;    /* a person's */
	const char *kernels; /* the kernel knows by the size that a stop is of a range */
	bool wants_size;
} actions[] = {
    {"filter", "filter", true},
    {"start", "start", false},
    {"stop", "stop", false},
    {"tracestop", "stop", true},
};

struct parsing {
	const char *text;
	size_t at;
	struct tally_error *error;
};

static void skip(struct parsing *parsing, const char *which)
{
	parsing->at += strspn(parsing->text + parsing->at, which);
}

static int take_action(struct parsing *parsing, struct range *range)
{
	const char *word = parsing->text + parsing->at;
	size_t length = strcspn(word, " \t");

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strlen(actions[i].word) == length && !memcmp(actions[i].word, word, length)) {
			range->action = &actions[i];
			parsing->at += length;
			return 0;
		}
	return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
			  "expected filter, start, stop or tracestop, as 'filter main @ /bin/ls'");
}

static int take_place(struct parsing *parsing, struct place *ret)
{
	const char *word;
	size_t length;

	skip(parsing, " \t");
	word = parsing->text + parsing->at;
	length = strcspn(word, " \t,/@#");
	ret->given = true;
	ret->position = (int64_t)parsing->at;
	if (!length || length >= sizeof(ret->function))
		return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
				  "expected a function or a number");
	parsing->at += length;
	memcpy(ret->function, word, length);
	ret->function[length] = 0;
	if (isdigit((unsigned char)*word)) {
		if (tally_text_u64(ret->function, &ret->number))
			return tally_fail(parsing->error, -EINVAL, ret->position,
					  "expected a number, decimal or 0x, or a function");
		ret->function[0] = 0;
		return 0;
	}
	skip(parsing, " \t");
	if (parsing->text[parsing->at] == '#') {
		char *end;

		ret->which = strtoull(parsing->text + parsing->at + 1, &end, 10);
		if (end == parsing->text + parsing->at + 1)
			return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
					  "expected a number after #: which of several functions");
		parsing->at = (size_t)(end - parsing->text);
	}
	return 0;
}

static int take_file(struct parsing *parsing, struct range *range)
{
	char name[PATH_MAX], *path;
	size_t length;
	int result;

	skip(parsing, " \t");
	length = strcspn(parsing->text + parsing->at, " \t,");
	if (!length || length >= sizeof(name))
		return tally_fail(parsing->error, -EINVAL, (int64_t)parsing->at,
				  "expected a program or library after @");
	memcpy(name, parsing->text + parsing->at, length);
	name[length] = 0;
	result = tally_program_find(name, &path);
	if (!result) {
		if (!realpath(path, range->file))
			result = -errno;
		free(path);
	}
	parsing->at += length;
	return result ? tally_fail(parsing->error, result, (int64_t)(parsing->at - length),
				   "%s: %s", name, strerror(-result))
		      : 0;
}

static int take_range(struct parsing *parsing, struct range *range)
{
	int result = take_action(parsing, range);

	if (!result)
		result = take_place(parsing, &range->start);
	skip(parsing, " \t");
	if (!result && parsing->text[parsing->at] == '/') {
		parsing->at++;
		result = take_place(parsing, &range->size);
	}
	skip(parsing, " \t");
	if (!result && parsing->text[parsing->at] == '@') {
		parsing->at++;
		result = take_file(parsing, range);
	}
	return result;
}

/* --- functions to ranges --- */

static int fail_several(const struct place *place, size_t count, struct tally_error *error)
{
	return tally_fail(error, -EINVAL, place->position,
			  "there are %zu functions %s: write %s #1 to #%zu", count, place->function,
			  place->function, count);
}

static int find_in_file(const struct place *place, const char *file, uint64_t *ret_start,
			uint64_t *ret_end, struct tally_error *error)
{
	struct tally_symbol_list list = {0};
	uint64_t *offsets = NULL;
	size_t count = 0, which;
	int result = tally_image_find_function(file, place->function, &offsets, &count, error);

	if (!result && (place->which > count || (!place->which && count > 1)))
		result = fail_several(place, count, error);
	if (!result)
		result = tally_image_symbols(file, &list, error);
	if (!result) {
		which = place->which ? place->which - 1 : 0;
		*ret_start = *ret_end = offsets[which];
		for (size_t i = 0; i < list.count; i++)
			if (list.starts[i] == offsets[which])
				*ret_end = list.ends[i];
	}
	tally_symbol_list_done(&list);
	free(offsets);
	return result;
}

/* A function of the kernel ends where the next one starts. */
static int find_in_kernel(const struct place *place, const char *procfs, uint64_t *ret_start,
			  uint64_t *ret_end, struct tally_error *error)
{
	struct kernel_symbols symbols = {0};
	size_t count = 0, found = 0;
	int result = tally_kernel_symbols_open(procfs, &symbols, error);

	if (result)
		return result;
	for (size_t i = 0; i < symbols.count; i++)
		if (!strcmp(symbols.list[i].name, place->function) &&
		    (++count == place->which || count == 1))
			found = i;
	if (!count)
		result = tally_fail(error, -ENOENT, place->position,
				    "the kernel has no function %s; one of a program needs its "
				    "file: %s @ /bin/ls",
				    place->function, place->function);
	else if (place->which > count || (!place->which && count > 1))
		result = fail_several(place, count, error);
	if (!result) {
		*ret_start = *ret_end = symbols.list[found].address;
		for (size_t i = found; i < symbols.count && *ret_end == *ret_start; i++)
			*ret_end = symbols.list[i].address;
	}
	tally_kernel_symbols_close(&symbols);
	return result;
}

static int find(const struct range *range, const struct place *place, const char *procfs,
		uint64_t *ret_start, uint64_t *ret_end, struct tally_error *error)
{
	struct stat status;

	if (!place->function[0]) {
		*ret_start = *ret_end = place->number;
		return 0;
	}
	if (strcmp(place->function, "*") != 0)
		return range->file[0] ? find_in_file(place, range->file, ret_start, ret_end, error)
				      : find_in_kernel(place, procfs, ret_start, ret_end, error);
	if (!range->file[0] || place == &range->size)
		return tally_fail(error, -EINVAL, place->position,
				  "* is all of a file: filter * @ /bin/ls");
	if (stat(range->file, &status))
		return tally_fail(error, -errno, place->position, "%s: %s", range->file,
				  strerror(errno));
	*ret_start = 0;
	*ret_end = (uint64_t)status.st_size;
	return 0;
}

static int write_range(const struct range *range, const char *procfs, struct tally_buf *to,
		       struct tally_error *error)
{
	uint64_t start = 0, end = 0, size_start, size_end = 0;
	bool sized = range->action->wants_size || range->size.given;
	int result = find(range, &range->start, procfs, &start, &end, error);

	if (result)
		return result;
	if (range->size.given) {
		result = find(range, &range->size, procfs, &size_start, &size_end, error);
		if (result)
			return result;
		end = range->size.function[0] ? size_end : start + range->size.number;
	}
	if (sized && end <= start)
		return tally_fail(error, -EINVAL, range->start.position,
				  "the range is empty, or its end is unknown: give a size, as "
				  "0x1000/0x20");
	tally_buf_printf(to, "%s%s 0x%llx", to->size ? "," : "", range->action->kernels,
			 (unsigned long long)start);
	if (sized)
		tally_buf_printf(to, "/0x%llx", (unsigned long long)(end - start));
	if (range->file[0])
		tally_buf_printf(to, "@%s", range->file);
	return 0;
}

int tally_code_filter_resolve(const char *text, const char *procfs, char **ret,
			      struct tally_error *error)
{
	struct parsing parsing = {.text = text, .error = error};
	struct range *range = malloc(sizeof(*range));
	struct tally_buf made = {0};
	int result = range ? 0 : tally_fail(error, -ENOMEM, -1, "out of memory");

	skip(&parsing, " \t,");
	while (!result && text[parsing.at]) {
		memset(range, 0, sizeof(*range));
		result = take_range(&parsing, range);
		if (!result)
			result = write_range(range, procfs, &made, error);
		skip(&parsing, " \t,");
	}
	if (!result) {
		*ret = made.failed ? NULL : strdup(tally_buf_str(&made));
		if (!*ret)
			result = tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	tally_buf_done(&made);
	free(range);
	return result;
}
