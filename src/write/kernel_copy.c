#include "write/kernel_copy.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/fs.h"
#include "base/table.h"

#define KALLSYMS_MOST ((size_t)1 << 30)
#define MODULES_MOST  ((size_t)16 << 20)
#define SEGMENTS_MOST 4096u /* of /proc/kcore: some hundred on large machines */
#define PAGE          4096u
#define CHUNK         (64u << 10)

struct range {
	uint64_t start, end;
	uint64_t from; /* its place in the source */
};

struct copying {
	const char *root, *recording;
	char *kallsyms, *modules;
	size_t kallsyms_size, modules_size;
	int from, to; /* the two kcore */
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	struct range *ranges;
	size_t count, room;
	struct tally_error *error;
};

static int fail_memory(const struct copying *copying)
{
	return tally_fail(copying->error, -ENOMEM, -1, "--kcore: out of memory");
}

int tally_kernel_copy_check(const char *root, struct tally_error *error)
{
	char *path;
	int fd, result = 0;

	if (asprintf(&path, "%s/proc/kcore", root) < 0)
		return tally_fail(error, -ENOMEM, -1, "--kcore: out of memory");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		result = tally_fail(error, -errno, -1,
				    "--kcore: %s cannot be read: %s; it needs root "
				    "(CAP_SYS_RAWIO) and a kernel with CONFIG_PROC_KCORE",
				    path, strerror(errno));
	else
		close(fd);
	free(path);
	return result;
}

/* --- what is copied --- */

static int add_range(struct copying *copying, uint64_t start, uint64_t end)
{
	start &= ~(uint64_t)(PAGE - 1);
	end = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	if (!array_next(&copying->ranges, &copying->room, copying->count, 64,
			sizeof(*copying->ranges)))
		return fail_memory(copying);
	copying->ranges[copying->count++] = (struct range){.start = start, .end = end};
	return 0;
}

/* The address of a symbol; 0: there is none, or it is hidden.  "ffffffff81000000 T _stext\n" */
static uint64_t address_of(const char *kallsyms, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = kallsyms; (at = strstr(at, name)); at += length) {
		const char *line = at;

		if ((at[length] != '\n' && at[length]) || at == kallsyms || at[-1] != ' ')
			continue;
		while (line > kallsyms && line[-1] != '\n')
			line--;
		return strtoull(line, NULL, 16);
	}
	return 0;
}

static int find_text(struct copying *copying)
{
	uint64_t start = address_of(copying->kallsyms, "_stext"),
		 end = address_of(copying->kallsyms, "_etext");

	if (!start)
		start = address_of(copying->kallsyms, "_text");
	if (!start || end <= start)
		return tally_fail(copying->error, -EPERM, -1,
				  "--kcore: the addresses of the kernel's functions are hidden "
				  "(kernel.kptr_restrict)");
	return add_range(copying, start, end);
}

/* "ext4 909312 1 - Live 0xffffffffc0400000 (E)\n" */
static int find_modules(struct copying *copying)
{
	int result = 0;

	for (char *line = copying->modules; line && *line && !result;) {
		char *end = strchr(line, '\n'), *address = strstr(line, " 0x");
		unsigned long long size = 0, start = 0;

		if (address && (!end || address < end)) {
			size = strtoull(line + strcspn(line, " "), NULL, 10);
			start = strtoull(address + 1, NULL, 16);
		}
		if (start && size && size < UINT64_MAX - start)
			result = add_range(copying, start, start + size);
		line = end ? end + 1 : NULL;
	}
	return result;
}

