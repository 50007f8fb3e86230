#include "elf/elf_expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tar/inflate.h"
#include "tar/inflate_zlib.h"
#include "tar/unlinked.h"

/* Source: the ELF specification, "Section Compression". */
#define COMPRESSED_BY_ZLIB 1U /* ELFCOMPRESS_ZLIB */
#define COMPRESSED_BY_ZSTD 2U /* ELFCOMPRESS_ZSTD */

struct expanding {
	uint8_t *bytes;
	size_t size, at;
};

static int take(void *context, const uint8_t *bytes, size_t size)
{
	struct expanding *expanding = context;

	if (size > expanding->size - expanding->at)
		return -EBADMSG;
	memcpy(expanding->bytes + expanding->at, bytes, size);
	expanding->at += size;
	return 0;
}

static int expand_zstd(const uint8_t *from, size_t size, uint8_t *to, size_t to_size)
{
	struct expanding expanding = {.bytes = to, .size = to_size};
	struct tally_inflate *inflate;
	int error = tally_inflate_new(&inflate);

	if (error)
		return error;
	error = tally_inflate_feed(inflate, from, size, take, &expanding);
	tally_inflate_free(inflate);
	return !error && expanding.at != to_size ? -EBADMSG : error;
}

int tally_elf_expand(const struct tally_elf *elf, const struct tally_elf_section *section,
		     void **ret, size_t *ret_size)
{
	size_t head =
	    elf->header.e_ident[EI_CLASS] == ELFCLASS32 ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	int (*expand)(const uint8_t *, size_t, uint8_t *, size_t);
	GElf_Chdr header;
	GElf_Shdr now;
	Elf_Data *data;
	uint8_t *bytes;
	int error;

	/* A section that libelf or libdw has expanded before is no longer marked. */
	if (!section->scn || section->header.sh_type == SHT_NOBITS ||
	    !gelf_getshdr(section->scn, &now) || !(now.sh_flags & SHF_COMPRESSED) ||
	    !gelf_getchdr(section->scn, &header))
		return -ENOTSUP;
	if (header.ch_type != COMPRESSED_BY_ZLIB && header.ch_type != COMPRESSED_BY_ZSTD)
		return -ENOTSUP;
	expand = header.ch_type == COMPRESSED_BY_ZLIB ? tally_inflate_zlib : expand_zstd;
	data = elf_rawdata(section->scn, NULL);
	if (!data || !data->d_buf || data->d_size < head || !header.ch_size)
		return -EBADMSG;
	if (header.ch_size > elf->allowed)
		return -EFBIG;
	bytes = malloc((size_t)header.ch_size);
	if (!bytes)
		return -ENOMEM;
	error = expand((const uint8_t *)data->d_buf + head, data->d_size - head, bytes,
		       (size_t)header.ch_size);
	if (error) {
		free(bytes);
		return error;
	}
	*ret = bytes;
	*ret_size = (size_t)header.ch_size;
	return 0;
}

/* A new file with all bytes of the file: its descriptor, or -errno. */
static int copy_file(const struct tally_elf *elf)
{
	int fd = tally_unlinked_open(), error;

	if (fd < 0)
		return fd;
	error = elf->fd < 0 ? tally_fs_write(fd, elf->data, (size_t)elf->size)
			    : tally_fs_copy(elf->fd, elf->size, fd);
	if (!error)
		return fd;
	close(fd);
	return error;
}

/* Writes a section's header in the form of the file. */
static int put_header(const struct tally_elf *elf, size_t section, const GElf_Shdr *header, int fd)
{
	bool narrow = elf->header.e_ident[EI_CLASS] == ELFCLASS32;
	Elf32_Shdr small = {
	    .sh_name = header->sh_name,
	    .sh_type = header->sh_type,
	    .sh_flags = (Elf32_Word)header->sh_flags,
	    .sh_addr = (Elf32_Addr)header->sh_addr,
	    .sh_offset = (Elf32_Off)header->sh_offset,
	    .sh_size = (Elf32_Word)header->sh_size,
	    .sh_link = header->sh_link,
	    .sh_info = header->sh_info,
	    .sh_addralign = (Elf32_Word)header->sh_addralign,
	    .sh_entsize = (Elf32_Word)header->sh_entsize,
	};
	Elf64_Shdr large = *header, written;
	Elf_Data from = {.d_buf = narrow ? (void *)&small : &large,
			 .d_type = ELF_T_SHDR,
			 .d_version = EV_CURRENT,
			 .d_size = narrow ? sizeof(small) : sizeof(large)};
	Elf_Data to = from;

	if (narrow && header->sh_offset + header->sh_size > UINT32_MAX)
		return -EFBIG;
	to.d_buf = &written;
	if (!gelf_xlatetof(elf->elf, &to, &from, elf->header.e_ident[EI_DATA]))
		return -EBADMSG;
	return tally_fs_write_at(fd, &written, to.d_size,
				 elf->header.e_shoff + section * elf->header.e_shentsize);
}

/* Appends the bytes of a compressed section to the copy, and takes them off what is allowed. */
static int put_expanded(const struct tally_elf *elf, size_t section, int fd, uint64_t *end,
			uint64_t *left)
{
	GElf_Shdr header = elf->sections[section].header;
	GElf_Chdr packed;
	void *bytes;
	size_t size;
	int error = tally_elf_expand(elf, &elf->sections[section], &bytes, &size);

	if (error)
		return error;
	*end = (*end + 15) & ~(uint64_t)15;
	header.sh_offset = *end;
	header.sh_size = size;
	header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	if (gelf_getchdr(elf->sections[section].scn, &packed))
		header.sh_addralign = packed.ch_addralign;
	error = size > *left ? -EFBIG : tally_fs_write_at(fd, bytes, size, *end);
	if (!error)
		error = put_header(elf, section, &header, fd);
	free(bytes);
	*end += size;
	*left -= size;
	return error;
}

/* libelf of 0.188, which is Debian 12's, knows zlib alone. */
static bool is_unknown_to_libelf(const struct tally_elf_section *section)
{
	GElf_Chdr header;

	return section->scn && section->header.sh_flags & SHF_COMPRESSED &&
	       section->header.sh_type != SHT_NOBITS && gelf_getchdr(section->scn, &header) &&
	       header.ch_type == COMPRESSED_BY_ZSTD;
}

int tally_elf_expand_file(struct tally_elf *elf)
{
	uint64_t end = elf->size, left = elf->allowed;
	struct tally_elf expanded;
	int fd = -1, error = 0;

	for (size_t i = 1; i < elf->section_count && !error; i++) {
		if (!is_unknown_to_libelf(&elf->sections[i]))
			continue;
		if (fd < 0)
			fd = copy_file(elf);
		error = fd < 0 ? fd : put_expanded(elf, i, fd, &end, &left);
	}
	if (error && fd >= 0)
		close(fd);
	if (error || fd < 0)
		return error;
	error = tally_elf_open_fd(fd, &expanded);
	if (error)
		return error;
	expanded.places = elf->places;
	expanded.owner = elf->owner;
	tally_elf_close(elf);
	*elf = expanded;
	return 0;
}
