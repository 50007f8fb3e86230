/* Places in the kernel and its modules: by its symbols, or by its debug information. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "probe/kernel_symbols.h"
#include "base/name_filter.h"
#include "probe/debug_sites.h"
#include "probe/probe_set.h"
#include "place/vmlinux.h"

static bool is_of(const struct kernel_symbol *symbol, const char *module)
{
	return module ? symbol->module && !strcmp(symbol->module, module) : !symbol->module;
}

static int add_symbol(struct tally_probe_set *set, const struct kernel_symbols *symbols,
		      const struct kernel_symbol *symbol, struct tally_error *error)
{
	const struct probe_point *point = &set->spec.point;
	struct probe_site site = {.name = symbol->name};
	uint64_t address = symbol->address + point->offset;
	struct tally_buf place = {0};
	int result;

	/* Relative to _text, as several functions may have one name; for returns only if the kernel
	 * supports that. */
	if (symbol->module)
		tally_buf_printf(&place, "%s:%s+%llu", symbol->module, symbol->name,
				 (unsigned long long)point->offset);
	else if (symbols->text && address >= symbols->text &&
		 (!point->at_return || set->features.return_offset))
		tally_buf_printf(&place, "_text+%llu",
				 (unsigned long long)(address - symbols->text));
	else
		tally_buf_printf(&place, "%s+%llu", symbol->name,
				 (unsigned long long)point->offset);
	result = tally_probe_set_plain_arguments(set, 0, !point->offset, &site, error);
	site.place = place.failed ? NULL : tally_buf_str(&place);
	if (!result)
		result = site.place ? tally_probe_set_append(set, &site, error)
				    : tally_fail(error, -ENOMEM, -1, "out of memory");
	tally_buf_done(&place);
	return result;
}

static int fail_absent(const struct tally_probe_set *set, const struct kernel_symbols *symbols,
		       struct tally_error *error)
{
	const char *name = set->spec.point.function, *module = set->options.module, *similar = NULL;
	const char **names = calloc(symbols->count + 1, sizeof(*names));
	size_t count = 0;
	int result;

	for (size_t i = 0; names && i < symbols->count; i++) {
		const struct kernel_symbol *symbol = &symbols->list[i];

		if (is_of(symbol, module))
			names[count++] = symbol->name;
		else if (!strcmp(symbol->name, name) && !module)
			similar = symbol->module;
	}
	if (similar && !module) {
		result = tally_fail(error, -ENOENT, -1, "%s is in the module %s: add -m %s", name,
				    similar, similar);
	} else {
		similar = count ? tally_text_nearest(name, names, count) : NULL;
		result = tally_fail(error, -ENOENT, -1, "%s%s has no function %s%s%s%s",
				    module ? "the module " : "the kernel", module ? module : "",
				    name, similar ? "; did you mean " : "", similar ? similar : "",
				    similar ? "?" : "");
	}
	free(names);
	return result;
}

static int find(struct tally_probe_set *set, const struct kernel_symbols *symbols,
		struct tally_error *error)
{
	const char *name = set->spec.point.function;
	uint64_t last = 0;
	int result = 0;

	for (size_t i = 0; i < symbols->count && !result; i++) {
		const struct kernel_symbol *symbol = &symbols->list[i];

		if (!is_of(symbol, set->options.module) || symbol->address == last ||
		    !tally_name_matches(symbol->name, name))
			continue;
		last = symbol->address;
		result = add_symbol(set, symbols, symbol, error);
	}
	return !result && !set->site_count ? fail_absent(set, symbols, error) : result;
}

/* --- by debug information --- */

/* Of the running kernel relative to _text, of another one by the function's name, as perf does. */
static int add_debug_site(struct tally_probe_set *set, uint64_t address, struct probe_site *site,
			  void *context, struct tally_error *error)
{
	const struct vmlinux *vmlinux = context;
	const struct vmlinux_symbol *symbol = tally_vmlinux_symbol_at(vmlinux, address);
	struct tally_buf place = {0};
	int result;

	if (vmlinux->text && address >= vmlinux->text && !vmlinux->other_kernel &&
	    (!set->spec.point.at_return || set->features.return_offset))
		tally_buf_printf(&place, "_text+%llu",
				 (unsigned long long)(address - vmlinux->text));
	else if (symbol)
		tally_buf_printf(&place, "%s+%llu", symbol->name,
				 (unsigned long long)(address - symbol->address));
	else
		return tally_fail(error, -ENOENT, -1,
				  "%s has no symbol for the code at %#llx: the kernel takes no "
				  "address of another kernel",
				  vmlinux->path, (unsigned long long)address);
	site->place = place.failed ? NULL : tally_buf_str(&place);
	result = site->place ? tally_probe_set_append(set, site, error)
			     : tally_fail(error, -ENOMEM, -1, "out of memory");
	tally_buf_done(&place);
	return result;
}

static int find_by_debug(struct tally_probe_set *set, struct tally_error *error)
{
	struct vmlinux vmlinux;
	struct debug_sites sites = {.kernel = true, .add = add_debug_site, .context = &vmlinux};
	int result;

	if (set->options.module)
		return tally_fail(error, -ENOTSUP, -1,
				  "lines and variables of the kernel's modules are not read: name "
				  "a function, +OFFSET, %%return, $argN and %%REGISTER");
	result = tally_vmlinux_open(set->options.vmlinux, set->options.debug_root, &vmlinux, error);
	if (result)
		return result;
	sites.info = &vmlinux.info;
	set->other_kernel = vmlinux.other_kernel;
	result = tally_probe_set_find_debug(set, &sites, &set->spec.point, error);
	if (!result && !set->site_count)
		result = tally_probe_set_fail_absent(set, &vmlinux.info, error);
	tally_vmlinux_close(&vmlinux);
	return result;
}

/* --- all --- */

static int find_by_address(struct tally_probe_set *set, struct tally_error *error)
{
	const struct probe_point *point = &set->spec.point;
	struct probe_site site = {0};
	char name[32], place[32];
	int result;

	snprintf(name, sizeof(name), "abs_%llx", (unsigned long long)point->address);
	snprintf(place, sizeof(place), "0x%llx", (unsigned long long)point->address);
	site.name = name;
	site.place = place;
	result = tally_probe_set_plain_arguments(set, 0, true, &site, error);
	return result ? result : tally_probe_set_append(set, &site, error);
}

int tally_probe_set_find_kernel(struct tally_probe_set *set, struct tally_error *error)
{
	bool wants_debug = tally_probe_wants_debug(&set->spec);
	struct kernel_symbols symbols;
	int result;

	if (set->spec.point.is_address)
		return wants_debug ? tally_fail(error, -EINVAL, 0,
						"an address has no variables: name the function")
				   : find_by_address(set, error);
	if (wants_debug || set->options.vmlinux)
		return find_by_debug(set, error);
	result = tally_kernel_symbols_open(set->options.procfs, &symbols, error);
	if (result)
		return result;
	result = find(set, &symbols, error);
	tally_kernel_symbols_close(&symbols);
	return result;
}
