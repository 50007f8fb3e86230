/* What can be probed: functions, variables at a place, source lines. */
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "base/text.h"
#include "elf/demangle.h"
#include "elf/place.h"
#include "dwarf/code_lines.h"
#include "dwarf/die.h"
#include "probe/kernel_symbols.h"
#include "base/name_filter.h"
#include "place/point_finder.h"
#include "probe/probe_set.h"
#include "place/vmlinux.h"

#define FUNCTIONS_USUAL "!_* & !*@plt"

static int take_options(const struct tally_probe_event_options *options,
			struct tally_probe_event_options *ret, struct tally_error *error)
{
	int result = tally_options_take(ret, sizeof(*ret), options);

	return result ? tally_fail(error, result, -1, "unknown options") : 0;
}

/* The program, or what has the kernel's debug information; the caller's to free(). */
static int debug_path(const struct tally_probe_event_options *options, char **ret,
		      struct tally_error *error)
{
	bool other_kernel;

	if (options->program)
		return tally_probe_program_path(options, ret, error);
	if (options->module)
		return tally_fail(error, -ENOTSUP, -1,
				  "lines and variables of the kernel's modules are not read");
	return tally_vmlinux_path(options->vmlinux, options->debug_root, ret, &other_kernel, error);
}

static void print_escaped(const char *text, size_t length, FILE *to)
{
	struct tally_buf shown = {0};

	tally_text_add_escaped(&shown, text, length);
	if (shown.size)
		fwrite(shown.data, 1, shown.size, to);
	tally_buf_done(&shown);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* --- functions --- */

struct names {
	char **names;
	size_t count, room;
};

static int names_add(struct names *names, const char *name)
{
	if (!array_next(&names->names, &names->room, names->count, 1024, sizeof(*names->names)))
		return -ENOMEM;
	names->names[names->count] = strdup(name);
	return names->names[names->count] ? (int)(names->count++, 0) : -ENOMEM;
}

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->names[i]);
	free(names->names);
}

static int add_program(const struct tally_probe_event_options *options, struct names *names,
		       struct tally_error *error)
{
	struct tally_symbol_list list = {0};
	uint64_t left;
	char *path = NULL;
	int result = debug_path(options, &path, error);

	if (result)
		return result;
	result = tally_image_symbols(path, &list, error);
	left = elf_allowed(symbol_list_text_end(&list));
	for (size_t i = 0; i < list.count && !result; i++) {
		const char *name = tally_symbol_list_name(&list, i);
		unsigned type = list.infos[i] & 15;
		char *shown;

		if (type != STT_FUNC && type != STT_GNU_IFUNC)
			continue;
		shown = tally_demangle_wanted(name) ? tally_demangle(name, &left) : NULL;
		if (names_add(names, shown ? shown : name))
			result = tally_fail(error, -ENOMEM, -1, "out of memory");
		free(shown);
	}
	if (!result && !names->count)
		result = tally_fail(error, -ENODATA, -1,
				    "%s has no symbols: its functions have no names; install its "
				    "-dbgsym or -debuginfo package, or build it without -s",
				    path);
	tally_symbol_list_done(&list);
	free(path);
	return result;
}

static int add_kernel(const struct tally_probe_event_options *options, struct names *names,
		      struct tally_error *error)
{
	struct kernel_symbols symbols;
	int result = tally_kernel_symbols_open(options->procfs, &symbols, error);

	if (result)
		return result;
	for (size_t i = 0; i < symbols.count && !result; i++) {
		const struct kernel_symbol *symbol = &symbols.list[i];

		if (options->module ? symbol->module && !strcmp(symbol->module, options->module)
				    : !symbol->module)
			result = names_add(names, symbol->name);
	}
	if (result)
		tally_fail(error, result, -1, "out of memory");
	else if (!names->count)
		result =
		    tally_fail(error, -ENOENT, -1, "the module %s is not loaded", options->module);
	tally_kernel_symbols_close(&symbols);
	return result;
}

int tally_probe_functions_print(const char *filter, const struct tally_probe_event_options *options,
				FILE *to, struct tally_error *error)
{
	struct tally_probe_event_options known = {.size = sizeof(known)};
	struct name_filter *wanted = NULL;
	struct names names = {0};
	size_t printed = 0;
	int result = take_options(options, &known, error);

	if (!result)
		result = tally_name_filter_new(filter ? filter : FUNCTIONS_USUAL, &wanted, error);
	if (!result)
		result = known.program || known.vmlinux ? add_program(&known, &names, error)
							: add_kernel(&known, &names, error);
	if (!result)
		qsort(names.names, names.count, sizeof(*names.names), by_name);
	for (size_t i = 0; i < names.count && !result; i++) {
		if (!tally_name_filter_takes(wanted, names.names[i]))
			continue;
		print_escaped(names.names[i], strlen(names.names[i]), to);
		fputc('\n', to);
		printed++;
	}
	if (!result && !printed)
		result = tally_fail(error, -ENOENT, -1,
				    "no function of %zu matches '%s': --funcs='*' lists all",
				    names.count, filter ? filter : FUNCTIONS_USUAL);
	names_done(&names);
	tally_name_filter_free(wanted);
	return result;
}

