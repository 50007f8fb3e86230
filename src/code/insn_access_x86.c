#include "code/insn_access_parts.h"

static uint8_t register_of(unsigned reg)
{
	static const struct {
		x86_reg regs[5];
	} names[] = {
	    {{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH}},
	    {{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH}},
	    {{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH}},
	    {{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH}},
	    {{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL}},
	    {{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL}},
	    {{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL}},
	    {{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL}},
	    {{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B}},
	    {{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B}},
	    {{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B}},
	    {{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B}},
	    {{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B}},
	    {{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B}},
	    {{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B}},
	    {{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}},
	};

	if (reg == X86_REG_INVALID)
		return INSN_NONE;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (int k = 0; k < 5; k++)
			if (names[i].regs[k] == reg)
				return (uint8_t)i;
	return INSN_NONE;
}

/* The operand that addresses memory.  Relative to the instruction it is an address. */
static void take_memory(const cs_insn *insn, const cs_x86_op *op, struct insn_access *ret)
{
	bool relative = op->mem.base == X86_REG_RIP || op->mem.base == X86_REG_EIP;

	ret->memory = insn->id != X86_INS_LEA && insn->id != X86_INS_NOP;
	ret->base = relative ? INSN_NONE : register_of(op->mem.base);
	ret->index = register_of(op->mem.index);
	ret->scale = (uint8_t)op->mem.scale;
	ret->displacement = op->mem.disp;
	ret->bytes = op->size;
	ret->stores = ret->memory && op->access & CS_AC_WRITE;
	if (relative)
		ret->displacement = (int64_t)(insn->address + insn->size + (uint64_t)op->mem.disp);
	if (op->mem.segment == X86_REG_FS)
		ret->segment = INSN_FS;
	else if (op->mem.segment == X86_REG_GS)
		ret->segment = INSN_GS;
	/* What is not a register for whole numbers: vectors of addresses. */
	if ((!relative && op->mem.base != X86_REG_INVALID && ret->base == INSN_NONE) ||
	    (op->mem.index != X86_REG_INVALID && ret->index == INSN_NONE &&
	     op->mem.index != X86_REG_RIZ && op->mem.index != X86_REG_EIZ))
		ret->unknown = true;
}

static bool is_whole(const cs_x86_op *op)
{
	return op->type == X86_OP_REG && op->size == 8 && register_of(op->reg) != INSN_NONE;
}

/* A 32-bit move of a constant clears the upper half; addresses below 2 GiB are moved so. */
static bool is_register(const cs_x86_op *op)
{
	return op->type == X86_OP_REG && op->size >= 4 && register_of(op->reg) != INSN_NONE;
}

static void set(struct insn_access *ret, enum insn_action action, const cs_x86_op *to,
		const cs_x86_op *from)
{
	ret->action = (uint8_t)action;
	if (to)
		ret->to = register_of(to->reg);
	if (from)
		ret->from = register_of(from->reg);
}

static void take_move(const cs_x86_op *to, const cs_x86_op *from, struct insn_access *ret)
{
	if (is_whole(to) && is_whole(from))
		set(ret, INSN_COPY, to, from);
	else if (is_whole(to) && from->type == X86_OP_MEM)
		set(ret, INSN_LOAD, to, NULL);
	else if (to->type == X86_OP_MEM && is_whole(from))
		set(ret, INSN_STORE, NULL, from);
	else if (is_register(to) && from->type == X86_OP_IMM) {
		set(ret, INSN_CONSTANT, to, NULL);
		ret->value = to->size == 4 ? (int64_t)(uint32_t)from->imm : from->imm;
	}
}

static void take_sum(const cs_x86_op *to, const cs_x86_op *from, int sign, struct insn_access *ret)
{
	if (!is_whole(to))
		return;
	if (from->type == X86_OP_IMM) {
		set(ret, INSN_ADD, to, to);
		ret->value = sign < 0 ? (int64_t)(0 - (uint64_t)from->imm) : from->imm;
	} else if (sign > 0 && is_whole(from)) {
		set(ret, INSN_ADD_REGISTER, to, from);
	}
}

