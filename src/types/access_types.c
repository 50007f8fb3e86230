#include "types/access_types.h"

#include <errno.h>
#include <stdlib.h>
#include "types/access_operand.h"
#include "types/type_shape.h"

/* How often the blocks are gone through until nothing changes any more. */
#define PASSES_MOST 64
/* Of functions with more blocks nothing is followed from one to the next. */
#define BLOCKS_MOST 8192

/* DWARF's numbers. */
enum {
	X86_RAX = 0,
	X86_RBP = 6,
	X86_RSP = 7,
	ARM_X0 = 0,
	ARM_SP = 31,
};

/* Registers that a call may change: rax, rdx, rcx, rsi, rdi, r8 to r11; x0 to x18, x30.  Sources:
 * the System V ABI of x86-64, 3.2.1; the procedure call standard of arm64, 6.1.1. */
#define X86_CHANGED 0x0f37U
#define ARM_CHANGED 0x4007ffffU

struct block_state {
	bool reached, dirty;
	struct held_state held;
};

struct analysis {
	struct access_walk walk;
	struct block_state *states;   /* by block; NULL: nothing is followed */
	struct block_state scattered; /* where code goes on nobody knows where */
	struct access_found *found;   /* by instruction; NULL: not yet */
};

static const struct held nothing = {.kind = HELD_NOTHING};

static uint8_t stack_register(const struct analysis *analysis)
{
	return analysis->walk.function->arm64 ? ARM_SP : X86_RSP;
}

static struct held *reg(struct analysis *analysis, uint8_t number)
{
	return &analysis->walk.state.registers[number % INSN_REGISTERS];
}

/* --- one instruction --- */

/* Variables that come into registers here. */
static void take_variables(struct analysis *analysis, uint64_t address)
{
	const struct function_variables *variables = analysis->walk.function->variables;

	for (size_t i = tally_function_variables_from(variables, address);
	     i < variables->count && variables->places[i].low == address; i++) {
		const struct variable_place *place = &variables->places[i];

		if (place->location.kind == LOCATION_REGISTER)
			*reg(analysis, place->location.reg) = place->held;
	}
}

static void forget(struct analysis *analysis, uint32_t registers)
{
	for (uint8_t i = 0; i < INSN_REGISTERS; i++)
		if (registers >> i & 1)
			*reg(analysis, i) = nothing;
}

static void call(struct analysis *analysis, const struct code_insn *insn)
{
	const struct access_function *function = analysis->walk.function;
	const struct call_result *result =
	    tally_function_call(function->variables, insn->address + insn->access.size);

	forget(analysis, function->arm64 ? ARM_CHANGED : X86_CHANGED);
	if (result)
		*reg(analysis, function->arm64 ? ARM_X0 : X86_RAX) =
		    tally_held_of_type(function->reader, result->type);
}

static void push(struct analysis *analysis, const struct held *value)
{
	struct held *sp = reg(analysis, X86_RSP);

	*sp = tally_held_add(sp, -8);
	if (sp->kind == HELD_FRAME)
		tally_held_store(&analysis->walk.state, sp->offset, value);
}

static struct held pop(struct analysis *analysis)
{
	struct held *sp = reg(analysis, X86_RSP);
	struct held value = nothing;

	if (sp->kind == HELD_FRAME)
		value = tally_held_slot(&analysis->walk.state, sp->offset);
	*sp = tally_held_add(sp, 8);
	return value;
}

static void take_stack(struct analysis *analysis, const struct code_insn *insn)
{
	const struct insn_access *access = &insn->access;
	struct held value;

	switch (access->action) {
	case INSN_PUSH:
		value = access->from == INSN_NONE
			    ? nothing
			    : tally_access_value(&analysis->walk, access->from, insn->address, 0);
		push(analysis, &value);
		break;
	case INSN_POP:
		value = pop(analysis);
		if (access->to != INSN_NONE)
			*reg(analysis, access->to) = value;
		break;
	default: /* INSN_LEAVE */
		*reg(analysis, X86_RSP) = *reg(analysis, X86_RBP);
		value = pop(analysis);
		*reg(analysis, X86_RBP) = value;
		break;
	}
}

