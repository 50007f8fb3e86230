#include <ctype.h>
#include <string.h>
#include "base/bytes.h"
#include "base/digits.h"
#include "trace/trace_program.h"

/* Eight hexadecimal digits at once: the nibbles are spread over bytes, and those over 9 are raised
 * to letters. */
static uint64_t hex_digits(uint32_t value)
{
	uint64_t x = value;

	x = (x << 16 | x) & 0x0000ffff0000ffff;
	x = (x << 8 | x) & 0x00ff00ff00ff00ff;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
	x += 0x3030303030303030 +
	     ((x + 0x0606060606060606) >> 4 & 0x0101010101010101) * ('a' - '0' - 10);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(x) : x;
}

/* Writes 16 bytes, of which those before the returned end are valid. */
static char *put_hex_quick(char *to, uint64_t value)
{
	unsigned length = digits_hex_length(value);

	value <<= 64 - 4 * length;
	store_u64(to, hex_digits((uint32_t)(value >> 32)));
	store_u64(to + 8, hex_digits((uint32_t)value));
	return to + length;
}

/* Copies a text with TRACE_TEXT_SPARE readable bytes after it, in pieces of that size. */
static char *put_text_quick(char *to, const char *text, size_t length)
{
	size_t at = 0;

	do
		memcpy(to + at, text + at, TRACE_TEXT_SPARE);
	while ((at += TRACE_TEXT_SPARE) < length);
	return to + length;
}

static inline uint64_t load_quick(const uint8_t *at, enum trace_quick quick)
{
	switch (quick) {
	case QUICK_U8:
		return *at;
	case QUICK_U16:
		return load_u16(at);
	case QUICK_U32:
		return load_u32(at);
	default:
		return load_u64(at);
	}
}

static inline char *put_signed(char *to, int64_t value)
{
	*to = '-';
	return put_dec(to + (value < 0), value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* A number of plain bytes of the payload, cut or extended as the conversion says. */
static inline char *put_number_quick(char *to, const struct trace_step *step,
				     const struct trace_payload *payload)
{
	uint64_t value = load_quick(payload->bytes + step->number->offset, step->quick);

	switch (step->quick_as) {
	case QUICK_AS_D32:
		return put_signed(to, (int32_t)value);
	case QUICK_AS_D64:
		return put_signed(to, (int64_t)value);
	case QUICK_AS_U32:
		return put_dec(to, (uint32_t)value);
	case QUICK_AS_U64:
		return put_dec(to, value);
	case QUICK_AS_X32:
		return put_hex_quick(to, (uint32_t)value);
	default:
		return put_hex_quick(to, value);
	}
}

static void run_step(const struct trace_step *step, const struct trace_payload *payload,
		     struct tally_buf *to)
{
	switch (step->kind) {
	case STEP_TEXT:
		tally_buf_add(to, step->text, step->length);
		break;
	case STEP_NUMBER:
		tally_trace_put_number(to, &step->spec, payload,
				       tally_trace_eval(payload, step->number));
		break;
	case STEP_STRING:
		tally_trace_put_string(to, &step->spec, payload, step->string);
		break;
	default:
		tally_trace_put_pointer(to, step, payload);
		break;
	}
}

/* Runs all quick steps up to the next other one; room for all of the program is reserved at
 * once. */
static size_t run_quick(const struct trace_program *program, size_t i,
			const struct trace_payload *payload, struct tally_buf *to)
{
	char *at = buf_put_begin(to, program->quick_most);

	if (!at)
		return program->step_count;
	for (; i < program->step_count && program->steps[i].quick; i++) {
		const struct trace_step *step = &program->steps[i];

		if (step->quick == QUICK_TEXT)
			at = put_text_quick(at, step->text, step->length);
		else
			at = put_number_quick(at, step, payload);
	}
	buf_put_end(to, at);
	return i;
}

void tally_trace_run(const struct trace_program *program, const struct trace_payload *payload,
		     struct tally_buf *to)
{
	for (size_t i = 0; i < program->step_count;) {
		if (program->steps[i].quick && !payload->swap)
			i = run_quick(program, i, payload, to);
		else
			run_step(&program->steps[i++], payload, to);
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
