/* The only files that use libtraceevent are this one and trace_tep_print.c: it parses formats to
 * trees, which become programs here. trace_tep_none.c replaces them without the library. */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "file/trace_data.h"
#include "trace/trace_sound.h"
#include "trace/trace_tep.h"

enum {
	DEPTH_MOST = 200,
	BY_VALUE_MOST = 1024,
};

/* libtraceevent parses in memory of its own that all of a process share, hence one lock a process.
 */
static pthread_mutex_t parser = PTHREAD_MUTEX_INITIALIZER;

struct trace_compiler {
	unsigned long_size;
	bool big_endian;
};

static const struct trace_expr zero = {.kind = EXPR_CONSTANT};
static const struct trace_string no_text = {.kind = STRING_NOTHING};

void *tally_tep_make(struct tep_maker *maker, size_t count, size_t size)
{
	void *made = NULL;

	if (!count || size <= PTRDIFF_MAX / count)
		made = tally_arena_alloc(maker->arena, count * size + !count);
	if (!made)
		maker->failed = -ENOMEM;
	return made;
}

const char *tally_tep_make_text(struct tep_maker *maker, const char *text, size_t length)
{
	const char *made = tally_arena_strndup(maker->arena, text, length);

	if (!made)
		maker->failed = -ENOMEM;
	return made ? made : "";
}

const struct trace_field *tally_tep_field(const struct tep_maker *maker,
					  const struct tep_format_field *field)
{
	const struct tep_format_field *at;
	size_t i = 0;

	for (at = maker->event->format.common_fields; at; at = at->next, i++)
		if (at == field)
			return &maker->program->fields[i];
	for (at = maker->event->format.fields; at; at = at->next, i++)
		if (at == field)
			return &maker->program->fields[i];
	return NULL;
}

const struct trace_field *tally_tep_field_of(const struct tep_maker *maker,
					     const struct tep_print_arg *arg)
{
	struct tep_format_field *field = arg->field.field;

	if (!field && arg->field.name)
		field = tep_find_any_field(maker->event, arg->field.name);
	return field ? tally_tep_field(maker, field) : NULL;
}

static const struct trace_field *field_named(const struct tep_maker *maker,
					     struct tep_format_field *field, const char *name)
{
	if (!field && name)
		field = tep_find_any_field(maker->event, name);
	return field ? tally_tep_field(maker, field) : NULL;
}

static const struct trace_expr *new_expr(struct tep_maker *maker, const struct trace_expr *from)
{
	struct trace_expr *expr = tally_tep_make(maker, 1, sizeof(*expr));

	if (!expr)
		return &zero;
	*expr = *from;
	return expr;
}

static const struct trace_expr *constant(struct tep_maker *maker, uint64_t value)
{
	return new_expr(maker, &(struct trace_expr){.kind = EXPR_CONSTANT, .value = value});
}

static bool is_readable(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static const struct trace_expr *load(struct tep_maker *maker, const struct trace_field *field)
{
	if (!field || !is_readable(field->size))
		return &zero;
	return new_expr(
	    maker,
	    &(struct trace_expr){.kind = EXPR_LOAD, .offset = field->offset, .size = field->size});
}

/* The bits that a cast to `type` keeps; no cast extends a sign.  `pointed`: `type` is of the
 * pointer whose element is read, and loses its " *". */
static uint64_t bits_of_type(const char *type, bool pointed)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} types[] = {
	    {"u8", 0xff},        {"s8", 0xff},        {"u16", 0xffff},
	    {"s16", 0xffff},     {"char", 0xff},      {"short", 0xffff},
	    {"u32", 0xffffffff}, {"s32", 0xffffffff}, {"int", 0xffffffff},
	};
	size_t length = strlen(type);

	if (pointed) {
		if (length < 2 || type[length - 1] != '*')
			return UINT64_MAX;
		length -= 2;
	}
	if (!length || type[length - 1] == '*')
		return UINT64_MAX;
	if (length > 9 && !strncmp(type, "unsigned ", 9)) {
		type += 9;
		length -= 9;
		if (*type == 'u' || *type == 's')
			if (isdigit((unsigned char)type[1]))
				return UINT64_MAX;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i].name) == length && !strncmp(types[i].name, type, length))
			return types[i].bits;
	return UINT64_MAX;
}