/* A pointer and a number, either way round. */
static struct held sum(const struct held *a, const struct held *b)
{
	struct held pointer = a->kind == HELD_POINTER ? *a : *b;

	if ((a->kind == HELD_POINTER) == (b->kind == HELD_POINTER))
		return nothing;
	pointer.moved = true;
	return pointer;
}

static struct held result_of(struct analysis *analysis, const struct code_insn *insn,
			     const struct access_operand *operand)
{
	const struct insn_access *access = &insn->access;
	struct access_walk *walk = &analysis->walk;
	struct held from = nothing, to = nothing;

	if (access->from != INSN_NONE)
		from = tally_access_value(walk, access->from, insn->address, 0);
	if (access->to != INSN_NONE)
		to = tally_access_value(walk, access->to, insn->address, 0);
	switch (access->action) {
	case INSN_COPY:
		return from;
	case INSN_LOAD:
		return tally_access_load(walk, operand);
	case INSN_ADDRESS:
		return tally_access_address(walk, insn);
	case INSN_CONSTANT:
		return tally_access_constant(walk, access->value);
	case INSN_ADD:
		return tally_held_add(&from, access->value);
	case INSN_ADD_REGISTER:
		return sum(&to, &from);
	case INSN_SELECT:
		return to.kind == HELD_NOTHING ? from : to;
	default:
		return nothing;
	}
}

static void store(struct analysis *analysis, const struct code_insn *insn,
		  const struct access_operand *operand)
{
	struct held value = nothing;

	if (!operand->in_frame)
		return;
	if (insn->access.action == INSN_STORE)
		value = tally_access_value(&analysis->walk, insn->access.from, insn->address, 0);
	tally_held_store(&analysis->walk.state, operand->frame, &value);
}

/* A hole of a record is nothing that code accesses: another object is. */
static bool is_hole(const struct analysis *analysis, const struct access_found *found)
{
	struct type_reader *reader = analysis->walk.function->reader;
	struct type_member member;
	struct type_entry bare;

	return tally_type_bare(reader, found->type, &bare) && tally_type_is_record(&bare) &&
	       !tally_type_member(reader, found->type, (uint64_t)found->offset, false, &member);
}

static struct access_found found_of(const struct analysis *analysis,
				    const struct insn_access *access,
				    const struct access_operand *operand)
{
	struct access_found found = {.outcome = ACCESS_NOTHING};

	if (access->memory)
		found = operand->found;
	else if (access->unknown)
		found.outcome = ACCESS_UNKNOWN;
	if (found.outcome == ACCESS_FOUND && is_hole(analysis, &found))
		found = (struct access_found){.outcome = ACCESS_OUTSIDE};
	if (access->stack && found.outcome != ACCESS_FOUND)
		found.outcome = ACCESS_STACK;
	return found;
}

static void step(struct analysis *analysis, uint32_t number)
{
	const struct code_insn *insn = &analysis->walk.function->code->insns[number];
	const struct insn_access *access = &insn->access;
	struct access_operand operand = {.in_frame = false};
	struct held result;

	take_variables(analysis, insn->address);
	if (access->memory)
		tally_access_operand(&analysis->walk, insn, &operand);
	if (analysis->found)
		analysis->found[number] = found_of(analysis, access, &operand);
	if (access->flow == INSN_CALL) {
		call(analysis, insn);
		return;
	}
	if (access->action == INSN_PUSH || access->action == INSN_POP ||
	    access->action == INSN_LEAVE) {
		take_stack(analysis, insn);
		return;
	}
	if (access->action == INSN_OTHER && !access->memory) {
		forget(analysis, access->written);
		return;
	}
	result = result_of(analysis, insn, &operand);
	if (access->stores)
		store(analysis, insn, &operand);
	forget(analysis, access->written);
	if (access->to != INSN_NONE)
		*reg(analysis, access->to) = result;
	if (access->moves && access->base != INSN_NONE)
		*reg(analysis, access->base) =
		    tally_held_add(reg(analysis, access->base), access->moves);
}

/* --- blocks --- */

static void go_through(struct analysis *analysis, const struct code_block *block)
{
	for (uint32_t i = block->first; i < block->first + block->count; i++)
		step(analysis, i);
}

