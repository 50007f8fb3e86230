#include "dwarf/debug_info.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include "base/buf.h"
#include "base/fail.h"
#include "elf/debug_file.h"
#include "elf/elf_expand.h"
#include "dwarf/dwarf_file.h"

static void describe(const struct debug_info *info, const char *debug_root,
		     struct tally_debug_search *ret)
{
	*ret = (struct tally_debug_search){.symfs = "",
					   .debug_root = debug_root ? debug_root : "/usr/lib/debug",
					   .path = info->path,
					   .opened = info->path,
					   .binary = &info->elf};
	tally_elf_build_id(&info->elf, ret->build_id, &ret->build_id_size);
}

static Dwarf *begin(struct tally_elf *elf, struct tally_lines_alt *alt)
{
	Dwarf *dwarf = NULL;

	if (tally_dwarf_file_exists(elf) && tally_lines_fit(elf) && !tally_elf_expand_file(elf))
		dwarf = dwarf_begin_elf(elf->elf, DWARF_C_READ, NULL);
	if (dwarf && tally_lines_alt_open(alt, dwarf, elf)) {
		dwarf_end(dwarf);
		dwarf = NULL;
	}
	return dwarf;
}

int tally_debug_info_open(const char *path, const char *debug_root, struct debug_info *ret,
			  struct tally_error *error)
{
	struct debug_info info = {.path = path, .alt.elf.fd = -1};
	struct tally_debug_search search;
	int result = tally_elf_open(path, &info.elf);

	if (result == -ENOEXEC)
		return tally_fail(error, result, -1, "%s is not an ELF binary", path);
	if (result == -ENODEV)
		return tally_fail(error, result, -1, "%s is not a regular file", path);
	if (result)
		return tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
	info.dwarf = begin(&info.elf, &info.alt);
	if (!info.dwarf) {
		describe(&info, debug_root, &search);
		info.has_other = !tally_debug_file_open(&search, &info.other);
		if (info.has_other)
			info.dwarf = begin(&info.other, &info.alt);
	}
	if (info.dwarf) {
		const struct tally_elf_section *section =
		    tally_elf_find(&info.elf, ".eh_frame", SHT_NULL);

		if (section && section->header.sh_type != SHT_NOBITS)
			info.frames = dwarf_getcfi_elf(info.elf.elf);
		info.unloaded = dwarf_getcfi(info.dwarf);
	}
	*ret = info;
	return 0;
}

void tally_debug_info_close(struct debug_info *info)
{
	if (info->frames)
		dwarf_cfi_end(info->frames);
	if (info->dwarf)
		dwarf_end(info->dwarf);
	tally_lines_alt_close(&info->alt);
	if (info->has_other)
		tally_elf_close(&info->other);
	tally_elf_close(&info->elf);
	*info = (struct debug_info){0};
}

int tally_debug_info_missing(const struct debug_info *info, struct tally_error *error)
{
	struct tally_debug_search search;
	struct tally_buf where = {0};
	int result;

	if (tally_dwarf_file_exists(&info->elf))
		return tally_fail(error, -ENODATA, -1,
				  "the debug information of %s cannot be read: it is damaged, or "
				  "compressed in a way that is unknown here; lines and variables "
				  "need it",
				  info->path);
	describe(info, NULL, &search);
	tally_debug_file_where(&search, &where);
	result =
	    tally_fail(error, -ENODATA, -1,
		       "%s has no debug information, and there is %s: lines and variables need "
		       "it; build it with -g, or install its -dbgsym or -debuginfo package",
		       info->path, tally_buf_str(&where));
	tally_buf_done(&where);
	return result;
}

bool tally_debug_info_next(const struct debug_info *info, Dwarf_Off *at, Dwarf_Die *ret)
{
	Dwarf_Off next;
	size_t header;

	while (!dwarf_nextcu(info->dwarf, *at, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Off unit = *at + header;

		if (next <= *at)
			return false;
		*at = next;
		if (dwarf_offdie(info->dwarf, unit, ret) && dwarf_tag(ret) == DW_TAG_compile_unit)
			return true;
	}
	return false;
}
