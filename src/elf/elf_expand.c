#include "elf/elf_expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tar/inflate.h"
#include "tar/inflate_zlib.h"

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
