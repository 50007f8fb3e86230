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
#include "jit/perf_map.h"
#include "jit/jit_file.h"

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

/* An archive's: chosen by build-id, or by its name when that was written. */
static int open_archived(const struct tally_image *image, struct tally_elf *ret, char **ret_data,
			 size_t *ret_size)
{
	const struct tally_tar_member *member = tally_image_member(image, "vdso");
	char *data;
	size_t size;
	int error = member ? tally_archive_read(member, VDSO_LIMIT, &data, &size) : -ENOENT;

	return error ? error : open_bytes(image, data, size, ret, ret_data, ret_size);
}

/* Every process of one kernel has the same vdso, so ours will do when the build is the same; of one
 * without a build-id, when the recorded kernel has this release. */
static int open_own(const struct tally_image *image, struct tally_elf *ret, char **ret_data,
		    size_t *ret_size)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	size_t size = address ? mapped_behind(address) : 0;
	char *data;

	if (strcmp(image->path, "[vdso]") != 0 || !size || size > VDSO_LIMIT)
		return -ENOENT;
	if (!image->build_id_size && tally_image_other_release(image->store))
		return -ESTALE;
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
	int own = open_archived(image, ret, ret_data, ret_size), cached;

	if (!own || own == -ENOMEM)
		return own;
	if (!image->build_id_size && tally_image_is_archived(image->store))
		return -ENOENT;
	own = open_own(image, ret, ret_data, ret_size);
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

/* Takes the open map over. */
static int read_map(struct tally_image *image, int fd, struct tally_symbol_table *ret)
{
	struct stat about;
	char *text;
	size_t size;
	int error;

	if (!fstat(fd, &about)) {
		image->grown.ino = about.st_ino;
		image->grown.size = about.st_size;
	}
	error = tally_fs_read_open(fd, PERF_MAP_LIMIT, &text, &size);
	close(fd);
	if (error)
		return error;
	return tally_perf_map_parse(text, size, ret);
}

static int parse_map(struct tally_image *image, int fd, const char *path)
{
	int error = read_map(image, fd, &image->own);

	if (error)
		tally_image_explain(image, "%s: %s", path, strerror(-error));
	else if (!image->own.count)
		tally_image_explain(image, "%s holds no symbols", path);
	return error;
}

/* Why a map that is there is not used. */
static void explain_map(struct tally_image *image, const char *path, int error,
			const struct stat *about)
{
	if (error == -EPERM)
		tally_image_explain(image,
				    "%s is owned by user %u, who is neither root, nor this user, "
				    "nor the user of the process: not used",
				    path, (unsigned)about->st_uid);
	else if (error == -ENODEV)
		tally_image_explain(image, "%s is not a regular file: not opened", path);
	else
		tally_image_explain(image, "%s: %s", path, strerror(-error));
}

/* The copy that was kept with the recording; the map as the process sees it, which may be in a
 * container; the map of that number here. */
static int open_map(const struct tally_image *image, uint32_t inner, char **ret_path,
		    struct stat *about)
{
	const struct tally_image_store *store = image->store;
	int fd = tally_jit_open_kept(store->cache, image->build_id, image->build_id_size, about);

	if (asprintf(ret_path, "%s/tmp/perf-%u.map", store->options.symfs, inner) < 0) {
		*ret_path = NULL;
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	if (fd < 0)
		fd = tally_jit_open_inside(store->options.root, image->pid,
					   *ret_path + strlen(store->options.symfs), about);
	if (fd < 0 && fd != -EPERM && fd != -ENODEV)
		fd = tally_jit_open(store->options.root, image->pid, *ret_path, about);
	return fd;
}

/* The map in the recording's archive.  False: it has none. */
static bool read_archived_map(struct tally_image *image, int *ret_error)
{
	const struct tally_debug_places *places = image->store->options.places;
	const struct tally_tar_member *member;
	char *text, path[64];
	size_t size;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", image->pid);
	member = tally_archive_find(places, path, NULL, 0, "map");
	if (!member || tally_archive_read(member, PERF_MAP_LIMIT, &text, &size))
		return false;
	*ret_error = tally_perf_map_parse(text, size, &image->own);
	return true;
}

int tally_image_load_anon(struct tally_image *image)
{
	uint32_t inner = tally_jit_inner_pid(image->store->options.root, image->pid);
	struct stat about = {0};
	char *path;
	int fd, error = 0;

	if (image->data || !image->pid || !strcmp(image->path, "[vsyscall]") ||
	    !strcmp(image->path, "[uprobes]")) {
		tally_image_explain(image, "%s is memory without a file",
				    *image->path ? image->path : "a nameless mapping");
		return 0;
	}
	if (tally_image_is_archived(image->store)) {
		if (!read_archived_map(image, &error))
			tally_image_explain(image, "code made at run time, and no map of it was "
						   "archived");
		return error == -ENOMEM ? error : 0;
	}
	fd = open_map(image, inner, &path, &about);
	if (fd >= 0)
		error = parse_map(image, fd, path);
	else if (fd != -ENOENT && fd != -ENOMEM)
		explain_map(image, path, fd, &about);
	else
		tally_image_explain(
		    image,
		    "code made at run time, and no /tmp/perf-%u.map that names it (java: "
		    "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit; node: "
		    "--perf-basic-prof; python: -X perf)",
		    inner);
	free(path);
	return error == -ENOMEM || fd == -ENOMEM ? -ENOMEM : 0;
}

/* What is known of the map that open_map() would open, without opening it. */
static bool map_changed(const struct tally_image *image)
{
	const struct tally_image_store *store = image->store;
	uint32_t inner = tally_jit_inner_pid(store->options.root, image->pid);
	struct stat about;
	char path[128];

	snprintf(path, sizeof(path), "%s/proc/%u/root/tmp/perf-%u.map", store->options.root,
		 image->pid, inner);
	if (stat(path, &about)) {
		snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", store->options.symfs, inner);
		if (stat(path, &about))
			return false;
	}
	return about.st_ino != image->grown.ino || about.st_size != image->grown.size;
}

int tally_image_read_map_on(struct tally_image *image)
{
	const struct tally_grown_map before = image->grown;
	uint32_t inner = tally_jit_inner_pid(image->store->options.root, image->pid);
	struct tally_symbol_table table = {0};
	struct stat about = {0};
	char *path;
	int fd, error;

	/* Of what was kept with a recording nothing changes. */
	if (image->data || !image->pid || image->build_id_size ||
	    tally_image_is_archived(image->store) || !map_changed(image))
		return 0;
	fd = open_map(image, inner, &path, &about);
	free(path);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	error = read_map(image, fd, &table);
	if (error)
		return error == -ENOMEM ? error : 0;
	pthread_mutex_lock(&image->lock);
	error = tally_grown_take(image, &table,
				 image->grown.ino != before.ino || image->grown.size < before.size);
	if (!error && image->own.count) {
		free(image->why);
		image->why = NULL;
	}
	pthread_mutex_unlock(&image->lock);
	return error;
}
