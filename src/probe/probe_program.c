/* Places in programs and libraries: by debug information, else by symbols. */
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "elf/demangle.h"
#include "elf/place.h"
#include "dwarf/die.h"
#include "base/name_filter.h"
#include "probe/point_finder.h"
#include "probe/probe_set.h"
#include "probe/variable.h"

static int fail_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "out of memory");
}

static int add_at(struct tally_probe_set *set, uint64_t offset, struct probe_site *site,
		  struct tally_error *error)
{
	struct tally_buf place = {0};
	int result;

	tally_buf_printf(&place, "%s:0x%llx", set->program, (unsigned long long)offset);
	site->place = place.failed ? NULL : tally_buf_str(&place);
	result = site->place ? tally_probe_set_append(set, site, error) : fail_memory(error);
	tally_buf_done(&place);
	return result;
}

/* --- by debug information --- */

struct visit {
	struct tally_probe_set *set;
	struct tally_error *error;
	const char *arguments[PROBE_ARGUMENTS_MOST];
	size_t count;
	const struct probe_scope *scope; /* at hand */
	bool skipped_prologue;
};

static int keep_reason(struct visit *visit, struct tally_error *why)
{
	struct tally_error **kept = &visit->set->missing[visit->count];

	/* Prefer the error that it cannot be read to the one that it does not exist. */
	if (*kept && ((*kept)->code == -ENOTSUP || why->code == -ENOENT))
		return 0;
	if (!*kept)
		*kept = tally_arena_alloc(&visit->set->arena, sizeof(**kept));
	if (!*kept)
		return fail_memory(why);
	**kept = *why;
	return 0;
}

static int add_argument(struct visit *visit, const struct probe_argument *argument)
{
	struct tally_probe_set *set = visit->set;
	struct tally_error why = {0};
	struct tally_buf text = {0};
	int result;

	if (visit->count == PROBE_ARGUMENTS_MOST)
		return tally_fail(visit->error, -E2BIG, (int64_t)argument->column,
				  "more than %d arguments", PROBE_ARGUMENTS_MOST);
	result = tally_variable_format(visit->scope, argument, &set->features, &text, &why);
	if (!result) {
		visit->arguments[visit->count] =
		    tally_arena_strndup(&set->arena, (char *)text.data, text.size);
		result = visit->arguments[visit->count] ? 0 : fail_memory(&why);
	} else if (result == -ENOENT || result == -ENOTSUP) { /* other places may have it */
		visit->arguments[visit->count] = NULL;
		result = keep_reason(visit, &why);
	}
	tally_buf_done(&text);
	if (result && visit->error)
		*visit->error = why;
	visit->count += !result;
	return result;
}

static int add_variable(Dwarf_Die *variable, void *context)
{
	struct visit *visit = context;
	struct probe_argument argument = {.variable = dwarf_diename(variable),
					  .shown = dwarf_diename(variable)};
	size_t length = strlen(argument.variable);

	/* What an inner block hides, and names that the kernel cannot have. */
	for (size_t i = 0; i < visit->count; i++)
		if (visit->arguments[i] &&
		    !strncmp(visit->arguments[i], argument.variable, length) &&
		    visit->arguments[i][length] == '=')
			return 0;
	return add_argument(visit, &argument);
}

static int add_plain(struct visit *visit, size_t at)
{
	struct tally_probe_set *set = visit->set;
	struct probe_site plain = {0};
	Dwarf_Die function = visit->scope->function;
	Dwarf_Addr entry;
	bool at_entry = !dwarf_entrypc(&function, &entry) && entry == visit->scope->address;
	struct probe_spec all = set->spec;
	int result;

	set->spec.arguments = &all.arguments[at];
	set->spec.argument_count = 1;
	result = tally_probe_set_plain_arguments(set, visit->scope->info->elf.header.e_machine,
						 at_entry, &plain, visit->error);
	set->spec.arguments = all.arguments;
	set->spec.argument_count = all.argument_count;
	if (!result && visit->count == PROBE_ARGUMENTS_MOST)
		result = tally_fail(visit->error, -E2BIG, -1, "more than %d arguments",
				    PROBE_ARGUMENTS_MOST);
	if (!result)
		visit->arguments[visit->count++] = plain.arguments[0];
	return result;
}

