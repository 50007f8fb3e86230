/* A print format, "prev_pid=%d ...", and its arguments as steps.
 *
 * What is a conversion, what its length is and which argument it takes follows parse_arg_format()
 * of Linux 6.1's tools/lib/traceevent/event-parse.c, for conversions it does not know as well. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "trace/trace_tep.h"

enum {
	CONVERSION_MOST = 31,
	NUMBER_MOST = 100000,
};

/* The arguments not yet taken. */
struct args {
	const struct tep_print_arg *next;
};

static struct trace_step *add_step(struct tep_maker *maker, enum trace_step_kind kind)
{
	struct trace_program *program = maker->program;

	if (program->step_count == program->step_room) {
		maker->failed = -EINVAL;
		return NULL;
	}
	program->steps[program->step_count].kind = kind;
	return &program->steps[program->step_count++];
}

static void add_text(struct tep_maker *maker, const char *text, size_t length)
{
	struct trace_step *step = length ? add_step(maker, STEP_TEXT) : NULL;
	char *copy;

	if (!step)
		return;
	copy = tally_tep_make(maker, length + TRACE_TEXT_SPARE, 1);
	if (!copy)
		return;
	memcpy(copy, text, length);
	step->text = copy;
	step->length = length;
	step->quick = QUICK_TEXT;
}

/* Up to the next conversion; returns how much of the format it was. */
static size_t literal(struct tep_maker *maker, const char *format)
{
	char *text = tally_tep_make(maker, strlen(format) + 1, 1);
	size_t length = 0, at = 0;

	if (!text)
		return strlen(format);
	for (; format[at]; at++) {
		char c = format[at];

		if (c == '%' && format[at + 1] != '%')
			break;
		if (c == '%') {
			at++;
		} else if (c == '\\' && format[at + 1]) {
			c = format[++at];
			c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
		} else if (c == '\\') {
			at++;
			break;
		}
		text[length++] = c;
	}
	add_text(maker, text, length);
	return at;
}

/* How many letters behind %p belong to it. */
static size_t ip_letters(const char *p)
{
	size_t count = 2;

	if (p[1] == 'S')
		while (p[count] == 'p' || p[count] == 'f' || p[count] == 's')
			count++;
	if (p[1] == 'S' || p[1] == '4')
		if (p[count] && strchr("hnlb", p[count]))
			count++;
	if (p[1] == '4')
		return count;
	if (p[1] == 'S' || p[1] == '6')
		return count + (p[count] == 'c');
	return 1;
}

static size_t pointer_letters(const char *p)
{
	switch (*p) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return p[1] == 'R' || p[1] == 'F' ? 2 : 1;
	case 'U':
		return p[1] && strchr("LlBb", p[1]) ? 2 : 1;
	case 'h':
		return p[1] && strchr("CDN", p[1]) ? 2 : 1;
	case 'I':
	case 'i':
		return ip_letters(p);
	default:
		return 0;
	}
}

/* Digits of a width or precision. */
static uint32_t take_number(const char **at)
{
	uint32_t number = 0;

	for (; isdigit((unsigned char)**at); (*at)++)
		if (number < NUMBER_MOST)
			number = number * 10 + (uint32_t)(**at - '0');
	return number;
}

/* `text` is the conversion from behind its % to its letter: flags, width, precision, length, as
 * printf(3) has them; but of a %zd or %zu perf takes the lower 32 bits, as they are. */
static bool read_spec(const char *text, const char *end, struct trace_spec *spec)
{
	bool of_size = false;
	int longs = 0;

	for (; *text == '#' || *text == '-' || *text == '0'; text++) {
		spec->alternate |= *text == '#';
		spec->left |= *text == '-';
		spec->zeros |= *text == '0';
	}
	if (*text == '*')
		text++;
	else
		spec->width = take_number(&text);
	if (*text == '.') {
		text++;
		spec->has_precision = true;
		spec->star_is_precision = *text == '*';
		if (*text == '*')
			text++;
		else
			spec->precision = take_number(&text);
	}
	for (; *text && strchr("hlLzZ", *text); text++) {
		longs += *text == 'l' ? 1 : *text == 'h' ? -1 : *text == 'L' ? 2 : 0;
		of_size |= *text == 'z' || *text == 'Z';
	}
	spec->conversion = *text == 'i' ? 'd' : *text;
	spec->bits = (uint8_t)(longs >= 1 ? 64 : longs == -1 ? 16 : longs == -2 ? 8 : 32);
	if (of_size && !longs && spec->conversion == 'd')
		spec->conversion = 'u';
	spec->plain = !spec->alternate && !spec->left && !spec->zeros && !spec->width &&
		      !spec->has_precision && !spec->star;
	return text == end && longs >= -2;
}