static const struct trace_expr *mask(struct tep_maker *maker, const struct trace_expr *left,
				     uint64_t bits)
{
	if (bits == UINT64_MAX)
		return left;
	if (left->kind == EXPR_CONSTANT)
		return constant(maker, left->value & bits);
	if (left->kind == EXPR_LOAD && left->size < 8 &&
	    (UINT64_C(1) << 8 * left->size) - 1 <= bits)
		return left;
	return new_expr(maker,
			&(struct trace_expr){.kind = EXPR_MASK, .left = left, .value = bits});
}

static const struct {
	const char *text;
	enum trace_expr_kind kind;
} operators[] = {
    {"!=", EXPR_NOT_EQUAL},
    {"==", EXPR_EQUAL},
    {"||", EXPR_OR},
    {"|", EXPR_BIT_OR},
    {"&&", EXPR_AND},
    {"&", EXPR_BIT_AND},
    {"<", EXPR_LESS},
    {"<=", EXPR_LESS_EQUAL},
    {"<<", EXPR_SHIFT_LEFT},
    {">", EXPR_GREATER},
    {">=", EXPR_GREATER_EQUAL},
    {">>", EXPR_SHIFT_RIGHT},
    {"-", EXPR_SUBTRACT},
    {"+", EXPR_ADD},
    {"/", EXPR_DIVIDE},
    {"%", EXPR_REMAINDER},
    {"*", EXPR_MULTIPLY},
};

