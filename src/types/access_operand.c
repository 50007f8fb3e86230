#include "types/access_operand.h"

#include "base/bytes.h"
#include "types/type_shape.h"

/* Places of variables that are looked at for one operand. */
#define PLACES_MOST 64

/* Where the guard of the stack is.  Source: the System V ABI of x86-64, gcc's
 * -mstack-protector-guard=tls. */
#define CANARY_AT 0x28

/* Variables are not below it. */
#define ADDRESS_LEAST 4096

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* --- registers --- */

static int worth(const struct held *held, int64_t displacement)
{
	int64_t at = plus(held->offset, displacement);
	int worth = 1;

	if (held->kind != HELD_POINTER)
		return held->kind == HELD_NOTHING ? 0 : 1;
	if (held->size && at >= 0 && at < (int64_t)held->size)
		worth += 4;
	return worth + (held->record ? 2 : 0);
}

/* Of objects within each other the outer one. */
static bool is_better(const struct held *held, const struct held *best, int64_t displacement)
{
	int one = worth(held, displacement), other = worth(best, displacement);

	return one > other || (one == other && held->size > best->size);
}

struct held tally_access_value(const struct access_walk *walk, uint8_t reg, uint64_t address,
			       int64_t displacement)
{
	const struct function_variables *variables = walk->function->variables;
	const struct held nothing = {.kind = HELD_NOTHING};
	const struct held *best = &nothing;
	const struct tally_span *span;
	uint32_t looked_at = 0;

	if (reg >= INSN_REGISTERS)
		return nothing;
	span = tally_spans_first(&variables->in_registers[reg], address, &looked_at);
	for (int i = 0; span && i < PLACES_MOST; i++) {
		const struct held *held = &variables->places[span->index].held;

		if (is_better(held, best, displacement))
			best = held;
		span = tally_spans_next(&variables->in_registers[reg], span, address, &looked_at);
	}
	if (worth(&walk->state.registers[reg], displacement) > worth(best, displacement))
		best = &walk->state.registers[reg];
	return *best;
}

/* --- objects --- */

static struct access_found outcome(enum access_outcome which)
{
	return (struct access_found){.outcome = (uint8_t)which};
}

/* Whether a record ends with an array of any length that holds the offset. */
static bool is_behind_end(const struct access_walk *walk, type_ref type, int64_t offset)
{
	struct type_member member;

	return tally_type_member(walk->function->reader, type, (uint64_t)offset, false, &member) &&
	       !member.size;
}

static struct access_found object(const struct access_walk *walk, const struct held *pointer,
				  int64_t displacement, bool indexed)
{
	int64_t at = plus(pointer->offset, displacement), size = pointer->size;
	struct access_found found = {ACCESS_FOUND, pointer->type, at};

	if (!size)
		return outcome(ACCESS_NO_TYPE);
	if (at >= 0 && at < size)
		return found;
	if (pointer->record && at >= size && is_behind_end(walk, pointer->type, at))
		return found;
	if (at < 0 && pointer->record && !pointer->moved && !indexed)
		return outcome(ACCESS_OUTSIDE); /* of what it is a part of, perhaps */
	found.offset = at % size;
	found.offset += found.offset < 0 ? size : 0;
	return found;
}

static struct access_found global(const struct access_walk *walk, bool of_thread, int64_t address,
				  bool indexed)
{
	const struct access_globals *globals = walk->function->globals;
	struct held pointer;
	uint64_t offset;
	type_ref type;

	if (!globals->find(globals->context, of_thread, address, &type, &offset) ||
	    offset > INT64_MAX)
		return outcome(ACCESS_NO_GLOBAL);
	pointer = tally_held_address(walk->function->reader, type, (int64_t)offset);
	return pointer.kind == HELD_POINTER ? object(walk, &pointer, 0, indexed)
					    : outcome(ACCESS_NO_TYPE);
}