/* --- variables --- */

struct shown {
	const struct tally_probe_event_options *options;
	const struct name_filter *filter; /* NULL: all */
	FILE *to;
	const struct probe_scope *scope; /* NULL: variables of the file */
	struct names lines;
	size_t places;
};

/* perf's words: it has a value here, it has none here but elsewhere, it is outside of functions. */
static const char *range_mark(const struct shown *shown, Dwarf_Die *variable)
{
	struct fetch fetch;
	const char *why;

	if (!shown->scope)
		return "EXT";
	return tally_variable_locate(shown->scope, variable, &fetch, &why) ? "INV" : "VAL";
}

/* Fields are separated by tabs. */
static void print_variable(const char *line, FILE *to)
{
	fputc('\t', to);
	for (size_t length;; line += length + 1) {
		length = strcspn(line, "\t");
		fputc('\t', to);
		print_escaped(line, length, to);
		if (!line[length])
			break;
	}
	fputc('\n', to);
}

static int add_variable(Dwarf_Die *variable, void *context)
{
	struct shown *shown = context;
	struct tally_buf line = {0};
	int result;

	if (shown->filter && !tally_name_filter_takes(shown->filter, dwarf_diename(variable)))
		return 0;
	if (shown->options->ranges)
		tally_buf_printf(&line, "[%s]\t", range_mark(shown, variable));
	tally_variable_describe(variable, &line);
	if (shown->options->ranges && shown->scope)
		tally_variable_describe_range(shown->scope, variable, &line);
	result = line.failed ? -ENOMEM : names_add(&shown->lines, tally_buf_str(&line));
	tally_buf_done(&line);
	return result;
}

static int print_place(struct probe_scope *scope, void *context)
{
	struct shown *shown = context;
	Dwarf_Die function = scope->function;
	const char *name = dwarf_diename(&function);
	Dwarf_Addr entry = scope->address;
	int result;

	tally_die_entry(&function, &entry);
	shown->lines = (struct names){0};
	shown->places++;
	fprintf(shown->to, "\t@<");
	print_escaped(name ? name : "", name ? strlen(name) : 0, shown->to);
	fprintf(shown->to, "+%" PRId64 ">\n", (int64_t)(scope->address - entry));
	shown->scope = scope;
	result = shown->options->ranges ? tally_variables_walk_all(scope, add_variable, shown)
					: tally_variables_walk(scope, false, add_variable, shown);
	shown->scope = NULL;
	if (!result && shown->options->externs)
		result = tally_variables_walk_file(scope, add_variable, shown);
	if (shown->lines.count)
		qsort(shown->lines.names, shown->lines.count, sizeof(char *), by_name);
	for (size_t i = 0; i < shown->lines.count && !result; i++) {
		const char *line = shown->lines.names[i];

		if (!i || strcmp(line, shown->lines.names[i - 1]))
			print_variable(line, shown->to);
	}
	if (!shown->lines.count && !result)
		fprintf(shown->to, "\t\t(No matched variables)\n");
	names_done(&shown->lines);
	return result;
}

static int print_variables(const struct probe_spec *spec, struct shown *shown,
			   struct tally_error *error)
{
	struct point_options options = {.no_inlines = shown->options->no_inlines,
					.sources = shown->options->sources,
					.kernel = !shown->options->program};
	struct tally_buf place = {0};
	struct debug_info info;
	char *path = NULL;
	int result = debug_path(shown->options, &path, error);

	if (result)
		return result;
	result = tally_debug_info_open(path, shown->options->debug_root, &info, error);
	if (result) {
		free(path);
		return result;
	}
	tally_probe_point_format(&spec->point, &place);
	if (!info.dwarf) {
		result = tally_debug_info_missing(&info, error);
	} else {
		const char *similar = NULL;

		fprintf(shown->to, "Available variables at %s\n", tally_buf_str(&place));
		result =
		    tally_points_find(&info, &spec->point, &options, print_place, shown, error);
		if (result == -ENOMEM)
			tally_fail(error, result, -1, "out of memory");
		if (!result && !shown->places && spec->point.function)
			similar = tally_point_similar(&info, spec->point.function);
		if (similar && !strcmp(similar, spec->point.function))
			similar = NULL;
		if (!result && !shown->places)
			result = tally_fail(error, -ENOENT, -1, "%s: no code there in %s%s%s%s",
					    tally_buf_str(&place), path,
					    similar ? "; did you mean " : "",
					    similar ? similar : "", similar ? "?" : "");
	}
	tally_buf_done(&place);
	tally_debug_info_close(&info);
	free(path);
	return result;
}

