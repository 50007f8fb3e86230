/* The rules for choosing among several places are perf's (tools/perf/util/probe-finder.c of
 * 6.1). */
#include "place/point_finder.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/text.h>
#include "base/fail.h"
#include "base/map.h"
#include "base/table.h"
#include "dwarf/code_lines.h"
#include "dwarf/die.h"
#include "base/name_filter.h"

/* A file with more lines is not a source file. */
#define SOURCE_LINES_MOST 10000000

struct finder {
	const struct debug_info *info;
	const struct probe_point *point;
	const struct point_options *options;
	point_visit visit;
	void *context;
	struct tally_error *error;
	struct tally_map seen; /* addresses */
	Dwarf_Die unit;
	const char *file; /* that lines are of, as the unit names it */
	int line;
	bool *wanted; /* by line: the pattern matches it */
	size_t wanted_count;
	int result;
};

static int fail_memory(const struct finder *finder)
{
	return tally_fail(finder->error, -ENOMEM, -1, "out of memory");
}

/* --- one address --- */

/* An offset that leaves its function would hit another one, or no instruction. */
static int check_offset(const struct finder *finder, struct probe_scope *scope)
{
	const char *name = dwarf_diename(&scope->function);

	if (!finder->point->offset || dwarf_haspc(&scope->function, scope->address) > 0)
		return 0;
	return tally_fail(finder->error, -EINVAL, -1, "+%llu is after the end of %s",
			  (unsigned long long)finder->point->offset, name ? name : "the function");
}

static int visit_address(struct finder *finder, Dwarf_Die *scope_die, Dwarf_Addr address)
{
	struct probe_scope scope = {.info = finder->info,
				    .unit = finder->unit,
				    .function = *scope_die,
				    .scope = *scope_die,
				    .address = address};
	uint64_t offset;
	Dwarf_Frame *frame;
	bool added;
	int result;

	if (!tally_map_put(&finder->seen, address, &added))
		return fail_memory(finder);
	if (!added)
		return 0;
	if (dwarf_tag(scope_die) != DW_TAG_subprogram &&
	    !tally_die_function_at(&finder->unit, address, &scope.function))
		return 0; /* behind a tail call: no function's code */
	result = check_offset(finder, &scope);
	if (result)
		return result;
	scope.kernel = finder->options->kernel;
	if (scope.kernel)
		offset = address;
	else if (tally_elf_offset(&finder->info->elf, address, &offset))
		return tally_fail(finder->error, -ENOENT, -1,
				  "%s has no code at %#llx, although its debug information says so",
				  finder->info->path, (unsigned long long)address);
	scope.shift = (int64_t)(offset - address);
	tally_scope_read_frame(&scope, &frame);
	result = finder->visit(&scope, finder->context);
	free(frame);
	return result;
}

/* --- lines --- */

/* Of the functions around an address: the one that was named; without a name, the last one that is
 * declared before the line; else the outermost. */
static bool best_scope(const struct finder *finder, Dwarf_Addr address, Dwarf_Die *ret)
{
	const char *name = finder->point->function;
	Dwarf_Die unit = finder->unit, at;
	int nearest = INT_MAX;

	if (!tally_die_function_at(&unit, address, &at))
		return false;
	*ret = at;
	for (unsigned i = 0; i < DIE_DEPTH_MOST; i++) {
		const char *file = tally_die_declared_file(&at);
		int line = tally_die_line(&at);

		if (!finder->file || (file && !strcmp(finder->file, file))) {
			if (name && tally_die_is_called(&at, name)) {
				*ret = at;
				return true;
			}
			if (!name && line < finder->line && finder->line - line < nearest) {
				nearest = finder->line - line;
				*ret = at;
			}
		}
		if (!tally_die_inlined_at(&at, address, &at))
			break;
	}
	return true;
}

