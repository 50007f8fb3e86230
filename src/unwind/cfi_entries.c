#include "unwind/cfi_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/key_order.h"
#include "base/table.h"
#include "unwind/cfi_bytes.h"

/* Source: LSB 5.0, 10.5.1 "DWARF Exception Header Encoding". */
#define PE_OMIT     0xff
#define PE_FORMAT   0x0f
#define PE_RELATIVE 0x70
#define PE_PCREL    0x10
#define PE_ALIGNED  0x50
#define PE_INDIRECT 0x80

/* Of the part that functions share, which may be read for each of them: compilers write about ten
 * bytes. */
#define LETTERS_MOST 32U
#define PROGRAM_MOST 1024U

struct reading {
	struct cfi_entries *entries;
	struct cfi_window commons; /* apart: an entry is read while another one is looked at */
	bool debug;
	unsigned word;
};

/* One entry's length and identity. */
struct entry {
	struct cfi_section own; /* its bytes alone, from its length on */
	struct cfi_bytes bytes; /* behind the id */
	size_t at, id_at;       /* in the section */
	uint64_t id;
	bool is_long; /* the 64-bit format */
};

static uint64_t format_value(struct cfi_bytes *bytes, uint8_t format, unsigned word)
{
	switch (format) {
	case 0x0:
		return cfi_fixed(bytes, word);
	case 0x1:
		return cfi_uleb(bytes);
	case 0x2:
		return cfi_fixed(bytes, 2);
	case 0x3:
		return cfi_fixed(bytes, 4);
	case 0x4:
	case 0xc:
		return cfi_fixed(bytes, 8);
	case 0x9:
		return (uint64_t)cfi_sleb(bytes);
	case 0xa:
		return (uint64_t)(int64_t)(int16_t)cfi_fixed(bytes, 2);
	case 0xb:
		return (uint64_t)(int64_t)(int32_t)cfi_fixed(bytes, 4);
	default:
		bytes->failed = true;
		return 0;
	}
}

bool tally_cfi_pointer(const struct cfi_section *section, struct cfi_bytes *bytes, uint8_t encoding,
		       unsigned word, uint64_t *ret)
{
	uint64_t at = section->address + (uint64_t)(bytes->at - section->bytes), value;

	*ret = 0;
	if (encoding == PE_OMIT)
		return true;
	if (encoding == PE_ALIGNED) {
		cfi_take(bytes, align_up(at, word) - at);
		value = cfi_fixed(bytes, word);
	} else {
		value = format_value(bytes, encoding & PE_FORMAT, word);
		if (value && (encoding & PE_RELATIVE) == PE_PCREL)
			value += at;
		else if (encoding & (PE_RELATIVE | PE_INDIRECT))
			return false; /* relative to what only the loaded program has */
	}
	*ret = word == 4 ? (uint32_t)value : value;
	return !bytes->failed;
}

/* Whether there is an entry at an offset; its bytes, its id, and where the next one is. */
static bool entry_at(const struct reading *reading, struct cfi_window *window, size_t at,
		     struct entry *ret, size_t *ret_next)
{
	const struct cfi_section *section = window->section;
	size_t left = section->size - at, head = left < 12 ? left : 12;
	const uint8_t *start = cfi_window_at(window, at, head);
	struct cfi_bytes bytes = {.at = start, .end = start + head, .failed = !start};
	uint64_t length = cfi_fixed(&bytes, 4);

	ret->is_long = length == UINT32_MAX;
	if (ret->is_long)
		length = cfi_fixed(&bytes, 8);
	head = ret->is_long ? 12 : 4;
	if (bytes.failed || length > left - head)
		return false;
	*ret_next = at + head + (size_t)length;
	ret->at = at;
	ret->id_at = at + head;
	ret->bytes = (struct cfi_bytes){.failed = true};
	if (!length || length > CFI_ENTRY_MOST)
		return true;
	start = cfi_window_at(window, at, head + (size_t)length);
	if (!start)
		return false;
	ret->own = (struct cfi_section){
	    .bytes = start, .size = head + (size_t)length, .address = section->address + at};
	ret->bytes = (struct cfi_bytes){.at = start + head, .end = start + ret->own.size};
	/* In .eh_frame it has four bytes also in long entries. Source: LSB 5.0, 10.6.1.1. */
	ret->id = cfi_fixed(&ret->bytes, ret->is_long && reading->debug ? 8 : 4);
	return true;
}

static bool is_common(const struct reading *reading, const struct entry *entry)
{
	if (!reading->debug)
		return !entry->id;
	return entry->id == (entry->is_long ? UINT64_MAX : UINT32_MAX);
}

/* The letters of the augmentation and its data. */
static void read_augmentation(const struct reading *reading, const struct cfi_section *own,
			      struct cfi_bytes *bytes, const char *letters,
			      struct cfi_common *common)
{
	uint64_t unused;

