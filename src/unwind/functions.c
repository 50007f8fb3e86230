#include "unwind/functions.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sorted.h"
#include "image/code.h"
#include "image/code_map.h"
#include "image/frame_info.h"
#include "image/image.h"
#include "unwind/cfi_entries.h"

/* More functions than the largest programs have, and their table. */
#define FUNCTIONS_MOST ((size_t)1 << 24)
#define SECTION_MOST   ((size_t)1 << 30)
/* Bytes read at once. */
#define FUNCTION_COST 20U

/* A size that was not read yet, and one that cannot be read: the next start ends it. */
#define SIZE_UNREAD  0U
#define SIZE_UNKNOWN UINT32_MAX

#define USUAL_ALIGNMENT 16U

struct tally_functions {
	struct tally_image *image;
	struct tally_code_map map;
	uint64_t base;           /* the least start */
	uint32_t *starts;        /* addresses less the base, sorted */
	_Atomic uint32_t *sizes; /* by start; SIZE_* */
	int32_t *entries; /* by start: the offset of its entry from the table's address; NULL: all
			     sizes are known */
	size_t count;
};

static bool make_room(struct tally_functions *functions, size_t count, bool entries)
{
	functions->starts = malloc(count * sizeof(*functions->starts));
	functions->sizes = calloc(count, sizeof(*functions->sizes));
	if (entries)
		functions->entries = malloc(count * sizeof(*functions->entries));
	return functions->starts && functions->sizes && (!entries || functions->entries);
}

static void drop_table(struct tally_functions *functions)
{
	free(functions->starts);
	free((void *)functions->sizes);
	free(functions->entries);
	functions->starts = NULL;
	functions->sizes = NULL;
	functions->entries = NULL;
	functions->count = 0;
}

/* --- the sorted table of .eh_frame_hdr --- */

/* Its header: a version, the encodings of the address of .eh_frame, of the count and of the table,
 * then these. Linkers write only one form, relative to the table, four bytes each. */
#define HEAD_SIZE     12U
#define ENTRY_SIZE    8U
#define ENCODED_TABLE 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define ENCODED_COUNT 0x03 /* DW_EH_PE_udata4 */

/* 0; -ENOENT: there is no usable table; -ENOMEM. */
static int take_table(struct tally_functions *functions, const uint8_t *entries, size_t count)
{
	const struct tally_code_map *map = &functions->map;
	uint64_t base = 0, last = 0;

	if (!make_room(functions, count, true))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *entry = entries + i * ENTRY_SIZE;
		uint64_t start = map->table_address + (uint64_t)(int64_t)(int32_t)load_u32(entry);

		if (map->word == 4)
			start = (uint32_t)start;
		if (!i)
			base = start;
		if (start < last || start - base > UINT32_MAX)
			return -ENOENT;
		last = start;
		functions->starts[i] = (uint32_t)(start - base);
		functions->entries[i] = (int32_t)load_u32(entry + 4);
	}
	functions->base = base;
	functions->count = count;
	return 0;
}

static int read_table(struct tally_functions *functions)
{
	const struct tally_code_map *map = &functions->map;
	uint64_t room = (map->table_size - HEAD_SIZE) / ENTRY_SIZE, count;
	uint8_t head[HEAD_SIZE], *entries;
	size_t size;
	int result = -ENOENT;

	if (map->table_size < HEAD_SIZE + ENTRY_SIZE ||
	    tally_image_read(functions->image, map->table_place, head, HEAD_SIZE) != HEAD_SIZE ||
	    head[0] != 1 || head[2] != ENCODED_COUNT || head[3] != ENCODED_TABLE)
		return -ENOENT;
	count = load_u32(head + 8);
	if (!count || count > room || count > FUNCTIONS_MOST ||
	    count > map->allowed / FUNCTION_COST)
		return -ENOENT;
	size = (size_t)count * ENTRY_SIZE;
	entries = malloc(size);
	if (!entries)
		return -ENOMEM;
	if (tally_image_read(functions->image, map->table_place + HEAD_SIZE, entries, size) ==
	    (int64_t)size)
		result = take_table(functions, entries, (size_t)count);
	free(entries);
	if (result)
		drop_table(functions);
	return result;
}

