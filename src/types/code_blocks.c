#include "types/code_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include "base/sorted.h"
#include "base/table.h"

int tally_code_blocks_add(struct code_blocks *code, struct insn_reader *reader,
			  const uint8_t *bytes, size_t size, uint64_t address)
{
	for (size_t at = 0; at < size && code->insn_count < CODE_INSNS_MOST;) {
		struct code_insn *insn;

		if (!array_next(&code->insns, &code->insn_room, code->insn_count, 256,
				sizeof(*code->insns)))
			return -ENOMEM;
		insn = &code->insns[code->insn_count++];
		insn->address = address + at;
		tally_insn_read(reader, bytes + at, size - at, address + at, &insn->access);
		at += insn->access.size;
	}
	return 0;
}

uint32_t tally_code_insn_at(const struct code_blocks *code, uint64_t address)
{
	size_t low = SORTED_BOUND(at, 0, code->insn_count, code->insns[at].address < address);

	return low < code->insn_count && code->insns[low].address == address ? (uint32_t)low
									     : CODE_NOWHERE;
}

static bool ends_block(const struct insn_access *access)
{
	return access->flow == INSN_BRANCH || access->flow == INSN_JUMP || access->flow == INSN_END;
}

/* Whether code goes on from an instruction with the one behind it. */
static bool goes_on(const struct code_blocks *code, uint32_t number)
{
	const struct code_insn *insn = &code->insns[number];

	return insn->access.flow != INSN_JUMP && insn->access.flow != INSN_END &&
	       number + 1 < code->insn_count &&
	       insn[1].address == insn->address + insn->access.size;
}

/* 1 where a block begins. */
static void mark(const struct code_blocks *code, uint32_t *begins)
{
	begins[0] = 1;
	for (uint32_t i = 0; i < code->insn_count; i++) {
		const struct insn_access *access = &code->insns[i].access;
		uint32_t target = access->has_target && access->flow != INSN_CALL
				      ? tally_code_insn_at(code, access->target)
				      : CODE_NOWHERE;

		if (target != CODE_NOWHERE)
			begins[target] = 1;
		if (i + 1 < code->insn_count && (ends_block(access) || !goes_on(code, i)))
			begins[i + 1] = 1;
	}
}

static void link(struct code_blocks *code, const uint32_t *numbers)
{
	for (size_t i = 0; i < code->block_count; i++) {
		struct code_block *block = &code->blocks[i];
		uint32_t last = block->first + block->count - 1, target;
		const struct insn_access *access = &code->insns[last].access;

		block->next = goes_on(code, last) ? (uint32_t)i + 1 : CODE_NOWHERE;
		block->target = CODE_NOWHERE;
		block->scattered = access->flow == INSN_JUMP && !access->has_target;
		target = access->has_target && ends_block(access)
			     ? tally_code_insn_at(code, access->target)
			     : CODE_NOWHERE;
		if (target != CODE_NOWHERE)
			block->target = numbers[target];
	}
}

int tally_code_blocks_cut(struct code_blocks *code)
{
	uint32_t *numbers;
	size_t count = 0;

	if (!code->insn_count)
		return 0;
	numbers = calloc(code->insn_count, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	mark(code, numbers);
	for (size_t i = 0; i < code->insn_count; i++)
		count += numbers[i];
	code->blocks = calloc(count, sizeof(*code->blocks));
	if (!code->blocks) {
		free(numbers);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < code->insn_count; i++) {
		if (numbers[i])
			code->blocks[code->block_count++].first = i;
		code->blocks[code->block_count - 1].count++;
		numbers[i] = (uint32_t)code->block_count - 1; /* the block that it is in */
	}
	link(code, numbers);
	free(numbers);
	return 0;
}

void tally_code_blocks_done(struct code_blocks *code)
{
	free(code->insns);
	free(code->blocks);
	*code = (struct code_blocks){0};
}
