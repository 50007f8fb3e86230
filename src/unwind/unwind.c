#include "unwind/unwind.h"

#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "unwind/unwind_state.h"

#define NO NO_REGISTER

/* Sources: the psABIs' tables of DWARF register numbers; enum perf_event_x86_regs and
 * perf_event_arm_regs of arch/{x86,arm64}/include/uapi/asm/perf_regs.h. */
static const struct unwind_machine machines[] = {
    [TALLY_UNWIND_X86_64] = {.word = 8,
			     .pc = 16,
			     .stack_pointer = 7,
			     .frame_pointer = 6,
			     .columns = 17,
			     .perf = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8}},
    [TALLY_UNWIND_I386] = {.word = 4,
			   .pc = 8,
			   .stack_pointer = 4,
			   .frame_pointer = 5,
			   .columns = 9,
			   .perf = {0, 2, 3, 1, 7, 6, 4, 5, 8}},
    [TALLY_UNWIND_ARM64] = {.word = 8,
			    .pc = 32,
			    .stack_pointer = 31,
			    .frame_pointer = 29,
			    .columns = 33,
			    .perf = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				     22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}},
};

unsigned tally_unwind_pc_register(enum tally_unwind_arch arch)
{
	return machines[arch].perf[machines[arch].pc];
}

int tally_unwind_read(const struct unwind_state *state, uint64_t address, uint64_t *ret)
{
	unsigned word = state->machine->word;
	uint64_t behind;
	uint32_t half;
	int result;

	*ret = 0;
	if (__builtin_add_overflow(address, (uint64_t)word, &behind))
		return -EINVAL;
	/* perf does not use the last word of the copy. */
	if (address >= state->stack_from && behind < state->stack_until) {
		const uint8_t *at = state->start->stack + (address - state->stack_from);

		*ret = word == 8 ? load_u64(at) : load_u32(at);
		return 0;
	}
	if (word == 8) {
		result = state->world->read(state->world->context, address, ret, 8);
	} else {
		half = 0;
		result = state->world->read(state->world->context, address, &half, 4);
		*ret = half;
	}
	return result < 0 && address >= state->stack_from ? -ERANGE : result;
}

static int start_register(const struct unwind_state *state, unsigned column, uint64_t *ret)
{
	const struct tally_unwind_start *start = state->start;
	unsigned bit = state->machine->perf[column];

	if (column >= state->machine->columns || !(start->mask >> bit & 1))
		return -EINVAL;
	*ret = start->values[__builtin_popcountll(start->mask & ((1ULL << bit) - 1))];
	if (state->machine->word == 4)
		*ret = (uint32_t)*ret;
	return 0;
}

static int place_read(const struct unwind_state *state, const struct unwind_place *place,
		      uint64_t *ret)
{
	switch (place->where) {
	case WHERE_START:
		return start_register(state, (unsigned)place->value, ret);
	case WHERE_MEMORY:
		return tally_unwind_read(state, place->value, ret);
	case WHERE_VALUE:
		*ret = place->value;
		return 0;
	default:
		return -ENODATA;
	}
}

int tally_unwind_register(const struct unwind_state *state, unsigned column, uint64_t *ret)
{
	if (column == state->machine->stack_pointer) {
		*ret = state->cfa;
		return 0;
	}
	return place_read(state, &state->places[column], ret);
}

/* An expression without bytes is valid, too. */
static const uint8_t *expression(const struct tally_cfi *cfi, const struct cfi_rule *rule)
{
	return rule->length ? cfi->expressions + rule->value : (const uint8_t *)"";
}

static int find_cfa(const struct unwind_state *state, const struct tally_cfi *cfi,
		    const struct cfi_rule *rule, uint64_t *ret)
{
	int column, result;

	if (rule->how == CFI_REGISTER) {
		result = tally_unwind_register(state, rule->column, ret);
		*ret += (uint64_t)rule->value;
	} else {
		result = tally_unwind_evaluate(state, expression(cfi, rule), rule->length, 0, ret,
					       &column);
		if (!result && column >= 0)
			result = -EINVAL;
	}
	if (result >= 0 && state->machine->word == 4)
		*ret = (uint32_t)*ret;
	return result;
}