static int visit_point(struct probe_scope *scope, void *context)
{
	struct visit *visit = context;
	struct tally_probe_set *set = visit->set;
	Dwarf_Die named = scope->scope;
	struct probe_site site = {.name = dwarf_diename(&named), .arguments = visit->arguments};
	int result = 0;

	visit->scope = scope;
	visit->count = 0;
	for (size_t i = 0; i < set->spec.argument_count && !result; i++) {
		const struct probe_argument *argument = &set->spec.arguments[i];

		if (!strcmp(argument->variable, "$vars") || !strcmp(argument->variable, "$params"))
			result = tally_variables_walk(scope, argument->variable[1] == 'p',
						      add_variable, visit);
		else if (tally_probe_is_variable(argument->variable))
			result = add_argument(visit, argument);
		else
			result = add_plain(visit, i);
	}
	if (result)
		return result;
	site.argument_count = visit->count;
	return add_at(set, scope->address + (uint64_t)scope->shift, &site, visit->error);
}

static struct point_options options_of(const struct tally_probe_set *set)
{
	const struct probe_point *point = &set->spec.point;

	return (struct point_options){
	    .no_inlines = set->options.no_inlines,
	    .sources = set->options.sources,
	    .skip_prologue = tally_probe_has_variables(&set->spec) && point->function &&
			     !point->line && !point->pattern,
	};
}

/* A symbol may be another name of a function: "malloc" of __libc_malloc.  The point becomes that of
 * the function's own name. */
static bool find_other_name(const struct tally_probe_set *set, const struct debug_info *info,
			    struct probe_point *ret)
{
	const struct probe_point *point = &set->spec.point;
	struct probe_point own;
	uint64_t *offsets;
	size_t count;
	bool found = false;

	if (!point->function || point->file || tally_name_is_glob(point->function) ||
	    tally_image_find_function(set->program, point->function, &offsets, &count, NULL))
		return false;
	for (size_t i = 0; i < info->elf.load_count && !found; i++) {
		const struct tally_elf_load *load = &info->elf.loads[i];

		if (offsets[0] < load->offset || offsets[0] - load->offset >= load->size)
			continue;
		found = tally_point_of(info, load->address + offsets[0] - load->offset, &own) &&
			!own.line && !own.offset;
	}
	free(offsets);
	if (!found)
		return false;
	*ret = *point;
	ret->function = own.function;
	ret->file = own.file;
	return true;
}

static int find_by_debug(struct tally_probe_set *set, const struct debug_info *info,
			 struct tally_error *error)
{
	struct visit visit = {.set = set, .error = error};
	struct point_options options = options_of(set);
	struct probe_point other;
	int result =
	    tally_points_find(info, &set->spec.point, &options, visit_point, &visit, error);

	if (!result && !set->site_count && find_other_name(set, info, &other))
		result = tally_points_find(info, &other, &options, visit_point, &visit, error);
	return result;
}

static int fail_absent(const struct tally_probe_set *set, const struct debug_info *info,
		       struct tally_error *error)
{
	const struct probe_point *point = &set->spec.point;
	struct tally_buf place = {0};
	const char *similar = NULL;
	int result;

	tally_probe_point_format(point, &place);
	if (point->function && !tally_name_is_glob(point->function))
		similar = tally_point_similar(info, point->function);
	if (similar && !strcmp(similar, point->function)) {
		similar = NULL;
		/* It is there, and what was asked of it is not. */
		result = point->line || point->pattern
			     ? tally_fail(error, -ENOENT, -1,
					  "%s: no code of its own there; `tally probe -x %s -L %s` "
					  "shows the lines that have some",
					  tally_buf_str(&place), set->program, point->function)
			 : point->file
			     ? tally_fail(error, -ENOENT, -1, "%s: no %s in such a file",
					  tally_buf_str(&place), point->function)
			     : tally_fail(error, -ENOENT, -1,
					  "%s is in %s by name only: each call was inlined or "
					  "optimized away%s",
					  point->function, set->program,
					  set->options.no_inlines ? " (--no-inlines passes over "
								    "inlined ones)"
								  : "");
	} else if (point->function) {
		result = tally_fail(error, -ENOENT, -1, "%s has no function %s%s%s%s", set->program,
				    point->function, similar ? "; did you mean " : "",
				    similar ? similar : "", similar ? "?" : "");
	} else {
		result = tally_fail(error, -ENOENT, -1,
				    "%s has no code for %s: neither the file nor the line may be "
				    "in its debug information",
				    set->program, tally_buf_str(&place) + 1);
	}
	tally_buf_done(&place);
	return result;
}