static const struct trace_expr *unary_or_binary(struct tep_maker *maker,
						const struct tep_print_arg *arg)
{
	struct trace_expr expr = {.left = tally_tep_expr(maker, arg->op.left),
				  .right = tally_tep_expr(maker, arg->op.right)};
	const char *op = arg->op.op;
	size_t i;

	if (!strcmp(op, "!") || !strcmp(op, "~")) {
		expr.kind = *op == '!' ? EXPR_NOT : EXPR_INVERT;
		expr.left = expr.right;
		return new_expr(maker, &expr);
	}
	for (i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (!strcmp(op, operators[i].text))
			break;
	if (i == sizeof(operators) / sizeof(*operators))
		return &zero;
	expr.kind = operators[i].kind;
	if (expr.left->kind == EXPR_CONSTANT && expr.right->kind == EXPR_CONSTANT)
		return constant(maker, tally_trace_eval(NULL, &expr));
	return new_expr(maker, &expr);
}

/* array[index]: of a field its elements; of a dynamic field the index counts bytes, as in perf. */
static const struct trace_expr *element(struct tep_maker *maker, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *array = arg->op.left;
	const char *type = NULL;
	struct trace_expr expr = {.kind = EXPR_ELEMENT};
	const struct trace_field *field;

	for (; array && array->type == TEP_PRINT_TYPE; array = array->typecast.item)
		if (!type)
			type = array->typecast.type;
	if (!array)
		return &zero;
	if (array->type == TEP_PRINT_DYNAMIC_ARRAY) {
		expr.kind = EXPR_DYNAMIC;
		field = tally_tep_field(maker, array->dynarray.field);
	} else if (array->type == TEP_PRINT_FIELD) {
		field = tally_tep_field_of(maker, array);
	} else {
		return &zero;
	}
	if (!field)
		return &zero;
	expr.field = field;
	expr.offset = field->offset;
	expr.size = field->element;
	if (expr.kind == EXPR_DYNAMIC && !expr.size)
		expr.size = maker->long_size;
	expr.left = tally_tep_expr(maker, arg->op.right);
	return mask(maker, new_expr(maker, &expr), type ? bits_of_type(type, true) : UINT64_MAX);
}

static const struct trace_expr *choose(struct tep_maker *maker, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *both = arg->op.right;
	struct trace_expr expr = {.kind = EXPR_CHOOSE};

	if (!both || both->type != TEP_PRINT_OP)
		return &zero;
	expr.left = tally_tep_expr(maker, arg->op.left);
	expr.right = tally_tep_expr(maker, both->op.left);
	expr.other = tally_tep_expr(maker, both->op.right);
	return new_expr(maker, &expr);
}

static const struct trace_expr *operation(struct tep_maker *maker, const struct tep_print_arg *arg)
{
	if (!arg->op.op)
		return &zero;
	if (!strcmp(arg->op.op, "["))
		return element(maker, arg);
	if (!strcmp(arg->op.op, "?"))
		return choose(maker, arg);
	return unary_or_binary(maker, arg);
}

static const struct trace_expr *expr_of(struct tep_maker *maker, const struct tep_print_arg *arg)
{
	struct trace_expr expr = {0};

	switch (arg->type) {
	case TEP_PRINT_ATOM:
		return constant(maker, strtoull(arg->atom.atom, NULL, 0));
	case TEP_PRINT_FIELD:
		return load(maker, tally_tep_field_of(maker, arg));
	case TEP_PRINT_TYPE:
		return mask(maker, tally_tep_expr(maker, arg->typecast.item),
			    bits_of_type(arg->typecast.type, false));
	case TEP_PRINT_OP:
		return operation(maker, arg);
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		expr.kind = EXPR_DYNAMIC_LENGTH;
		expr.field = tally_tep_field(maker, arg->dynarray.field);
		return expr.field ? new_expr(maker, &expr) : &zero;
	default:
		/* Texts have no number.  perf prints the address of a dynamic array in its own
		 * memory, which is useless. */
		return &zero;
	}
}

const struct trace_expr *tally_tep_expr(struct tep_maker *maker, const struct tep_print_arg *arg)
{
	const struct trace_expr *expr = &zero;

	if (!arg || maker->failed)
		return expr;
	if (++maker->depth > DEPTH_MOST)
		maker->failed = -EMSGSIZE;
	else
		expr = expr_of(maker, arg);
	maker->depth--;
	return expr;
}

/* The kernel leaves some enumerators of old formats as names (include/linux/interrupt.h and
 * hrtimer.h). */
static int64_t value_of_name(const char *name)
{
	static const struct {
		const char *name;
		int64_t value;
	} known[] = {
	    {"HI_SOFTIRQ", 0},      {"TIMER_SOFTIRQ", 1},     {"NET_TX_SOFTIRQ", 2},
	    {"NET_RX_SOFTIRQ", 3},  {"BLOCK_SOFTIRQ", 4},     {"IRQ_POLL_SOFTIRQ", 5},
	    {"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},     {"HRTIMER_SOFTIRQ", 8},
	    {"RCU_SOFTIRQ", 9},     {"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1},
	};

	if (isdigit((unsigned char)*name))
		return (int64_t)strtoull(name, NULL, 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, name))
			return known[i].value;
	return -1;
}

static void take_names(struct tep_maker *maker, const struct tep_print_flag_sym *from,
		       struct trace_string *to)
{
	const struct tep_print_flag_sym *at;
	struct trace_name *names;
	size_t count = 0;

	for (at = from; at; at = at->next)
		count++;
	names = tally_tep_make(maker, count, sizeof(*names));
	if (!names)
		return;
	to->names = names;
	to->name_count = count;
	for (at = from; at; at = at->next, names++) {
		const char *text = at->str ? at->str : "";

		names->value = value_of_name(at->value ? at->value : "");
		names->length = strlen(text);
		names->text = tally_tep_make_text(maker, text, names->length);
	}
}

/* The first name of a value counts. */
static void index_names(struct tep_maker *maker, struct trace_string *string)
{
	int64_t highest = -1;
	uint16_t *by_value;

	if (string->name_count >= UINT16_MAX)
		return;
	for (size_t i = 0; i < string->name_count; i++)
		if (string->names[i].value < BY_VALUE_MOST && string->names[i].value > highest)
			highest = string->names[i].value;
	by_value =
	    highest >= 0 ? tally_tep_make(maker, (size_t)highest + 1, sizeof(*by_value)) : NULL;
	if (!by_value)
		return;
	for (size_t i = string->name_count; i-- > 0;)
		if (string->names[i].value >= 0 && string->names[i].value <= highest)
			by_value[string->names[i].value] = (uint16_t)(i + 1);
	string->by_value = by_value;
	string->by_value_count = (size_t)highest + 1;
}

static void flags(struct tep_maker *maker, const struct tep_print_arg *arg,
		  struct trace_string *string)
{
	const char *between = arg->flags.delim ? arg->flags.delim : "";

	string->kind = STRING_FLAGS;
	string->number = tally_tep_expr(maker, arg->flags.field);
	string->length = strlen(between);
	string->text = tally_tep_make_text(maker, between, string->length);
	take_names(maker, arg->flags.flags, string);
}

static void symbol(struct tep_maker *maker, const struct tep_print_arg *arg,
		   struct trace_string *string)
{
	string->kind = STRING_SYMBOL;
	string->number = tally_tep_expr(maker, arg->symbol.field);
	take_names(maker, arg->symbol.symbols, string);
	index_names(maker, string);
}

static const struct trace_field *array_field(const struct tep_maker *maker,
					     const struct tep_print_arg *arg)
{
	if (arg && arg->type == TEP_PRINT_DYNAMIC_ARRAY)
		return tally_tep_field(maker, arg->dynarray.field);
	if (arg && arg->type == TEP_PRINT_FIELD)
		return tally_tep_field_of(maker, arg);
	return NULL;
}

static void array(struct tep_maker *maker, const struct tep_print_arg *arg,
		  struct trace_string *string)
{
	const struct tep_print_arg *of;

	if (arg->type == TEP_PRINT_INT_ARRAY) {
		string->kind = STRING_NUMBERS;
		string->count = tally_tep_expr(maker, arg->int_array.count);
		string->number = tally_tep_expr(maker, arg->int_array.el_size);
		of = arg->int_array.field;
	} else {
		string->kind = arg->type == TEP_PRINT_HEX ? STRING_HEX : STRING_HEX_RUN;
		string->count = tally_tep_expr(maker, arg->hex.size);
		of = arg->hex.field;
	}
	string->field = array_field(maker, of);
}

/* A pointer-sized field that is no array points to a text. */
static void chars(struct tep_maker *maker, const struct tep_print_arg *arg,
		  struct trace_string *string)
{
	string->kind = STRING_CHARS;
	string->field = tally_tep_field_of(maker, arg);
	if (string->field && !(string->field->flags & FIELD_ARRAY) &&
	    string->field->size == maker->long_size)
		string->kind = STRING_ADDRESS;
}

static void choose_text(struct tep_maker *maker, const struct tep_print_arg *arg,
			struct trace_string *string)
{
	const struct tep_print_arg *both = arg->op.right;

	if (!arg->op.op || *arg->op.op != '?' || !both || both->type != TEP_PRINT_OP)
		return;
	string->kind = STRING_CHOOSE;
	string->number = tally_tep_expr(maker, arg->op.left);
	string->yes = tally_tep_string(maker, both->op.left);
	string->no = tally_tep_string(maker, both->op.right);
}

static void string_of(struct tep_maker *maker, const struct tep_print_arg *arg,
		      struct trace_string *string)
{
	bool of_field = true;

	switch (arg->type) {
	case TEP_PRINT_FIELD:
		chars(maker, arg, string);
		break;
	case TEP_PRINT_STRING:
		string->kind = STRING_DYNAMIC;
		string->field = field_named(maker, arg->string.field, arg->string.string);
		break;
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
		string->kind = arg->type == TEP_PRINT_CPUMASK ? STRING_CPUS : STRING_BITMASK;
		string->field = field_named(maker, arg->bitmask.field, arg->bitmask.bitmask);
		break;
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
	case TEP_PRINT_INT_ARRAY:
		array(maker, arg, string);
		break;
	default:
		of_field = false;
		break;
	}
	if (of_field && !string->field)
		string->kind = STRING_NOTHING;
	if (arg->type == TEP_PRINT_ATOM) {
		string->kind = STRING_TEXT;
		string->length = strlen(arg->atom.atom);
		string->text = tally_tep_make_text(maker, arg->atom.atom, string->length);
	} else if (arg->type == TEP_PRINT_FLAGS) {
		flags(maker, arg, string);
	} else if (arg->type == TEP_PRINT_SYMBOL) {
		symbol(maker, arg, string);
	} else if (arg->type == TEP_PRINT_OP) {
		choose_text(maker, arg, string);
	}
}

const struct trace_string *tally_tep_string(struct tep_maker *maker,
					    const struct tep_print_arg *arg)
{
	struct trace_string *string;

	if (!arg || maker->failed)
		return &no_text;
	string = tally_tep_make(maker, 1, sizeof(*string));
	if (!string)
		return &no_text;
	if (++maker->depth > DEPTH_MOST)
		maker->failed = -EMSGSIZE;
	else
		string_of(maker, arg, string);
	maker->depth--;
	return string;
}

static void take_field(struct tep_maker *maker, const struct tep_format_field *from, bool common)
{
	static const struct {
		unsigned long theirs;
		uint16_t ours;
	} bits[] = {
	    {TEP_FIELD_IS_ARRAY, FIELD_ARRAY},       {TEP_FIELD_IS_POINTER, FIELD_POINTER},
	    {TEP_FIELD_IS_SIGNED, FIELD_SIGNED},     {TEP_FIELD_IS_STRING, FIELD_STRING},
	    {TEP_FIELD_IS_DYNAMIC, FIELD_DYNAMIC},   {TEP_FIELD_IS_LONG, FIELD_LONG},
	    {TEP_FIELD_IS_RELATIVE, FIELD_RELATIVE},
	};
	struct trace_program *program = maker->program;
	struct trace_field *to = &program->fields[program->field_count++];
	const char *name = from->name ? from->name : "";

	to->name = tally_tep_make_text(maker, name, strlen(name));
	to->offset = (uint32_t)from->offset & 0xffff;
	to->size = (uint32_t)from->size & 0xffff;
	to->element = from->elementsize & 0xffff;
	to->common = common;
	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		to->flags |= from->flags & bits[i].theirs ? bits[i].ours : 0;
	if (from->type && strstr(from->type, "char") && to->element <= 1)
		to->flags |= FIELD_TEXT;
	if (program->needs < to->offset + to->size)
		program->needs = to->offset + to->size;
}

static void take_fields(struct tep_maker *maker)
{
	const struct tep_format *format = &maker->event->format;
	const struct tep_format_field *at;
	size_t count = 0;

	for (at = format->common_fields; at; at = at->next)
		count++;
	for (at = format->fields; at; at = at->next)
		count++;
	maker->program->fields = tally_tep_make(maker, count, sizeof(*maker->program->fields));
	if (!maker->program->fields)
		return;
	for (at = format->common_fields; at; at = at->next)
		take_field(maker, at, true);
	for (at = format->fields; at; at = at->next)
		take_field(maker, at, false);
}

static const char *full_name(struct tep_maker *maker, const char *system)
{
	size_t length = strlen(system) + strlen(maker->event->name) + 2;
	char *name = tally_tep_make(maker, length, 1);

	if (name)
		snprintf(name, length, "%s:%s", system, maker->event->name);
	return name;
}

int tally_trace_compiler_new(unsigned long_size, bool big_endian, struct trace_compiler **ret,
			     struct tally_error *error)
{
	struct trace_compiler *compiler = calloc(1, sizeof(*compiler));

	if (!compiler)
		return tally_fail(error, -ENOMEM, -1, "no memory for tracepoint formats");
	compiler->long_size = long_size;
	compiler->big_endian = big_endian;
	tep_set_loglevel(TEP_LOG_NONE); /* a library does not print */
	*ret = compiler;
	return 0;
}

void tally_trace_compiler_free(struct trace_compiler *compiler)
{
	free(compiler);
}

static struct trace_program *make_program(struct tep_maker *maker, const char *system,
					  bool has_print)
{
	maker->program = tally_tep_make(maker, 1, sizeof(*maker->program));
	if (!maker->program)
		return NULL;
	maker->program->name = full_name(maker, system);
	take_fields(maker);
	maker->program->by_fields = !has_print || maker->event->flags & (int)TEP_EVENT_FL_FAILED;
	if (!maker->failed && !maker->program->by_fields)
		tally_tep_steps(maker);
	if (maker->failed && maker->failed != -ENOMEM) {
		maker->failed = 0;
		maker->program->by_fields = true;
	}
	return maker->program;
}

/* The text for the parser.  For libtraceevent 1.7 a tab ends the print format, so tabs are escaped,
 * which is equivalent.  A print format that it cannot parse is left out. */
static void text_for_parser(const struct trace_format_text *format,
			    const struct trace_soundness *sound, struct tally_buf *to)
{
	const char *at = format->text + sound->print_offset, *end = format->text + format->size;
	unsigned quotes = 0;

	tally_buf_add(to, format->text, sound->print_offset);
	if (!sound->print) {
		tally_buf_text(to, "print fmt: \"\"\n");
		return;
	}
	for (; at < end; at++) {
		if (*at == '\\' && at + 1 < end) {
			tally_buf_byte(to, (uint8_t)*at++);
		} else if (*at == '\t' && quotes == 1) {
			tally_buf_text(to, "\\t");
			continue;
		}
		quotes += *at == '"' && at[-1] != '\\';
		tally_buf_byte(to, (uint8_t)*at);
	}
}

static int parse(struct trace_compiler *compiler, const struct trace_format_text *format,
		 const struct trace_soundness *sound, struct tep_handle *tep,
		 struct tep_event **ret)
{
	struct tally_buf text = {0};
	struct tep_event *event = NULL;
	int result;

	text_for_parser(format, sound, &text);
	result = text.failed;
	tep_set_long_size(tep, (int)compiler->long_size);
	tep_set_file_bigendian(tep, compiler->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	if (!result) {
		pthread_mutex_lock(&parser);
		if (tep_parse_format(tep, &event, (const char *)text.data, text.size,
				     format->system) ||
		    !event || !event->name)
			result = -EBADMSG;
		pthread_mutex_unlock(&parser);
	}
	tally_buf_done(&text);
	if (!result)
		*ret = event;
	return result;
}

/* A handle an event: libtraceevent looks events up in what it has parsed, and nothing of it has to
 * outlive the program. */
int tally_trace_compile(struct trace_compiler *compiler, struct tally_arena *arena,
			const struct trace_format_text *format, struct trace_program **ret)
{
	struct tep_maker maker = {
	    .arena = arena, .long_size = compiler->long_size, .big_endian = compiler->big_endian};
	struct trace_program *program = NULL;
	struct trace_soundness sound;
	struct tep_handle *tep;

	tally_trace_sound(format->text, format->size, &sound);
	if (!sound.fields)
		return -EBADMSG;
	tep = tep_alloc();
	if (!tep)
		return -ENOMEM;
	maker.failed = parse(compiler, format, &sound, tep, &maker.event);
	if (!maker.failed)
		program = make_program(&maker, format->system, sound.print);
	tep_free(tep);
	if (maker.failed)
		return maker.failed;
	*ret = program;
	return 0;
}