static void take_one_more(const cs_x86_op *to, int64_t value, struct insn_access *ret)
{
	if (!is_whole(to))
		return;
	set(ret, INSN_ADD, to, to);
	ret->value = value;
}

static void take_stack(const cs_insn *insn, const cs_x86_op *op, struct insn_access *ret)
{
	bool whole = op && is_whole(op);

	ret->stack = true;
	switch (insn->id) {
	case X86_INS_PUSH:
		set(ret, INSN_PUSH, NULL, whole ? op : NULL);
		break;
	case X86_INS_PUSHFQ:
		set(ret, INSN_PUSH, NULL, NULL);
		break;
	case X86_INS_POP:
		set(ret, INSN_POP, whole ? op : NULL, NULL);
		break;
	case X86_INS_POPFQ:
		set(ret, INSN_POP, NULL, NULL);
		break;
	case X86_INS_LEAVE:
		set(ret, INSN_LEAVE, NULL, NULL);
		break;
	default:
		break;
	}
}

static void take_flow(const cs_insn *insn, const cs_x86_op *op, struct insn_access *ret)
{
	const cs_detail *detail = insn->detail;
	bool jump = false;

	for (unsigned i = 0; i < detail->groups_count; i++)
		jump |=
		    detail->groups[i] == CS_GRP_JUMP || detail->groups[i] == CS_GRP_BRANCH_RELATIVE;
	switch (insn->id) {
	case X86_INS_CALL:
		ret->flow = INSN_CALL;
		ret->stack = true;
		break;
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_IRETQ:
		ret->flow = INSN_END;
		ret->stack = true;
		return;
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_INT3:
		ret->flow = INSN_END;
		return;
	case X86_INS_JMP:
		ret->flow = INSN_JUMP;
		break;
	default:
		if (!jump)
			return;
		ret->flow = INSN_BRANCH;
		break;
	}
	if (op && op->type == X86_OP_IMM) {
		ret->has_target = true;
		ret->target = (uint64_t)op->imm;
	}
}

static void take_action(const cs_insn *insn, const cs_x86 *x86, struct insn_access *ret)
{
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];

	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		if (x86->op_count == 2)
			take_move(to, from, ret);
		break;
	case X86_INS_LEA:
		if (x86->op_count == 2 && is_whole(to) && from->type == X86_OP_MEM)
			set(ret, INSN_ADDRESS, to, NULL);
		break;
	case X86_INS_ADD:
		take_sum(to, from, 1, ret);
		break;
	case X86_INS_SUB:
		take_sum(to, from, -1, ret);
		break;
	case X86_INS_INC:
		take_one_more(to, 1, ret);
		break;
	case X86_INS_DEC:
		take_one_more(to, -1, ret);
		break;
	case X86_INS_CMOVA ... X86_INS_CMOVS:
		if (x86->op_count == 2 && is_whole(to) && is_whole(from))
			set(ret, INSN_SELECT, to, from);
		break;
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
	case X86_INS_POP:
	case X86_INS_POPFQ:
	case X86_INS_LEAVE:
	case X86_INS_ENTER:
		take_stack(insn, x86->op_count ? to : NULL, ret);
		break;
	default:
		break;
	}
}

static void take(const cs_insn *insn, struct insn_access *ret)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (uint8_t i = 0; i < x86->op_count && !ret->memory; i++)
		if (x86->operands[i].type == X86_OP_MEM)
			take_memory(insn, &x86->operands[i], ret);
	take_flow(insn, x86->op_count ? &x86->operands[0] : NULL, ret);
	take_action(insn, x86, ret);
}

const struct insn_machine tally_insn_x86 = {register_of, take};