static int by_start(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* Modules are side by side: one segment for what touches. */
static void join_ranges(struct copying *copying)
{
	size_t kept = 0;

	qsort(copying->ranges, copying->count, sizeof(*copying->ranges), by_start);
	for (size_t i = 1; i < copying->count; i++) {
		struct range *last = &copying->ranges[kept], *next = &copying->ranges[i];

		if (next->start <= last->end)
			last->end = MAX(last->end, next->end);
		else
			copying->ranges[++kept] = *next;
	}
	copying->count = kept + 1;
}

/* --- from kcore to kcore --- */

static int read_segments(struct copying *copying)
{
	Elf64_Ehdr *header = &copying->header;
	size_t size;
	ssize_t got = pread(copying->from, header, sizeof(*header), 0);

	if (got != sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_phentsize != sizeof(*copying->segments) || !header->e_phnum ||
	    header->e_phnum > SEGMENTS_MOST || header->e_phoff > INT64_MAX)
		return tally_fail(copying->error, -ENOEXEC, -1,
				  "--kcore: %s/proc/kcore is not a 64-bit core file",
				  copying->root);
	size = header->e_phnum * sizeof(*copying->segments);
	copying->segments = malloc(size);
	if (!copying->segments)
		return fail_memory(copying);
	got = pread(copying->from, copying->segments, size, (off_t)header->e_phoff);
	return got == (ssize_t)size
		   ? 0
		   : tally_fail(copying->error, -EIO, -1, "--kcore: %s/proc/kcore ends early",
				copying->root);
}

/* Leaves the ranges that a segment has, each cut at its end. */
static void place_ranges(struct copying *copying)
{
	size_t kept = 0;

	for (size_t i = 0; i < copying->count; i++) {
		struct range range = copying->ranges[i];

		for (unsigned j = 0; j < copying->header.e_phnum; j++) {
			const Elf64_Phdr *segment = &copying->segments[j];
			uint64_t behind = range.start - segment->p_vaddr;

			if (segment->p_type != PT_LOAD || range.start < segment->p_vaddr ||
			    behind >= segment->p_memsz || segment->p_offset > INT64_MAX - behind)
				continue;
			range.from = segment->p_offset + behind;
			range.end = MIN(range.end, range.start + (segment->p_memsz - behind));
			copying->ranges[kept++] = range;
			break;
		}
	}
	copying->count = kept;
}

static int write_all(struct copying *copying, const void *from, size_t size, uint64_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t wrote =
		    pwrite(copying->to, (const char *)from + done, size - done, (off_t)(at + done));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return tally_fail(copying->error, wrote ? -errno : -ENOSPC, -1,
					  "--kcore: %s/" TALLY_KERNEL_COPY_FOLDER ": %s",
					  copying->recording, strerror(wrote ? errno : ENOSPC));
		done += (size_t)wrote;
	}
	return 0;
}

/* What cannot be read of it stays a hole: pages may be gone since. */
static int copy_range(struct copying *copying, const struct range *range, uint64_t to, char *chunk)
{
	uint64_t size = range->end - range->start;
	int result = 0;

	for (uint64_t done = 0; done < size && !result;) {
		size_t wanted = (size_t)MIN(size - done, (uint64_t)CHUNK);
		ssize_t got = pread(copying->from, chunk, wanted, (off_t)(range->from + done));

		if (got <= 0)
			break;
		result = write_all(copying, chunk, (size_t)got, to + done);
		done += (uint64_t)got;
	}
	return result;
}

static int write_core(struct copying *copying)
{
	uint64_t at = (sizeof(Elf64_Ehdr) + copying->count * sizeof(Elf64_Phdr) + PAGE - 1) &
		      ~(uint64_t)(PAGE - 1);
	Elf64_Ehdr header = copying->header;
	char *chunk = malloc(CHUNK);
	int result;

	if (!chunk)
		return fail_memory(copying);
	header.e_phoff = sizeof(header);
	header.e_phnum = (uint16_t)copying->count;
	header.e_type = ET_CORE;
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	result = write_all(copying, &header, sizeof(header), 0);
	for (size_t i = 0; i < copying->count && !result; i++) {
		const struct range *range = &copying->ranges[i];
		const Elf64_Phdr segment = {
		    .p_type = PT_LOAD,
		    .p_flags = PF_R | PF_W | PF_X, /* as /proc/kcore has them */
		    .p_offset = at,
		    .p_vaddr = range->start,
		    .p_filesz = range->end - range->start,
		    .p_memsz = range->end - range->start,
		    .p_align = PAGE,
		};

		result = write_all(copying, &segment, sizeof(segment),
				   sizeof(header) + i * sizeof(segment));
		if (!result)
			result = copy_range(copying, range, at, chunk);
		at += segment.p_filesz;
	}
	if (!result && ftruncate(copying->to, (off_t)at))
		result = tally_fail(copying->error, -errno, -1, "--kcore: %s", strerror(errno));
	free(chunk);
	return result;
}

