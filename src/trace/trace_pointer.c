/* What the kernel's %p... conversions stand for (Documentation/core-api/printk-formats.rst). */
#include <string.h>
#include "base/bytes.h"
#include "base/digits.h"
#include "trace/trace_program.h"

enum {
	FAMILY_INET = 2, /* Linux' AF_INET and AF_INET6, whatever machine this is */
	FAMILY_INET6 = 10,
	SOCKADDR_IN = 16,
	SOCKADDR_IN6 = 28,
};

static const uint8_t nothing[64];

/* The field's bytes; zeros where the payload ends before it does. */
static const uint8_t *bytes_of(const struct trace_payload *payload, const struct trace_field *field,
			       uint32_t size)
{
	if (field->offset > payload->size || size > payload->size - field->offset)
		return nothing;
	return payload->bytes + field->offset;
}

static void put_address(struct tally_buf *to, uint64_t value)
{
	if (!value) {
		tally_buf_add(to, "(nil)", 5);
		return;
	}
	tally_buf_add(to, "0x", 2);
	buf_hex(to, value);
}

static void put_function(struct tally_buf *to, const struct trace_payload *payload, bool offset,
			 uint64_t address)
{
	const struct tally_trace_symbols *symbols = payload->symbols;
	uint64_t start = address;
	const char *name = NULL;

	if (symbols && symbols->find)
		name = symbols->find(symbols->context, address, &start);
	if (!name) {
		tally_buf_add(to, "0x", 2);
		buf_hex(to, address);
		return;
	}
	tally_buf_text(to, name);
	if (!offset)
		return;
	tally_buf_add(to, "+0x", 3);
	buf_hex(to, address - start);
}

static void put_mac(struct tally_buf *to, const struct trace_step *step, const uint8_t *bytes)
{
	for (int i = 0; i < 6; i++) {
		if (i && step->mark)
			tally_buf_byte(to, (uint8_t)step->mark);
		buf_hex_zeros(to, bytes[step->reverse ? 5 - i : i], 2);
	}
}

static void put_ip4(struct tally_buf *to, bool zeros, bool reverse, const uint8_t *bytes)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			tally_buf_byte(to, '.');
		buf_dec_zeros(to, bytes[reverse ? 3 - i : i], zeros ? 3 : 0);
	}
}

/* IPv4 in IPv6: ::ffff:a.b.c.d, and ISATAP (RFC 5214), whose last half starts with 0[02]00:5efe. */
static bool holds_ip4(const uint8_t *bytes)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(bytes, mapped, sizeof(mapped)) ||
	       ((bytes[8] | 2) == 2 && !bytes[9] && bytes[10] == 0x5e && bytes[11] == 0xfe);
}

