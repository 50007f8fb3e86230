/* Frames of code without call frame information. */
#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "unwind/code_walk.h"
#include "unwind/unwind_state.h"

/* --- as perf with libunwind --- */

/* A stub that calls into another library: jmp *...(%rip); push; jmp. Source: the x86-64 psABI, 5.2.
 */
static bool is_stub(const struct unwind_state *state)
{
	uint64_t first, second;

	if (state->machine->pc != 16 || tally_unwind_read(state, state->pc, &first) < 0 ||
	    tally_unwind_read(state, state->pc + 8, &second) < 0)
		return false;
	return (first & 0xffff) == 0x25ff && (first >> 48 & 0xff) == 0x68 &&
	       (second >> 24 & 0xff) == 0xe9;
}

/* The largest accepted distance of a frame pointer from the stack pointer. Source: libunwind's. */
#define FRAME_MOST 0x4000

/* The frame pointer is used when it points up the stack, not too far. */
static int as_perf(struct unwind_state *state)
{
	const struct unwind_machine *machine = state->machine;
	struct unwind_place frame_pointer = state->places[machine->frame_pointer], return_address;
	uint64_t frame, unused, pc_before = state->pc, cfa_before = state->cfa;
	int result;

	if (is_stub(state)) {
		return_address = (struct unwind_place){WHERE_MEMORY, state->cfa};
		state->cfa += machine->word;
	} else {
		result = tally_unwind_place(state, &frame_pointer, &frame);
		if (result < 0)
			return result;
		if (!frame)
			return 0;
		if (frame < state->cfa || frame - state->cfa > FRAME_MOST)
			return -ENODATA;
		result = tally_unwind_read(state, frame, &unused);
		if (result < 0)
			return result;
		memset(state->places, 0, sizeof(state->places));
		state->places[machine->frame_pointer] = (struct unwind_place){WHERE_MEMORY, frame};
		return_address = (struct unwind_place){WHERE_MEMORY, frame + machine->word};
		/* libunwind does not take it from the frame pointer; the caller's rules may. */
		state->cfa = machine->pc == 16 ? state->cfa + 16 : frame + 2ULL * machine->word;
		state->is_call = true;
	}
	result = tally_unwind_place(state, &return_address, &state->pc);
	if (result < 0)
		return result;
	state->pc_unknown = result;
	state->pc = tally_unwind_plain(state, state->pc);
	return state->pc == pc_before && state->cfa == cfa_before ? -ELOOP : 1;
}

/* --- as it is --- */

enum prologue {
	FRAME_MADE,
	FRAME_POINTER_PUSHED, /* but not set yet */
	FRAME_NOT_MADE,       /* or gone again */
};

/* Of code that was interrupted: which part of its frame is there. Other instructions than these are
 * taken to be of the function's body. Sources: Intel's and Arm's manuals of the instructions. */
static enum prologue prologue_x86(const uint8_t *before)
{
	static const uint8_t branch_target[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	const uint8_t *at = before + 4;

	if (!memcmp(before, branch_target, sizeof(branch_target)) || at[0] == 0x55 ||
	    at[0] == 0xc3 || at[0] == 0xc2 || /* push %rbp; ret */
	    !memcmp(at, branch_target, sizeof(branch_target)) ||
	    (at[0] == 0xff && at[1] == 0x25)) /* jmp *...(%rip), of a stub */
		return FRAME_NOT_MADE;
	/* mov %rsp,%rbp behind the push, in both of its forms. */
	if (before[3] == 0x55 && (!memcmp(at, "\x48\x89\xe5", 3) ||
				  !memcmp(at, "\x48\x8b\xec", 3) || !memcmp(at, "\x89\xe5", 2)))
		return FRAME_POINTER_PUSHED;
	return FRAME_MADE;
}

static enum prologue prologue_arm64(const uint8_t *before)
{
	uint32_t at = load_u32(before + 4);

