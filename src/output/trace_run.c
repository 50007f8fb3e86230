#include <ctype.h>
#include <string.h>
#include "base/digits.h"
#include "output/trace_program.h"

static void run_number(struct tally_buf *to, const struct trace_step *step,
		       const struct trace_payload *payload)
{
	const struct trace_expr *expr = step->number;
	uint64_t value = expr->kind == EXPR_LOAD
			     ? tally_trace_load(payload, expr->offset, expr->size)
			     : tally_trace_eval(payload, expr);

	tally_trace_put_number(to, &step->spec, payload, value);
}

void tally_trace_run(const struct trace_program *program, const struct trace_payload *payload,
		     struct tally_buf *to)
{
	for (size_t i = 0; i < program->step_count; i++) {
		const struct trace_step *step = &program->steps[i];

		switch (step->kind) {
		case STEP_TEXT:
			tally_buf_add(to, step->text, step->length);
			break;
		case STEP_NUMBER:
			run_number(to, step, payload);
			break;
		case STEP_STRING:
			tally_trace_put_string(to, &step->spec, payload, step->string);
			break;
		default:
			tally_trace_put_pointer(to, step, payload);
			break;
		}
	}
}

static bool printable(const uint8_t *bytes, uint32_t size)
{
	for (uint32_t i = 0; i < size && bytes[i]; i++)
		if (bytes[i] > 0x7e || (!isprint(bytes[i]) && !isspace(bytes[i])))
			return false;
	return true;
}

static void put_array(struct tally_buf *to, const struct trace_payload *payload,
		      const struct trace_field *field)
{
	uint32_t size = field->size;
	const uint8_t *bytes = payload->bytes + field->offset;

	/* The payload has all that the program needs, so the field is in it. */
	if (field->flags & FIELD_DYNAMIC)
		bytes = tally_trace_dynamic(payload, field, &size);
	if (field->flags & FIELD_STRING && printable(bytes, size)) {
		/* Like perf, to the NUL even where that is behind the array. */
		size = payload->size - (uint32_t)(bytes - payload->bytes);
		tally_buf_add(to, bytes, strnlen((const char *)bytes, size));
		return;
	}
	tally_buf_add(to, "ARRAY[", 6);
	for (uint32_t i = 0; i < size; i++) {
		if (i)
			tally_buf_add(to, ", ", 2);
		buf_hex_zeros(to, bytes[i], 2);
	}
	tally_buf_byte(to, ']');
}

/* A long that is signed holds a pointer more often than not: it is shown in hex where it is 4
 * bytes. */
static void put_field(struct tally_buf *to, const struct trace_payload *payload,
		      const struct trace_field *field)
{
	static const struct trace_spec wide = {.conversion = 'd', .bits = 64, .plain = true};
	struct trace_spec spec = wide;
	uint64_t value = tally_trace_load(payload, field->offset, field->size);
	bool is_signed = field->flags & FIELD_SIGNED, is_long = field->flags & FIELD_LONG;

	if (field->flags & FIELD_POINTER || (is_long && (!is_signed || field->size == 4))) {
		tally_buf_add(to, "0x", 2);
		buf_hex(to, value);
		return;
	}
	if (!is_signed)
		spec.conversion = 'u';
	else if (field->size <= 4 && field->size)
		spec.bits = (uint8_t)(8 * field->size);
	if (is_signed && field->size == 2) {
		spec.plain = false;
		spec.width = 2;
	}
	tally_trace_put_number(to, &spec, payload, value);
}

void tally_trace_run_fields(const struct trace_program *program,
			    const struct trace_payload *payload, struct tally_buf *to)
{
	tally_buf_text(to, "[FAILED TO PARSE]");
	for (size_t i = 0; i < program->field_count; i++) {
		const struct trace_field *field = &program->fields[i];

		if (field->common)
			continue;
		tally_buf_byte(to, ' ');
		tally_buf_text(to, field->name);
		tally_buf_byte(to, '=');
		if (field->flags & FIELD_ARRAY)
			put_array(to, payload, field);
		else
			put_field(to, payload, field);
	}
}