static int check_variables(const struct probe_spec *spec, struct tally_error *error)
{
	if (spec->argument_count)
		return tally_fail(error, -EINVAL, (int64_t)spec->arguments[0].column,
				  "variables are asked for, so none are given");
	if (spec->marker || spec->point.is_address || spec->point.at_return)
		return tally_fail(error, -EINVAL, 0,
				  "variables are known at functions and lines only");
	return 0;
}

int tally_probe_variables_print(const char *place, const char *filter,
				const struct tally_probe_event_options *options, FILE *to,
				struct tally_error *error)
{
	struct tally_probe_event_options known = {.size = sizeof(known)};
	struct shown shown = {.options = &known, .to = to};
	struct name_filter *wanted = NULL;
	struct probe_spec spec;
	int result = take_options(options, &known, error);

	if (!result && filter)
		result = tally_name_filter_new(filter, &wanted, error);
	if (!result)
		result = tally_probe_spec_parse(place, &spec, error);
	if (result) {
		tally_name_filter_free(wanted);
		return result;
	}
	shown.filter = wanted;
	result = check_variables(&spec, error);
	if (!result)
		result = print_variables(&spec, &shown, error);
	tally_probe_spec_done(&spec);
	tally_name_filter_free(wanted);
	return result;
}

/* --- lines --- */

struct lines {
	const struct tally_probe_event_options *options;
	struct probe_range range;
	Dwarf_Die unit;
	const char *file; /* as it was asked for, or the function's */
	const char *path; /* of the lines that were found */
	const char *folder;
	int first, last, base; /* base: the function's line */
	int *numbers;
	size_t count, room;
	bool found;
	int result;
};

/* A line that an address does not lead back to cannot be listed by it. */
static int add_line(const char *file, int line, Dwarf_Addr address, void *context)
{
	struct lines *lines = context;
	const char *other;
	int back;

	if (line < lines->first || line > lines->last || !tally_path_ends(file, lines->file))
		return 0;
	back = tally_code_line_at(&lines->unit, address, &other);
	if (back && (back != line || strcmp(other, file)))
		return 0;
	if (!lines->path)
		lines->path = file;
	if (!array_next(&lines->numbers, &lines->room, lines->count, 256, sizeof(*lines->numbers)))
		return -ENOMEM;
	lines->numbers[lines->count++] = line;
	return 0;
}

struct instance {
	struct lines *lines;
	Dwarf_Off origin;
};

static enum die_next add_instance(Dwarf_Die *die, unsigned depth, void *context)
{
	struct instance *instance = context;
	Dwarf_Attribute value;
	Dwarf_Die origin;

	(void)depth;
	if (!tally_die_has_code(die) || !dwarf_attr(die, DW_AT_abstract_origin, &value) ||
	    !dwarf_formref_die(&value, &origin) || dwarf_dieoffset(&origin) != instance->origin)
		return DIE_INSIDE;
	instance->lines->result = tally_code_lines_walk(die, add_line, instance->lines);
	return instance->lines->result ? DIE_END : DIE_INSIDE;
}

static int match_function(Dwarf_Die *die, void *context)
{
	struct lines *lines = context;
	const char *file = tally_die_declared_file(die);
	int64_t last;

	if (!file || !tally_die_is_called(die, lines->range.function) ||
	    !tally_die_is_function(die) ||
	    (lines->range.file && !tally_path_ends(file, lines->range.file)))
		return DWARF_CB_OK;
	lines->file = file;
	lines->base = tally_die_line(die);
	lines->first =
	    lines->base + (lines->range.first < INT32_MAX - lines->base ? lines->range.first
									: INT32_MAX - lines->base);
	last = (int64_t)lines->base + lines->range.last;
	lines->last = last < INT32_MAX ? (int)last : INT32_MAX;
	if (tally_die_has_code(die)) {
		lines->result = tally_code_lines_walk(die, add_line, lines);
	} else {
		struct instance instance = {lines, dwarf_dieoffset(die)};

		tally_die_walk(&lines->unit, add_instance, &instance);
	}
	return DWARF_CB_ABORT;
}

