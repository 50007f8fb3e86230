/* Symbols of what has no file: the vdso, and code made at run time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fs.h"
#include "base/regular.h"
#include "elf/build_id.h"
#include "image/image_state.h"
#include "image/perf_map.h"

/* The vdso is a few pages; JIT maps of large Java programs reach some 100 MB. */
#define VDSO_LIMIT     ((size_t)1 << 20)
#define PERF_MAP_LIMIT ((size_t)256 << 20)

/* How far the mapping at `address` goes on in our own process. */
static size_t mapped_behind(unsigned long address)
{
	char *text, *at, *line;
	size_t size = 0;

	if (tally_fs_read("/proc/self/maps", (size_t)64 << 20, &text, NULL))
		return 0;
	for (line = text; line && *line && !size; line = at ? at + 1 : NULL) {
		char *end;
		unsigned long from = strtoul(line, &end, 16);
		unsigned long to = *end == '-' ? strtoul(end + 1, NULL, 16) : 0;

		if (from <= address && address < to)
			size = to - address;
		at = strchr(line, '\n');
	}
	free(text);
	return size;
}

/* Takes over `data`, also when it fails. */
static int open_bytes(const struct tally_image *image, char *data, size_t size,
		      struct tally_elf *ret, char **ret_data, size_t *ret_size)
{
	uint8_t id[20], id_size;
	struct tally_elf elf;

	if (tally_elf_open_memory(data, size, &elf)) {
		free(data);
		return -ENOEXEC;
	}
	tally_elf_build_id(&elf, id, &id_size);
	if (image->build_id_size &&
	    !tally_build_id_equal(id, id_size, image->build_id, image->build_id_size)) {
		tally_elf_close(&elf);
		free(data);
		return -ESTALE;
	}
	*ret = elf;
	*ret_data = data;
	*ret_size = size;
	return 0;
}

/* Every process of one kernel has the same vdso, so ours will do when the build is the same. */
static int open_own(const struct tally_image *image, struct tally_elf *ret, char **ret_data,
		    size_t *ret_size)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	size_t size = address ? mapped_behind(address) : 0;
	char *data;

	if (strcmp(image->path, "[vdso]") != 0 || !size || size > VDSO_LIMIT)
		return -ENOENT;
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	memcpy(data, (const void *)address, size);
	return open_bytes(image, data, size, ret, ret_data, ret_size);
}

/* Of other kernels perf keeps the one that a recording met, in its cache of build-ids. */
static int open_cached(const struct tally_image *image, struct tally_elf *ret, char **ret_data,
		       size_t *ret_size)
{
	char id[TALLY_BUILD_ID_TEXT], *data, *path;
	size_t size;
	int error;

	if (!image->store->cache || image->build_id_size < 2)
		return -ENOENT;
	tally_build_id_format(image->build_id, image->build_id_size, id);
	if (asprintf(&path, "%s/.build-id/%.2s/%s/vdso", image->store->cache, id, id + 2) < 0)
		return -ENOMEM;
	error = tally_regular_read(path, VDSO_LIMIT, true, &data, &size);
	free(path);
	if (error)
		return error == -ENOMEM ? error : -ENOENT;
	return open_bytes(image, data, size, ret, ret_data, ret_size);
}

int tally_image_open_vdso(const struct tally_image *image, struct tally_elf *ret, char **ret_data,
			  size_t *ret_size)
{
	int own = open_own(image, ret, ret_data, ret_size), cached;

	if (!own || own == -ENOMEM)
		return own;
	cached = open_cached(image, ret, ret_data, ret_size);
	return !cached || cached == -ENOMEM ? cached : own;
}

