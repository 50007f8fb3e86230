/* Numbers and texts as printf formats them, for the conversions that the kernel's formats use. */
#include <string.h>
#include "base/digits.h"
#include "trace/trace_program.h"

enum {
	WIDTH_MOST = 1 << 16,
	OCTAL_MOST = 22,
};

struct layout {
	uint32_t width;
	int64_t precision; /* -1: none */
};

static struct layout layout_of(const struct trace_spec *spec, const struct trace_payload *payload)
{
	struct layout layout = {spec->width, spec->has_precision ? (int64_t)spec->precision : -1};
	int32_t star = -1;

	if (spec->star)
		star = (int32_t)tally_trace_eval(payload, spec->star);
	if (spec->star && spec->star_is_precision)
		layout.precision = star;
	else if (spec->star && star >= 0)
		layout.width = (uint32_t)star;
	if (layout.width > WIDTH_MOST)
		layout.width = WIDTH_MOST;
	if (layout.precision > WIDTH_MOST)
		layout.precision = WIDTH_MOST;
	return layout;
}

static uint64_t cut(uint64_t value, unsigned bits)
{
	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static int64_t extend(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static char *put_octal(char *to, uint64_t value)
{
	unsigned length = value ? (66 - (unsigned)__builtin_clzll(value)) / 3 : 1;

	for (char *at = to + length; at > to; value >>= 3)
		*--at = (char)('0' + (value & 7));
	return to + length;
}

/* The digits alone; returns how many. */
static unsigned digits_of(char *to, const struct trace_spec *spec, uint64_t value)
{
	char *end;

	if (spec->conversion == 'o')
		return (unsigned)(put_octal(to, value) - to);
	if (spec->conversion != 'x' && spec->conversion != 'X')
		return (unsigned)(put_dec(to, value) - to);
	end = put_hex(to, value);
	if (spec->conversion == 'X')
		for (char *at = to; at < end; at++)
			if (*at >= 'a')
				*at = (char)(*at - 'a' + 'A');
	return (unsigned)(end - to);
}

static void put_laid_out(struct tally_buf *to, const struct trace_spec *spec,
			 const struct layout *layout, bool negative, uint64_t value)
{
	char digits[OCTAL_MOST + 2];
	unsigned length = digits_of(digits, spec, value), zeros = 0, sign = negative, blanks;
	const char *prefix = negative ? "-" : "";

	if (!layout->precision && !value)
		length = 0; /* printf(3): no digits of 0 with the precision 0 */
	if (spec->alternate && value && (spec->conversion | 32) == 'x') {
		prefix = spec->conversion == 'x' ? "0x" : "0X";
		sign = 2;
	}
	if (layout->precision > length)
		zeros = (unsigned)layout->precision - length;
	if (spec->alternate && spec->conversion == 'o' && !zeros && (value || !length))
		zeros = 1;
	if (layout->precision < 0 && spec->zeros && !spec->left &&
	    layout->width > sign + length + zeros)
		zeros = layout->width - sign - length;
	blanks = sign + zeros + length < layout->width ? layout->width - sign - zeros - length : 0;
	if (!spec->left)
		buf_pad(to, ' ', blanks);
	tally_buf_add(to, prefix, sign);
	buf_pad(to, '0', zeros);
	tally_buf_add(to, digits, length);
	if (spec->left)
		buf_pad(to, ' ', blanks);
}

static void put_plain(struct tally_buf *to, bool negative, uint64_t value)
{
	char *at = buf_put_begin(to, DIGITS_MOST + 1);

	if (!at)
		return;
	*at = '-';
	buf_put_end(to, put_dec(at + negative, value));
}

void tally_trace_put_number(struct tally_buf *to, const struct trace_spec *spec,
			    const struct trace_payload *payload, uint64_t value)
{
	bool negative = false;
	struct layout layout;

	value = cut(value, spec->bits);
	if (spec->conversion == 'd') {
		int64_t number = extend(value, spec->bits);

		negative = number < 0;
		value = negative ? 0 - (uint64_t)number : (uint64_t)number;
	}
	if (spec->plain && (spec->conversion == 'd' || spec->conversion == 'u')) {
		put_plain(to, negative, value);
		return;
	}
	if (spec->plain && spec->conversion == 'x') {
		buf_hex(to, value);
		return;
	}
	layout = layout_of(spec, payload);
	put_laid_out(to, spec, &layout, negative, value);
}

void tally_trace_put_text(struct tally_buf *to, const struct trace_spec *spec,
			  const struct trace_payload *payload, const char *text, size_t length)
{
	struct layout layout;
	size_t blanks;

	if (spec->plain) {
		tally_buf_add(to, text, length);
		return;
	}
	layout = layout_of(spec, payload);
	if (layout.precision >= 0 && (uint64_t)layout.precision < length)
		length = (size_t)layout.precision;
	blanks = length < layout.width ? layout.width - length : 0;
	if (!spec->left)
		buf_pad(to, ' ', blanks);
	tally_buf_add(to, text, length);
	if (spec->left)
		buf_pad(to, ' ', blanks);
}