/* --- by symbols --- */

static int add_symbol(struct tally_probe_set *set, uint64_t start, uint64_t end, const char *name,
		      unsigned machine, struct tally_error *error)
{
	const struct probe_point *point = &set->spec.point;
	struct probe_site site = {.name = name};
	int result;

	if (end > start && point->offset >= end - start)
		return tally_fail(error, -EINVAL, -1, "+%llu is behind the end of %s, %llu bytes",
				  (unsigned long long)point->offset, name,
				  (unsigned long long)(end - start));
	result = tally_probe_set_plain_arguments(set, machine, !point->offset, &site, error);
	return result ? result : add_at(set, start + point->offset, &site, error);
}

static int find_by_glob(struct tally_probe_set *set, unsigned machine, struct tally_error *error)
{
	struct tally_symbol_list list = {0};
	int result = tally_image_symbols(set->program, &list, error);
	uint64_t left = elf_allowed(symbol_list_text_end(&list));

	for (size_t i = 0; i < list.count && !result; i++) {
		const char *name = tally_symbol_list_name(&list, i);
		char *shown = tally_demangle_wanted(name) ? tally_demangle(name, &left) : NULL;

		if ((list.infos[i] & 15) == STT_FUNC &&
		    tally_name_matches(shown ? shown : name, set->spec.point.function))
			result =
			    add_symbol(set, list.starts[i], list.ends[i], name, machine, error);
		free(shown);
	}
	tally_symbol_list_done(&list);
	if (!result && !set->site_count)
		result = tally_fail(error, -ENOENT, -1, "%s has no function like %s", set->program,
				    set->spec.point.function);
	return result;
}

/* How far the symbol that starts there reaches; the start itself: unknown. */
static uint64_t end_of(const struct tally_symbol_list *list, uint64_t start)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->starts[i] == start)
			return list->ends[i];
	return start;
}

static int find_by_symbol(struct tally_probe_set *set, unsigned machine, struct tally_error *error)
{
	const struct probe_point *point = &set->spec.point;
	struct tally_symbol_list list = {0};
	uint64_t *offsets = NULL;
	size_t count = 0;
	int result;

	if (tally_name_is_glob(point->function))
		return find_by_glob(set, machine, error);
	result = tally_image_find_function(set->program, point->function, &offsets, &count, error);
	if (!result && point->offset)
		result = tally_image_symbols(set->program, &list, error);
	for (size_t i = 0; i < count && !result; i++)
		result = add_symbol(set, offsets[i], end_of(&list, offsets[i]), point->function,
				    machine, error);
	tally_symbol_list_done(&list);
	free(offsets);
	return result;
}

/* perf takes an address as the offset in the file. */
static int find_by_address(struct tally_probe_set *set, unsigned machine, struct tally_error *error)
{
	const struct probe_point *point = &set->spec.point;
	struct probe_site site = {0};
	char name[32];
	int result;

	snprintf(name, sizeof(name), "abs_%llx", (unsigned long long)point->address);
	site.name = name;
	result = tally_probe_set_plain_arguments(set, machine, false, &site, error);
	return result ? result : add_at(set, point->address, &site, error);
}

int tally_probe_set_find_program(struct tally_probe_set *set, struct tally_error *error)
{
	const struct probe_point *point = &set->spec.point;
	bool wants_debug = tally_probe_wants_debug(&set->spec);
	struct debug_info info;
	unsigned machine;
	int result = tally_debug_info_open(set->program, set->options.debug_root, &info, error);

	if (result)
		return result;
	machine = info.elf.header.e_machine;
	if (point->is_address) {
		result = wants_debug ? tally_fail(error, -EINVAL, 0,
						  "an address has no variables: name the function")
				     : find_by_address(set, machine, error);
	} else if (wants_debug && !info.dwarf) {
		result = tally_debug_info_missing(&info, error);
	} else {
		if (info.dwarf && (!point->at_return || point->file))
			result = find_by_debug(set, &info, error);
		/* What the debug information lacks may be a symbol: an assembler's function. */
		if (!result && !set->site_count && !wants_debug)
			result = find_by_symbol(set, machine, error);
		if (!result && !set->site_count)
			result = fail_absent(set, &info, error);
	}
	tally_debug_info_close(&info);
	return result;
}
