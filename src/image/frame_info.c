#include "image/frame_info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "elf/elf_expand.h"
#include "image/code.h"
#include "image/image_state.h"

/* Smaller sections are copied: each that is read keeps its file open. */
#define READ_LEAST ((uint64_t)64 << 10)

static void take_section(const struct tally_elf *elf, const char *name,
			 struct tally_frame_section *ret)
{
	const struct tally_elf_section *section =
	    elf->elf ? tally_elf_find(elf, name, SHT_NULL) : NULL;
	char *bytes;
	void *expanded;

	if (!section)
		return;
	if (section->header.sh_flags & SHF_COMPRESSED) {
		if (!tally_elf_expand(elf, section, &expanded, &ret->size))
			ret->bytes = expanded;
	} else if (!tally_elf_read(elf, section, &bytes, &ret->size)) {
		ret->bytes = (uint8_t *)bytes;
	}
	ret->address = section->header.sh_addr;
}

/* Whether a section of the image's own binary is large, and can be read in parts. */
static bool stays_in_file(const struct tally_elf *elf, const GElf_Shdr *header,
			  struct tally_image *image)
{
	uint8_t last;

	if (elf->fd < 0 || header->sh_type == SHT_NOBITS || header->sh_flags & SHF_COMPRESSED ||
	    header->sh_size < READ_LEAST || header->sh_size > SIZE_MAX ||
	    header->sh_offset > UINT64_MAX - header->sh_size)
		return false;
	tally_image_keep_code(image, elf);
	return tally_image_read(image, header->sh_offset + header->sh_size - 1, &last, 1) == 1;
}

static void take_own_section(const struct tally_elf *elf, const char *name,
			     struct tally_image *image, struct tally_frame_section *ret)
{
	const struct tally_elf_section *section =
	    elf->elf ? tally_elf_find(elf, name, SHT_NULL) : NULL;

	if (section && stays_in_file(elf, &section->header, image))
		*ret = (struct tally_frame_section){.size = (size_t)section->header.sh_size,
						    .address = section->header.sh_addr,
						    .image = image,
						    .place = section->header.sh_offset};
	else
		take_section(elf, name, ret);
}

/* Takes over what is wanted of the opened binary, which may be closed after that. */
static void take_binary(struct tally_elf *elf, struct tally_frame_info *info)
{
	info->machine = elf->header.e_machine;
	info->word = elf->header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	take_own_section(elf, ".eh_frame", info->image, &info->eh_frame);
	take_own_section(elf, ".debug_frame", info->image, &info->debug_frame);
	/* perf follows frame pointers where there is a table, though without a row. */
	info->frame_pointers = tally_elf_find(elf, ".eh_frame_hdr", SHT_NULL) != NULL;
	info->loads = elf->loads;
	info->load_count = elf->load_count;
	elf->loads = NULL;
	elf->load_count = 0;
}

static bool is_readable(const struct tally_elf *elf)
{
	return elf->elf && elf->header.e_ident[EI_DATA] == ELFDATA2LSB;
}

static void read_file(const struct tally_image *image, struct tally_frame_info *info)
{
	struct tally_elf binary, debug;

	if (tally_image_open_files(image, &binary, &debug))
		return;
	if (is_readable(&binary)) {
		take_binary(&binary, info);
		if (!info->debug_frame.size && is_readable(&debug) &&
		    debug.header.e_machine == binary.header.e_machine)
			take_section(&debug, ".debug_frame", &info->debug_frame);
	}
	tally_elf_close(&binary);
	tally_elf_close(&debug);
}

static int read_vdso(const struct tally_image *image, struct tally_frame_info *info)
{
	struct tally_elf elf;
	char *data;
	size_t size;
	int error = tally_image_open_vdso(image, &elf, &data, &size);

	if (error)
		return error == -ENOMEM ? error : 0;
	if (is_readable(&elf)) {
		take_binary(&elf, info);
		info->data = (uint8_t *)data;
		info->data_size = size;
		data = NULL;
	}
	tally_elf_close(&elf);
	free(data);
	return 0;
}

/* The bytes are laid out for where they would be in memory: behind the code, at a multiple of 8. */
static int read_dump(const struct tally_image *image, uint32_t part, struct tally_frame_info *info)
{
	const struct tally_jitdump *dump = image->dump;
	const struct tally_jit_code *code;
	struct tally_jit_unwind unwind;
	int error;

	if (!dump || dump->swapped || !part || part > dump->code_count)
		return 0;
	code = &dump->codes[part - 1];
	info->loads = calloc(1, sizeof(*info->loads));
	if (!info->loads)
		return -ENOMEM;
	info->load_count = 1;
	info->loads[0] = (struct tally_elf_load){
	    .offset = code->place, .size = code->size, .address = code->place};
	info->machine = dump->machine;
	info->word = dump->machine == EM_386 ? 4 : 8;
	info->frame_pointers = true;
	error = tally_jitdump_unwind(dump, part - 1, &unwind);
	if (error)
		return error == -ENOMEM ? error : 0;
	info->eh_frame = (struct tally_frame_section){
	    .bytes = unwind.bytes,
	    .size = unwind.frame_size,
	    .address = code->place + align_up(code->size, 8),
	};
	return 0;
}

uint32_t tally_image_part(struct tally_image *image, uint64_t place)
{
	const struct tally_jitdump *dump = tally_image_dump(image);
	int64_t code = dump ? tally_jitdump_find(dump, place) : -ENOENT;

	return code < 0 ? 0 : (uint32_t)code + 1;
}

int tally_image_frame_info(struct tally_image *image, uint32_t part, struct tally_frame_info *ret)
{
	struct tally_frame_info info = {.image = image};
	int error = 0;

	(void)tally_image_symbol_count(image); /* loads it: its kind no longer changes */
	if (image->kind == TALLY_IMAGE_FILE)
		read_file(image, &info);
	else if (image->kind == TALLY_IMAGE_VDSO)
		error = read_vdso(image, &info);
	else if (image->kind == TALLY_IMAGE_DUMP)
		error = read_dump(image, part, &info);
	if (error) {
		tally_frame_info_done(&info);
		return error;
	}
	*ret = info;
	return 0;
}

void tally_frame_info_done(struct tally_frame_info *info)
{
	free(info->eh_frame.bytes);
	free(info->debug_frame.bytes);
	free(info->loads);
	free(info->data);
	*info = (struct tally_frame_info){0};
}

int tally_frame_info_address(const struct tally_frame_info *info, uint64_t place, uint64_t *ret)
{
	for (size_t i = 0; i < info->load_count; i++) {
		const struct tally_elf_load *load = &info->loads[i];

		if (place >= load->offset && place - load->offset < load->size) {
			*ret = place - load->offset + load->address;
			return 0;
		}
	}
	return -ENOENT;
}

bool tally_frame_section_read(void *section, uint64_t at, void *ret, size_t size)
{
	const struct tally_frame_section *from = section;

	return tally_image_read(from->image, from->place + at, ret, size) == (int64_t)size;
}

int tally_frame_info_read(const struct tally_frame_info *info, uint64_t place, void *ret,
			  size_t size)
{
	if (info->data) {
		if (place > info->data_size || size > info->data_size - place)
			return -ENODATA;
		memcpy(ret, info->data + place, size);
		return 0;
	}
	return info->image && tally_image_read(info->image, place, ret, size) == (int64_t)size
		   ? 0
		   : -ENODATA;
}