static void arrive(struct analysis *analysis, struct block_state *at)
{
	if (!at->reached) {
		at->held = analysis->walk.state;
		at->reached = at->dirty = true;
	} else if (tally_held_merge(&at->held, &analysis->walk.state)) {
		at->dirty = true;
	}
}

static void leave(struct analysis *analysis, const struct code_block *block)
{
	if (block->next != CODE_NOWHERE)
		arrive(analysis, &analysis->states[block->next]);
	if (block->target != CODE_NOWHERE)
		arrive(analysis, &analysis->states[block->target]);
	if (block->scattered)
		arrive(analysis, &analysis->scattered);
}

/* Whether some block was to be gone through. */
static bool pass(struct analysis *analysis)
{
	const struct code_blocks *code = analysis->walk.function->code;
	bool some = false;

	for (size_t i = 0; i < code->block_count; i++) {
		struct block_state *state = &analysis->states[i];

		if (!state->dirty)
			continue;
		some = true;
		state->dirty = false;
		analysis->walk.state = state->held;
		go_through(analysis, &code->blocks[i]);
		leave(analysis, &code->blocks[i]);
	}
	return some;
}

static void enter(struct analysis *analysis, struct block_state *state)
{
	state->reached = state->dirty = true;
	state->held.registers[stack_register(analysis)] =
	    (struct held){.kind = HELD_FRAME, .offset = analysis->walk.function->arm64 ? 0 : -8};
}

/* What fills the room between jumps and what they lead to does nothing, and is never reached. */
static bool is_padding(const struct code_blocks *code, const struct code_block *block)
{
	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct insn_access *access = &code->insns[i].access;

		if (access->action != INSN_OTHER || access->flow != INSN_NEXT || access->written ||
		    access->memory || access->unknown)
			return false;
	}
	return true;
}

/* Blocks that nothing known leads to are where tables of jumps lead to: first with what is known
 * at all of these jumps. */
static bool reach_others(struct analysis *analysis)
{
	const struct code_blocks *code = analysis->walk.function->code;
	bool some = false;

	for (size_t i = 0; i < code->block_count; i++) {
		struct block_state *state = &analysis->states[i];

		if (state->reached)
			continue;
		state->reached = true;
		if (is_padding(code, &code->blocks[i]))
			continue;
		state->dirty = some = true;
		if (analysis->scattered.reached)
			state->held = analysis->scattered.held;
	}
	return some;
}

/* False: it did not come to an end. */
static bool follow(struct analysis *analysis)
{
	unsigned passes = 0;

	do {
		while (pass(analysis))
			if (++passes > PASSES_MOST)
				return false;
	} while (reach_others(analysis));
	return true;
}

static void record(struct analysis *analysis, struct access_found *ret)
{
	const struct code_blocks *code = analysis->walk.function->code;

	analysis->found = ret;
	for (size_t i = 0; i < code->block_count; i++) {
		analysis->walk.state =
		    analysis->states ? analysis->states[i].held : (struct held_state){0};
		go_through(analysis, &code->blocks[i]);
	}
}

static uint32_t block_of(const struct code_blocks *code, uint64_t address)
{
	uint32_t insn = tally_code_insn_at(code, address);

	for (uint32_t i = 0; i < code->block_count && insn != CODE_NOWHERE; i++)
		if (code->blocks[i].first == insn)
			return i;
	return CODE_NOWHERE;
}

int tally_access_types(const struct access_function *function, struct access_found *ret)
{
	const struct code_blocks *code = function->code;
	struct analysis *analysis = calloc(1, sizeof(*analysis));
	uint32_t entry = block_of(code, function->entry);

	if (!analysis)
		return -ENOMEM;
	analysis->walk.function = function;
	if (code->block_count && code->block_count <= BLOCKS_MOST) {
		analysis->states = calloc(code->block_count, sizeof(*analysis->states));
		if (!analysis->states) {
			free(analysis);
			return -ENOMEM;
		}
		if (entry != CODE_NOWHERE)
			enter(analysis, &analysis->states[entry]);
		if (!follow(analysis)) {
			free(analysis->states);
			analysis->states = NULL;
		}
	}
	record(analysis, ret);
	free(analysis->states);
	free(analysis);
	return 0;
}
