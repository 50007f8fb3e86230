/* The kernel's code: in the vmlinux of an option, in one by its build-id or its release below
 * /usr/lib/debug, in perf's cache, in the recording's copy of it (record --kcore), and in the
 * running kernel's memory. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/regular.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "image/image_state.h"

/* /proc/kcore has a segment for each piece of memory: some hundred on large machines. */
#define SEGMENTS_MOST 4096U

static int64_t read_vmlinux(struct tally_image *image, const char *path, uint64_t address, void *to,
			    size_t size)
{
	uint8_t id[20], id_size;
	struct tally_elf elf;
	int64_t got = -ENOENT;
	int error = tally_elf_open(path, &elf);

	if (error)
		return error;
	tally_elf_build_id(&elf, id, &id_size);
	if (tally_image_is_kernel_id(image->store, id, id_size)) {
		address -= tally_image_vmlinux_shift(image->store, &elf);
		for (size_t i = 0; i < elf.load_count && got == -ENOENT; i++) {
			const struct tally_elf_load *load = &elf.loads[i];
			uint64_t at = address - load->address;

			if (address < load->address || at >= load->size)
				continue;
			if (size > load->size - at)
				size = load->size - at;
			got = pread(elf.fd, to, size, (off_t)(load->offset + at));
			got = got < 0 ? -errno : got;
		}
	}
	tally_elf_close(&elf);
	return got;
}

/* Reads of the segment that has the address. */
static int64_t read_segment(int fd, uint64_t address, void *to, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(segment) ||
	    header.e_phnum > SEGMENTS_MOST)
		return -ENOEXEC;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint64_t at = header.e_phoff + i * sizeof(segment), behind;
		ssize_t got;

		if (at > INT64_MAX ||
		    pread(fd, &segment, sizeof(segment), (off_t)at) != sizeof(segment))
			return -ENOEXEC;
		behind = address - segment.p_vaddr;
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    behind >= segment.p_memsz || segment.p_offset + behind > INT64_MAX)
			continue;
		if (size > segment.p_memsz - behind)
			size = segment.p_memsz - behind;
		got = pread(fd, to, size, (off_t)(segment.p_offset + behind));
		return got < 0 ? -errno : got;
	}
	return -ENOENT;
}

static int64_t read_kcore(struct tally_image *image, uint64_t address, void *to, size_t size)
{
	struct tally_image_store *store = image->store;
	uint64_t shift;
	int64_t got;
	char *path;
	int fd;

	if (!tally_image_kernel_runs(store, &shift))
		return -ESTALE;
	/* where a module was in another boot says nothing of where it is */
	if (shift && image->kind == TALLY_IMAGE_MODULE)
		return -ESTALE;
	if (asprintf(&path, "%s/proc/kcore", store->options.root) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -errno : read_segment(fd, address - shift, to, size);
	if (fd >= 0)
		close(fd);
	free(path);
	return got;
}

/* The recording's own copy: its addresses are the recorded ones. */
static int64_t read_copy(const struct tally_image_store *store, uint64_t address, void *to,
			 size_t size)
{
	int fd = store->options.kcore ? tally_regular_open(store->options.kcore, NULL) : -ENOENT;
	int64_t got = fd < 0 ? fd : read_segment(fd, address, to, size);

	if (fd >= 0)
		close(fd);
	return got;
}

typedef int (*path_fn)(const struct tally_image_store *store, const char *id, char **ret);

static int by_cache(const struct tally_image_store *store, const char *id, char **ret)
{
	return store->cache && *id
		   ? asprintf(ret, "%s/.build-id/%.2s/%s/vmlinux", store->cache, id, id + 2)
		   : -1;
}

static int by_cached_elf(const struct tally_image_store *store, const char *id, char **ret)
{
	return store->cache && *id
		   ? asprintf(ret, "%s/.build-id/%.2s/%s/elf", store->cache, id, id + 2)
		   : -1;
}

static int by_id(const struct tally_image_store *store, const char *id, char **ret)
{
	return *id ? asprintf(ret, "%s/.build-id/%.2s/%s.debug", store->options.debug_root, id,
			      id + 2)
		   : -1;
}

/* Where Debian and others put it.  Source: perf's list of paths of vmlinux. */
static int by_release(const struct tally_image_store *store, const char *id, char **ret)
{
	struct utsname name;

	(void)id;
	return uname(&name)
		   ? -1
		   : asprintf(ret, "%s/boot/vmlinux-%s", store->options.debug_root, name.release);
}

static int by_modules(const struct tally_image_store *store, const char *id, char **ret)
{
	struct utsname name;

	(void)id;
	return uname(&name) ? -1
			    : asprintf(ret, "%s/lib/modules/%s/vmlinux", store->options.debug_root,
				       name.release);
}

int64_t tally_image_read_kernel(struct tally_image *image, uint64_t address, void *to, size_t size)
{
	static const path_fn paths[] = {by_cache, by_cached_elf, by_id, by_release, by_modules};
	struct tally_image_store *store = image->store;
	char id[TALLY_BUILD_ID_TEXT] = "";
	int64_t got = -ENOENT;

	(void)tally_image_symbol_count(image); /* loads the kernel's symbols, and its anchor */
	if (image->kind == TALLY_IMAGE_KERNEL && store->options.vmlinux)
		got = read_vmlinux(image, store->options.vmlinux, address, to, size);
	if (store->facts.recorded_size)
		tally_build_id_format(store->facts.recorded, store->facts.recorded_size, id);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && got <= 0 &&
			   image->kind == TALLY_IMAGE_KERNEL && *id;
	     i++) {
		char *path;

		if (paths[i](store, id, &path) < 0)
			continue;
		got = read_vmlinux(image, path, address, to, size);
		free(path);
	}
	if (got <= 0)
		got = read_copy(store, address, to, size);
	return got > 0 ? got : read_kcore(image, address, to, size);
}