/* A line may share its first address with another line, which the address then stands for. */
static int check_line(const struct finder *finder, const char *file, int line, Dwarf_Addr address)
{
	const char *other_file, *name = NULL;
	Dwarf_Die unit = finder->unit, scope;
	int declared, other = tally_code_line_at(&unit, address, &other_file);

	if (!other || other == line || strcmp(file, other_file))
		return 0;
	if (finder->point->function && best_scope(finder, address, &scope) &&
	    tally_die_is_called(&scope, finder->point->function)) {
		declared = tally_die_line(&scope);
		if (other >= declared) { /* not of a function that was inlined there */
			name = dwarf_diename(&scope);
			other -= declared;
		}
	}
	return tally_fail(finder->error, -ENOENT, -1,
			  "line %d of %s shares its code with another line: probe %s:%d instead",
			  line, file, name ? name : other_file, other);
}

static int visit_line(const char *file, int line, Dwarf_Addr address, void *context)
{
	struct finder *finder = context;
	Dwarf_Die scope;
	int result;

	if (line != finder->line || !tally_path_ends(file, finder->file))
		return 0;
	result = check_line(finder, file, line, address);
	if (!result && best_scope(finder, address, &scope))
		result = visit_address(finder, &scope, address);
	return result;
}

static int visit_wanted(const char *file, int line, Dwarf_Addr address, void *context)
{
	struct finder *finder = context;
	Dwarf_Die scope;

	if ((size_t)line >= finder->wanted_count || !finder->wanted[line] ||
	    !tally_path_ends(file, finder->file))
		return 0;
	finder->line = line;
	return best_scope(finder, address, &scope) ? visit_address(finder, &scope, address) : 0;
}

/* --- patterns --- */

int tally_source_open(const char *name, const char *folder, const char *sources, char *path,
		      size_t room, FILE **ret)
{
	const char *tail = name;
	struct stat status;

	for (;;) { /* below `sources`: with ever less of the path */
		const char *before = sources ? sources : *name != '/' && folder ? folder : "";
		int length = snprintf(path, room, "%s%s%s", before, *before ? "/" : "", tail);

		if (length < 0 || (size_t)length >= room)
			return -ENAMETOOLONG;
		if (!stat(path, &status)) {
			FILE *file = S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;

			if (!file)
				return S_ISREG(status.st_mode) ? -errno : -EINVAL;
			*ret = file;
			return 0;
		}
		if (!sources)
			return -errno;
		tail = strchr(tail + 1, '/');
		if (!tail)
			return -ENOENT;
		tail++;
	}
}

static int read_wanted(struct finder *finder)
{
	char path[PATH_MAX], *text = NULL;
	size_t room = 0, number = 1;
	ssize_t length;
	FILE *file = NULL;
	int result = tally_source_open(finder->file, tally_die_text(&finder->unit, DW_AT_comp_dir),
				       finder->options->sources, path, sizeof(path), &file);

	if (result)
		return tally_fail(finder->error, result, -1,
				  "the source file %s cannot be read: %s; -s names the folder that "
				  "has it",
				  path, strerror(-result));
	while (!result && (length = getline(&text, &room, file)) > 0 &&
	       number < SOURCE_LINES_MOST) {
		if (number >= finder->wanted_count) {
			size_t count = finder->wanted_count ? finder->wanted_count * 2 : 1024;
			bool *grown = reallocarray(finder->wanted, count, sizeof(*grown));

			if (!grown) {
				result = fail_memory(finder);
				break;
			}
			memset(grown + finder->wanted_count, 0, count - finder->wanted_count);
			finder->wanted = grown;
			finder->wanted_count = count;
		}
		if (text[length - 1] == '\n')
			text[length - 1] = '\0';
		finder->wanted[number++] = tally_line_matches(text, finder->point->pattern);
	}
	free(text);
	fclose(file);
	return result;
}

static int visit_pattern(struct finder *finder, Dwarf_Die *top)
{
	int result;

	free(finder->wanted);
	finder->wanted = NULL;
	finder->wanted_count = 0;
	result = read_wanted(finder);
	return result ? result : tally_code_lines_walk(top, visit_wanted, finder);
}