static void add_wrong_argument(struct tep_maker *maker, const struct tep_print_arg *arg)
{
	char text[64];

	snprintf(text, sizeof(text), "ARG TYPE NOT FIELD BUT %d", (int)arg->type);
	add_text(maker, text, strlen(text));
}

/* Of MAC and IP addresses and UUIDs only fields can be shown, and only those of the right size. */
static bool sized_field(struct tep_maker *maker, const struct tep_print_arg *arg, uint32_t size,
			const char *wrong, const struct trace_field **ret)
{
	if (arg->type != TEP_PRINT_FIELD) {
		add_wrong_argument(maker, arg);
		return false;
	}
	*ret = tally_tep_field_of(maker, arg);
	if (*ret && size && (*ret)->size != size) {
		add_text(maker, wrong, strlen(wrong));
		return false;
	}
	return *ret;
}

static void add_mac(struct tep_maker *maker, const char *p, const struct tep_print_arg *arg)
{
	const struct trace_field *field;
	struct trace_step *step;

	if (!sized_field(maker, arg, 6, "INVALIDMAC", &field))
		return;
	step = add_step(maker, STEP_MAC);
	if (!step)
		return;
	step->field = field;
	step->mark = (char)(*p == 'm' ? 0 : p[1] == 'F' ? '-' : ':');
	step->reverse = p[1] == 'R';
}

/* h: the recording machine's order, l: little endian, else the network's. */
static bool reversed(const struct tep_maker *maker, char letter)
{
	return letter == 'l' || (letter == 'h' && !maker->big_endian);
}

static void add_ip(struct tep_maker *maker, const char *p, const struct tep_print_arg *arg)
{
	const struct trace_field *field;
	struct trace_step *step;
	bool four = p[1] == '4', six = p[1] == '6';
	const char *rest = p + 2;

	if ((!four && !six && p[1] != 'S') ||
	    !sized_field(maker, arg,
			 four  ? 4
			 : six ? 16
			       : 0,
			 four ? "INVALIDIPv4" : "INVALIDIPv6", &field))
		return;
	step = add_step(maker, four ? STEP_IP4 : six ? STEP_IP6 : STEP_ADDRESS);
	if (!step)
		return;
	step->field = field;
	step->flag = *p == 'i';
	if (*p == 'I' && p[1] == 'S' && *rest == 'p') {
		step->port = true;
		rest++;
	}
	if (*p == 'I' && !four && *rest == 'c') {
		step->compressed = true;
		rest++;
	}
	step->reverse = !six && reversed(maker, *rest);
}

static void add_uuid(struct tep_maker *maker, const char *p, const struct tep_print_arg *arg)
{
	const struct trace_field *field;
	struct trace_step *step;

	if (!sized_field(maker, arg, 16, "INVALIDUUID", &field))
		return;
	step = add_step(maker, STEP_UUID);
	if (!step)
		return;
	step->field = field;
	step->flag = p[1] == 'L' || p[1] == 'B';
	step->reverse = p[1] == 'L' || p[1] == 'l';
}

static void add_bytes(struct tep_maker *maker, const char *p, const struct tep_print_arg *arg,
		      const struct trace_expr *star)
{
	static const struct trace_expr one = {.kind = EXPR_CONSTANT, .value = 1};
	const struct trace_field *field;
	struct trace_step *step;

	if (arg->type != TEP_PRINT_DYNAMIC_ARRAY) {
		add_wrong_argument(maker, arg);
		return;
	}
	field = tally_tep_field(maker, arg->dynarray.field);
	step = field ? add_step(maker, STEP_BYTES) : NULL;
	if (!step)
		return;
	step->field = field;
	step->number = star ? star : &one;
	step->mark = (char)(p[1] == 'C' ? ':' : p[1] == 'D' ? '-' : p[1] == 'N' ? 0 : ' ');
}

static void add_number_pointer(struct tep_maker *maker, enum trace_step_kind kind, bool flag,
			       const struct tep_print_arg *arg)
{
	struct trace_step *step = add_step(maker, kind);

	if (!step)
		return;
	step->flag = flag;
	step->number = tally_tep_expr(maker, arg);
}

static void add_pointer(struct tep_maker *maker, const char *p, const struct tep_print_arg *arg,
			const struct trace_expr *star)
{
	switch (*p) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		add_number_pointer(maker, STEP_FUNCTION, *p == 'F' || *p == 'S', arg);
		break;
	case 'M':
	case 'm':
		add_mac(maker, p, arg);
		break;
	case 'I':
	case 'i':
		add_ip(maker, p, arg);
		break;
	case 'U':
		add_uuid(maker, p, arg);
		break;
	case 'h':
		add_bytes(maker, p, arg, star);
		break;
	default:
		add_number_pointer(maker, STEP_POINTER, false, arg);
		break;
	}
}

