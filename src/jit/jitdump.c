#include "jit/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/sorted.h"
#include "base/table.h"

#define MAGIC         0x4A695444U
#define MAGIC_SWAPPED 0x4454694AU
#define HEADER_SIZE   40U
#define PREFIX_SIZE   16U /* id, size, time */
#define LOAD_SIZE     56U /* with the prefix, without name and bytes */
#define MOVE_SIZE     64U
#define DEBUG_SIZE    32U
#define UNWIND_SIZE   40U
#define LINE_SIZE     16U /* of an entry, without its file */
#define ARCH_TIME     1U  /* of flags */

/* A name in a dump; a longer one is cut. */
#define NAME_MOST 65536U
/* No compiler makes more. */
#define LOADS_MOST (16U << 20)

#define WINDOW_SIZE 65536U

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

/* Bytes around the record that is read. */
struct window {
	uint8_t bytes[WINDOW_SIZE];
	uint64_t place;
	size_t size;
};

struct jit_record {
	uint64_t place, size, time;
	const uint8_t *fixed; /* all that has a fixed place, with the prefix */
};

static uint32_t word(const struct tally_jitdump *dump, const void *from)
{
	uint32_t value = load_u32(from);

	return dump->swapped ? __builtin_bswap32(value) : value;
}

static uint64_t long_word(const struct tally_jitdump *dump, const void *from)
{
	uint64_t value = load_u64(from);

	return dump->swapped ? __builtin_bswap64(value) : value;
}

