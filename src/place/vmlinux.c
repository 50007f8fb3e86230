#include "place/vmlinux.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/fail.h"
#include "base/sorted.h"
#include "elf/build_id.h"

/* --- where it is --- */

/* Whether the file is of the running kernel. */
static bool is_running(const char *path)
{
	uint8_t own[20], running[20], own_size, running_size;

	return !tally_image_read_build_id(path, own, &own_size) &&
	       !tally_image_kernel_build_id(NULL, running, &running_size) &&
	       tally_build_id_equal(own, own_size, running, running_size);
}

static bool try_path(const char *path, char **ret)
{
	*ret = is_running(path) ? realpath(path, NULL) : NULL;
	return *ret;
}

/* Where Debian, Fedora, and who builds a kernel put it; perf looks there, too. */
static bool search(const char *debug_root, char **ret)
{
	static const struct {
		bool in_debug_root;
		const char *before, *behind; /* the kernel's release */
	} places[] = {
	    {true, "/boot/vmlinux-", ""},         {true, "/lib/modules/", "/vmlinux"},
	    {true, "/boot/vmlinux-", ".debug"},   {false, "/boot/vmlinux-", ""},
	    {false, "/lib/modules/", "/vmlinux"}, {false, "/lib/modules/", "/build/vmlinux"},
	};
	char path[PATH_MAX], text[TALLY_BUILD_ID_TEXT];
	uint8_t id[20], id_size;
	struct utsname name;

	if (!tally_image_kernel_build_id(NULL, id, &id_size) && id_size) {
		tally_build_id_format(id, id_size, text);
		snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", debug_root, text,
			 text + 2);
		if (try_path(path, ret))
			return true;
	}
	if (uname(&name))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s%s%s%s", places[i].in_debug_root ? debug_root : "",
			 places[i].before, name.release, places[i].behind);
		if (try_path(path, ret))
			return true;
	}
	return false;
}

int tally_vmlinux_path(const char *file, const char *debug_root, char **ret, bool *ret_other_kernel,
		       struct tally_error *error)
{
	const char *root = debug_root ? debug_root : "/usr/lib/debug";
	struct utsname name = {.release = ""};
	char *path;

	if (file) {
		path = realpath(file, NULL);
		if (!path)
			return tally_fail(error, -errno, -1, "%s: %s", file, strerror(errno));
		*ret_other_kernel = !is_running(path);
		*ret = path;
		return 0;
	}
	if (search(root, ret)) {
		*ret_other_kernel = false;
		return 0;
	}
	uname(&name);
	return tally_fail(error, -ENOENT, -1,
			  "the debug information of this kernel, %s, is not in %s, /boot and "
			  "/lib/modules: lines and variables need it; install the package that has "
			  "it (Debian: linux-image-%s-dbg), or name the file with -k",
			  name.release, root, name.release);
}

/* --- symbols --- */

static int in_order(const void *a, const void *b)
{
	const struct vmlinux_symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int read_table(struct vmlinux *vmlinux, const struct tally_elf *elf)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".symtab", SHT_SYMTAB);
	Elf_Data *data = section ? tally_elf_data(elf, section) : NULL;
	size_t count = data ? section->header.sh_size / sizeof(Elf32_Sym) : 0;
	GElf_Sym symbol;

	if (count > INT_MAX)
		count = INT_MAX;
	vmlinux->symbols = calloc(count + 1, sizeof(*vmlinux->symbols));
	if (!vmlinux->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < count && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(elf->elf, section->header.sh_link, symbol.st_name);

		if (!name || symbol.st_shndx == SHN_UNDEF)
			continue;
		if (!strcmp(name, "_text"))
			vmlinux->text = symbol.st_value;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
			vmlinux->symbols[vmlinux->count++] =
			    (struct vmlinux_symbol){symbol.st_value, name};
	}
	qsort(vmlinux->symbols, vmlinux->count, sizeof(*vmlinux->symbols), in_order);
	return 0;
}

/* --- both --- */

int tally_vmlinux_open(const char *file, const char *debug_root, struct vmlinux *ret,
		       struct tally_error *error)
{
	struct vmlinux vmlinux = {0};
	int result =
	    tally_vmlinux_path(file, debug_root, &vmlinux.path, &vmlinux.other_kernel, error);

	if (result)
		return result;
	result = tally_debug_info_open(vmlinux.path, debug_root, &vmlinux.info, error);
	if (result) {
		free(vmlinux.path);
		return result;
	}
	if (!vmlinux.info.dwarf)
		result = tally_debug_info_missing(&vmlinux.info, error);
	else if (read_table(&vmlinux,
			    vmlinux.info.has_other ? &vmlinux.info.other : &vmlinux.info.elf))
		result = tally_fail(error, -ENOMEM, -1, "out of memory");
	if (result)
		tally_vmlinux_close(&vmlinux);
	else
		*ret = vmlinux;
	return result;
}

void tally_vmlinux_close(struct vmlinux *vmlinux)
{
	tally_debug_info_close(&vmlinux->info);
	free(vmlinux->symbols);
	free(vmlinux->path);
	*vmlinux = (struct vmlinux){0};
}

const struct vmlinux_symbol *tally_vmlinux_symbol_at(const struct vmlinux *vmlinux,
						     uint64_t address)
{
	const struct vmlinux_symbol *list = vmlinux->symbols;
	size_t from = SORTED_BOUND(at, 0, vmlinux->count, list[at].address <= address);

	/* of several names the first */
	while (from > 1 && list[from - 2].address == list[from - 1].address)
		from--;
	return from ? &list[from - 1] : NULL;
}