/* --- the folder --- */

static int create(const struct copying *copying, int folder, const char *name)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 ? fd
		       : tally_fail(copying->error, -errno, -1,
				    "--kcore: %s/" TALLY_KERNEL_COPY_FOLDER "/%s: %s",
				    copying->recording, name, strerror(errno));
}

static int write_text(struct copying *copying, int folder, const char *name, const char *text,
		      size_t size)
{
	int result;

	copying->to = create(copying, folder, name);
	if (copying->to < 0)
		return copying->to;
	result = write_all(copying, text, size, 0);
	close(copying->to);
	return result;
}

static int read_sources(struct copying *copying)
{
	char *path;
	int result = tally_fs_readf(KALLSYMS_MOST, &copying->kallsyms, &copying->kallsyms_size,
				    "%s/proc/kallsyms", copying->root);

	if (result)
		return tally_fail(copying->error, result, -1, "--kcore: %s/proc/kallsyms: %s",
				  copying->root, strerror(-result));
	/* A kernel without modules has none of it. */
	(void)tally_fs_readf(MODULES_MOST, &copying->modules, &copying->modules_size,
			     "%s/proc/modules", copying->root);
	if (asprintf(&path, "%s/proc/kcore", copying->root) < 0)
		return fail_memory(copying);
	copying->from = open(path, O_RDONLY | O_CLOEXEC);
	if (copying->from < 0)
		result = tally_fail(copying->error, -errno, -1, "--kcore: %s: %s", path,
				    strerror(errno));
	free(path);
	if (!result)
		result = find_text(copying);
	if (!result)
		result = find_modules(copying);
	if (!result)
		result = read_segments(copying);
	if (result)
		return result;
	join_ranges(copying);
	place_ranges(copying);
	return copying->count ? 0
			      : tally_fail(copying->error, -ENODATA, -1,
					   "--kcore: %s/proc/kcore does not have the kernel's text",
					   copying->root);
}

static int write_files(struct copying *copying)
{
	char *path;
	int folder, result = 0;

	if (asprintf(&path, "%s/" TALLY_KERNEL_COPY_FOLDER, copying->recording) < 0)
		return fail_memory(copying);
	if (mkdir(path, 0700))
		result = -errno;
	folder = result ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!result && folder < 0)
		result = -errno;
	if (result)
		result = tally_fail(copying->error, result, -1, "--kcore: %s: %s", path,
				    strerror(-result));
	free(path);
	if (result)
		return result;
	result = write_text(copying, folder, "kallsyms", copying->kallsyms, copying->kallsyms_size);
	if (!result)
		result =
		    write_text(copying, folder, "modules", copying->modules ? copying->modules : "",
			       copying->modules_size);
	if (!result) {
		copying->to = create(copying, folder, "kcore");
		result = copying->to < 0 ? copying->to : write_core(copying);
		if (copying->to >= 0)
			close(copying->to);
	}
	close(folder);
	return result;
}

int tally_kernel_copy_make(const char *root, const char *recording, struct tally_error *error)
{
	struct copying copying = {
	    .root = root, .recording = recording, .from = -1, .to = -1, .error = error};
	int result = read_sources(&copying);

	if (!result)
		result = write_files(&copying);
	if (copying.from >= 0)
		close(copying.from);
	free(copying.kallsyms);
	free(copying.modules);
	free(copying.segments);
	free(copying.ranges);
	return result;
}