static unsigned word_of(const uint8_t *bytes, unsigned i)
{
	return (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
}

/* The first of the longest runs of zeros, when it is longer than one. */
static unsigned zeros_at(const uint8_t *bytes, unsigned words, unsigned *ret_length)
{
	unsigned best = words, longest = 1;

	for (unsigned i = 0; i < words; i++) {
		unsigned length = 0;

		while (i + length < words && !word_of(bytes, i + length))
			length++;
		if (length > longest) {
			longest = length;
			best = i;
		}
	}
	*ret_length = longest;
	return best;
}

static void put_ip6_short(struct tally_buf *to, const uint8_t *bytes)
{
	bool ip4 = holds_ip4(bytes), colon = false;
	unsigned words = ip4 ? 6 : 8, length, zeros = zeros_at(bytes, words, &length);

	for (unsigned i = 0; i < words; i++) {
		if (i == zeros) {
			tally_buf_text(to, colon || !i ? "::" : ":");
			colon = false;
			i += length - 1;
			continue;
		}
		if (colon)
			tally_buf_byte(to, ':');
		buf_hex(to, word_of(bytes, i));
		colon = true;
	}
	if (!ip4)
		return;
	if (colon)
		tally_buf_byte(to, ':');
	put_ip4(to, false, false, bytes + 12);
}

static void put_ip6(struct tally_buf *to, const struct trace_step *step, const uint8_t *bytes)
{
	if (step->compressed) {
		put_ip6_short(to, bytes);
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		if (i && !step->flag)
			tally_buf_byte(to, ':');
		buf_hex_zeros(to, word_of(bytes, i), 4);
	}
}

/* struct sockaddr_in and sockaddr_in6 (ip(7), ipv6(7)): the port and the address are big-endian. */
static void put_sockaddr(struct tally_buf *to, const struct trace_step *step,
			 const struct trace_payload *payload)
{
	const struct trace_field *field = step->field;
	uint64_t family = tally_trace_load(payload, field->offset, 2);
	const uint8_t *bytes;

	if (family == FAMILY_INET && field->size < SOCKADDR_IN) {
		tally_buf_text(to, "INVALIDIPv4");
	} else if (family == FAMILY_INET) {
		bytes = bytes_of(payload, field, SOCKADDR_IN);
		put_ip4(to, step->flag, step->reverse, bytes + 4);
		if (step->port)
			tally_buf_byte(to, ':');
		if (step->port)
			buf_dec(to, word_of(bytes, 1));
	} else if (family == FAMILY_INET6 && field->size < SOCKADDR_IN6) {
		tally_buf_text(to, "INVALIDIPv6");
	} else if (family == FAMILY_INET6) {
		bytes = bytes_of(payload, field, SOCKADDR_IN6);
		if (step->port)
			tally_buf_byte(to, '[');
		put_ip6(to, step, bytes + 8);
		if (step->port)
			tally_buf_text(to, "]:");
		if (step->port)
			buf_dec(to, word_of(bytes, 1));
	}
}

static void put_uuid(struct tally_buf *to, const struct trace_step *step, const uint8_t *bytes)
{
	static const uint8_t guid[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

	for (unsigned i = 0; i < 16; i++) {
		uint8_t byte = bytes[step->reverse ? guid[i] : i];
		const char *digits = step->flag ? "0123456789ABCDEF" : "0123456789abcdef";

		tally_buf_byte(to, (uint8_t)digits[byte >> 4]);
		tally_buf_byte(to, (uint8_t)digits[byte & 15]);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			tally_buf_byte(to, '-');
	}
}

static void put_bytes(struct tally_buf *to, const struct trace_step *step,
		      const struct trace_payload *payload)
{
	int32_t count = (int32_t)tally_trace_eval(payload, step->number);
	uint32_t size;
	const uint8_t *bytes = tally_trace_dynamic(payload, step->field, &size);

	for (int64_t i = 0; i < count && i < size; i++) {
		if (i && step->mark)
			tally_buf_byte(to, (uint8_t)step->mark);
		buf_hex_zeros(to, bytes[i], 2);
	}
}

void tally_trace_put_pointer(struct tally_buf *to, const struct trace_step *step,
			     const struct trace_payload *payload)
{
	switch (step->kind) {
	case STEP_POINTER:
		put_address(to, tally_trace_eval(payload, step->number));
		break;
	case STEP_FUNCTION:
		put_function(to, payload, step->flag, tally_trace_eval(payload, step->number));
		break;
	case STEP_MAC:
		put_mac(to, step, bytes_of(payload, step->field, 6));
		break;
	case STEP_IP4:
		put_ip4(to, step->flag, step->reverse, bytes_of(payload, step->field, 4));
		break;
	case STEP_IP6:
		put_ip6(to, step, bytes_of(payload, step->field, 16));
		break;
	case STEP_ADDRESS:
		put_sockaddr(to, step, payload);
		break;
	case STEP_UUID:
		put_uuid(to, step, bytes_of(payload, step->field, 16));
		break;
	case STEP_BYTES:
		put_bytes(to, step, payload);
		break;
	default:
		break;
	}
}
