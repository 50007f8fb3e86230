/* Places in programs and libraries: by debug information, else by symbols. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "elf/demangle.h"
#include "elf/go_table.h"
#include "elf/place.h"
#include "base/name_filter.h"
#include "probe/debug_sites.h"
#include "place/point_finder.h"
#include "probe/probe_set.h"

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

static int add_debug_site(struct tally_probe_set *set, uint64_t place, struct probe_site *site,
			  void *context, struct tally_error *error)
{
	(void)context;
	return add_at(set, place, site, error);
}

static int find_by_debug(struct tally_probe_set *set, const struct debug_info *info,
			 struct tally_error *error)
{
	const struct debug_sites sites = {.info = info, .add = add_debug_site};
	struct probe_point other;
	int result = tally_probe_set_find_debug(set, &sites, &set->spec.point, error);

	if (!result && !set->site_count && find_other_name(set, info, &other))
		result = tally_probe_set_find_debug(set, &sites, &other, error);
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

	/* Go's own names have these characters: "main.(*T).Method", "main.Sort[...]". */
	if (tally_name_is_glob(point->function) &&
	    (!set->go ||
	     tally_image_find_function(set->program, point->function, &offsets, &count, NULL))) {
		return find_by_glob(set, machine, error);
	}
	free(offsets);
	offsets = NULL;
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
	set->go = tally_go_made(&info.elf);
	if (set->go && point->at_return)
		tally_probe_set_notice(set,
				       "%s is a program of Go: its stacks are moved when they "
				       "grow, and it dies when a return address on them was "
				       "replaced, as %%return does",
				       set->program);
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
			result = tally_probe_set_fail_absent(set, &info, error);
	}
	tally_debug_info_close(&info);
	return result;
}
