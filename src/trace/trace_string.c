/* What a %s of a format can stand for. */
#include <string.h>
#include "base/bytes.h"
#include "base/digits.h"
#include "trace/trace_program.h"

static const struct trace_spec plain = {.conversion = 's', .plain = true};

static void put_chars(struct tally_buf *to, const struct trace_spec *spec,
		      const struct trace_payload *payload, const uint8_t *bytes, size_t most)
{
	tally_trace_put_text(to, spec, payload, (const char *)bytes,
			     strnlen((const char *)bytes, most));
}

static void put_field(struct tally_buf *to, const struct trace_spec *spec,
		      const struct trace_payload *payload, const struct trace_field *field)
{
	uint32_t left, size = field->size;

	if (field->offset > payload->size)
		return;
	left = payload->size - field->offset;
	/* A field without a size is what remains of the payload. */
	put_chars(to, spec, payload, payload->bytes + field->offset,
		  size && size < left ? size : left);
}

static void put_address(struct tally_buf *to, const struct trace_payload *payload,
			const struct trace_field *field)
{
	uint64_t address = tally_trace_load(payload, field->offset, payload->long_size);
	const struct trace_printk_row *row = tally_trace_printk_find(payload->printk, address);

	if (row)
		tally_buf_add(to, row->text, row->length);
	else
		buf_hex(to, address);
}

static void put_dynamic(struct tally_buf *to, const struct trace_spec *spec,
			const struct trace_payload *payload, const struct trace_field *field)
{
	uint32_t size;
	const uint8_t *bytes = tally_trace_dynamic(payload, field, &size);

	/* Like perf, to the NUL and not by the length, which old kernels got wrong. */
	put_chars(to, spec, payload, bytes, payload->size - (size_t)(bytes - payload->bytes));
}

static void put_0x(struct tally_buf *to, uint64_t value)
{
	tally_buf_add(to, "0x", 2);
	buf_hex(to, value);
}

static void put_flags(struct tally_buf *to, const struct trace_spec *spec,
		      const struct trace_payload *payload, const struct trace_string *string)
{
	uint64_t value = tally_trace_eval(payload, string->number);
	bool some = false;

	for (size_t i = 0; i < string->name_count; i++) {
		const struct trace_name *name = &string->names[i];
		uint64_t bits = (uint64_t)name->value;

		if (!value && name->value < 0) {
			tally_trace_put_text(to, spec, payload, name->text, name->length);
			break;
		}
		if (name->value <= 0 || (value & bits) != bits)
			continue;
		if (some)
			tally_buf_add(to, string->text, string->length);
		tally_trace_put_text(to, spec, payload, name->text, name->length);
		some = true;
		value &= ~bits;
	}
	if (!value)
		return;
	if (some)
		tally_buf_add(to, string->text, string->length);
	put_0x(to, value);
}

static const struct trace_name *find_name(const struct trace_string *string, uint64_t value)
{
	if (value < string->by_value_count)
		return string->by_value[value] ? &string->names[string->by_value[value] - 1] : NULL;
	for (size_t i = 0; i < string->name_count; i++)
		if ((uint64_t)string->names[i].value == value)
			return &string->names[i];
	return NULL;
}

static void put_symbol(struct tally_buf *to, const struct trace_spec *spec,
		       const struct trace_payload *payload, const struct trace_string *string)
{
	uint64_t value = tally_trace_eval(payload, string->number);
	const struct trace_name *name = find_name(string, value);

	if (name)
		tally_trace_put_text(to, spec, payload, name->text, name->length);
	else
		put_0x(to, value);
}

/* Where an array starts, and how many bytes the payload has from there. */
static const uint8_t *array_of(const struct trace_payload *payload, const struct trace_field *field,
			       uint32_t *ret_size)
{
	uint32_t offset = field->offset;

	if (field->flags & FIELD_DYNAMIC) {
		const uint8_t *bytes = tally_trace_dynamic(payload, field, ret_size);

		*ret_size = payload->size - (uint32_t)(bytes - payload->bytes);
		return bytes;
	}
	if (offset > payload->size)
		offset = payload->size;
	*ret_size = payload->size - offset;
	return payload->bytes + offset;
}

static void put_hex_bytes(struct tally_buf *to, const struct trace_payload *payload,
			  const struct trace_string *string)
{
	int32_t count = (int32_t)tally_trace_eval(payload, string->count);
	uint32_t size;
	const uint8_t *bytes = array_of(payload, string->field, &size);

	for (int64_t i = 0; i < count && i < size; i++) {
		if (i && string->kind == STRING_HEX)
			tally_buf_byte(to, ' ');
		buf_hex_zeros(to, bytes[i], 2);
	}
}

