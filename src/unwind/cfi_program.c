#include "unwind/cfi_program.h"

#include <errno.h>
#include <string.h>
#include "unwind/cfi_bytes.h"

/* Limit of remembered rules: compilers nest a few. */
#define REMEMBERED_MOST 16U

/* Source: DWARF 5, table 7.29; LSB 5.0, 10.5.2, for GNU's. */
enum cfi_instruction {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_NEGATE_RA_STATE_WITH_PC =
	    0x2c, /* 0x2c, arm64: return addresses are signed; the signature is removed anyway */
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	/* With an operand in the lower bits. */
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

struct running {
	const struct cfi_run *run;
	struct cfi_bytes bytes;
	struct cfi_state *state;
	uint64_t at, end;
	uint32_t remembered_count;
	struct cfi_state remembered[REMEMBERED_MOST];
};

static void set_rule(struct cfi_state *state, uint64_t column, enum cfi_how how, int64_t value,
		     uint16_t length)
{
	if (column >= CFI_COLUMNS)
		return; /* not supported */
	if (how == CFI_SAME)
		state->changed &= ~(1ULL << column);
	else
		state->changed |= 1ULL << column;
	state->rules[column] = (struct cfi_state_rule){
	    .column = (uint8_t)column, .how = (uint8_t)how, .value = value, .length = length};
}

static int64_t scale_offset(const struct running *running, uint64_t value)
{
	return (int64_t)(value * (uint64_t)running->run->common->data_align);
}

static void set_offset(struct running *running, uint64_t column, enum cfi_how how, uint64_t value)
{
	set_rule(running->state, column, how, scale_offset(running, value), 0);
}

static void restore(struct running *running, uint64_t column)
{
	const struct cfi_state *initial = running->run->initial;

	if (!initial || column >= CFI_COLUMNS || !(initial->changed >> column & 1))
		set_rule(running->state, column, CFI_SAME, 0, 0);
	else
		set_rule(running->state, column, initial->rules[column].how,
			 initial->rules[column].value, initial->rules[column].length);
}

/* Skips an expression; returns where it is, and its length. */
static int64_t take_expression(struct running *running, uint16_t *ret_length)
{
	uint64_t length = cfi_uleb(&running->bytes);
	const uint8_t *at = cfi_take(&running->bytes, length);

	if (!at || length > CFI_EXPRESSION_MOST) {
		running->bytes.failed = true;
		return 0;
	}
	*ret_length = (uint16_t)length;
	return at - running->run->section->bytes;
}

static void set_expression(struct running *running, enum cfi_how how)
{
	uint64_t column = cfi_uleb(&running->bytes);
	uint16_t length = 0;
	int64_t value = take_expression(running, &length);

	set_rule(running->state, column, how, value, length);
}

static void set_cfa(struct running *running, uint64_t column, int64_t value)
{
	if (column >= CFI_COLUMNS)
		running->bytes.failed = true;
	running->state->cfa =
	    (struct cfi_state_rule){.column = (uint8_t)column, .how = CFI_REGISTER, .value = value};
}

/* An offset alone belongs to a register; the offset of an expression has no meaning here. */
static void set_cfa_offset(struct running *running, int64_t value)
{
	if (running->state->cfa.how == CFI_IS_EXPRESSION)
		running->bytes.failed = true;
	running->state->cfa.value = value;
}

/* The rules so far are valid up to an address. 0, or what row() returned. */
static int advance(struct running *running, uint64_t to)
{
	const struct cfi_run *run = running->run;
	uint64_t from = running->at, until = to < running->end ? to : running->end;
	int result = 0;

	if (to < from) {
		running->bytes.failed = true;
		return 0;
	}
	if (run->row && until > from)
		result = run->row(run->context, from, until, running->state);
	running->at = to;
	return result;
}

static int advance_by(struct running *running, uint64_t count)
{
	uint64_t by;

	if (__builtin_mul_overflow(count, running->run->common->code_align, &by) ||
	    by > UINT64_MAX - running->at) {
		running->bytes.failed = true;
		return 0;
	}
	return advance(running, running->at + by);
}

static void remember(struct running *running)
{
	if (running->remembered_count == REMEMBERED_MOST)
		running->bytes.failed = true;
	else
		running->remembered[running->remembered_count++] = *running->state;
}

static void restore_remembered(struct running *running)
{
	if (!running->remembered_count)
		running->bytes.failed = true;
	else
		*running->state = running->remembered[--running->remembered_count];
}

/* Instructions about the CFA; false: it is not one. */
static bool cfa_instruction(struct running *running, uint8_t code)
{
	struct cfi_bytes *bytes = &running->bytes;
	struct cfi_state_rule *cfa = &running->state->cfa;
	uint64_t column;

	switch (code) {
	case CFA_DEF_CFA:
		column = cfi_uleb(bytes);
		set_cfa(running, column, (int64_t)cfi_uleb(bytes));
		return true;
	case CFA_DEF_CFA_SF:
		column = cfi_uleb(bytes);
		set_cfa(running, column, scale_offset(running, (uint64_t)cfi_sleb(bytes)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(running, cfi_uleb(bytes), cfa->how == CFI_IS_EXPRESSION ? 0 : cfa->value);
		return true;
	case CFA_DEF_CFA_OFFSET:
		set_cfa_offset(running, (int64_t)cfi_uleb(bytes));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(running, scale_offset(running, (uint64_t)cfi_sleb(bytes)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		*cfa = (struct cfi_state_rule){.how = CFI_IS_EXPRESSION};
		cfa->value = take_expression(running, &cfa->length);
		return true;
	default:
		return false;
	}
}

/* Instructions about one register; false: it is not one. */
static bool register_instruction(struct running *running, uint8_t code)
{
	struct cfi_bytes *bytes = &running->bytes;
	struct cfi_state *state = running->state;
	uint64_t column;

	switch (code) {
	case CFA_OFFSET_EXTENDED:
		column = cfi_uleb(bytes);
		set_offset(running, column, CFI_AT_CFA, cfi_uleb(bytes));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		column = cfi_uleb(bytes);
		set_offset(running, column, CFI_AT_CFA, (uint64_t)cfi_sleb(bytes));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		column = cfi_uleb(bytes);
		set_offset(running, column, CFI_AT_CFA, 0 - cfi_uleb(bytes));
		return true;
	case CFA_VAL_OFFSET:
		column = cfi_uleb(bytes);
		set_offset(running, column, CFI_CFA_PLUS, cfi_uleb(bytes));
		return true;
	case CFA_VAL_OFFSET_SF:
		column = cfi_uleb(bytes);
		set_offset(running, column, CFI_CFA_PLUS, (uint64_t)cfi_sleb(bytes));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(running, cfi_uleb(bytes));
		return true;
	case CFA_UNDEFINED:
		set_rule(state, cfi_uleb(bytes), CFI_UNDEFINED, 0, 0);
		return true;
	case CFA_SAME_VALUE:
		set_rule(state, cfi_uleb(bytes), CFI_SAME, 0, 0);
		return true;
	case CFA_REGISTER: {
		uint64_t of;

		column = cfi_uleb(bytes);
		of = cfi_uleb(bytes);
		set_rule(state, column, of < CFI_COLUMNS ? CFI_REGISTER : CFI_UNDEFINED,
			 (int64_t)of, 0);
		return true;
	}
	case CFA_EXPRESSION:
		set_expression(running, CFI_AT_EXPRESSION);
		return true;
	case CFA_VAL_EXPRESSION:
		set_expression(running, CFI_IS_EXPRESSION);
		return true;
	default:
		return false;
	}
}

/* 0, or what row() returned. */
static int other_instruction(struct running *running, uint8_t code)
{
	struct cfi_bytes *bytes = &running->bytes;
	const struct cfi_run *run = running->run;
	uint64_t to;

	switch (code) {
	case CFA_NOP:
	case CFA_NEGATE_RA_STATE:
	case CFA_NEGATE_RA_STATE_WITH_PC:
		return 0;
	case CFA_SET_LOC:
		if (tally_cfi_pointer(run->section, bytes, run->common->encoding, run->word, &to))
			return advance(running, to);
		bytes->failed = true;
		return 0;
	case CFA_ADVANCE_LOC1:
		return advance_by(running, cfi_fixed(bytes, 1));
	case CFA_ADVANCE_LOC2:
		return advance_by(running, cfi_fixed(bytes, 2));
	case CFA_ADVANCE_LOC4:
		return advance_by(running, cfi_fixed(bytes, 4));
	case CFA_REMEMBER_STATE:
		remember(running);
		return 0;
	case CFA_RESTORE_STATE:
		restore_remembered(running);
		return 0;
	case CFA_GNU_ARGS_SIZE:
		cfi_uleb(bytes);
		return 0;
	default:
		if (!cfa_instruction(running, code) && !register_instruction(running, code))
			bytes->failed = true;
		return 0;
	}
}

static int step(struct running *running)
{
	uint8_t code = (uint8_t)cfi_fixed(&running->bytes, 1), operand = code & 0x3f;

	switch (code & 0xc0) {
	case CFA_ADVANCE_LOC:
		return advance_by(running, operand);
	case CFA_OFFSET:
		set_offset(running, operand, CFI_AT_CFA, cfi_uleb(&running->bytes));
		return 0;
	case CFA_RESTORE:
		restore(running, operand);
		return 0;
	default:
		return other_instruction(running, code);
	}
}

int tally_cfi_program_run(const struct cfi_run *run, struct cfi_span program, uint64_t start,
			  uint64_t end, struct cfi_state *state, uint64_t *ret_from)
{
	/* Only remembered rules are read. */
	struct running running;
	int result = 0;

	running.run = run;
	running.bytes = (struct cfi_bytes){.at = run->section->bytes + program.from,
					   .end = run->section->bytes + program.until};
	running.state = state;
	running.at = start;
	running.end = end;
	running.remembered_count = 0;
	while (!result && cfi_more(&running.bytes) && running.at < end)
		result = step(&running);
	if (running.bytes.failed)
		result = -EINVAL;
	if (result) {
		*ret_from = running.at;
		return result;
	}
	return running.at < end ? advance(&running, end) : 0;
}
