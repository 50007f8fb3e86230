#include "base/bytes.h"
#include "trace/trace_program.h"

uint64_t tally_trace_load(const struct trace_payload *payload, uint32_t offset, uint32_t size)
{
	const uint8_t *at = payload->bytes + offset;

	if (offset > payload->size || size > payload->size - offset)
		return 0;
	switch (size) {
	case 1:
		return *at;
	case 2:
		return payload->swap ? __builtin_bswap16(load_u16(at)) : load_u16(at);
	case 4:
		return payload->swap ? __builtin_bswap32(load_u32(at)) : load_u32(at);
	case 8:
		return payload->swap ? __builtin_bswap64(load_u64(at)) : load_u64(at);
	default:
		return 0;
	}
}

/* Documentation/trace/events.rst calls it __data_loc: the offset is in the lower half.  Where the
 * length says more than there is, there is less. */
const uint8_t *tally_trace_dynamic(const struct trace_payload *payload,
				   const struct trace_field *field, uint32_t *ret_size)
{
	uint32_t word = (uint32_t)tally_trace_load(payload, field->offset, field->size);
	uint32_t offset = word & 0xffff, size = word >> 16;

	if (field->flags & FIELD_RELATIVE)
		offset += field->offset + field->size;
	if (offset > payload->size)
		offset = payload->size;
	*ret_size = size < payload->size - offset ? size : payload->size - offset;
	return payload->bytes + offset;
}

/* Where `base` + `index` * `size` is within 32 bits, the number there. */
static uint64_t load_element(const struct trace_payload *payload, uint64_t base, uint64_t index,
			     uint32_t size)
{
	uint64_t offset;

	if (__builtin_mul_overflow(index, size, &offset) ||
	    __builtin_add_overflow(offset, base, &offset) || offset > UINT32_MAX)
		return 0;
	return tally_trace_load(payload, (uint32_t)offset, size);
}

static uint64_t load_dynamic(const struct trace_payload *payload, const struct trace_expr *expr)
{
	uint32_t unused;
	const uint8_t *start = tally_trace_dynamic(payload, expr->field, &unused);

	return load_element(
	    payload, (uint64_t)(start - payload->bytes) + tally_trace_eval(payload, expr->left), 0,
	    expr->size);
}

static uint64_t eval_binary(enum trace_expr_kind kind, uint64_t left, uint64_t right)
{
	switch (kind) {
	case EXPR_NOT_EQUAL:
		return left != right;
	case EXPR_EQUAL:
		return left == right;
	case EXPR_OR:
		return left || right;
	case EXPR_BIT_OR:
		return left | right;
	case EXPR_AND:
		return left && right;
	case EXPR_BIT_AND:
		return left & right;
	case EXPR_LESS:
		return left < right;
	case EXPR_LESS_EQUAL:
		return left <= right;
	case EXPR_SHIFT_LEFT:
		return left << (right & 63);
	case EXPR_GREATER:
		return left > right;
	case EXPR_GREATER_EQUAL:
		return left >= right;
	case EXPR_SHIFT_RIGHT:
		return left >> (right & 63);
	case EXPR_SUBTRACT:
		return left - right;
	case EXPR_ADD:
		return left + right;
	case EXPR_DIVIDE:
		return right ? left / right : 0;
	case EXPR_REMAINDER:
		return right ? left % right : 0;
	case EXPR_MULTIPLY:
		return left * right;
	default:
		return 0;
	}
}

uint64_t tally_trace_eval(const struct trace_payload *payload, const struct trace_expr *expr)
{
	switch (expr->kind) {
	case EXPR_CONSTANT:
		return expr->value;
	case EXPR_LOAD:
		return tally_trace_load(payload, expr->offset, expr->size);
	case EXPR_MASK:
		return tally_trace_eval(payload, expr->left) & expr->value;
	case EXPR_ELEMENT:
		return load_element(payload, expr->offset, tally_trace_eval(payload, expr->left),
				    expr->size);
	case EXPR_DYNAMIC:
		return load_dynamic(payload, expr);
	case EXPR_DYNAMIC_LENGTH:
		return tally_trace_load(payload, expr->field->offset, expr->field->size) >> 16;
	case EXPR_CHOOSE:
		return tally_trace_eval(
		    payload, tally_trace_eval(payload, expr->left) ? expr->right : expr->other);
	case EXPR_NOT:
		return !tally_trace_eval(payload, expr->left);
	case EXPR_INVERT:
		return ~tally_trace_eval(payload, expr->left);
	default:
		return eval_binary(expr->kind, tally_trace_eval(payload, expr->left),
				   tally_trace_eval(payload, expr->right));
	}
}
