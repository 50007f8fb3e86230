#include "elf/elf_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/regular.h"
#include "elf/build_id.h"

/* More than the largest debug files have (-ffunction-sections objects), but not too many to
 * read. */
#define SECTION_LIMIT ((size_t)1 << 20)
/* Each address is searched for in all of them. */
#define LOAD_LIMIT ((size_t)256)
/* Names of sections are compared with many others; longer ones are invalid. */
#define SECTION_NAME_MOST ((size_t)256)
/* Notes with a build-id are small, and few. */
#define NOTES_MOST      64U
#define NOTES_SIZE_MOST ((uint64_t)64 * 1024)

static void read_sections(struct tally_elf *elf)
{
	size_t count = 0, names = 0;

	if (elf_getshdrnum(elf->elf, &count) || count > SECTION_LIMIT || !count)
		return;
	if (elf_getshdrstrndx(elf->elf, &names))
		names = 0;
	elf->sections = calloc(count, sizeof(*elf->sections));
	if (!elf->sections)
		return;
	elf->section_count = count;
	for (size_t i = 0; i < count; i++) {
		struct tally_elf_section *section = &elf->sections[i];
		Elf_Scn *scn = elf_getscn(elf->elf, i);

		section->name = "";
		if (!scn || !gelf_getshdr(scn, &section->header))
			continue;
		section->scn = scn;
		section->name = elf_strptr(elf->elf, names, section->header.sh_name);
		if (!section->name ||
		    strnlen(section->name, SECTION_NAME_MOST) == SECTION_NAME_MOST)
			section->name = "";
	}
}

static void read_loads(struct tally_elf *elf)
{
	size_t count = 0;

	if (elf_getphdrnum(elf->elf, &count) || count > LOAD_LIMIT || !count)
		return;
	elf->loads = calloc(count, sizeof(*elf->loads));
	if (!elf->loads)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		uint64_t size;

		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		size = header.p_memsz > header.p_filesz ? header.p_memsz : header.p_filesz;
		if (!size)
			continue;
		elf->loads[elf->load_count++] = (struct tally_elf_load){
		    .address = header.p_vaddr, .offset = header.p_offset, .size = size};
	}
}

static int begin(struct tally_elf *elf)
{
	if (!elf->elf || elf_kind(elf->elf) != ELF_K_ELF || !gelf_getehdr(elf->elf, &elf->header)) {
		tally_elf_close(elf);
		return -ENOEXEC;
	}
	read_sections(elf);
	read_loads(elf);
	return 0;
}

static int open_regular(int fd, const struct stat *stat, struct tally_elf *ret)
{
	struct tally_elf elf = {.fd = fd};
	uint64_t stored;
	int error;

	elf.size = (uint64_t)stat->st_size;
	elf.owner = stat->st_uid;
	/* Holes in the file do not count. */
	stored = (uint64_t)stat->st_blocks * 512;
	elf.allowed = elf_allowed(stored < elf.size ? stored : elf.size);
	if (elf_version(EV_CURRENT) == EV_NONE) {
		close(elf.fd);
		return -ENOSYS;
	}
	elf.elf = elf_begin(elf.fd, ELF_C_READ_MMAP, NULL);
	error = begin(&elf);
	if (!error)
		*ret = elf;
	return error;
}

int tally_elf_open(const char *path, struct tally_elf *ret)
{
	struct stat stat;
	int fd = tally_regular_open(path, &stat);

	return fd < 0 ? fd : open_regular(fd, &stat, ret);
}

int tally_elf_open_fd(int fd, struct tally_elf *ret)
{
	struct stat stat;

	if (fstat(fd, &stat)) {
		int error = -errno;

		close(fd);
		return error;
	}
	return open_regular(fd, &stat, ret);
}

int tally_elf_open_memory(char *data, size_t size, struct tally_elf *ret)
{
	struct tally_elf elf = {
	    .fd = -1, .data = data, .size = size, .allowed = elf_allowed(size), .owner = geteuid()};
	int error;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOSYS;
	elf.elf = elf_memory(data, size);
	error = begin(&elf);
	if (!error)
		*ret = elf;
	return error;
}

void tally_elf_close(struct tally_elf *elf)
{
	if (elf->elf)
		elf_end(elf->elf);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->sections);
	free(elf->loads);
	*elf = (struct tally_elf){.fd = -1};
}

Elf_Data *tally_elf_data(const struct tally_elf *elf, const struct tally_elf_section *section)
{
	if (!section->scn || section->header.sh_size > elf->allowed)
		return NULL;
	return elf_getdata(section->scn, NULL);
}

uint64_t tally_elf_expanded(const struct tally_elf_section *section)
{
	GElf_Chdr header;
	Elf_Data *data;
	uint64_t size = 0;

	if (!section->scn || section->header.sh_type == SHT_NOBITS)
		return 0;
	if (section->header.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section->scn, &header) ? header.ch_size : 0;
	if (strncmp(section->name, ".zdebug", 7) != 0)
		return section->header.sh_size;
	/* GNU's older form: "ZLIB", then the size as a big-endian number. */
	data = elf_rawdata(section->scn, NULL);
	if (!data || !data->d_buf || data->d_size < 12)
		return 0;
	for (size_t i = 4; i < 12; i++)
		size = size << 8 | ((const uint8_t *)data->d_buf)[i];
	return size;
}