/* The size behind a start, if that is the known one, in one of its two forms: relative to its own
 * address, or absolute. */
static uint32_t size_behind(const uint8_t *entry, uint64_t at, uint64_t start, unsigned word)
{
	uint64_t plain = load_u32(entry), relative = at + (uint64_t)(int64_t)(int32_t)plain, size;

	if (word == 4)
		relative = (uint32_t)relative;
	size = load_u32(entry + 4);
	if ((relative == start || plain == start) && size)
		return (uint32_t)size;
	plain = load_u64(entry);
	size = load_u64(entry + 8);
	return (plain == start || at + plain == start) && size && size < SIZE_UNKNOWN
		   ? (uint32_t)size
		   : SIZE_UNKNOWN;
}

/* An entry is its length, the offset of its common part, and the start, four bytes each or the last
 * eight; then the size. */
static uint32_t read_size(const struct tally_functions *functions, size_t index)
{
	uint64_t at = functions->map.table_address + (uint64_t)(int64_t)functions->entries[index];
	const struct tally_elf_load *load = tally_code_map_load_at(&functions->map, at);
	uint8_t entry[24] = {0};

	if (!load || tally_image_read(functions->image, at - load->address + load->offset, entry,
				      sizeof(entry)) < 16)
		return SIZE_UNKNOWN;
	if (load_u32(entry) == UINT32_MAX) /* the long form, which nobody needs */
		return SIZE_UNKNOWN;
	return size_behind(entry + 8, at + 8, functions->base + functions->starts[index],
			   functions->map.word);
}

/* --- .eh_frame itself, where there is no table --- */

static int take_entries(struct tally_functions *functions, const struct cfi_entries *entries)
{
	uint64_t base = entries->function_count ? entries->functions[0].start : 0;

	if (!entries->function_count || entries->function_count > FUNCTIONS_MOST)
		return 0;
	if (!make_room(functions, entries->function_count, false))
		return -ENOMEM;
	functions->base = base;
	for (size_t i = 0; i < entries->function_count; i++) {
		uint64_t start = entries->functions[i].start - base;
		uint64_t size = entries->functions[i].end - entries->functions[i].start;

		if (start > UINT32_MAX)
			break;
		functions->starts[i] = (uint32_t)start;
		atomic_init(&functions->sizes[i],
			    size < SIZE_UNKNOWN ? (uint32_t)size : SIZE_UNKNOWN);
		functions->count++;
	}
	return 0;
}

static int read_entries(struct tally_functions *functions)
{
	struct cfi_entries entries = {0};
	struct tally_frame_info info;
	struct cfi_section section;
	int result = tally_image_frame_info(functions->image, 0, &info);

	if (result)
		return result;
	section = tally_cfi_section(&info.eh_frame);
	if (section.size && section.size <= SECTION_MOST)
		result = tally_cfi_entries_read(&entries, &section, false, functions->map.word);
	if (!result)
		result = tally_cfi_entries_sort(&entries);
	if (!result)
		result = take_entries(functions, &entries);
	tally_cfi_entries_done(&entries);
	tally_frame_info_done(&info);
	if (result)
		drop_table(functions);
	return result;
}

struct tally_functions *tally_functions_new(struct tally_image *image)
{
	struct tally_functions *functions = calloc(1, sizeof(*functions));
	int result;

	if (!functions)
		return NULL;
	functions->image = image;
	result = tally_image_code_map(image, &functions->map);
	if (!result && functions->map.word) {
		result = read_table(functions);
		if (result == -ENOENT)
			result = read_entries(functions);
	}
	if (result) {
		tally_functions_free(functions);
		return NULL;
	}
	return functions;
}

