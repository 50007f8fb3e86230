/* The arguments of each place that debug information has for a definition. */
#include "probe/debug_sites.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include "base/fail.h"
#include "base/name_filter.h"
#include "dwarf/die.h"
#include "place/point_finder.h"
#include "place/variable.h"

static int fail_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "out of memory");
}

struct visit {
	struct tally_probe_set *set;
	const struct debug_sites *sites;
	struct tally_error *error;
	const char *arguments[PROBE_ARGUMENTS_MOST];
	size_t count;
	const struct probe_scope *scope; /* at hand */
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
	result = tally_probe_set_plain_arguments(
	    set, visit->scope->kernel ? 0 : visit->scope->info->elf.header.e_machine, at_entry,
	    &plain, visit->error);
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
	return visit->sites->add(set, scope->address + (uint64_t)scope->shift, &site,
				 visit->sites->context, visit->error);
}

int tally_probe_set_find_debug(struct tally_probe_set *set, const struct debug_sites *sites,
			       const struct probe_point *point, struct tally_error *error)
{
	struct visit visit = {.set = set, .sites = sites, .error = error};
	const struct probe_point *asked = &set->spec.point;

	struct point_options options = {
	    .no_inlines = set->options.no_inlines || asked->at_return,
	    .sources = set->options.sources,
	    .kernel = sites->kernel,
	    /* the kernel is never built without optimization */
	    .skip_prologue = !sites->kernel && tally_probe_has_variables(&set->spec) &&
			     asked->function && !asked->line && !asked->pattern,
	};

	return tally_points_find(sites->info, point, &options, visit_point, &visit, error);
}

int tally_probe_set_fail_absent(const struct tally_probe_set *set, const struct debug_info *info,
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
					  "%s: no code of its own there; `tally probe %s %s -L %s` "
					  "shows the lines that have some",
					  tally_buf_str(&place), set->program ? "-x" : "-k",
					  info->path, point->function)
			 : point->file
			     ? tally_fail(error, -ENOENT, -1, "%s: no %s in such a file",
					  tally_buf_str(&place), point->function)
			     : tally_fail(error, -ENOENT, -1,
					  "%s is in %s by name only: each call was inlined or "
					  "optimized away%s",
					  point->function, info->path,
					  set->options.no_inlines ? " (--no-inlines passes over "
								    "inlined ones)"
								  : "");
	} else if (point->function) {
		result = tally_fail(error, -ENOENT, -1, "%s has no function %s%s%s%s", info->path,
				    point->function, similar ? "; did you mean " : "",
				    similar ? similar : "", similar ? "?" : "");
	} else {
		result = tally_fail(error, -ENOENT, -1,
				    "%s has no code for %s: neither the file nor the line may be "
				    "in its debug information",
				    info->path, tally_buf_str(&place) + 1);
	}
	tally_buf_done(&place);
	return result;
}