int tally_jitdump_read(const struct tally_jitdump *dump, uint64_t place, void *to, size_t size)
{
	size_t done = 0;

	if (place > INT64_MAX - size)
		return -ENODATA;
	while (done < size) {
		ssize_t got =
		    pread(dump->fd, (char *)to + done, size - done, (off_t)(place + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -ENODATA;
		done += (size_t)got;
	}
	return 0;
}

/* Bytes of the file, borrowed until the next call; NULL: they are not all there. */
static const uint8_t *look(const struct tally_jitdump *dump, struct window *window, uint64_t place,
			   size_t size)
{
	ssize_t got;

	if (place >= window->place && place - window->place <= window->size &&
	    size <= window->size - (place - window->place))
		return window->bytes + (place - window->place);
	if (size > sizeof(window->bytes) || place > INT64_MAX - WINDOW_SIZE)
		return NULL;
	do {
		got = pread(dump->fd, window->bytes, sizeof(window->bytes), (off_t)place);
	} while (got < 0 && errno == EINTR);
	window->place = place;
	window->size = got < 0 ? 0 : (size_t)got;
	return size <= window->size ? window->bytes : NULL;
}

static int read_header(struct tally_jitdump *dump)
{
	uint8_t header[HEADER_SIZE];
	uint32_t magic, size;

	if (tally_jitdump_read(dump, 0, header, sizeof(header)))
		return -ENOEXEC;
	magic = load_u32(header);
	if (magic != MAGIC && magic != MAGIC_SWAPPED)
		return -ENOEXEC;
	dump->swapped = magic == MAGIC_SWAPPED;
	size = word(dump, header + 8);
	if (size < HEADER_SIZE || size > WINDOW_SIZE)
		return -ENOEXEC;
	dump->machine = (uint16_t)word(dump, header + 12);
	dump->pid = word(dump, header + 20);
	dump->started = long_word(dump, header + 24);
	dump->own_clock = long_word(dump, header + 32) & ARCH_TIME;
	dump->read = size;
	return 0;
}

static int add_load(struct tally_jitdump *dump, const struct tally_jit_load *load)
{
	if (!array_next(&dump->loads, &dump->load_room, dump->load_count, 256,
			sizeof(*dump->loads)))
		return -ENOMEM;
	dump->loads[dump->load_count++] = *load;
	return 0;
}

static int add_code(struct tally_jitdump *dump, const struct tally_jit_code *code)
{
	uint64_t *known;
	bool added;

	if (!array_next(&dump->codes, &dump->code_room, dump->code_count, 256,
			sizeof(*dump->codes)))
		return -ENOMEM;
	known = tally_map_put(&dump->by_index, code->index, &added);
	if (!known)
		return -ENOMEM;
	dump->codes[dump->code_count++] = *code;
	*known = dump->code_count;
	return 0;
}

/* The parts that were announced are of the next code alone. */
static void take_parts(struct tally_jitdump *dump, struct tally_jit_code *code)
{
	if (dump->next_lines_size && dump->next_address == code->address) {
		code->lines_place = dump->next_lines;
		code->lines_size = dump->next_lines_size;
		code->line_count = dump->next_line_count;
	}
	code->unwind_place = dump->next_unwind;
	code->unwind_size = dump->next_unwind_size;
	code->unwind_header_size = dump->next_unwind_header;
	code->unwind_mapped_size = dump->next_unwind_mapped;
	dump->next_lines_size = dump->next_unwind_size = 0;
}

/* 1: taken; 0: it is invalid; -ENOMEM. */
static int read_load(struct tally_jitdump *dump, struct window *window,
		     const struct jit_record *record)
{
	const uint8_t *at = record->fixed, *name, *end;
	struct tally_jit_code code = {
	    .address = long_word(dump, at + 32),
	    .size = long_word(dump, at + 40),
	    .index = long_word(dump, at + 48),
	};
	struct tally_jit_load load = {
	    .time = record->time,
	    .address = code.address,
	    .size = code.size,
	    .code = (uint32_t)dump->code_count,
	    .tid = word(dump, at + 20),
	};
	size_t length;
	int result;

	if (!code.size || code.size >= record->size - LOAD_SIZE ||
	    code.address + code.size < code.address || dump->load_count >= LOADS_MOST)
		return 0;
	length = record->size - LOAD_SIZE - code.size;
	if (length > NAME_MOST)
		length = NAME_MOST;
	name = look(dump, window, record->place + LOAD_SIZE, length);
	end = name ? memchr(name, 0, length) : NULL;
	if (!end)
		return 0;
	code.place = record->place + LOAD_SIZE + (uint64_t)(end - name) + 1;
	take_parts(dump, &code);
	code.name = tally_arena_strndup(&dump->names, (const char *)name, (size_t)(end - name));
	if (!code.name)
		return -ENOMEM;
	result = add_code(dump, &code);
	if (!result)
		result = add_load(dump, &load);
	return result ? result : 1;
}

static int read_move(struct tally_jitdump *dump, const struct jit_record *record)
{
	const uint8_t *at = record->fixed;
	const uint64_t *code = tally_map_find(&dump->by_index, long_word(dump, at + 56));
	struct tally_jit_load load = {
	    .time = record->time,
	    .address = long_word(dump, at + 40),
	    .size = long_word(dump, at + 48),
	    .tid = word(dump, at + 20),
	};
	int result;

	if (!code || !load.size || dump->load_count >= LOADS_MOST)
		return 0;
	load.code = (uint32_t)(*code - 1);
	if (load.size > dump->codes[load.code].size)
		load.size = dump->codes[load.code].size;
	if (load.address + load.size < load.address)
		return 0;
	result = add_load(dump, &load);
	return result ? result : 1;
}

/* V8 writes the addresses of lines 0x40 too high, for perf's sake: the ELF files that perf made
 * once had their code at 0x40.  So the least distance is kept, for jit_debug.c. */
static int read_debug_info(struct tally_jitdump *dump, struct window *window,
			   const struct jit_record *record)
{
	uint64_t address = long_word(dump, record->fixed + 16), first;
	uint64_t count = long_word(dump, record->fixed + 24);
	const uint8_t *entry;

	dump->next_lines_size = 0;
	if (count > (record->size - DEBUG_SIZE) / (LINE_SIZE + 1))
		return 0;
	if (!count)
		return 1;
	entry = look(dump, window, record->place + DEBUG_SIZE, LINE_SIZE);
	if (!entry)
		return 0;
	first = long_word(dump, entry) - address;
	if (first < dump->line_shift)
		dump->line_shift = first;
	dump->next_address = address;
	dump->next_lines = record->place + DEBUG_SIZE;
	dump->next_lines_size = record->size - DEBUG_SIZE;
	dump->next_line_count = count;
	return 1;
}

static int read_unwinding_info(struct tally_jitdump *dump, const struct jit_record *record)
{
	uint64_t size = long_word(dump, record->fixed + 16);
	uint64_t header = long_word(dump, record->fixed + 24);

	dump->next_unwind_size = 0;
	if (size > record->size - UNWIND_SIZE || header > size)
		return 0;
	dump->next_unwind = record->place + UNWIND_SIZE;
	dump->next_unwind_size = size;
	dump->next_unwind_header = header;
	dump->next_unwind_mapped = long_word(dump, record->fixed + 32);
	return 1;
}

static size_t fixed_size(uint32_t id)
{
	switch (id) {
	case CODE_LOAD:
		return LOAD_SIZE;
	case CODE_MOVE:
		return MOVE_SIZE;
	case CODE_DEBUG_INFO:
		return DEBUG_SIZE;
	case CODE_UNWINDING_INFO:
		return UNWIND_SIZE;
	default:
		return PREFIX_SIZE;
	}
}

/* 1: taken, or of an unknown kind; 0: invalid; -ENOMEM. */
static int read_record(struct tally_jitdump *dump, struct window *window, uint32_t id,
		       struct jit_record *record)
{
	size_t size = fixed_size(id);

	if (record->size < size)
		return 0;
	record->fixed = look(dump, window, record->place, size);
	if (!record->fixed)
		return 0;
	switch (id) {
	case CODE_LOAD:
		return read_load(dump, window, record);
	case CODE_MOVE:
		return read_move(dump, record);
	case CODE_DEBUG_INFO:
		return read_debug_info(dump, window, record);
	case CODE_UNWINDING_INFO:
		return read_unwinding_info(dump, record);
	case CODE_CLOSE:
		dump->closed = true;
		return 1;
	default:
		return 1;
	}
}

/* All whole records up to the end of the file. */
static int read_records(struct tally_jitdump *dump, struct window *window)
{
	struct stat about;
	uint64_t end;

	if (fstat(dump->fd, &about))
		return -errno;
	end = (uint64_t)about.st_size;
	while (!dump->closed && dump->read < end && end - dump->read >= PREFIX_SIZE) {
		const uint8_t *prefix = look(dump, window, dump->read, PREFIX_SIZE);
		struct jit_record record = {.place = dump->read};
		uint32_t id;
		int result;

		if (!prefix)
			return 0;
		id = word(dump, prefix);
		record.size = word(dump, prefix + 4);
		record.time = long_word(dump, prefix + 8);
		if (record.size < PREFIX_SIZE) { /* where the next one starts is unknown */
			dump->wrong++;
			dump->closed = true;
			return 0;
		}
		if (record.size > end - dump->read)
			return 0; /* it is being written, or was cut */
		result = read_record(dump, window, id, &record);
		if (result < 0)
			return result;
		dump->wrong += !result;
		dump->read += record.size;
	}
	return 0;
}

int tally_jitdump_read_on(struct tally_jitdump *dump)
{
	struct window *window = malloc(sizeof(*window));
	uint64_t before = dump->read;
	int result;

	if (!window)
		return -ENOMEM;
	window->place = window->size = 0;
	result = read_records(dump, window);
	free(window);
	return result ? result : dump->read > before;
}

int tally_jitdump_open(int fd, struct tally_jitdump **ret)
{
	struct tally_jitdump *dump = calloc(1, sizeof(*dump));
	int result;

	if (!dump) {
		close(fd);
		return -ENOMEM;
	}
	dump->fd = fd;
	dump->line_shift = UINT64_MAX;
	result = read_header(dump);
	if (!result)
		result = tally_jitdump_read_on(dump);
	if (result < 0) {
		tally_jitdump_free(dump);
		return result;
	}
	*ret = dump;
	return 0;
}

void tally_jitdump_free(struct tally_jitdump *dump)
{
	if (!dump)
		return;
	close(dump->fd);
	free(dump->codes);
	free(dump->loads);
	tally_arena_done(&dump->names);
	tally_map_done(&dump->by_index);
	free(dump);
}

int64_t tally_jitdump_find(const struct tally_jitdump *dump, uint64_t place)
{
	size_t low = SORTED_BOUND(at, 0, dump->code_count, dump->codes[at].place <= place);

	if (!low || place - dump->codes[low - 1].place >= dump->codes[low - 1].size)
		return -ENOENT;
	return (int64_t)low - 1;
}
