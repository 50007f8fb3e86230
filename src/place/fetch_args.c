#include "place/fetch_args.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>

/* Numbers: the psABI of each machine; names: regoffset_table of the kernel's ptrace.c. */
static const char x86_64[][8] = {"%ax", "%dx", "%cx",  "%bx",  "%si",  "%di",  "%bp",  "%sp",
				 "%r8", "%r9", "%r10", "%r11", "%r12", "%r13", "%r14", "%r15"};
static const char x86_32[][8] = {"%ax", "%cx", "%dx", "%bx", "%sp", "%bp", "%si", "%di"};
static const char arm64[][8] = {"%x0",  "%x1",  "%x2",  "%x3",  "%x4",  "%x5",  "%x6",  "%x7",
				"%x8",  "%x9",  "%x10", "%x11", "%x12", "%x13", "%x14", "%x15",
				"%x16", "%x17", "%x18", "%x19", "%x20", "%x21", "%x22", "%x23",
				"%x24", "%x25", "%x26", "%x27", "%x28", "%x29", "%lr",  "%sp"};

static const struct {
	unsigned machine;
	const char (*names)[8];
	size_t count;
} machines[] = {
    {EM_X86_64, x86_64, sizeof(x86_64) / sizeof(*x86_64)},
    {EM_386, x86_32, sizeof(x86_32) / sizeof(*x86_32)},
    {EM_AARCH64, arm64, sizeof(arm64) / sizeof(*arm64)},
};

const char *tally_fetch_register(unsigned machine, uint64_t number)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == machine)
			return number < machines[i].count ? machines[i].names[number] : NULL;
	return NULL;
}

bool tally_fetch_follow(struct fetch *fetch, int64_t offset)
{
	if (fetch->count == FETCH_STEPS_MOST)
		return false;
	fetch->steps[fetch->count++] = offset;
	return true;
}

static int64_t add(int64_t left, int64_t right)
{
	return (int64_t)((uint64_t)left + (uint64_t)right);
}

void tally_fetch_format(const struct fetch *fetch, int64_t shift, bool user, struct tally_buf *to)
{
	unsigned first = fetch->base == FETCH_STATIC ? 1 : 0;

	for (unsigned i = fetch->count; i > first; i--)
		tally_buf_printf(to, "%s%+" PRId64 "(", user ? "+u" : "", fetch->steps[i - 1]);
	switch (fetch->base) {
	case FETCH_REGISTER:
		tally_buf_text(to, fetch->name);
		break;
	case FETCH_STATIC:
		if (fetch->name)
			tally_buf_printf(to, "@%s%+" PRId64, fetch->name,
					 fetch->count ? fetch->steps[0] : 0);
		else
			tally_buf_printf(to, "@+0x%" PRIx64,
					 (uint64_t)add(add(fetch->value, shift),
						       fetch->count ? fetch->steps[0] : 0));
		break;
	default:
		tally_buf_printf(to, "\\%" PRId64, fetch->value);
		break;
	}
	for (unsigned i = fetch->count; i > first; i--)
		tally_buf_byte(to, ')');
}

/* --- expressions --- */

/* The one value that is followed: where it is so far, and the constant that is added next. */
struct state {
	struct fetch at;
	bool has_at;
	int64_t added;
	bool in_register; /* the register has the value, not its address */
	bool is_value;    /* DW_OP_stack_value */
	bool is_last;     /* the value that was read is not an address */
	int64_t pushed;   /* a constant above it */
	bool has_pushed;
	const char *why;
};

static int refuse(struct state *state, const char *why)
{
	state->why = why;
	return -ENOTSUP;
}

static int start(struct state *state, const struct fetch *at, int64_t added)
{
	if (state->has_at)
		return refuse(state, "it is made of several values");
	state->at = *at;
	state->has_at = true;
	state->added = added;
	return 0;
}

static int start_register(struct state *state, unsigned machine, uint64_t number, int64_t added)
{
	struct fetch at = {.name = tally_fetch_register(machine, number)};

	return at.name ? start(state, &at, added)
		       : refuse(state, "it is in a register that the kernel does not "
				       "give (of floating point, or a vector)");
}

static int push(struct state *state, int64_t value)
{
	if (!state->has_at && !state->has_pushed) {
		struct fetch at = {.base = FETCH_VALUE, .value = value};

		return start(state, &at, 0);
	}
	if (state->has_pushed)
		return refuse(state, "it is computed");
	state->pushed = value;
	state->has_pushed = true;
	return 0;
}

