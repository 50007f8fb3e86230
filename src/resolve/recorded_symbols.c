/* The names that simpleperf and hiperf keep in a recording, as symbols of images. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include "elf/symbol_list.h"
#include "resolve/mapping_image.h"

/* A made-up recording may have many images of one name. */
#define SYMBOLS_MOST ((size_t)8 << 20)

struct adding {
	struct tally_recorded_symbols *symbols;
	struct tally_symbol_list *list;
	uint64_t shift; /* from a symbol's address to its place in the image */
	int64_t count;
};

static int add(void *context, uint64_t address, uint64_t size, const char *name, size_t name_size)
{
	struct adding *adding = context;
	struct tally_buf *text = &adding->list->text;
	uint64_t place = address + adding->shift;
	size_t at = symbol_list_text_end(adding->list);

	if (place + size < place)
		return 0;
	if (at > UINT32_MAX || atomic_fetch_add(&adding->symbols->added, 1) >= SYMBOLS_MOST)
		return -EFBIG;
	tally_buf_add(text, name, name_size);
	tally_buf_byte(text, 0);
	adding->count++;
	return text->failed ? -ENOMEM
			    : tally_symbol_list_add(adding->list, place, place + size, (uint32_t)at,
						    ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
}

/* Sources: IpToVaddrInFile() of simpleperf's dso.cpp, GetVaddrInSymbols() of hiperf's
 * symbols_file.cpp. */
static uint64_t shift_of(const struct tally_data_file *file, const struct tally_image_origin *image)
{
	bool known = file->min_offset != UINT64_MAX;

	switch (file->kind) {
	case TALLY_DATA_FILE_KERNEL: /* it may have been loaded elsewhere than it says */
		return file->min_vaddr && image->start ? image->start - file->min_vaddr : 0;
	case TALLY_DATA_FILE_MODULE:
		return image->start - file->min_vaddr + (known ? file->min_offset : 0);
	case TALLY_DATA_FILE_BINARY:
		if (image->addresses)
			return 0;
		return (known ? file->min_offset : image->offset) - file->min_vaddr;
	case TALLY_DATA_FILE_OFFSETS:
		return 0;
	case TALLY_DATA_FILE_ADDRESSES:
		break;
	}
	return image->addresses ? 0 : image->offset - image->start;
}

/* "[kernel.kallsyms]_text" is the name of a mapping of "[kernel.kallsyms]". */
static bool is_of(const struct tally_data_file *file, const char *path)
{
	if (!file->symbol_count)
		return false;
	return path[0] == '[' ? !strncmp(file->path, path, strcspn(path, "]") + 1)
			      : !strcmp(file->path, path);
}

bool tally_recorded_symbols_of_kernel(const struct tally_recorded_symbols *symbols)
{
	const struct tally_data_info *info = tally_data_info(symbols->data);

	for (size_t i = 0; i < info->file_count && symbols->used; i++)
		if (info->files[i].kind == TALLY_DATA_FILE_KERNEL && info->files[i].symbol_count)
			return true;
	return false;
}

int64_t tally_recorded_symbols_add(void *context, const struct tally_image_origin *image,
				   struct tally_symbol_list *list, bool *ret_some)
{
	struct tally_recorded_symbols *symbols = context;
	const struct tally_data_info *info = tally_data_info(symbols->data);
	struct adding adding = {.symbols = symbols, .list = list};
	int result = 0;

	for (size_t i = 0; i < info->file_count && !result; i++) {
		const struct tally_data_file *file = &info->files[i];

		if (!is_of(file, image->path))
			continue;
		adding.shift = shift_of(file, image);
		result = tally_data_file_symbols(symbols->data, file, add, &adding);
	}
	*ret_some = result == -EFBIG;
	return result == -ENOMEM ? result : adding.count;
}