void tally_functions_free(struct tally_functions *functions)
{
	if (!functions)
		return;
	drop_table(functions);
	tally_code_map_done(&functions->map);
	free(functions);
}

/* The number of functions that start at or before an address. */
static size_t count_started(const struct tally_functions *functions, uint64_t address)
{
	if (address < functions->base)
		return 0;
	address -= functions->base;
	return SORTED_BOUND(at, 0, functions->count, functions->starts[at] <= address);
}

/* Where a function ends: at the next start at the latest. */
static uint64_t end_of(const struct tally_functions *functions, size_t index)
{
	uint64_t start = functions->base + functions->starts[index];
	uint64_t next = index + 1 < functions->count
			    ? functions->base + functions->starts[index + 1]
			    : UINT64_MAX;
	uint32_t size = atomic_load_explicit(&functions->sizes[index], memory_order_relaxed);

	if (size == SIZE_UNREAD) {
		size = functions->entries ? read_size(functions, index) : SIZE_UNKNOWN;
		atomic_store_explicit(&functions->sizes[index], size, memory_order_relaxed);
	}
	return size == SIZE_UNKNOWN || next - start < size ? next : start + size;
}

/* The stub of a PLT that contains a place. */
static void take_stub(const struct tally_code_span *span, uint64_t place,
		      struct tally_function *ret)
{
	ret->start = place - (place - span->start) % span->stub;
	ret->end = span->end - ret->start < span->stub ? span->end : ret->start + span->stub;
}

/* The range around a place between two known functions: by addresses of the segment, and by
 * symbols. */
static void take_gap(const struct tally_functions *functions, const struct tally_elf_load *load,
		     uint64_t place, uint64_t from, uint64_t until, struct tally_function *ret)
{
	uint64_t after = tally_image_gap_start(functions->image, place);
	uint64_t before = tally_image_gap_end(functions->image, place), aligned;

	if (from > load->address && from - load->address + load->offset > ret->start)
		ret->start = from - load->address + load->offset;
	if (after > ret->start)
		ret->start = after;
	if (until - load->address < load->size && until - load->address + load->offset < ret->end)
		ret->end = until - load->address + load->offset;
	if (before < ret->end)
		ret->end = before;
	/* Padding up to where functions usually start is not part of one. */
	aligned = align_up(ret->start, USUAL_ALIGNMENT);
	if (aligned >= ret->start && aligned <= place)
		ret->start = aligned;
}

int tally_functions_find(const struct tally_functions *functions, uint64_t place,
			 struct tally_function *ret)
{
	const struct tally_elf_load *load = tally_code_map_load(&functions->map, place);
	const struct tally_code_span *span = tally_code_map_span(&functions->map, place);
	struct tally_function found;
	uint64_t address, start = 0, end = 0;
	size_t started;

	if (!load || !span)
		return -ENOENT;
	found = (struct tally_function){.start = span->start, .end = span->end};
	address = place - load->offset + load->address;
	started = count_started(functions, address);
	if (started) {
		start = functions->base + functions->starts[started - 1];
		end = end_of(functions, started - 1);
	}
	if (span->stub) {
		take_stub(span, place, &found);
	} else if (started && address < end && start >= load->address) {
		found.start = start - load->address + load->offset;
		found.end = end - load->address < load->size ? end - load->address + load->offset
							     : load->offset + load->size;
	} else {
		take_gap(functions, load, place, started ? end : 0,
			 started < functions->count ? functions->base + functions->starts[started]
						    : UINT64_MAX,
			 &found);
	}
	/* A file that contradicts itself gives nothing. */
	if (found.start > place || found.end <= place || found.start < load->offset)
		return -ENOENT;
	found.address = found.start - load->offset + load->address;
	*ret = found;
	return 0;
}

uint64_t tally_functions_address(const struct tally_functions *functions, uint64_t place)
{
	const struct tally_elf_load *load = tally_code_map_load(&functions->map, place);

	return load ? place - load->offset + load->address : place;
}
