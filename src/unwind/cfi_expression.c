/* DWARF expressions, as far as call frame information uses them. Source: DWARF 5, 2.5 and 7.7.1. */
#include <errno.h>
#include "unwind/cfi_bytes.h"
#include "unwind/unwind_state.h"

#define STACK_MOST 64U
#define STEPS_MOST 1000U /* a damaged one may loop */

enum expression_operation {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_REGX = 0x90,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct evaluation {
	const struct unwind_state *state;
	const uint8_t *start;
	struct cfi_bytes bytes;
	uint32_t depth;
	uint64_t stack[STACK_MOST];
};

static void push(struct evaluation *on, uint64_t value)
{
	if (on->depth == STACK_MOST)
		on->bytes.failed = true;
	else
		on->stack[on->depth++] = value;
}

static uint64_t pop(struct evaluation *on)
{
	if (!on->depth) {
		on->bytes.failed = true;
		return 0;
	}
	return on->stack[--on->depth];
}

static void pick(struct evaluation *on, uint64_t from_top)
{
	if (from_top >= on->depth)
		on->bytes.failed = true;
	else
		push(on, on->stack[on->depth - 1 - from_top]);
}

static void swap_or_rotate(struct evaluation *on, bool rotate)
{
	uint64_t first = pop(on), second = pop(on), third;

	if (rotate) {
		third = pop(on);
		push(on, first);
		push(on, third);
	} else {
		push(on, first);
	}
	push(on, second);
}

static void jump(struct evaluation *on, bool taken)
{
	int64_t by = (int16_t)cfi_fixed(&on->bytes, 2), at = on->bytes.at - on->start + by;

	if (!taken || on->bytes.failed)
		return;
	if (at < 0 || at > on->bytes.end - on->start)
		on->bytes.failed = true;
	else
		on->bytes.at = on->start + at;
}

static void push_register(struct evaluation *on, uint64_t column, int64_t offset)
{
	uint64_t value;

	if (column >= CFI_COLUMNS || tally_unwind_register(on->state, (unsigned)column, &value) < 0)
		on->bytes.failed = true;
	else
		push(on, value + (uint64_t)offset);
}

static void deref(struct evaluation *on, uint64_t size)
{
	uint64_t value, address = pop(on);

	if (!size || size > on->state->machine->word ||
	    tally_unwind_read(on->state, address, &value) < 0)
		on->bytes.failed = true;
	else
		push(on, size < 8 ? value & ((1ULL << size * 8) - 1) : value);
}

/* Constants; false: it is not one. */
static bool constant(struct evaluation *on, uint8_t code)
{
	struct cfi_bytes *bytes = &on->bytes;

	switch (code) {
	case OP_ADDR:
		push(on, cfi_fixed(bytes, on->state->machine->word));
		return true;
	case OP_CONST1U:
		push(on, cfi_fixed(bytes, 1));
		return true;
	case OP_CONST1S:
		push(on, (uint64_t)(int64_t)(int8_t)cfi_fixed(bytes, 1));
		return true;
	case OP_CONST2U:
		push(on, cfi_fixed(bytes, 2));
		return true;
	case OP_CONST2S:
		push(on, (uint64_t)(int64_t)(int16_t)cfi_fixed(bytes, 2));
		return true;
	case OP_CONST4U:
		push(on, cfi_fixed(bytes, 4));
		return true;
	case OP_CONST4S:
		push(on, (uint64_t)(int64_t)(int32_t)cfi_fixed(bytes, 4));
		return true;
	case OP_CONST8U:
	case OP_CONST8S:
		push(on, cfi_fixed(bytes, 8));
		return true;
	case OP_CONSTU:
		push(on, cfi_uleb(bytes));
		return true;
	case OP_CONSTS:
		push(on, (uint64_t)cfi_sleb(bytes));
		return true;
	default:
		return false;
	}
}

static uint64_t divide(uint64_t left, uint64_t right, bool *ret_failed)
{
	if (!right) {
		*ret_failed = true;
		return 0;
	}
	if (right == UINT64_MAX) /* the lowest number has no negative */
		return 0 - left;
	return (uint64_t)((int64_t)left / (int64_t)right);
}

/* Shifts by more than a word's bits leave the sign, or 0. */
static uint64_t shift_right(uint64_t value, uint64_t by, bool keep_sign)
{
	if (keep_sign)
		return (uint64_t)((int64_t)value >> (by < 64 ? by : 63));
	return by < 64 ? value >> by : 0;
}

static uint64_t calculate(uint8_t code, uint64_t left, uint64_t right, bool *ret_failed)
{
	switch (code) {
	case OP_AND:
		return left & right;
	case OP_DIV:
		return divide(left, right, ret_failed);
	case OP_MINUS:
		return left - right;
	case OP_MOD:
		*ret_failed |= !right;
		return right ? left % right : 0;
	case OP_MUL:
		return left * right;
	case OP_OR:
		return left | right;
	case OP_PLUS:
		return left + right;
	case OP_SHL:
		return right < 64 ? left << right : 0;
	case OP_SHR:
	case OP_SHRA:
		return shift_right(left, right, code == OP_SHRA);
	case OP_XOR:
		return left ^ right;
	case OP_EQ:
		return left == right;
	case OP_GE:
		return (int64_t)left >= (int64_t)right;
	case OP_GT:
		return (int64_t)left > (int64_t)right;
	case OP_LE:
		return (int64_t)left <= (int64_t)right;
	case OP_LT:
		return (int64_t)left < (int64_t)right;
	default: /* OP_NE */
		return left != right;
	}
}

/* Operations with one operand or none, and those of the stack; false: it is not one. */
static bool stack_operation(struct evaluation *on, uint8_t code)
{
	struct cfi_bytes *bytes = &on->bytes;
	uint64_t value;

	switch (code) {
	case OP_DEREF:
		deref(on, on->state->machine->word);
		return true;
	case OP_DEREF_SIZE:
		deref(on, cfi_fixed(bytes, 1));
		return true;
	case OP_DUP:
		pick(on, 0);
		return true;
	case OP_DROP:
		pop(on);
		return true;
	case OP_OVER:
		pick(on, 1);
		return true;
	case OP_PICK:
		pick(on, cfi_fixed(bytes, 1));
		return true;
	case OP_SWAP:
	case OP_ROT:
		swap_or_rotate(on, code == OP_ROT);
		return true;
	case OP_ABS:
		value = pop(on);
		push(on, (int64_t)value < 0 ? 0 - value : value);
		return true;
	case OP_NEG:
		push(on, 0 - pop(on));
		return true;
	case OP_NOT:
		push(on, ~pop(on));
		return true;
	case OP_PLUS_UCONST:
		value = pop(on);
		push(on, value + cfi_uleb(bytes));
		return true;
	case OP_SKIP:
		jump(on, true);
		return true;
	case OP_BRA:
		jump(on, pop(on) != 0);
		return true;
	case OP_BREGX:
		value = cfi_uleb(bytes);
		push_register(on, value, cfi_sleb(bytes));
		return true;
	case OP_NOP:
		return true;
	default:
		return false;
	}
}

static void operation(struct evaluation *on, uint8_t code)
{
	uint64_t left, right;

	if (code >= OP_LIT0 && code < OP_LIT0 + 32) {
		push(on, code - OP_LIT0);
	} else if (code >= OP_BREG0 && code < OP_BREG0 + 32) {
		push_register(on, code - OP_BREG0, cfi_sleb(&on->bytes));
	} else if (code >= OP_AND && code <= OP_NE && code != OP_NEG && code != OP_NOT &&
		   code != OP_PLUS_UCONST && code != OP_BRA) {
		right = pop(on);
		left = pop(on);
		push(on, calculate(code, left, right, &on->bytes.failed));
	} else if (!constant(on, code) && !stack_operation(on, code)) {
		on->bytes.failed = true; /* not supported: calls, pieces, the frame's base */
	}
}

int tally_unwind_evaluate(const struct unwind_state *state, const uint8_t *bytes, size_t size,
			  uint64_t initial, uint64_t *ret, int *ret_column)
{
	struct evaluation on;
	uint32_t steps = 0;

	on.state = state;
	on.start = bytes;
	on.bytes = (struct cfi_bytes){.at = bytes, .end = bytes + size};
	on.depth = 1;
	on.stack[0] = initial;
	while (cfi_more(&on.bytes) && steps++ < STEPS_MOST) {
		uint8_t code = (uint8_t)cfi_fixed(&on.bytes, 1);
		uint64_t column = code == OP_REGX ? cfi_uleb(&on.bytes) : (uint64_t)code - OP_REG0;

		if (code == OP_REGX || (code >= OP_REG0 && code < OP_REG0 + 32)) {
			if (on.bytes.failed || column >= CFI_COLUMNS)
				return -EINVAL;
			*ret_column = (int)column;
			return 0;
		}
		operation(&on, code);
	}
	if (on.bytes.failed || cfi_more(&on.bytes) || !on.depth)
		return -EINVAL;
	*ret = on.stack[on.depth - 1];
	*ret_column = -1;
	return 0;
}