/* --- the stack --- */

/* How far behind the start of a variable an operand is: the base register plus displacement. */
static bool distance(const struct access_walk *walk, const struct variable_place *place,
		     uint8_t base, int64_t displacement, int64_t *ret)
{
	const struct held *held = &walk->state.registers[base], *other;
	const struct location *location = &place->location;

	if (location->kind == LOCATION_BASED && location->reg == base) {
		*ret = minus(displacement, location->offset);
		return true;
	}
	if (held->kind != HELD_FRAME)
		return false;
	*ret = minus(plus(held->offset, displacement), location->offset);
	if (location->kind == LOCATION_FRAME)
		return true;
	other = &walk->state.registers[location->reg];
	*ret = minus(*ret, other->offset);
	return location->kind == LOCATION_BASED && location->reg < INSN_REGISTERS &&
	       other->kind == HELD_FRAME;
}

/* The smallest variable in memory that holds it; of equal ones that of the innermost scope. */
static const struct variable_place *stack_variable(const struct access_walk *walk, uint64_t address,
						   uint8_t base, int64_t displacement, int64_t *ret)
{
	const struct function_variables *variables = walk->function->variables;
	const struct variable_place *best = NULL;
	uint32_t looked_at = 0;
	const struct tally_span *span =
	    tally_spans_first(&variables->in_memory, address, &looked_at);

	for (int i = 0; span && i < PLACES_MOST * PLACES_MOST; i++) {
		const struct variable_place *place = &variables->places[span->index];
		int64_t at;

		if (distance(walk, place, base, displacement, &at) && at >= 0 &&
		    (uint64_t)at < place->size && (!best || place->size < best->size)) {
			best = place;
			*ret = at;
		}
		span = tally_spans_next(&variables->in_memory, span, address, &looked_at);
	}
	return best;
}

static bool in_stack(const struct access_walk *walk, const struct code_insn *insn, bool indexed,
		     struct access_operand *ret)
{
	const struct insn_access *access = &insn->access;
	const struct held *base = &walk->state.registers[access->base];
	int64_t at = 0;
	const struct variable_place *place =
	    stack_variable(walk, insn->address, access->base, access->displacement, &at);
	struct held pointer;

	ret->in_frame = base->kind == HELD_FRAME && !indexed;
	ret->frame = plus(base->offset, access->displacement);
	if (!place && base->kind != HELD_FRAME)
		return false;
	if (!place) {
		ret->found = outcome(ACCESS_STACK);
		return true;
	}
	pointer = tally_held_address(walk->function->reader, place->type, at);
	ret->found = pointer.kind == HELD_POINTER ? object(walk, &pointer, 0, indexed)
						  : outcome(ACCESS_NO_TYPE);
	return true;
}

/* --- operands --- */

static struct access_found of_segment(const struct access_walk *walk,
				      const struct insn_access *access, bool indexed)
{
	if (access->base != INSN_NONE)
		return outcome(ACCESS_NO_VALUE);
	if (access->segment == INSN_FS && !indexed && access->displacement == CANARY_AT)
		return outcome(ACCESS_CANARY);
	/* The kernel's variables of each CPU have addresses, too. */
	return global(walk, access->segment == INSN_FS, access->displacement, indexed);
}

/* Either register of base + index may be the one with the address. */
static struct held base_value(const struct access_walk *walk, const struct code_insn *insn)
{
	const struct insn_access *access = &insn->access;
	struct held held =
	    tally_access_value(walk, access->base, insn->address, access->displacement);

	if (held.kind == HELD_NOTHING && access->index != INSN_NONE && access->scale <= 1)
		held = tally_access_value(walk, access->index, insn->address, access->displacement);
	return held;
}

void tally_access_operand(const struct access_walk *walk, const struct code_insn *insn,
			  struct access_operand *ret)
{
	const struct insn_access *access = &insn->access;
	bool indexed = access->index != INSN_NONE;
	struct held held;