const struct tally_elf_section *tally_elf_find(const struct tally_elf *elf, const char *name,
					       uint32_t type)
{
	for (size_t i = 1; i < elf->section_count; i++) {
		const struct tally_elf_section *section = &elf->sections[i];

		if (section->scn && (type == SHT_NULL || section->header.sh_type == type) &&
		    !strcmp(section->name, name))
			return section;
	}
	return NULL;
}

int tally_elf_offset(const struct tally_elf *elf, uint64_t address, uint64_t *ret)
{
	for (size_t i = 0; i < elf->load_count; i++) {
		const struct tally_elf_load *load = &elf->loads[i];

		if (address >= load->address && address - load->address < load->size) {
			*ret = address - load->address + load->offset;
			return 0;
		}
	}
	return -ENOENT;
}

static int read_at(const struct tally_elf *elf, char *to, size_t size, uint64_t offset)
{
	if (elf->fd < 0) {
		memcpy(to, elf->data + offset, size);
		return 0;
	}
	while (size) {
		ssize_t got = pread(elf->fd, to, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO; /* it shrank since it was opened */
		to += got;
		size -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

static bool has_bytes(const struct tally_elf *elf, const GElf_Shdr *header)
{
	return header->sh_type != SHT_NOBITS && !(header->sh_flags & SHF_COMPRESSED) &&
	       header->sh_size && header->sh_offset <= elf->size &&
	       header->sh_size <= elf->size - header->sh_offset && header->sh_size <= SIZE_MAX / 2;
}

int tally_elf_read_string(const struct tally_elf *elf, const struct tally_elf_section *section,
			  uint64_t at, char **ret)
{
	uint64_t left = section->header.sh_size - at, offset = section->header.sh_offset + at;

	if (!has_bytes(elf, &section->header) || at >= section->header.sh_size)
		return -ENODATA;
	for (size_t room = 256;; room *= 4) {
		size_t length = room < left ? room : (size_t)left;
		char *text = malloc(length + 1);
		int error = text ? read_at(elf, text, length, offset) : -ENOMEM;

		if (!error) {
			text[length] = 0;
			if (length == left || strlen(text) < length) {
				*ret = text;
				return 0;
			}
			error = room >= TALLY_NAME_MOST ? -ENODATA : 0;
		}
		free(text);
		if (error)
			return error;
	}
}

int tally_elf_read(const struct tally_elf *elf, const struct tally_elf_section *section, char **ret,
		   size_t *ret_size)
{
	uint64_t offset = section->header.sh_offset, size = section->header.sh_size;
	char *data;
	int error;

	if (!has_bytes(elf, &section->header))
		return -ENODATA;
	if (size > elf->allowed)
		return -EFBIG;
	data = malloc((size_t)size + 1);
	if (!data)
		return -ENOMEM;
	error = read_at(elf, data, (size_t)size, offset);
	if (error) {
		free(data);
		return error;
	}
	data[size] = 0;
	*ret = data;
	*ret_size = (size_t)size;
	return 0;
}

/* Smaller ones are copied: a mapping of each of hundreds of binaries would cost more. */
#define MAP_LEAST ((uint64_t)256 * 1024)

int tally_elf_map_strings(const struct tally_elf *elf, const struct tally_elf_section *section,
			  struct tally_mapped *ret, const char **ret_strings, size_t *ret_size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = section->header.sh_size;
	uint64_t before = section->header.sh_offset % page;
	char *map, *last;

	if (elf->fd < 0 || size < MAP_LEAST || !has_bytes(elf, &section->header))
		return -ENODATA;
	map = mmap(NULL, (size_t)(before + size), PROT_READ | PROT_WRITE, MAP_PRIVATE, elf->fd,
		   (off_t)(section->header.sh_offset - before));
	if (map == MAP_FAILED)
		return -errno;
	last = map + before + size - 1;
	if (*last) {
		munmap(map, (size_t)(before + size));
		return -ENODATA;
	}
	*(volatile char *)last = 0; /* now a private page, which writes to the file do not change */
	*ret = (struct tally_mapped){.data = (uint8_t *)map, .size = (size_t)(before + size)};
	*ret_strings = map + before;
	*ret_size = (size_t)size;
	return 0;
}

void tally_elf_build_id(const struct tally_elf *elf, uint8_t ret[20], uint8_t *ret_size)
{
	unsigned notes = 0;

	*ret_size = 0;
	for (size_t i = 1; i < elf->section_count && !*ret_size && notes < NOTES_MOST; i++) {
		const struct tally_elf_section *section = &elf->sections[i];
		Elf_Data *data;

		if (!section->scn || section->header.sh_type != SHT_NOTE ||
		    section->header.sh_size > NOTES_SIZE_MOST)
			continue;
		notes++;
		data = elf_getdata(section->scn, NULL); /* swaps the headers of a foreign file */
		if (data && data->d_buf)
			tally_build_id_find(data->d_buf, data->d_size, false, ret, ret_size);
	}
}
