#include "cycles/block_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "code/disassembler.h"
#include "image/code.h"
#include "image/code_space.h"
#include "image/image.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"

#define MOST    ((uint32_t)1 << 20) /* bytes of a function */
#define BEGINS  1U
#define COVERED 2U

static void mark(struct block_code *code, struct tally_disassembler *disassembler,
		 const uint8_t *bytes, const struct tally_code_space *space, uint64_t place)
{
	struct tally_insn insn;

	memset(code->marks, 0, code->size);
	code->count = 0;
	for (uint32_t at = 0; at < code->size; at += insn.size) {
		tally_disassemble(disassembler, bytes + at, code->size - at,
				  tally_code_space_address(space, place + at), &insn);
		code->marks[at] = BEGINS;
		code->count++;
	}
}

static int decode(struct block_code *code, struct tally_image *image, const uint8_t *bytes,
		  uint64_t place)
{
	struct tally_disassembler *disassembler = NULL;
	struct tally_code_space space;
	int result = tally_code_space_open(image, &space);

	if (result)
		return result;
	result = tally_disassembler_new(&space.machine, false, &disassembler);
	if (!result)
		mark(code, disassembler, bytes, &space, place);
	tally_disassembler_free(disassembler);
	tally_code_space_close(&space);
	return result == -ENOMEM ? result : result ? -ENOENT : 0;
}

int tally_block_code_read(struct block_code *code, struct tally_session *session, uint32_t frame,
			  uint64_t place, uint32_t size)
{
	struct tally_image *image =
	    tally_frames_image(&tally_session_tables(session)->frames, frame);
	uint8_t *bytes;
	int64_t got;
	int result;

	if (!image || !size || size > MOST)
		return -ENOENT;
	if (size > code->room) {
		if (!array_resize(&code->marks, size, 1))
			return -ENOMEM;
		code->room = size;
	}
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	got = tally_image_read(image, place, bytes, size);
	code->size = got > 0 ? (uint32_t)got : 0;
	result = got == -ENOMEM ? -ENOMEM : got <= 0 ? -ENOENT : decode(code, image, bytes, place);
	free(bytes);
	return result;
}

uint32_t tally_block_code_cover(struct block_code *code, uint32_t start, uint32_t end,
				uint32_t *ret_all)
{
	uint32_t news = 0, all = 0;

	for (uint32_t at = start; at <= end && at < code->size; at++) {
		if (!(code->marks[at] & BEGINS))
			continue;
		all++;
		news += !(code->marks[at] & COVERED);
		code->marks[at] |= COVERED;
	}
	*ret_all = all;
	return news;
}

void tally_block_code_done(struct block_code *code)
{
	free(code->marks);
	*code = (struct block_code){0};
}