/* Where the caller's register is, by a rule. 0, or below 0. */
static int find_place(const struct unwind_state *state, const struct tally_cfi *cfi,
		      const struct cfi_rule *rule, uint64_t cfa, struct unwind_place *ret)
{
	uint64_t value;
	int column, result;

	switch (rule->how) {
	case CFI_AT_CFA:
		*ret = (struct unwind_place){WHERE_MEMORY, cfa + (uint64_t)rule->value};
		return 0;
	case CFI_CFA_PLUS:
		*ret = (struct unwind_place){WHERE_VALUE, cfa + (uint64_t)rule->value};
		return 0;
	case CFI_REGISTER:
		*ret = state->places[rule->value];
		if (rule->value == state->machine->stack_pointer)
			*ret = (struct unwind_place){WHERE_VALUE, state->cfa};
		return 0;
	case CFI_AT_EXPRESSION:
	case CFI_IS_EXPRESSION:
		result = tally_unwind_evaluate(state, expression(cfi, rule), rule->length, cfa,
					       &value, &column);
		if (result)
			return result;
		if (column >= 0)
			*ret = state->places[column];
		else
			*ret = (struct unwind_place){
			    rule->how == CFI_AT_EXPRESSION ? WHERE_MEMORY : WHERE_VALUE, value};
		return 0;
	default:
		*ret = (struct unwind_place){.where = WHERE_LOST};
		return 0;
	}
}

/* Signatures of return addresses are in bits that user-space addresses do not have. Source: "Learn
 * the architecture: Providing protection for complex software", Arm; 48 bits of addresses. */
static uint64_t plain_address(const struct unwind_state *state, uint64_t address)
{
	return state->machine->pc == 32 ? address & ((1ULL << 48) - 1) : address;
}

/* By the rules: 1; 0: there is no caller; below 0: unknown. */
static int step_by_rules(struct unwind_state *state, const struct tally_cfi *cfi,
			 const struct cfi_rules *set, bool *ret_signal)
{
	struct unwind_place places[CFI_COLUMNS];
	uint64_t cfa = 0, pc = 0, pc_before = state->pc, cfa_before = state->cfa;
	size_t size = state->machine->columns * sizeof(*places);
	int result = set->return_column < state->machine->columns
			 ? find_cfa(state, cfi, &set->cfa, &cfa)
			 : -EINVAL;

	if (result < 0)
		return result;
	memcpy(places, state->places, size);
	for (uint32_t i = 0; i < set->count; i++) {
		const struct cfi_rule *rule = &cfi->rules[set->first + i];

		result = find_place(state, cfi, rule, cfa, &places[rule->column]);
		if (result < 0)
			return result;
	}
	memcpy(state->places, places, size);
	state->cfa = cfa;
	if (places[set->return_column].where == WHERE_LOST)
		return 0;
	result = place_read(state, &places[set->return_column], &pc);
	if (result < 0)
		return result;
	state->pc_unknown = result;
	state->pc = plain_address(state, pc);
	if (state->pc == pc_before && cfa == cfa_before)
		return -ELOOP;
	state->is_call = !set->signal;
	*ret_signal = set->signal;
	/* Source: the psABI, 3.4.1: the outermost frame has none. */
	return state->machine->word == 4 ||
	       places[state->machine->frame_pointer].where != WHERE_LOST;
}

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

/* Code without rules in its image: the frame pointer is used when it points up the stack, not too
 * far. All other registers are lost. Returns as step_by_rules(): 0 where the frame pointer is 0. */
