#include "elf/reduced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/fs.h"

#define ROOM  ((size_t)256 * 1024)
#define BLOCK 512U

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (starts(name, *names))
			return true;
	return false;
}

/* Debug information that is not asked for. */
static const char *const unread[] = {".debug_loc",
				     ".debug_pub",
				     ".debug_gnu_pub",
				     ".debug_mac",
				     ".debug_names",
				     ".debug_gdb",
				     ".zdebug_loc",
				     ".zdebug_pub",
				     ".zdebug_gnu_pub",
				     ".zdebug_mac",
				     ".gdb_index",
				     ".comment",
				     ".gnu.build.attributes",
				     NULL};
static const char *const constants[] = {
    ".rodata", ".lrodata", ".data", ".ldata", ".tdata", ".tm_clone", ".gcc_except_table", NULL};

static bool is_left_out(const struct tally_elf_section *section, unsigned leave_out)
{
	const char *name = section->name;

	if (!(section->header.sh_flags & SHF_ALLOC))
		return is_one_of(name, unread) ||
		       ((leave_out & TALLY_REDUCED_LINES) && !starts(name, ".debug_frame") &&
			(starts(name, ".debug_") || starts(name, ".zdebug_")));
	if (!(leave_out & TALLY_REDUCED_CODE))
		return false;
	if (section->header.sh_flags & SHF_EXECINSTR)
		return !starts(name, ".plt"); /* whose stubs are named by their instructions */
	/* .data.rel.ro may hold Go's table of functions */
	return is_one_of(name, constants) && !starts(name, ".data.rel.ro");
}

/* What is left out, in any order. */
struct runs {
	struct tally_tar_run *list;
	size_t count;
	bool *sections; /* by number */
};

static int by_offset(const void *a, const void *b)
{
	const struct tally_tar_run *one = a, *two = b;

	return one->offset < two->offset ? -1 : one->offset > two->offset;
}

/* Adds what is kept: whole blocks, as GNU tar reads each run from a new block on. */
static void keep(struct tally_elf_reduced *ret, uint64_t from, uint64_t until)
{
	struct tally_tar_run *last = ret->run_count ? &ret->runs[ret->run_count - 1] : NULL;

	from &= ~(uint64_t)(BLOCK - 1);
	until = align_up(until, BLOCK);
	if (until > ret->size)
		until = ret->size;
	if (last && last->offset + last->size >= from)
		last->size = until - last->offset;
	else
		ret->runs[ret->run_count++] =
		    (struct tally_tar_run){.offset = from, .size = until - from};
}

/* The file without the runs that are left out. */
static int invert(struct runs *out, struct tally_elf_reduced *ret)
{
	uint64_t at = 0;

	ret->runs = malloc((out->count + 1) * sizeof(*ret->runs));
	if (!ret->runs)
		return -ENOMEM;
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_offset);
	for (size_t i = 0; i <= out->count; i++) {
		uint64_t until = i < out->count ? out->list[i].offset : ret->size;

		if (until > at)
			keep(ret, at, until);
		if (i < out->count && out->list[i].offset + out->list[i].size > at)
			at = out->list[i].offset + out->list[i].size;
	}
	return 0;
}

static int copy_run(const struct tally_elf *elf, const struct tally_tar_run *run, char *room,
		    int to)
{
	uint64_t at = run->offset, left = run->size;

	while (left) {
		ssize_t got = pread(elf->fd, room, left < ROOM ? (size_t)left : ROOM, (off_t)at);
		int error;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO; /* it shrank since it was opened */
		error = tally_fs_write_at(to, room, (size_t)got, at);
		if (error)
			return error;
		at += (uint64_t)got;
		left -= (uint64_t)got;
	}
	return 0;
}

/* sh_type is the second word of a section's header, of either class. */
static int make_nobits(const struct tally_elf *elf, size_t section, int to)
{
	size_t entry =
	    elf->header.e_ident[EI_CLASS] == ELFCLASS32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
	bool big = elf->header.e_ident[EI_DATA] == ELFDATA2MSB;
	uint8_t type[4] = {big ? 0 : SHT_NOBITS, 0, 0, big ? SHT_NOBITS : 0};

	return tally_fs_write_at(to, type, sizeof(type), elf->header.e_shoff + section * entry + 4);
}

/* The headers of the file and of its sections stay, whatever a section's place is said to be. */
static bool covers_headers(const struct tally_elf *elf, const GElf_Shdr *header)
{
	uint64_t table = elf->header.e_shoff, size = elf->section_count * sizeof(Elf64_Shdr);

	return header->sh_offset < sizeof(Elf64_Ehdr) ||
	       (header->sh_offset < table + size && table < header->sh_offset + header->sh_size);
}

static void choose(const struct tally_elf *elf, unsigned leave_out, struct runs *out)
{
	for (size_t i = 1; i < elf->section_count; i++) {
		const struct tally_elf_section *section = &elf->sections[i];
		const GElf_Shdr *header = &section->header;

		out->sections[i] = section->scn && header->sh_type != SHT_NOBITS &&
				   header->sh_offset <= elf->size &&
				   header->sh_size <= elf->size - header->sh_offset &&
				   is_left_out(section, leave_out) && !covers_headers(elf, header);
		if (out->sections[i])
			out->list[out->count++] = (struct tally_tar_run){
			    .offset = header->sh_offset, .size = header->sh_size};
	}
}

static int make(const struct tally_elf *elf, unsigned leave_out, char *room, struct runs *out,
		struct tally_elf_reduced *ret)
{
	int error = ftruncate(ret->fd, (off_t)elf->size) ? -errno : 0;

	choose(elf, leave_out, out);
	if (!error)
		error = invert(out, ret);
	for (size_t i = 0; i < ret->run_count && !error; i++)
		error = copy_run(elf, &ret->runs[i], room, ret->fd);
	for (size_t i = 1; i < elf->section_count && !error; i++)
		if (out->sections[i])
			error = make_nobits(elf, i, ret->fd);
	return error;
}

int tally_elf_reduce(const struct tally_elf *elf, unsigned leave_out, struct tally_elf_reduced *ret)
{
	struct tally_elf_reduced reduced = {.size = elf->size};
	struct runs out = {.list = calloc(elf->section_count + 1, sizeof(*out.list)),
			   .sections = calloc(elf->section_count + 1, sizeof(*out.sections))};
	char *room = malloc(ROOM);
	int error = out.list && out.sections && room ? 0 : -ENOMEM;

	reduced.fd = -1;
	if (!error && elf->fd < 0)
		error = -ENODATA;
	if (!error) {
		reduced.fd = memfd_create("tally", MFD_CLOEXEC);
		error = reduced.fd < 0 ? -errno : make(elf, leave_out, room, &out, &reduced);
	}
	free(out.list);
	free(out.sections);
	free(room);
	if (error)
		tally_elf_reduced_done(&reduced);
	else
		*ret = reduced;
	return error;
}

void tally_elf_reduced_done(struct tally_elf_reduced *reduced)
{
	if (reduced->fd >= 0)
		close(reduced->fd);
	free(reduced->runs);
	*reduced = (struct tally_elf_reduced){.fd = -1};
}
