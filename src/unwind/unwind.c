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
	if (address >= state->stack_from && behind <= state->stack_until - state->start->as_perf) {
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
	/* What is mapped there is no known value, but perf takes it to be 0. */
	if (result > 0 && !state->start->as_perf)
		result = -ENODATA;
	return result < 0 && address >= state->stack_from ? -ERANGE : result;
}

int tally_unwind_read_code(const struct unwind_state *state, uint64_t address, void *ret,
			   size_t size)
{
	const struct tally_unwind_world *world = state->world;

	return world->read_code ? world->read_code(world->context, address, ret, size)
				: world->read(world->context, address, ret, size);
}

int tally_unwind_read_file(const struct unwind_state *state, uint64_t address, void *ret,
			   size_t size)
{
	const struct tally_unwind_world *world = state->world;

	return world->read_file ? world->read_file(world->context, address, ret, size)
				: tally_unwind_read_code(state, address, ret, size);
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

int tally_unwind_place(const struct unwind_state *state, const struct unwind_place *place,
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
	return tally_unwind_place(state, &state->places[column], ret);
}

static const uint8_t *expression(const struct cfi_rules *rules, const struct cfi_rule *rule)
{
	return (const uint8_t *)rules + rule->value;
}

static int find_cfa(const struct unwind_state *state, const struct cfi_rules *rules, uint64_t *ret)
{
	const struct cfi_rule *rule = &rules->cfa;
	int column, result;

	if (rule->how == CFI_REGISTER) {
		result = tally_unwind_register(state, rule->column, ret);
		*ret += (uint64_t)rule->value;
	} else {
		result = tally_unwind_evaluate(state, expression(rules, rule), rule->length, 0, ret,
					       &column);
		if (!result && column >= 0)
			result = -EINVAL;
	}
	if (result >= 0 && state->machine->word == 4)
		*ret = (uint32_t)*ret;
	return result;
}

/* Compilers do not always say that a function has taken its registers back: where it returns, their
 * places are then below the stack pointer, and the registers are the caller's already. */
static bool is_gone(const struct unwind_state *state, uint64_t address)
{
	return address < state->cfa && !state->start->as_perf;
}

/* Where the caller's register is, by a rule. 0, or below 0. */
static int find_place(const struct unwind_state *state, const struct cfi_rules *rules,
		      const struct cfi_rule *rule, uint64_t cfa, struct unwind_place *ret)
{
	uint64_t value;
	int column, result;

	switch (rule->how) {
	case CFI_AT_CFA:
		if (!is_gone(state, cfa + (uint64_t)(int64_t)rule->value))
			*ret = (struct unwind_place){WHERE_MEMORY,
						     cfa + (uint64_t)(int64_t)rule->value};
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
		result = tally_unwind_evaluate(state, expression(rules, rule), rule->length, cfa,
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
uint64_t tally_unwind_plain(const struct unwind_state *state, uint64_t address)
{
	return state->machine->pc == 32 ? address & ((1ULL << 48) - 1) : address;
}

/* The registers of the caller: where each is. */
static int find_places(struct unwind_state *state, const struct cfi_rules *rules, uint64_t cfa)
{
	struct unwind_place places[CFI_COLUMNS];
	size_t size = state->machine->columns * sizeof(*places);
	int result = 0;

	memcpy(places, state->places, size);
	for (uint32_t i = 0; i < rules->count && !result; i++)
		result = find_place(state, rules, &rules->rules[i], cfa,
				    &places[rules->rules[i].column]);
	if (!result)
		memcpy(state->places, places, size);
	return result;
}

/* The same, where no place depends on another one: nearly always. */
static void find_plain_places(struct unwind_state *state, const struct cfi_rules *rules,
			      uint64_t cfa)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct cfi_rule *rule = &rules->rules[i];

		uint64_t at = cfa + (uint64_t)(int64_t)rule->value;

		if (rule->how != CFI_AT_CFA)
			state->places[rule->column].where = WHERE_LOST;
		else if (!is_gone(state, at))
			state->places[rule->column] = (struct unwind_place){WHERE_MEMORY, at};
	}
}

static bool is_own_counter(const struct unwind_state *state, unsigned column)
{
	const struct unwind_place *place = &state->places[column];

	return column == state->machine->pc && place->where == WHERE_START &&
	       place->value == column && !state->start->as_perf;
}

/* By the rules: 1; 0: there is no caller; below 0: unknown. */
static int step_by_rules(struct unwind_state *state, const struct cfi_rules *rules)
{
	uint64_t cfa = 0, pc = 0, pc_before = state->pc, cfa_before = state->cfa;
	int result =
	    rules->return_column < state->machine->columns ? find_cfa(state, rules, &cfa) : -EINVAL;

	if (!result && rules->plain)
		find_plain_places(state, rules, cfa);
	else if (result >= 0)
		result = find_places(state, rules, cfa);
	if (result < 0)
		return result;
	state->cfa = cfa;
	if (state->places[rules->return_column].where == WHERE_LOST)
		return 0;
	/* The caller's program counter cannot be this one's: where a stack is exchanged for another
	 * one, rules lack the caller's. */
	if (is_own_counter(state, rules->return_column))
		return -ENODATA;
	result = tally_unwind_place(state, &state->places[rules->return_column], &pc);
	if (result < 0)
		return result;
	state->pc_unknown = result;
	state->pc = tally_unwind_plain(state, pc);
	if (state->pc == pc_before && cfa == cfa_before)
		return -ELOOP;
	state->is_call = !rules->signal;
	state->is_exact = rules->signal;
	/* Source: the psABI, 3.4.1: the outermost frame has none. */
	return !state->start->as_perf || state->machine->word == 4 ||
	       state->places[state->machine->frame_pointer].where != WHERE_LOST;
}

/* --- registers that the kernel was about to change --- */

/* What it writes to the stack for a signal, on x86-64: a return address, then struct ucontext,
 * whose registers are at 40. Source: arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h. */
#define SIGNAL_REGISTERS 40U
#define SIGNAL_PC        (SIGNAL_REGISTERS + 16 * 8)
#define SIGNAL_CS        (SIGNAL_REGISTERS + 18 * 8)
#define USER_CS          0x33 /* of 64-bit code: arch/x86/include/asm/segment.h */

/* Whether saved registers of interrupted 64-bit code are at an address of the copied stack. */
static bool are_saved(const struct unwind_state *state, uint64_t context)
{
	uint64_t cs;

	return context >= state->stack_from && context < state->stack_until &&
	       state->stack_until - context >= SIGNAL_CS + 8 &&
	       !tally_unwind_read(state, context + SIGNAL_CS, &cs) && (cs & 0xffff) == USER_CS;
}

/* The registers are those of a context. 0, or below 0: it is not whole. */
static int take_context(struct unwind_state *state, uint64_t context)
{
	/* By DWARF's numbers. */
	static const uint8_t saved[] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16};
	uint64_t sp;
	int result = tally_unwind_read(state, context + SIGNAL_REGISTERS + 15 * 8, &sp);

	if (result)
		return -ENODATA;
	for (size_t i = 0; i < sizeof(saved); i++)
		state->places[i] =
		    (struct unwind_place){WHERE_MEMORY, context + SIGNAL_REGISTERS + saved[i] * 8U};
	state->cfa = sp;
	return 0;
}

/* To run a handler it sets the stack pointer first. In a sample of that moment the code is still
 * the interrupted one, and its registers are those on the handler's stack. */
static void take_saved_registers(struct unwind_state *state)
{
	uint64_t context = state->cfa + 8, pc;

	if (state->start->arch == TALLY_UNWIND_X86_64 && !state->start->as_perf &&
	    are_saved(state, context) && !tally_unwind_read(state, context + SIGNAL_PC, &pc) &&
	    pc == state->pc)
		(void)take_context(state, context);
}

/* In place of rules: code that a handler returns to, which has none that say so. glibc's has; those
 * of Go's runtime and of musl are the call of rt_sigreturn(2) alone. */
static const struct cfi_rules handler_end = {.cfa = {.how = CFI_UNDEFINED}};

/* Source: arch/x86/entry/syscalls/syscall_64.tbl, rt_sigreturn; Intel's manual of the instructions.
 */
static bool is_handler_end(const struct unwind_state *state)
{
	static const uint8_t narrow[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t wide[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof(wide)];

	return state->start->arch == TALLY_UNWIND_X86_64 && are_saved(state, state->cfa) &&
	       !tally_unwind_read_code(state, state->pc, code, sizeof(code)) &&
	       (!memcmp(code, wide, sizeof(wide)) || !memcmp(code, narrow, sizeof(narrow)));
}

static int step_to_interrupted(struct unwind_state *state)
{
	uint64_t context = state->cfa;

	if (tally_unwind_read(state, context + SIGNAL_PC, &state->pc))
		return -ENODATA;
	state->is_call = false;
	state->is_exact = true;
	return take_context(state, context) ? -ENODATA : 1;
}

/* When a handler returns, it sets the stack pointer before the program counter, too: what is on the
 * stack is then no context, and where the interrupted code was is unknown. */
static bool is_half_returned(const struct unwind_state *state, const struct cfi_rules *rules)
{
	static const uint8_t system_call[] = {0x0f, 0x05};
	uint8_t before[sizeof(system_call)];

	return rules->signal && state->start->arch == TALLY_UNWIND_X86_64 &&
	       state->stack_until - state->cfa >= SIGNAL_CS + 8 && !state->start->as_perf &&
	       !are_saved(state, state->cfa) &&
	       !tally_unwind_read_code(state, state->pc - sizeof(before), before, sizeof(before)) &&
	       !memcmp(before, system_call, sizeof(before));
}

static int step(struct unwind_state *state, const struct cfi_rules *rules, uint8_t *ret_how)
{
	bool is_first = state->is_first;

	state->is_exact = state->is_first = false;
	if (!rules || (rules == &tally_cfi_damaged && state->start->as_perf))
		return -ENOEXEC;
	if (rules == &tally_cfi_outermost)
		return 0;
	*ret_how = TALLY_UNWIND_RULES;
	if (rules == &handler_end)
		return step_to_interrupted(state);
	if (rules == &tally_cfi_none || rules == &tally_cfi_damaged) {
		*ret_how = TALLY_UNWIND_FRAME_POINTER;
		return tally_unwind_by_pointer(state);
	}
	if (is_first && is_half_returned(state, rules))
		return -ENODATA;
	return step_by_rules(state, rules);
}

static int begin(struct unwind_state *state, const struct tally_unwind_start *start,
		 const struct tally_unwind_world *world)
{
	if (start->arch == TALLY_UNWIND_NONE || start->arch > TALLY_UNWIND_ARM64)
		return -EINVAL;
	*state = (struct unwind_state){.machine = &machines[start->arch],
				       .start = start,
				       .world = world,
				       .is_exact = true,
				       .is_first = true};
	for (unsigned i = 0; i < state->machine->columns; i++)
		state->places[i] = (struct unwind_place){WHERE_START, i};
	if (start_register(state, state->machine->pc, &state->pc))
		return -EINVAL;
	if (start_register(state, state->machine->stack_pointer, &state->cfa))
		return -EINVAL;
	state->stack_from = state->cfa;
	if (__builtin_add_overflow(state->cfa, start->stack_size, &state->stack_until))
		state->stack_until = state->stack_from;
	take_saved_registers(state);
	return 0;
}

/* Why there was no next frame: by what step() returned. */
static enum tally_unwind_end end_of(const struct unwind_state *state, int result)
{
	if (!state->pc)
		return state->pc_unknown ? TALLY_UNWIND_STACK_END : TALLY_UNWIND_ZERO;
	if (!result)
		return TALLY_UNWIND_ENTRY;
	if (result > 0)
		return TALLY_UNWIND_ROOM_END;
	return result == -ERANGE    ? TALLY_UNWIND_STACK_END
	       : result == -ENOEXEC ? TALLY_UNWIND_UNKNOWN_CODE
				    : TALLY_UNWIND_LOST;
}

/* Whether the start's frame pointer is the last frame's: the return address that the rules led to,
 * beyond the stack, is where the frame pointer's record has it. */
static bool points(const struct unwind_state *state, const struct cfi_rules *rules)
{
	const struct unwind_place *place;
	uint64_t value;

	if (!tally_cfi_is_usable(rules) || rules->return_column >= state->machine->columns ||
	    start_register(state, state->machine->frame_pointer, &value))
		return false;
	place = &state->places[rules->return_column];
	return place->where == WHERE_MEMORY && place->value == value + state->machine->word &&
	       value + 2 * state->machine->word == state->cfa;
}

static const struct cfi_rules *rules_at(const struct unwind_state *state)
{
	const struct tally_unwind_world *world = state->world;
	const struct cfi_rules *rules;

	if (!world->code)
		return NULL;
	rules = world->code(world->context, state->pc - state->is_call);
	if (!state->is_call || state->start->as_perf || tally_cfi_is_usable(rules))
		return rules;
	if (is_handler_end(state))
		return &handler_end;
	/* No call is in front of a function's start: the address was put there, for code that
	 * begins a stack, as makecontext(3) does with __start_context. */
	return tally_cfi_is_usable(world->code(world->context, state->pc)) ? &tally_cfi_outermost
									   : rules;
}

uint32_t tally_unwind_traced(const struct tally_unwind_start *start,
			     const struct tally_unwind_world *world, uint64_t *frames,
			     uint32_t room, struct tally_unwind_trace *trace)
{
	const struct cfi_rules *rules;
	struct unwind_state state;
	uint32_t count = 0;
	uint8_t how = TALLY_UNWIND_START;
	int result;

	trace->end = TALLY_UNWIND_NO_REGISTERS;
	trace->points = false;
	if (!room || begin(&state, start, world))
		return 0;
	do {
		rules = rules_at(&state);
		/* A return address that leads to no code is none. */
		if (!rules && count && !start->as_perf) {
			trace->end = state.pc ? TALLY_UNWIND_LOST : TALLY_UNWIND_ZERO;
			return count;
		}
		state.is_exact |= rules == &handler_end;
		if (trace->how)
			trace->how[count] = how;
		if (trace->stack)
			trace->stack[count] = state.cfa;
		frames[count++] = state.pc - !state.is_exact;
		result = count < room ? step(&state, rules, &how) : 1;
	} while (count < room && result > 0);
	trace->end = end_of(&state, result);
	trace->points = result == -ERANGE && points(&state, rules);
	return count;
}

uint32_t tally_unwind(const struct tally_unwind_start *start,
		      const struct tally_unwind_world *world, uint64_t *frames, uint32_t room)
{
	struct tally_unwind_trace trace = {0};

	return tally_unwind_traced(start, world, frames, room, &trace);
}
