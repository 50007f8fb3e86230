/* Source lines and call frame information of compiled code, read from the dump when asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "jit/jitdump.h"

#define LINE_SIZE 16U /* address, line, discriminator; then the file's name */
/* The file is that of the entry before.  Source: perf's reader, which takes these two bytes so. */
#define SAME_FILE "\xff"
/* More of one function is not read. */
#define PART_MOST ((uint64_t)64 << 20)
/* What V8 adds to the addresses of lines: see jitdump.c. */
#define V8_SHIFT 0x40U

static uint64_t number(const struct tally_jitdump *dump, const char *from, size_t size)
{
	if (size == 4)
		return dump->swapped ? __builtin_bswap32(load_u32(from)) : load_u32(from);
	return dump->swapped ? __builtin_bswap64(load_u64(from)) : load_u64(from);
}

static size_t read_lines(const struct tally_jitdump *dump, const struct tally_jit_code *code,
			 char *at, struct tally_jit_line *lines)
{
	uint64_t shift = dump->line_shift >= V8_SHIFT ? V8_SHIFT : 0;
	const char *end = at + code->lines_size, *file = "";
	size_t count = 0;

	while (count < code->line_count && end - at > LINE_SIZE) {
		const char *name = at + LINE_SIZE, *stop = memchr(name, 0, (size_t)(end - name));

		if (!stop)
			break;
		if (strcmp(name, SAME_FILE) != 0)
			file = name;
		lines[count++] = (struct tally_jit_line){
		    .offset = number(dump, at, 8) - shift - code->address,
		    .line = (uint32_t)number(dump, at + 8, 4),
		    .discriminator = (uint32_t)number(dump, at + 12, 4),
		    .file = file,
		};
		at += stop + 1 - at;
	}
	return count;
}

int tally_jitdump_lines(const struct tally_jitdump *dump, size_t code, struct tally_jit_lines *ret)
{
	const struct tally_jit_code *about = &dump->codes[code];
	struct tally_jit_lines lines = {0};
	int result;

	*ret = lines;
	if (!about->lines_size || about->lines_size > PART_MOST)
		return 0;
	lines.bytes = malloc(about->lines_size);
	/* the count was compared with the size when the record was read */
	lines.lines = calloc(about->line_count, sizeof(*lines.lines));
	result = lines.bytes && lines.lines ? 0 : -ENOMEM;
	if (!result)
		result =
		    tally_jitdump_read(dump, about->lines_place, lines.bytes, about->lines_size);
	if (result) {
		tally_jit_lines_done(&lines);
		return result;
	}
	lines.count = read_lines(dump, about, lines.bytes, lines.lines);
	*ret = lines;
	return 0;
}

void tally_jit_lines_done(struct tally_jit_lines *lines)
{
	free(lines->lines);
	free(lines->bytes);
	*lines = (struct tally_jit_lines){0};
}

int tally_jitdump_unwind(const struct tally_jitdump *dump, size_t code,
			 struct tally_jit_unwind *ret)
{
	const struct tally_jit_code *about = &dump->codes[code];
	int result;

	*ret = (struct tally_jit_unwind){0};
	if (!about->unwind_size || about->unwind_size > PART_MOST)
		return 0;
	ret->bytes = malloc(about->unwind_size);
	if (!ret->bytes)
		return -ENOMEM;
	result = tally_jitdump_read(dump, about->unwind_place, ret->bytes, about->unwind_size);
	if (result) {
		free(ret->bytes);
		ret->bytes = NULL;
		return result;
	}
	ret->frame_size = about->unwind_size - about->unwind_header_size;
	ret->header_size = about->unwind_header_size;
	ret->mapped_size = about->unwind_mapped_size;
	return 0;
}