	/* stp x29,x30,[sp,#-N]!; ret; paciasp; bti c */
	return (at & 0xffc07fff) == 0xa9807bfd || at == 0xd65f03c0 || at == 0xd503233f ||
		       at == 0xd503245f
		   ? FRAME_NOT_MADE
		   : FRAME_MADE;
}

/* A stub that jumps to a function of another file: adrp x16; ldr x17, [x16, ...]; add x16, x16,
 * ...; br x17, with bti c before them or autia1716 between. Source: what GNU ld and lld write to
 * .plt, which has no call frame information; Arm's ELF for AArch64 leaves it to them. */
static bool is_stub_arm64(const struct unwind_state *state)
{
	for (unsigned i = 0; i < 6; i++) {
		uint8_t bytes[4];
		uint32_t at;

		if (tally_unwind_read_code(state, state->pc + i * 4, bytes, sizeof(bytes)))
			return false;
		at = load_u32(bytes);
		if (at == 0xd61f0220)
			return true;
		if ((at & 0x9f00001f) != 0x90000010 && (at & 0xffc003ff) != 0xf9400211 &&
		    (at & 0xff8003ff) != 0x91000210 && at != 0xd503245f && at != 0xd503219f)
			return false;
	}
	return false;
}

static enum prologue prologue_at(const struct unwind_state *state)
{
	uint8_t bytes[8];

	if (state->is_call || state->pc < 4 ||
	    tally_unwind_read_code(state, state->pc - 4, bytes, sizeof(bytes)))
		return FRAME_MADE;
	if (state->machine->pc != 32)
		return prologue_x86(bytes);
	return is_stub_arm64(state) ? FRAME_NOT_MADE : prologue_arm64(bytes);
}

/* The return address is in a register, or on top of the stack with `pushed` words before it. */
static int without_frame(struct unwind_state *state, unsigned pushed, struct unwind_place *ret)
{
	const struct unwind_machine *machine = state->machine;

	if (machine->pc == 32) {
		*ret = state->places[30];
		return 0;
	}
	if (pushed)
		state->places[machine->frame_pointer] =
		    (struct unwind_place){WHERE_MEMORY, state->cfa};
	*ret = (struct unwind_place){WHERE_MEMORY, state->cfa + (uint64_t)pushed * machine->word};
	state->cfa += (pushed + 1ULL) * machine->word;
	return 0;
}

/* The frame pointer points to the caller's, with the return address behind it. 0 is the outermost
 * frame's. */
static int with_frame(struct unwind_state *state, struct unwind_place *ret)
{
	const struct unwind_machine *machine = state->machine;
	uint64_t frame = 0;
	int result = tally_unwind_place(state, &state->places[machine->frame_pointer], &frame);

	if (result < 0)
		return result;
	if (!frame)
		return 1;
	if (frame < state->cfa || frame % machine->word)
		return -ENODATA;
	memset(state->places, 0, sizeof(state->places));
	state->places[machine->frame_pointer] = (struct unwind_place){WHERE_MEMORY, frame};
	*ret = (struct unwind_place){WHERE_MEMORY, frame + machine->word};
	state->cfa = frame + 2ULL * machine->word;
	return 0;
}

int tally_unwind_by_pointer(struct unwind_state *state)
{
	struct unwind_place return_address;
	enum prologue prologue;
	uint64_t pc;
	int result;

	if (state->start->as_perf)
		return as_perf(state);
	result = state->is_call ? -ENODATA : tally_unwind_by_code(state, false, &return_address);
	if (result) {
		prologue = prologue_at(state);
		result =
		    prologue == FRAME_MADE
			? with_frame(state, &return_address)
			: without_frame(state, prologue == FRAME_POINTER_PUSHED, &return_address);
	}
	/* A frame pointer that leads nowhere is none: crti.o's code keeps none. */
	if ((result == 1 || result == -ENODATA) && state->is_call &&
	    !tally_unwind_by_code(state, true, &return_address))
		result = 0;
	if (result)
		return result < 0 ? result : 0;
	result = tally_unwind_place(state, &return_address, &pc);
	if (result < 0)
		return result;
	state->pc = tally_unwind_plain(state, pc);
	state->is_call = true;
	return 1;
}