	for (; *letters && !bytes->failed; letters++) {
		switch (*letters) {
		case 'z':
			cfi_uleb(bytes);
			common->sized = true;
			break;
		case 'L':
			cfi_fixed(bytes, 1);
			break;
		case 'R':
			common->encoding = (uint8_t)cfi_fixed(bytes, 1);
			break;
		case 'P': {
			/* Only the size of the personality routine's address matters. */
			uint8_t encoding = (uint8_t)cfi_fixed(bytes, 1);

			if (encoding != PE_ALIGNED)
				encoding &= PE_FORMAT;
			if (!tally_cfi_pointer(own, bytes, encoding, reading->word, &unused))
				bytes->failed = true;
			break;
		}
		case 'S':
			common->signal = true;
			break;
		case 'B': /* return addresses are signed with key B: arm64 */
			break;
		default: /* unknown ones can be skipped when the size is known */
			bytes->failed = !common->sized;
			return;
		}
	}
}

static void parse_common(const struct reading *reading, struct entry *entry,
			 struct cfi_common *common)
{
	struct cfi_bytes *bytes = &entry->bytes, augmentation;
	uint64_t version = cfi_fixed(bytes, 1), column;
	const char *letters = (const char *)bytes->at;
	size_t left = (size_t)(bytes->end - bytes->at);
	const uint8_t *nul =
	    bytes->failed ? NULL : memchr(bytes->at, 0, left < LETTERS_MOST ? left : LETTERS_MOST);
	struct tally_buf *programs = &reading->entries->programs;
	size_t size;

	*common = (struct cfi_common){0};
	if (!nul || (version != 1 && version != 3 && version != 4))
		return;
	bytes->at = nul + 1;
	if (!strncmp(letters, "eh", 2)) { /* of the first GCCs: a word of data */
		cfi_fixed(bytes, reading->word);
		letters += 2;
	}
	if (version == 4 && (cfi_fixed(bytes, 1) != reading->word || cfi_fixed(bytes, 1) != 0))
		return; /* other sizes of addresses, or segments */
	common->code_align = cfi_uleb(bytes);
	common->data_align = cfi_sleb(bytes);
	column = version == 1 ? cfi_fixed(bytes, 1) : cfi_uleb(bytes);
	augmentation = *bytes;
	if (*letters == 'z') {
		uint64_t data = cfi_uleb(bytes);

		cfi_take(bytes, data);
	}
	read_augmentation(reading, &entry->own, &augmentation, letters, common);
	if (*letters != 'z')
		*bytes = augmentation;
	common->return_column = (uint8_t)column;
	size = (size_t)(bytes->end - bytes->at);
	if (bytes->failed || augmentation.failed || size > PROGRAM_MOST || column >= CFI_COLUMNS)
		return;
	common->program.from = (uint32_t)programs->size;
	tally_buf_add(programs, bytes->at, size);
	common->program.until = (uint32_t)programs->size;
	common->usable = true;
}

/* The number of the common part at an offset; UINT32_MAX: it is invalid; or -ENOMEM. */
static int64_t common_at(struct reading *reading, uint64_t at)
{
	struct cfi_entries *entries = reading->entries;
	uint64_t *known = tally_map_find(&entries->known_commons[reading->debug], at);
	struct entry entry;
	size_t next;
	bool added;

	if (!known) {
		if (at >= reading->commons.section->size ||
		    !entry_at(reading, &reading->commons, (size_t)at, &entry, &next) ||
		    entry.bytes.failed || !is_common(reading, &entry))
			return UINT32_MAX;
		if (!array_reach(&entries->commons, &entries->common_room, entries->common_count,
				 64, sizeof(*entries->commons)))
			return -ENOMEM;
		parse_common(reading, &entry, &entries->commons[entries->common_count]);
		if (entries->programs.failed)
			return -ENOMEM;
		known = tally_map_put(&entries->known_commons[reading->debug], at, &added);
		if (!known)
			return -ENOMEM;
		*known = ++entries->common_count;
	}
	return entries->commons[*known - 1].usable ? (int64_t)(*known - 1) : UINT32_MAX;
}