int tally_image_load_vdso(struct tally_image *image)
{
	struct tally_elf elf;
	char *data;
	size_t size;
	int64_t count;
	int error = tally_image_open_vdso(image, &elf, &data, &size);

	switch (error) {
	case 0:
		break;
	case -ENOENT:
		tally_image_explain(image, "%s of this kind of process cannot be read here",
				    image->path);
		return 0;
	case -ENOEXEC:
		tally_image_explain(image, "the [vdso] of this kernel is no ELF image");
		return 0;
	case -ESTALE:
		tally_image_explain(image,
				    "the [vdso] is of another kernel than the one that runs now, "
				    "and ~/.debug has none of its build-id");
		return 0;
	default:
		return error;
	}
	count = tally_image_take_elf(image, &elf);
	if (!count)
		tally_image_explain(image, "the [vdso] of this kernel has no symbols");
	tally_elf_build_id(&elf, image->found_id, &image->found_id_size);
	tally_elf_close(&elf);
	image->code = data;
	image->code_size = size;
	return count == -ENOMEM ? -ENOMEM : 0;
}

uint32_t tally_image_inner_pid(const struct tally_image_store *store, uint32_t pid)
{
	char *status, *line;
	unsigned long inner = pid;

	if (!pid ||
	    tally_fs_readf(65536, &status, NULL, "%s/proc/%u/status", store->options.root, pid))
		return pid;
	line = strstr(status, "\nNStgid:");
	if (line) { /* outermost first */
		char *at = line + 8, *end = at;

		for (;;) {
			unsigned long number = strtoul(at, &end, 10);

			if (end == at)
				break;
			inner = number;
			at = end;
			if (*at == '\n')
				break;
		}
	}
	free(status);
	return inner && inner <= UINT32_MAX ? (uint32_t)inner : pid;
}

/* Reads the map; false: there is none there. */
static bool read_map(struct tally_image *image, const char *path, int *ret_error)
{
	struct stat about;
	char *text = NULL;
	size_t size = 0;

	*ret_error = 0;
	if (lstat(path, &about))
		return false;
	/* perf's rule: a map is believed when its owner is root or who looks at it.  Of a link both
	 * owners count: that of the link chose the file. */
	if (tally_regular_is_owned(&about))
		*ret_error = tally_regular_read(path, PERF_MAP_LIMIT, true, &text, &size);
	if (!tally_regular_is_owned(&about) || *ret_error == -EPERM) {
		if (tally_regular_is_owned(&about))
			(void)!stat(path, &about);
		*ret_error = 0;
		tally_image_explain(image,
				    "%s is owned by user %u, neither root nor this user: not used",
				    path, (unsigned)about.st_uid);
		return true;
	}
	if (*ret_error == -ENODEV) {
		tally_image_explain(image, "%s is not a regular file: not opened", path);
		return true;
	}
	if (*ret_error) {
		tally_image_explain(image, "%s: %s", path, strerror(-*ret_error));
		return true;
	}
	*ret_error = tally_perf_map_parse(text, size, &image->own);
	if (!*ret_error && !image->own.count)
		tally_image_explain(image, "%s holds no symbols", path);
	return true;
}

int tally_image_load_anon(struct tally_image *image)
{
	const struct tally_image_store *store = image->store;
	uint32_t inner = tally_image_inner_pid(store, image->pid);
	char *path;
	bool found = false;
	int error = 0;

	if (image->data || !image->pid || !strcmp(image->path, "[vsyscall]") ||
	    !strcmp(image->path, "[uprobes]")) {
		tally_image_explain(image, "%s is memory without a file",
				    *image->path ? image->path : "a nameless mapping");
		return 0;
	}
	/* in a container: its own /tmp first */
	if (inner != image->pid && asprintf(&path, "%s/proc/%u/root/tmp/perf-%u.map",
					    store->options.root, image->pid, inner) >= 0) {
		found = read_map(image, path, &error);
		free(path);
	}
	if (!found && asprintf(&path, "%s/tmp/perf-%u.map", store->options.symfs, inner) >= 0) {
		found = read_map(image, path, &error);
		free(path);
	}
	if (!found)
		tally_image_explain(
		    image,
		    "code made at run time, and no /tmp/perf-%u.map that names it (java: "
		    "-XX:+DumpPerfMapAtExit; node: --perf-basic-prof; python: -X perf)",
		    inner);
	return error == -ENOMEM ? error : 0;
}