	*ret = (struct access_operand){.in_frame = false};
	if (access->unknown) {
		ret->found = outcome(ACCESS_UNKNOWN);
		return;
	}
	if (access->segment != INSN_FLAT) {
		ret->found = of_segment(walk, access, indexed);
		return;
	}
	if (access->base == INSN_NONE) {
		ret->found = global(walk, false, access->displacement, indexed);
		return;
	}
	if (in_stack(walk, insn, indexed, ret))
		return;
	held = base_value(walk, insn);
	switch (held.kind) {
	case HELD_POINTER:
		ret->found = object(walk, &held, access->displacement, indexed);
		break;
	case HELD_CONSTANT:
		ret->found = global(walk, false, plus(held.offset, access->displacement), indexed);
		break;
	default: /* of code at fixed addresses the displacement may be that of an array */
		if (access->displacement > ADDRESS_LEAST)
			ret->found = global(walk, false, access->displacement, true);
		if (ret->found.outcome != ACCESS_FOUND)
			ret->found = outcome(ACCESS_NO_VALUE);
		break;
	}
}

/* A pointer to what was found, to be followed further. */
static struct held pointer_to(const struct access_walk *walk, const struct access_found *found)
{
	return tally_held_address(walk->function->reader, found->type, found->offset);
}

struct held tally_access_constant(const struct access_walk *walk, int64_t value)
{
	const struct access_found found = global(walk, false, value, false);
	struct held held = {.kind = HELD_CONSTANT, .offset = value};

	if (found.outcome == ACCESS_FOUND) {
		held = pointer_to(walk, &found);
		held.moved = true;
	}
	return held;
}

struct held tally_access_address(const struct access_walk *walk, const struct code_insn *insn)
{
	const struct insn_access *access = &insn->access;
	bool indexed = access->index != INSN_NONE;
	struct access_operand operand = {.in_frame = false};
	struct held held;

	if (access->segment != INSN_FLAT)
		return (struct held){.kind = HELD_NOTHING};
	if (access->base == INSN_NONE && !indexed)
		return tally_access_constant(walk, access->displacement);
	if (access->base == INSN_NONE)
		return (struct held){.kind = HELD_NOTHING};
	if (in_stack(walk, insn, indexed, &operand)) {
		if (operand.found.outcome == ACCESS_FOUND) {
			held = pointer_to(walk, &operand.found);
			held.moved |= indexed;
			/* a plain variable is found again by its place */
			if (held.record || held.moved || !operand.in_frame)
				return held;
		}
		return (struct held){.kind = operand.in_frame ? HELD_FRAME : HELD_NOTHING,
				     .offset = operand.frame};
	}
	held = base_value(walk, insn);
	held = tally_held_add(&held, access->displacement);
	if (indexed && held.kind != HELD_POINTER)
		return (struct held){.kind = HELD_NOTHING};
	held.moved |= indexed;
	return held;
}

struct held tally_access_load(struct access_walk *walk, const struct access_operand *operand)
{
	const struct access_found *found = &operand->found;
	struct access_load *load;
	uint64_t within = 0;
	type_ref leaf;

	if (found->outcome == ACCESS_STACK && operand->in_frame)
		return tally_held_slot(&walk->state, operand->frame);
	if (found->outcome != ACCESS_FOUND || found->offset < 0)
		return (struct held){.kind = HELD_NOTHING};
	load = &walk->loads[hash_pair(found->type, (uint64_t)found->offset) % ACCESS_LOADS];
	if (load->type == found->type && load->offset == found->offset)
		return load->held;
	leaf = tally_type_leaf(walk->function->reader, found->type, (uint64_t)found->offset, true,
			       &within);
	*load = (struct access_load){.type = found->type, .offset = found->offset};
	if (leaf && !within)
		load->held = tally_held_of_type(walk->function->reader, leaf);
	return load->held;
}