/* --- functions --- */

/* Code that was compiled with optimization has variables in lists of places.  Those of
 * DW_FORM_loclistx (clang, DWARF 5) do not count, as in perf: the address after the prologue can be
 * used too, as variables are looked up there. */
static enum die_next has_list(Dwarf_Die *die, unsigned depth, void *context)
{
	int tag = dwarf_tag(die);
	Dwarf_Attribute place;

	(void)depth;
	(void)context;
	return (tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) &&
		       dwarf_attr_integrate(die, DW_AT_location, &place) &&
		       dwarf_whatform(&place) == DW_FORM_sec_offset
		   ? DIE_END
		   : DIE_INSIDE;
}

static Dwarf_Addr begin_of(struct finder *finder, Dwarf_Die *die, Dwarf_Addr entry)
{
	if (!finder->options->skip_prologue || finder->point->offset || finder->point->at_return ||
	    tally_die_walk(&finder->unit, has_list, NULL))
		return entry;
	return tally_code_behind_prologue(die, &finder->unit, entry);
}

static int visit_instance(struct finder *finder, Dwarf_Die *die)
{
	Dwarf_Addr entry;

	if (finder->point->pattern)
		return visit_pattern(finder, die);
	if (!tally_die_entry(die, &entry) || !entry)
		return 0;
	if (dwarf_tag(die) == DW_TAG_subprogram)
		entry = begin_of(finder, die, entry);
	return visit_address(finder, die, entry + finder->point->offset);
}

struct instances {
	struct finder *finder;
	Dwarf_Off origin;
	Dwarf_Die *declared;
};

static enum die_next match_instance(Dwarf_Die *die, unsigned depth, void *context)
{
	struct instances *instances = context;
	Dwarf_Attribute value;
	Dwarf_Word called = 0, declared = 0;
	Dwarf_Die origin;

	(void)depth;
	if (!tally_die_has_code(die) || !dwarf_attr(die, DW_AT_abstract_origin, &value) ||
	    !dwarf_formref_die(&value, &origin) || dwarf_dieoffset(&origin) != instances->origin)
		return DIE_INSIDE;
	/* An inlined function that is called on its own line of declaration is the function itself,
	 * not a call. */
	if (dwarf_tag(die) == DW_TAG_inlined_subroutine && tally_die_call_line(die) &&
	    tally_die_call_line(die) == tally_die_line(instances->declared) &&
	    tally_die_number(die, DW_AT_call_file, &called) &&
	    tally_die_number(instances->declared, DW_AT_decl_file, &declared) && called == declared)
		return DIE_INSIDE;
	instances->finder->result = visit_instance(instances->finder, die);
	return instances->finder->result ? DIE_END : DIE_INSIDE;
}

static int match_function(Dwarf_Die *die, void *context)
{
	struct finder *finder = context;
	const struct probe_point *point = finder->point;
	const char *file;

	if (!tally_die_is_function(die) || !tally_die_is_called(die, point->function))
		return DWARF_CB_OK;
	file = tally_die_declared_file(die);
	if ((point->file || point->line || point->pattern) && !file)
		return DWARF_CB_OK;
	if (point->file && !tally_path_ends(file, point->file))
		return DWARF_CB_OK;
	finder->file = file;
	if (point->line) {
		finder->line = tally_die_line(die) + (int)point->line;
		finder->result = tally_code_lines_walk(&finder->unit, visit_line, finder);
	} else if (tally_die_has_code(die)) {
		finder->result = visit_instance(finder, die);
	} else if (!finder->options->no_inlines) {
		struct instances instances = {finder, dwarf_dieoffset(die), die};

		tally_die_walk(&finder->unit, match_instance, &instances);
	}
	/* A unit has one function of a name, and any number for a glob. */
	return finder->result || !tally_name_is_glob(point->function) ? DWARF_CB_ABORT
								      : DWARF_CB_OK;
}

/* --- all --- */