/* 1; 0: it is none, or invalid; -ENOMEM. */
static int parse_function(struct reading *reading, struct entry *entry, struct cfi_function *ret)
{
	/* In .eh_frame the offset counts back from the id, in .debug_frame from the start of the
	 * section. */
	int64_t number = common_at(reading, reading->debug ? entry->id : entry->id_at - entry->id);
	struct cfi_bytes *bytes = &entry->bytes;
	struct cfi_function function = {
	    .common = (uint32_t)number, .at = (uint32_t)entry->at, .debug = reading->debug};
	const struct cfi_common *common;
	uint8_t encoding = 0;
	uint64_t length;

	if (number < 0)
		return (int)number;
	if (number == UINT32_MAX)
		return 0;
	common = &reading->entries->commons[number];
	if (!reading->debug)
		encoding = common->encoding;
	if (!tally_cfi_pointer(&entry->own, bytes, encoding, reading->word, &function.start) ||
	    !tally_cfi_pointer(&entry->own, bytes, encoding & PE_FORMAT, reading->word, &length))
		return 0;
	if (common->sized)
		cfi_take(bytes, cfi_uleb(bytes));
	/* Functions that the linker removed start at 0. */
	if (bytes->failed || !function.start || !length || function.start + length < function.start)
		return 0;
	function.end = function.start + length;
	function.program = (struct cfi_span){(uint32_t)(bytes->at - entry->own.bytes),
					     (uint32_t)(bytes->end - entry->own.bytes)};
	*ret = function;
	return 1;
}

/* 0 or -ENOMEM. */
static int add_function(struct cfi_entries *entries, const struct cfi_function *function)
{
	if (!array_next(&entries->functions, &entries->function_room, entries->function_count, 256,
			sizeof(*entries->functions)))
		return -ENOMEM;
	entries->functions[entries->function_count++] = *function;
	return 0;
}

int tally_cfi_entries_read(struct cfi_entries *entries, const struct cfi_section *section,
			   bool debug, unsigned word)
{
	struct cfi_window window = {.section = section};
	struct reading reading = {
	    .entries = entries, .commons = {.section = section}, .debug = debug, .word = word};
	int result = 0;
	size_t at = 0, next;

	if (section->size > CFI_SECTION_MOST)
		return 0;
	while (result >= 0 && at < section->size) {
		struct cfi_function function;
		struct entry entry;

		if (!entry_at(&reading, &window, at, &entry, &next))
			break;
		/* An empty entry ends the .eh_frame of one object file; more may follow. */
		if (!entry.bytes.failed && !is_common(&reading, &entry)) {
			result = parse_function(&reading, &entry, &function);
			if (result > 0)
				result = add_function(entries, &function);
		}
		at = next;
	}
	tally_cfi_window_done(&window);
	tally_cfi_window_done(&reading.commons);
	return result < 0 ? result : 0;
}

int tally_cfi_entries_one(struct cfi_entries *entries, struct cfi_window *window, bool debug,
			  unsigned word, size_t at, struct cfi_function *ret,
			  struct cfi_section *ret_entry)
{
	struct reading reading = {.entries = entries,
				  .commons = {.section = window->section},
				  .debug = debug,
				  .word = word};
	struct entry entry;
	size_t next;
	int result;

	if (!entry_at(&reading, window, at, &entry, &next) || entry.bytes.failed)
		return -ENOENT;
	result = parse_function(&reading, &entry, ret);
	tally_cfi_window_done(&reading.commons);
	*ret_entry = entry.own;
	return result > 0 ? 0 : result < 0 ? result : -ENOENT;
}

/* In the order of their starts; of equal ones as they were added. 0 or -ENOMEM. */
static int put_in_order(struct cfi_entries *entries)
{
	size_t count = entries->function_count;
	uint64_t *starts;
	struct cfi_function *ordered;
	uint32_t *order = NULL;
	int result = -ENOMEM;

	if (!count)
		return 0;
	starts = malloc(count * sizeof(*starts));
	for (size_t i = 0; starts && i < count; i++)
		starts[i] = entries->functions[i].start;
	if (starts)
		result = tally_key_order(starts, count, &order);
	free(starts);
	if (result || !order) /* NULL: they are in order */
		return result;
	ordered = malloc(count * sizeof(*ordered));
	for (size_t i = 0; ordered && i < count; i++)
		ordered[i] = entries->functions[order[i]];
	free(order);
	if (!ordered)
		return -ENOMEM;
	free(entries->functions);
	entries->functions = ordered;
	entries->function_room = count;
	return 0;
}

int tally_cfi_entries_sort(struct cfi_entries *entries)
{
	size_t count = entries->function_count, kept = 0;
	uint64_t covered = 0; /* by .eh_frame, up to here */
	struct cfi_function *list;
	int result = put_in_order(entries);

	if (result)
		return result;
	list = entries->functions;
	for (size_t i = 0; i < count; i++) {
		if ((kept && list[kept - 1].start == list[i].start) ||
		    (list[i].debug && list[i].start < covered))
			continue;
		if (!list[i].debug && list[i].end > covered)
			covered = list[i].end;
		list[kept++] = list[i];
	}
	entries->function_count = kept;
	return 0;
}

void tally_cfi_entries_done(struct cfi_entries *entries)
{
	free(entries->commons);
	free(entries->functions);
	for (size_t i = 0; i < 2; i++)
		tally_map_done(&entries->known_commons[i]);
	tally_buf_done(&entries->programs);
	*entries = (struct cfi_entries){0};
}