static int step_by_frame_pointer(struct unwind_state *state)
{
	const struct unwind_machine *machine = state->machine;
	struct unwind_place frame_pointer = state->places[machine->frame_pointer], return_address;
	uint64_t frame, unused, pc_before = state->pc, cfa_before = state->cfa;
	int result;

	if (is_stub(state)) {
		return_address = (struct unwind_place){WHERE_MEMORY, state->cfa};
		state->cfa += machine->word;
	} else {
		result = place_read(state, &frame_pointer, &frame);
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
	result = place_read(state, &return_address, &state->pc);
	if (result < 0)
		return result;
	state->pc_unknown = result;
	state->pc = plain_address(state, state->pc);
	return state->pc == pc_before && state->cfa == cfa_before ? -ELOOP : 1;
}

static int step(struct unwind_state *state, bool *ret_signal, uint8_t *ret_how)
{
	struct tally_unwind_code code = {0};

	*ret_signal = false;
	state->world->code(state->world->context, state->pc - state->is_call, &code);
	if (!code.cfi || code.rules == CFI_DAMAGED)
		return -ENOEXEC;
	*ret_how = TALLY_UNWIND_FRAME_POINTER;
	if (code.rules == CFI_NONE)
		return step_by_frame_pointer(state);
	*ret_how = TALLY_UNWIND_RULES;
	return step_by_rules(state, code.cfi, &code.cfi->sets[code.rules], ret_signal);
}

static int begin(struct unwind_state *state, const struct tally_unwind_start *start,
		 const struct tally_unwind_world *world)
{
	if (start->arch == TALLY_UNWIND_NONE || start->arch > TALLY_UNWIND_ARM64)
		return -EINVAL;
	*state = (struct unwind_state){
	    .machine = &machines[start->arch], .start = start, .world = world};
	for (unsigned i = 0; i < state->machine->columns; i++)
		state->places[i] = (struct unwind_place){WHERE_START, i};
	if (start_register(state, state->machine->pc, &state->pc))
		return -EINVAL;
	if (start_register(state, state->machine->stack_pointer, &state->cfa))
		return -EINVAL;
	state->stack_from = state->cfa;
	if (__builtin_add_overflow(state->cfa, start->stack_size, &state->stack_until))
		state->stack_until = state->stack_from;
	return 0;
}

/* Why there was no next frame: by what step() returned. */
static enum tally_unwind_end end_of(const struct unwind_state *state, int result)
{
	if (!state->pc)
		return state->pc_unknown ? TALLY_UNWIND_STACK_END : TALLY_UNWIND_ENTRY;
	if (!result)
		return TALLY_UNWIND_ENTRY;
	if (result > 0)
		return TALLY_UNWIND_ROOM_END;
	return result == -ERANGE    ? TALLY_UNWIND_STACK_END
	       : result == -ENOEXEC ? TALLY_UNWIND_UNKNOWN_CODE
				    : TALLY_UNWIND_LOST;
}

uint32_t tally_unwind_traced(const struct tally_unwind_start *start,
			     const struct tally_unwind_world *world, uint64_t *frames,
			     uint32_t room, struct tally_unwind_trace *trace)
{
	struct unwind_state state;
	uint32_t count = 0;
	uint8_t how = TALLY_UNWIND_START;
	bool signal = true;
	int result;

	trace->end = TALLY_UNWIND_NO_REGISTERS;
	if (!room || begin(&state, start, world))
		return 0;
	do {
		if (trace->how)
			trace->how[count] = how;
		frames[count++] = state.pc - !signal;
		result = count < room ? step(&state, &signal, &how) : 1;
	} while (count < room && result > 0);
	trace->end = end_of(&state, result);
	return count;
}

uint32_t tally_unwind(const struct tally_unwind_start *start,
		      const struct tally_unwind_world *world, uint64_t *frames, uint32_t room)
{
	struct tally_unwind_trace trace = {0};

	return tally_unwind_traced(start, world, frames, room, &trace);
}