static int find_in_unit(struct finder *finder)
{
	const struct probe_point *point = finder->point;

	finder->file = NULL;
	if (point->file) {
		finder->file = tally_die_file(&finder->unit, point->file);
		if (!finder->file)
			return 0;
	}
	if (point->function) {
		dwarf_getfuncs(&finder->unit, match_function, finder, 0);
		return finder->result;
	}
	if (point->pattern)
		return visit_pattern(finder, &finder->unit);
	finder->line = (int)point->line;
	return tally_code_lines_walk(&finder->unit, visit_line, finder);
}

int tally_points_find(const struct debug_info *info, const struct probe_point *point,
		      const struct point_options *options, point_visit visit, void *context,
		      struct tally_error *error)
{
	struct finder finder = {.info = info,
				.point = point,
				.options = options,
				.visit = visit,
				.context = context,
				.error = error};
	Dwarf_Off at = 0;
	int result = 0;

	while (!result && tally_debug_info_next(info, &at, &finder.unit))
		result = find_in_unit(&finder);
	tally_map_done(&finder.seen);
	free(finder.wanted);
	return result;
}

/* --- back --- */

bool tally_point_of(const struct debug_info *info, Dwarf_Addr address, struct probe_point *ret)
{
	struct probe_point point = {0};
	Dwarf_Die unit, function, inner;
	const char *file = NULL, *name;
	Dwarf_Addr entry, inner_entry;
	int line, declared;
	Dwarf_Off at = 0;
	bool found = false;

	while (!found && tally_debug_info_next(info, &at, &unit))
		found = dwarf_haspc(&unit, address) > 0 &&
			tally_die_function_at(&unit, address, &function);
	if (!found || !tally_die_entry(&function, &entry))
		return false;
	line = tally_code_line_at(&unit, address, &file);
	name = tally_die_text(&function, DW_AT_linkage_name);
	point.function = name ? name : dwarf_diename(&function);
	declared = tally_die_line(&function);
	point.file = tally_die_declared_file(&function);
	if (!point.function)
		return false;
	if (address == entry || !declared || !point.file) {
		if (address != entry)
			point.offset = address - entry;
		*ret = point;
		return true;
	}
	/* The innermost inlined function gives the line; at its entry, where it was called. */
	for (unsigned i = 0; i < DIE_DEPTH_MOST && tally_die_inlined_at(&function, address, &inner);
	     i++) {
		if (tally_die_entry(&inner, &inner_entry) && inner_entry == address) {
			line = tally_die_call_line(&inner);
			file = tally_die_call_file(&inner);
			break;
		}
		if (!dwarf_diename(&inner) || !tally_die_line(&inner))
			break;
		function = inner;
		declared = tally_die_line(&inner);
		point.file = tally_die_declared_file(&inner);
	}
	if (line > declared && file && point.file && !strcmp(file, point.file)) {
		const char *inlined = dwarf_diename(&function);

		if (dwarf_tag(&function) == DW_TAG_inlined_subroutine)
			point.function = inlined;
		point.line = (uint32_t)(line - declared);
	} else {
		point.offset = address - entry;
	}
	*ret = point;
	return true;
}

struct candidates {
	const char **names;
	size_t count, room;
};

static int add_name(Dwarf_Die *die, void *context)
{
	struct candidates *names = context;
	const char *name = tally_die_is_function(die) ? dwarf_diename(die) : NULL;

	if (!name)
		return DWARF_CB_OK;
	if (!array_next(&names->names, &names->room, names->count, 256, sizeof(*names->names)))
		return DWARF_CB_ABORT;
	names->names[names->count++] = name;
	return DWARF_CB_OK;
}

const char *tally_point_similar(const struct debug_info *info, const char *name)
{
	struct candidates names = {0};
	const char *found = NULL;
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	while (tally_debug_info_next(info, &at, &unit))
		dwarf_getfuncs(&unit, add_name, &names, 0);
	if (names.count)
		found = tally_text_nearest(name, names.names, names.count);
	free(names.names);
	return found;
}