static int find_lines(const struct debug_info *info, struct lines *lines)
{
	Dwarf_Off at = 0;

	while (!lines->result && !lines->count && tally_debug_info_next(info, &at, &lines->unit)) {
		lines->file =
		    lines->range.file ? tally_die_file(&lines->unit, lines->range.file) : NULL;
		if (lines->range.file && !lines->file)
			continue;
		if (lines->range.function) {
			dwarf_getfuncs(&lines->unit, match_function, lines, 0);
		} else {
			lines->first = lines->range.first;
			lines->last = lines->range.last;
			lines->result = tally_code_lines_walk(&lines->unit, add_line, lines);
		}
		lines->folder = tally_die_text(&lines->unit, DW_AT_comp_dir);
	}
	return lines->result;
}

static int by_number(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;

	return (left > right) - (left < right);
}

static void print_text(const struct lines *lines, const char *text, size_t length, int number,
		       bool has_code, FILE *to)
{
	const char *dim = !has_code && lines->options->colour ? "\033[2m" : "";

	fputs(dim, to);
	if (has_code)
		fprintf(to, "%7d  ", number);
	else
		fputs("         ", to);
	for (size_t at = 0; at < length;) { /* tabs stay */
		size_t part = 0;

		while (at + part < length && text[at + part] != '\t')
			part++;
		print_escaped(text + at, part, to);
		at += part;
		if (at < length) {
			fputc('\t', to);
			at++;
		}
	}
	fprintf(to, "%s\n", *dim ? "\033[0m" : "");
}

/* Behind the last line with code two more are shown, as perf does. */
static void print_source(const struct lines *lines, FILE *source, FILE *to)
{
	int last = lines->last, number = 1;
	size_t room = 0, at = 0;
	char *text = NULL;
	ssize_t length;

	if (last == INT32_MAX)
		last = lines->numbers[lines->count - 1] + 3;
	while (number <= last && (length = getline(&text, &room, source)) > 0) {
		bool has_code;

		while (at < lines->count && lines->numbers[at] < number)
			at++;
		has_code = at < lines->count && lines->numbers[at] == number;
		length -= text[length - 1] == '\n';
		if (number >= lines->first)
			print_text(lines, text, (size_t)length, number - lines->base, has_code, to);
		number++;
	}
	free(text);
}

static int print_lines(const struct lines *lines, FILE *to, struct tally_error *error)
{
	char path[PATH_MAX];
	FILE *source;
	int result = tally_source_open(lines->path, lines->folder, lines->options->sources, path,
				       sizeof(path), &source);

	if (result)
		return tally_fail(error, result, -1,
				  "the source file %s cannot be read: %s; -s names the folder that "
				  "has it",
				  path, strerror(-result));
	fputc('<', to);
	if (lines->range.function)
		fprintf(to, "%s@", lines->range.function);
	print_escaped(path, strlen(path), to);
	fprintf(to, ":%d>\n", lines->first - lines->base);
	qsort(lines->numbers, lines->count, sizeof(*lines->numbers), by_number);
	print_source(lines, source, to);
	fclose(source);
	return 0;
}

static int show_lines(struct lines *lines, const char *path, FILE *to, struct tally_error *error)
{
	struct debug_info info;
	const char *similar = NULL, *name = lines->range.function;
	int result = tally_debug_info_open(path, lines->options->debug_root, &info, error);

	if (result)
		return result;
	if (!info.dwarf) {
		result = tally_debug_info_missing(&info, error);
	} else {
		result = find_lines(&info, lines);
		if (result)
			tally_fail(error, result, -1, "out of memory");
		else if (lines->count)
			result = print_lines(lines, to, error);
		else if (name && (similar = tally_point_similar(&info, name)) &&
			 strcmp(similar, name))
			result = tally_fail(error, -ENOENT, -1,
					    "%s has no function %s; did you mean %s?", path, name,
					    similar);
		else
			result =
			    tally_fail(error, -ENOENT, -1, "%s has no code for these lines", path);
	}
	tally_debug_info_close(&info);
	return result;
}

int tally_probe_lines_print(const char *range, const struct tally_probe_event_options *options,
			    FILE *to, struct tally_error *error)
{
	struct tally_probe_event_options known = {.size = sizeof(known)};
	struct lines lines = {.options = &known};
	char *path = NULL;
	int result = take_options(options, &known, error);

	if (!result)
		result = tally_probe_range_parse(range, &lines.range, error);
	if (result)
		return result;
	result = debug_path(&known, &path, error);
	if (!result)
		result = show_lines(&lines, path, to, error);
	free(path);
	free(lines.numbers);
	tally_probe_range_done(&lines.range);
	return result;
}
