#include "code/insn_access_parts.h"

/* DWARF's numbers: x0 to x30, and 31 for the stack pointer. */
#define STACK_POINTER 31

static uint8_t register_of(unsigned reg)
{
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return (uint8_t)(reg - ARM64_REG_X0);
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return (uint8_t)(reg - ARM64_REG_W0);
	if (reg == ARM64_REG_X29)
		return 29;
	if (reg == ARM64_REG_X30)
		return 30;
	return reg == ARM64_REG_SP || reg == ARM64_REG_WSP ? STACK_POINTER : INSN_NONE;
}

static bool is_whole(const cs_arm64_op *op)
{
	return op->type == ARM64_OP_REG && register_of(op->reg) != INSN_NONE &&
	       !(op->reg >= ARM64_REG_W0 && op->reg <= ARM64_REG_W30);
}

static void take_memory(const cs_arm64_op *op, struct insn_access *ret)
{
	ret->memory = true;
	ret->base = register_of(op->mem.base);
	ret->index = op->mem.index == ARM64_REG_INVALID ? INSN_NONE : register_of(op->mem.index);
	ret->scale = (uint8_t)(1U << (op->shift.value & 7));
	ret->displacement = op->mem.disp;
	ret->unknown = ret->base == INSN_NONE;
}

/* [x0, #8]! moves the base before the access, [x0], #8 behind it. */
static void take_writeback(const cs_arm64 *arm, struct insn_access *ret)
{
	const cs_arm64_op *last = &arm->operands[arm->op_count - 1];

	ret->moves = last->type == ARM64_OP_IMM ? last->imm : ret->displacement;
	ret->written &= ~(1U << ret->base);
}

static void set(struct insn_access *ret, enum insn_action action, const cs_arm64_op *to,
		const cs_arm64_op *from)
{
	ret->action = (uint8_t)action;
	if (to)
		ret->to = register_of(to->reg);
	if (from)
		ret->from = register_of(from->reg);
}

static void take_flow(const cs_insn *insn, const cs_arm64 *arm, struct insn_access *ret)
{
	const cs_arm64_op *last = arm->op_count ? &arm->operands[arm->op_count - 1] : NULL;

	switch (insn->id) {
	case ARM64_INS_BL:
	case ARM64_INS_BLR:
		ret->flow = INSN_CALL;
		break;
	case ARM64_INS_RET:
	case ARM64_INS_ERET:
	case ARM64_INS_BRK:
		ret->flow = INSN_END;
		return;
	case ARM64_INS_BR:
		ret->flow = INSN_JUMP;
		return;
	case ARM64_INS_B:
		ret->flow =
		    arm->cc == ARM64_CC_INVALID || arm->cc == ARM64_CC_AL ? INSN_JUMP : INSN_BRANCH;
		break;
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		ret->flow = INSN_BRANCH;
		break;
	default:
		return;
	}
	if (last && last->type == ARM64_OP_IMM) {
		ret->has_target = true;
		ret->target = (uint64_t)last->imm;
	}
}

/* Where the operand changes its base, nothing is followed but that it changes. */
static void take_action(const cs_insn *insn, const cs_arm64 *arm, struct insn_access *ret)
{
	const cs_arm64_op *to = &arm->operands[0], *from = &arm->operands[1],
			  *more = &arm->operands[2];

	switch (insn->id) {
	case ARM64_INS_LDR:
	case ARM64_INS_LDUR:
		if (arm->op_count >= 2 && is_whole(to) && from->type == ARM64_OP_MEM &&
		    !arm->writeback)
			set(ret, INSN_LOAD, to, NULL);
		break;
	case ARM64_INS_STR:
	case ARM64_INS_STUR:
		ret->stores = true;
		if (arm->op_count >= 2 && is_whole(to) && from->type == ARM64_OP_MEM &&
		    !arm->writeback)
			set(ret, INSN_STORE, NULL, to);
		break;
	case ARM64_INS_MOV:
		if (arm->op_count == 2 && is_whole(to) && is_whole(from))
			set(ret, INSN_COPY, to, from);
		break;
	case ARM64_INS_ADR:
	case ARM64_INS_ADRP:
		if (arm->op_count == 2 && is_whole(to) && from->type == ARM64_OP_IMM) {
			set(ret, INSN_CONSTANT, to, NULL);
			ret->value = from->imm;
		}
		break;
	case ARM64_INS_ADD:
	case ARM64_INS_SUB:
		if (arm->op_count != 3 || !is_whole(to) || !is_whole(from))
			break;
		if (more->type == ARM64_OP_IMM && more->shift.value < 32) {
			int64_t value = more->imm << more->shift.value;

			set(ret, INSN_ADD, to, from);
			ret->value = insn->id == ARM64_INS_ADD ? value : -value;
		} else if (insn->id == ARM64_INS_ADD && is_whole(more) && to->reg == from->reg) {
			set(ret, INSN_ADD_REGISTER, to, more);
		}
		break;
	default:
		break;
	}
}

static void take(const cs_insn *insn, struct insn_access *ret)
{
	const cs_arm64 *arm = &insn->detail->arm64;

	for (uint8_t i = 0; i < arm->op_count && !ret->memory; i++)
		if (arm->operands[i].type == ARM64_OP_MEM)
			take_memory(&arm->operands[i], ret);
	if (ret->memory && arm->writeback && ret->base != INSN_NONE)
		take_writeback(arm, ret);
	take_flow(insn, arm, ret);
	take_action(insn, arm, ret);
}

const struct insn_machine tally_insn_arm64 = {register_of, take};