static int plus(struct state *state, int64_t value)
{
	if (!state->has_at || state->is_value || state->is_last)
		return refuse(state, "its description is damaged");
	state->added = add(state->added, value);
	return 0;
}

static int look(struct state *state)
{
	if (!state->has_at || state->in_register || state->is_last || state->at.base == FETCH_VALUE)
		return refuse(state, "its description is damaged");
	if (!tally_fetch_follow(&state->at, state->added))
		return refuse(state, "it is behind too many pointers");
	state->added = 0;
	return 0;
}

static int run(struct state *state, const Dwarf_Op *ops, size_t count,
	       const struct fetch_frame *frame, unsigned depth);

/* The frame's own expression, and the offset from it. */
static int run_frame(struct state *state, const Dwarf_Op *ops, size_t count, int64_t offset,
		     const struct fetch_frame *frame, unsigned depth)
{
	int result;

	if (!ops || depth > 2)
		return refuse(state, "it is in a stack frame whose address is unknown here");
	result = run(state, ops, count, frame, depth + 1);
	if (result)
		return result;
	state->in_register = false; /* a frame base in a register is the register's value */
	state->is_value = false;
	return plus(state, offset);
}

static int run_one(struct state *state, const Dwarf_Op *op, const struct fetch_frame *frame,
		   unsigned depth)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return start_register(state, frame->machine, op->atom - DW_OP_breg0,
				      (int64_t)op->number);
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		state->in_register = true;
		return start_register(state, frame->machine, op->atom - DW_OP_reg0, 0);
	}
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(state, op->atom - DW_OP_lit0);
	switch (op->atom) {
	case DW_OP_regx:
		state->in_register = true;
		return start_register(state, frame->machine, op->number, 0);
	case DW_OP_bregx:
		return start_register(state, frame->machine, op->number, (int64_t)op->number2);
	case DW_OP_fbreg:
		return run_frame(state, frame->base, frame->base_count, (int64_t)op->number, frame,
				 depth);
	case DW_OP_call_frame_cfa:
		return run_frame(state, frame->caller, frame->caller_count, 0, frame, depth);
	case DW_OP_addr:
		return start(
		    state, &(struct fetch){.base = FETCH_STATIC, .value = (int64_t)op->number}, 0);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(state, (int64_t)op->number);
	case DW_OP_plus_uconst:
		return plus(state, (int64_t)op->number);
	case DW_OP_plus:
	case DW_OP_minus:
		if (!state->has_pushed)
			return refuse(state, "it is computed");
		state->has_pushed = false;
		return plus(state, op->atom == DW_OP_plus ? state->pushed
							  : (int64_t)(0 - (uint64_t)state->pushed));
	case DW_OP_deref:
		return look(state);
	case DW_OP_deref_size: /* the last look: its size is that of the argument's type */
		state->is_last = true;
		return look(state);
	case DW_OP_stack_value:
		state->is_value = true;
		return 0;
	case DW_OP_nop:
		return 0;
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return refuse(state, "each thread has its own (thread-local), which the kernel "
				     "cannot find");
	case DW_OP_piece:
	case DW_OP_bit_piece:
		return refuse(state, "it is kept in pieces");
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return refuse(state, "only its value at the function's entry is known: put the "
				     "probe there");
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return refuse(state, "the compiler removed what it points to");
	case DW_OP_implicit_value:
		return refuse(state, "it is a constant that is not in the program's memory");
	default:
		return refuse(state, "it is computed");
	}
}

static int run(struct state *state, const Dwarf_Op *ops, size_t count,
	       const struct fetch_frame *frame, unsigned depth)
{
	int result = 0;

	for (size_t i = 0; i < count && !result; i++)
		result = run_one(state, &ops[i], frame, depth);
	return result;
}

int tally_fetch_locate(const Dwarf_Op *ops, size_t count, const struct fetch_frame *frame,
		       struct fetch *ret, const char **ret_why)
{
	struct state state = {0};
	int result;

	if (!count)
		return -ENOENT;
	result = run(&state, ops, count, frame, 0);
	if (!result && (!state.has_at || state.has_pushed))
		result = refuse(&state, "its description is damaged");
	if (!result && state.is_value) {
		if (state.at.base == FETCH_VALUE)
			state.at.value = add(state.at.value, state.added);
		else if (state.added || (state.at.base == FETCH_STATIC && !state.at.count))
			result = refuse(&state, "it is computed");
	} else if (!result && state.in_register) {
		if (state.added)
			result = refuse(&state, "its description is damaged");
	} else if (!result) {
		result = look(&state);
	}
	if (result)
		*ret_why = state.why;
	else
		*ret = state.at;
	return result;
}