static void put_numbers(struct tally_buf *to, const struct trace_payload *payload,
			const struct trace_string *string)
{
	int32_t count = (int32_t)tally_trace_eval(payload, string->count);
	int32_t width = (int32_t)tally_trace_eval(payload, string->number);
	uint32_t size, start;

	start = (uint32_t)(array_of(payload, string->field, &size) - payload->bytes);
	for (int64_t i = 0; i < count && size; i++) {
		bool bad = width != 1 && width != 2 && width != 4 && width != 8;
		uint32_t step = bad ? 1 : (uint32_t)width;

		if (step > size)
			break;
		if (i)
			tally_buf_byte(to, ' ');
		if (bad)
			tally_buf_printf(to, "BAD SIZE:%d 0x%x", width, payload->bytes[start]);
		else
			buf_dec(to, tally_trace_load(payload, start, step));
		if (bad)
			width = 1;
		start += step;
		size -= step;
	}
}

/* The highest byte first, a comma between 32 bits. */
static void put_bits(struct tally_buf *to, const struct trace_payload *payload,
		     const struct trace_field *field)
{
	uint32_t size;
	const uint8_t *bytes = tally_trace_dynamic(payload, field, &size);

	for (uint32_t i = size; i-- > 0;) {
		buf_hex_zeros(to, bytes[payload->big_endian ? size - 1 - i : i], 2);
		if (i && !(i & 3))
			tally_buf_byte(to, ',');
	}
}

/* Bit masks are longs in the kernel. */
static bool has_bit(const struct trace_payload *payload, const uint8_t *bytes, uint32_t size,
		    uint32_t bit)
{
	uint32_t byte = bit / 8;

	if (payload->big_endian)
		byte ^= payload->long_size - 1u;
	return byte < size && bytes[byte] >> bit % 8 & 1;
}

static void put_cpus(struct tally_buf *to, const struct trace_payload *payload,
		     const struct trace_field *field)
{
	uint32_t size;
	const uint8_t *bytes = tally_trace_dynamic(payload, field, &size);
	bool some = false;

	for (uint32_t bit = 0; bit < size * 8; bit++) {
		uint32_t first = bit;

		if (!has_bit(payload, bytes, size, bit))
			continue;
		while (bit + 1 < size * 8 && has_bit(payload, bytes, size, bit + 1))
			bit++;
		if (some)
			tally_buf_byte(to, ',');
		some = true;
		buf_dec(to, first);
		if (bit > first)
			tally_buf_byte(to, '-');
		if (bit > first)
			buf_dec(to, bit);
	}
}

/* Bit masks are laid out by the conversion as a whole. */
static void put_mask(struct tally_buf *to, const struct trace_spec *spec,
		     const struct trace_payload *payload, const struct trace_string *string)
{
	struct tally_buf mask = {0};

	if (spec->plain) {
		if (string->kind == STRING_CPUS)
			put_cpus(to, payload, string->field);
		else
			put_bits(to, payload, string->field);
		return;
	}
	put_mask(&mask, &plain, payload, string);
	tally_trace_put_text(to, spec, payload, (const char *)mask.data, mask.size);
	if (mask.failed)
		to->failed = mask.failed;
	tally_buf_done(&mask);
}

void tally_trace_put_string(struct tally_buf *to, const struct trace_spec *spec,
			    const struct trace_payload *payload, const struct trace_string *string)
{
	while (string->kind == STRING_CHOOSE)
		string = tally_trace_eval(payload, string->number) ? string->yes : string->no;
	switch (string->kind) {
	case STRING_NOTHING:
	case STRING_CHOOSE:
		break;
	case STRING_TEXT:
		tally_trace_put_text(to, spec, payload, string->text, string->length);
		break;
	case STRING_CHARS:
		put_field(to, spec, payload, string->field);
		break;
	case STRING_ADDRESS:
		put_address(to, payload, string->field);
		break;
	case STRING_DYNAMIC:
		put_dynamic(to, spec, payload, string->field);
		break;
	case STRING_FLAGS:
		put_flags(to, spec, payload, string);
		break;
	case STRING_SYMBOL:
		put_symbol(to, spec, payload, string);
		break;
	case STRING_HEX:
	case STRING_HEX_RUN:
		put_hex_bytes(to, payload, string);
		break;
	case STRING_NUMBERS:
		put_numbers(to, payload, string);
		break;
	case STRING_BITMASK:
	case STRING_CPUS:
		put_mask(to, spec, payload, string);
		break;
	}
}