/* Plain numbers of plain fields need no more than a load. */
static void make_quick(struct trace_step *step)
{
	const struct trace_spec *spec = &step->spec;
	unsigned wide = spec->bits == 64;

	if (!spec->plain || spec->bits < 32 || step->number->kind != EXPR_LOAD)
		return;
	switch (spec->conversion) {
	case 'd':
		step->quick_as = wide ? QUICK_AS_D64 : QUICK_AS_D32;
		break;
	case 'u':
		step->quick_as = wide ? QUICK_AS_U64 : QUICK_AS_U32;
		break;
	case 'x':
		step->quick_as = wide ? QUICK_AS_X64 : QUICK_AS_X32;
		break;
	default:
		return;
	}
	switch (step->number->size) {
	case 1:
		step->quick = QUICK_U8;
		break;
	case 2:
		step->quick = QUICK_U16;
		break;
	case 4:
		step->quick = QUICK_U32;
		break;
	case 8:
		step->quick = QUICK_U64;
		break;
	default:
		break;
	}
}

static void count_quick(struct trace_program *program)
{
	for (size_t i = 0; i < program->step_count; i++) {
		const struct trace_step *step = &program->steps[i];

		if (step->quick == QUICK_TEXT)
			program->quick_most += step->length + TRACE_TEXT_SPARE;
		else if (step->quick)
			program->quick_most += TRACE_NUMBER_MOST;
	}
}

static void add_value(struct tep_maker *maker, const char *start, const char *end,
		      const struct tep_print_arg *arg, const struct trace_expr *star)
{
	struct trace_step *step = add_step(maker, *end == 's' ? STEP_STRING : STEP_NUMBER);

	if (!step)
		return;
	step->spec.star = star;
	if (end - start >= CONVERSION_MOST || !read_spec(start + 1, end, &step->spec)) {
		maker->failed = -EINVAL;
		return;
	}
	if (*end == 's')
		step->string = tally_tep_string(maker, arg);
	else
		step->number = tally_tep_expr(maker, arg);
	if (*end != 's')
		make_quick(step);
}

static const struct tep_print_arg *take_arg(struct tep_maker *maker, struct args *args)
{
	const struct tep_print_arg *arg = args->next;

	if (!arg) {
		maker->failed = -EINVAL; /* more conversions than arguments */
		return NULL;
	}
	args->next = arg->next;
	return arg;
}

static void unknown(struct tep_maker *maker, char letter)
{
	char text[] = {'>', letter, '<'};

	add_text(maker, text, sizeof(text));
}

/* One conversion, `format` at its %; returns how much of the format it was. */
static size_t conversion(struct tep_maker *maker, const char *format, struct args *args)
{
	const struct trace_expr *star = NULL;
	const struct tep_print_arg *arg;
	size_t at = 1;

	for (; format[at] && !maker->failed; at++) {
		if (format[at] == '*') {
			arg = star ? NULL : take_arg(maker, args);
			if (!arg) {
				maker->failed = -EINVAL;
				break;
			}
			star = tally_tep_expr(maker, arg);
		} else if (strchr("diuxXosp", format[at])) {
			arg = take_arg(maker, args);
			if (!arg)
				break;
			if (format[at] != 'p') {
				add_value(maker, format, format + at, arg, star);
				return at + 1;
			}
			add_pointer(maker, format + at + 1, arg, star);
			return at + 1 + pointer_letters(format + at + 1);
		} else if (!strchr("#hlL.zZ0123456789-", format[at])) {
			unknown(maker, format[at]);
			return at + 1;
		}
	}
	return at;
}

void tally_tep_steps(struct tep_maker *maker)
{
	struct trace_program *program = maker->program;
	const char *format = maker->event->print_fmt.format;
	struct args args = {maker->event->print_fmt.args};
	size_t room = 1;

	if (!format) {
		maker->failed = -EINVAL;
		return;
	}
	/* A conversion and a text before it for each %, and a text behind the last. */
	for (const char *at = format; *at; at++)
		room += *at == '%' ? 2 : 0;
	program->steps = tally_tep_make(maker, room, sizeof(*program->steps));
	program->step_room = program->steps ? room : 0;
	while (*format && !maker->failed) {
		if (*format == '%' && format[1] != '%')
			format += conversion(maker, format, &args);
		else
			format += literal(maker, format);
	}
	count_quick(program);
}
