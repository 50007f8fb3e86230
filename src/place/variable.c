#include "place/variable.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "dwarf/die.h"

/* --- frames --- */

void tally_scope_read_frame(struct probe_scope *scope, Dwarf_Frame **ret_frame)
{
	struct fetch_frame *frame = &scope->frame;
	Dwarf_Attribute base;
	Dwarf_Op *ops;
	size_t count;

	*ret_frame = NULL;
	*frame = (struct fetch_frame){.machine = scope->info->elf.header.e_machine};
	if (dwarf_attr_integrate(&scope->function, DW_AT_frame_base, &base) &&
	    dwarf_getlocation_addr(&base, scope->address, &ops, &count, 1) > 0) {
		frame->base = ops;
		frame->base_count = count;
	}
	if ((!scope->info->frames ||
	     dwarf_cfi_addrframe(scope->info->frames, scope->address, ret_frame)) &&
	    (!scope->info->unloaded ||
	     dwarf_cfi_addrframe(scope->info->unloaded, scope->address, ret_frame))) {
		*ret_frame = NULL;
		return;
	}
	if (!dwarf_frame_cfa(*ret_frame, &ops, &count)) {
		frame->caller = ops;
		frame->caller_count = count;
	}
}

/* --- finding --- */

struct search {
	const struct probe_scope *scope;
	const char *name;
	Dwarf_Die *ret;
	unsigned depth; /* of the one that was found, + 1 */
	bool into_inlined;
};

static bool is_variable(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_formal_parameter || tag == DW_TAG_variable;
}

static bool is_named(Dwarf_Die *die, const char *name)
{
	const char *own = is_variable(die) ? dwarf_diename(die) : NULL;

	return own && !strcmp(own, name);
}

static bool is_placed(Dwarf_Die *die)
{
	return dwarf_hasattr_integrate(die, DW_AT_location) ||
	       dwarf_hasattr_integrate(die, DW_AT_const_value);
}

static bool is_around(Dwarf_Die *die, const struct probe_scope *scope, bool into_inlined)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		tag == DW_TAG_catch_block || (into_inlined && tag == DW_TAG_inlined_subroutine)) &&
	       dwarf_haspc(die, scope->address) > 0;
}

/* The innermost block decides; in one block the first, as there is one only. */
static enum die_next match(Dwarf_Die *die, unsigned depth, void *context)
{
	struct search *search = context;

	if (depth + 1 > search->depth && is_named(die, search->name) &&
	    (is_placed(die) || dwarf_hasattr(die, DW_AT_external))) {
		*search->ret = *die;
		search->depth = depth + 1;
	}
	return is_around(die, search->scope, search->into_inlined) ? DIE_INSIDE : DIE_BEHIND;
}

static enum die_next match_placed(Dwarf_Die *die, unsigned depth, void *context)
{
	struct search *search = context;
	int tag = dwarf_tag(die);

	(void)depth;
	if (is_named(die, search->name) && is_placed(die)) {
		*search->ret = *die;
		search->depth = 1;
		return DIE_END;
	}
	return tag == DW_TAG_namespace ? DIE_INSIDE : DIE_BEHIND;
}

static enum die_next match_named(Dwarf_Die *die, unsigned depth, void *context)
{
	struct search *search = context;

	(void)depth;
	return is_named(die, search->name) ? DIE_END : DIE_INSIDE;
}

static bool find_elsewhere(const struct probe_scope *scope, const char *name, Dwarf_Die *ret)
{
	struct search search = {.scope = scope, .name = name, .ret = ret};
	Dwarf_Off at = 0;
	Dwarf_Die unit = scope->unit;

	if (tally_die_walk(&unit, match_placed, &search))
		return true;
	while (tally_debug_info_next(scope->info, &at, &unit))
		if (tally_die_walk(&unit, match_placed, &search) &&
		    dwarf_hasattr_integrate(ret, DW_AT_external))
			return true;
	return false;
}

bool tally_variable_find(const struct probe_scope *scope, const char *name, Dwarf_Die *ret)
{
	struct search search = {.scope = scope, .name = name, .ret = ret};
	Dwarf_Die top = scope->scope;

	tally_die_walk(&top, match, &search);
	if (!search.depth) {
		search.into_inlined = true;
		tally_die_walk(&top, match, &search);
	}
	/* "extern int x;" within a function is x of some file. */
	if (search.depth && is_placed(ret))
		return true;
	return find_elsewhere(scope, name, ret);
}

struct walk {
	const struct probe_scope *scope;
	bool parameters_only, whole_file;
	bool elsewhere; /* also what can be read at other addresses only */
	variable_visit visit;
	void *context;
	int result;
};

/* A variable, not a parameter, that has places at other addresses of the function. */
static bool is_elsewhere(Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	Dwarf_Attribute places;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_tag(die) != DW_TAG_variable ||
	    !dwarf_attr_integrate(die, DW_AT_location, &places))
		return false;
	while ((at = dwarf_getlocations(&places, at, &base, &start, &end, &ops, &count)) > 0)
		if (start < end)
			return true;
	return false;
}

static enum die_next visit_variable(Dwarf_Die *die, unsigned depth, void *context)
{
	struct walk *walk = context;
	struct fetch fetch;
	const char *why;
	int result = -ENOENT;

	(void)depth;
	if (is_variable(die) && dwarf_diename(die) &&
	    (!walk->parameters_only || dwarf_tag(die) == DW_TAG_formal_parameter))
		result = tally_variable_locate(walk->scope, die, &fetch, &why);
	if (!result || (result == -ENOENT && walk->elsewhere && is_elsewhere(die)))
		walk->result = walk->visit(die, walk->context);
	if (walk->result)
		return DIE_END;
	return !walk->whole_file && is_around(die, walk->scope, true) ? DIE_INSIDE : DIE_BEHIND;
}

int tally_variables_walk(const struct probe_scope *scope, bool parameters_only,
			 variable_visit visit, void *context)
{
	struct walk walk = {
	    .scope = scope, .parameters_only = parameters_only, .visit = visit, .context = context};
	Dwarf_Die top = scope->scope;

	tally_die_walk(&top, visit_variable, &walk);
	return walk.result;
}

int tally_variables_walk_all(const struct probe_scope *scope, variable_visit visit, void *context)
{
	struct walk walk = {.scope = scope, .elsewhere = true, .visit = visit, .context = context};
	Dwarf_Die top = scope->scope;

	tally_die_walk(&top, visit_variable, &walk);
	return walk.result;
}

int tally_variables_walk_file(const struct probe_scope *scope, variable_visit visit, void *context)
{
	struct walk walk = {.scope = scope, .whole_file = true, .visit = visit, .context = context};
	Dwarf_Die top = scope->unit;

	tally_die_walk(&top, visit_variable, &walk);
	return walk.result;
}

/* --- places --- */

/* What a compiler inserts at the entry of functions (fentry) is before the first place of a
 * parameter in its list: the first that the function has is taken, as perf does. */
static bool first_location(Dwarf_Attribute *location, const struct probe_scope *scope,
			   Dwarf_Op **ops, size_t *count)
{
	Dwarf_Die function = scope->function;
	Dwarf_Addr base, start, end, entry, high, best = 0;
	ptrdiff_t at = 0;
	Dwarf_Op *here;
	size_t length;

	if (dwarf_entrypc(&function, &entry) || entry != scope->address ||
	    dwarf_highpc(&function, &high))
		return false;
	while ((at = dwarf_getlocations(location, at, &base, &start, &end, &here, &length)) > 0)
		if (start > entry && start <= high && start < end && (!best || start < best)) {
			best = start;
			*ops = here;
			*count = length;
		}
	return best;
}

int tally_variable_locate(const struct probe_scope *scope, Dwarf_Die *variable, struct fetch *ret,
			  const char **ret_why)
{
	Dwarf_Attribute value;
	Dwarf_Sword number;
	Dwarf_Op *ops;
	size_t count;

	*ret_why = NULL;
	if (dwarf_attr_integrate(variable, DW_AT_const_value, &value)) {
		if (dwarf_formsdata(&value, &number)) {
			*ret_why = "it is a constant that is not in the program's memory";
			return -ENOTSUP;
		}
		*ret = (struct fetch){.base = FETCH_VALUE, .value = number};
		return 0;
	}
	if (!dwarf_attr_integrate(variable, DW_AT_location, &value))
		return -ENOENT;
	if (dwarf_getlocation_addr(&value, scope->address, &ops, &count, 1) <= 0 &&
	    (dwarf_tag(variable) != DW_TAG_formal_parameter ||
	     !first_location(&value, scope, &ops, &count)))
		return -ENOENT;
	return tally_fetch_locate(ops, count, &scope->frame, ret, ret_why);
}

/* --- members --- */

struct member_search {
	const char *name;
	Dwarf_Die *ret;
};

/* The member of that name, or the unnamed one that has it. */
static bool find_member(Dwarf_Die *type, const char *name, unsigned depth, Dwarf_Die *ret)
{
	Dwarf_Die die, inner;

	if (depth > DIE_DEPTH_MOST || dwarf_child(type, &die))
		return false;
	do {
		const char *own = dwarf_diename(&die);

		if (dwarf_tag(&die) != DW_TAG_member)
			continue;
		if (own ? !strcmp(own, name)
			: tally_die_type(&die, true, &inner) &&
			      find_member(&inner, name, depth + 1, &(Dwarf_Die){0})) {
			*ret = die;
			return true;
		}
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

/* Bits of a bit-field that are before it in the bytes that hold it, lowest first, and these bytes.
 *
 * Source: DWARF 5, 5.7.6: DW_AT_data_bit_offset counts from the start of the structure, and
 * DW_AT_bit_offset of earlier versions from the highest bit of the bytes. */
struct bits {
	uint64_t width, offset, bytes, at;
};

static bool read_bits(Dwarf_Die *member, struct bits *ret)
{
	Dwarf_Word width, offset, bytes;
	Dwarf_Die type;
	int size;

	if (!tally_die_number(member, DW_AT_bit_size, &width) || !width || width > 64)
		return false;
	size = tally_die_type(member, true, &type) ? dwarf_bytesize(&type) : 0;
	if (!tally_die_number(member, DW_AT_byte_size, &bytes))
		bytes = size > 0 ? (Dwarf_Word)size : 0;
	if (!bytes || bytes > 8 || width > bytes * 8)
		return false;
	*ret = (struct bits){.width = width, .bytes = bytes};
	if (tally_die_number(member, DW_AT_data_bit_offset, &offset)) {
		ret->at = offset / (bytes * 8) * bytes;
		ret->offset = offset % (bytes * 8);
		if (ret->offset + width > bytes * 8) { /* packed: over the edge */
			ret->at = offset / 8;
			ret->offset = offset % 8;
		}
	} else if (tally_die_number(member, DW_AT_bit_offset, &offset) &&
		   offset + width <= bytes * 8) {
		ret->offset = bytes * 8 - offset - width;
	} else {
		return false;
	}
	return ret->offset + width <= bytes * 8;
}

static int member_offset(Dwarf_Die *member, int64_t *ret)
{
	Dwarf_Attribute value;
	struct bits bits;
	Dwarf_Word offset;
	Dwarf_Op *ops;
	size_t count;

	*ret = 0;
	if (dwarf_attr_integrate(member, DW_AT_data_member_location, &value)) {
		if (!dwarf_formudata(&value, &offset))
			*ret = (int64_t)offset;
		else if (!dwarf_getlocation(&value, &ops, &count) && count == 1 &&
			 ops[0].atom == DW_OP_plus_uconst)
			*ret = (int64_t)ops[0].number;
		else
			return -ENOTSUP;
	} else if (dwarf_hasattr_integrate(member, DW_AT_bit_size)) {
		if (!read_bits(member, &bits))
			return -ENOTSUP;
		*ret = (int64_t)bits.at;
	}
	return 0;
}

struct value {
	struct fetch fetch;
	Dwarf_Die die; /* what has the type: a variable, a member, an array */
};

static void add_offset(struct fetch *fetch, int64_t offset)
{
	int64_t *last = &fetch->steps[fetch->count - 1];

	*last = (int64_t)((uint64_t)*last + (uint64_t)offset);
}

static int fail_step(const struct probe_argument *argument, struct tally_error *error,
		     const char *why)
{
	return tally_fail(error, -EINVAL, (int64_t)argument->column, "%s: %s", argument->shown,
			  why);
}

static int take_element(const struct probe_argument *argument, const struct probe_step *step,
			struct value *value, struct tally_error *error)
{
	Dwarf_Die type, element;
	int tag, size;

	if (!tally_die_type(&value->die, true, &type))
		return fail_step(argument, error, "its type is unknown");
	tag = dwarf_tag(&type);
	if (tag != DW_TAG_array_type && tag != DW_TAG_pointer_type)
		return fail_step(argument, error,
				 "[] needs an array or a "
				 "pointer");
	if (!tally_die_type(&type, true, &element) || (size = dwarf_bytesize(&element)) <= 0)
		return fail_step(argument, error, "the size of its elements is unknown");
	if (tag == DW_TAG_pointer_type && !tally_fetch_follow(&value->fetch, 0))
		return fail_step(argument, error, "too many pointers");
	if (!value->fetch.count)
		return fail_step(argument, error, "an array in a register cannot be read");
	add_offset(&value->fetch, (int64_t)size * step->index);
	value->die = type;
	return 0;
}

/* "did you mean" of a structure's members. */
static const char *similar_member(Dwarf_Die *type, const char *name)
{
	const char *names[256];
	size_t count = 0;
	Dwarf_Die die;

	if (dwarf_child(type, &die))
		return NULL;
	do {
		const char *own = dwarf_diename(&die);

		if (own && dwarf_tag(&die) == DW_TAG_member)
			names[count++] = own;
	} while (count < 256 && !dwarf_siblingof(&die, &die));
	return count ? tally_text_nearest(name, names, count) : NULL;
}

static int fail_member(const struct probe_argument *argument, const char *name, Dwarf_Die *type,
		       struct tally_error *error)
{
	const char *similar = similar_member(type, name), *own = dwarf_diename(type);

	return tally_fail(
	    error, -EINVAL, (int64_t)argument->column, "%s: %s%s has no member %s%s%s%s",
	    argument->shown, own ? "struct " : "the structure", own ? own : "", name,
	    similar ? "; did you mean " : "", similar ? similar : "", similar ? "?" : "");
}

static bool is_record(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static int take_member(const struct probe_argument *argument, const struct probe_step *step,
		       struct value *value, struct tally_error *error)
{
	Dwarf_Die type, member;
	int64_t offset;

	if (!tally_die_type(&value->die, true, &type))
		return fail_step(argument, error, "its type is unknown");
	if (dwarf_tag(&type) == DW_TAG_array_type && !tally_die_type(&type, true, &type))
		return fail_step(argument, error, "its type is unknown");
	if (dwarf_tag(&type) == DW_TAG_pointer_type) {
		if (!step->arrow)
			return fail_step(argument, error, "the member of a pointer needs ->");
		if (!tally_die_type(&type, true, &type))
			return fail_step(argument, error, "what it points to is unknown");
		if (!tally_fetch_follow(&value->fetch, 0))
			return fail_step(argument, error, "too many pointers");
	} else if (step->arrow) {
		return fail_step(argument, error, "-> needs a pointer: write '.'");
	}
	if (!is_record(&type))
		return fail_step(argument, error,
				 "what has the member is not a structure or "
				 "union");
	if (!value->fetch.count)
		return fail_step(argument, error, "a structure in a register cannot be read");
	/* Unnamed members on the way are passed through. */
	for (unsigned i = 0; i < DIE_DEPTH_MOST; i++) {
		if (!find_member(&type, step->member, 0, &member))
			return fail_member(argument, step->member, &type, error);
		if (member_offset(&member, &offset))
			return fail_step(argument, error, "the place of the member is unknown");
		add_offset(&value->fetch, offset);
		if (dwarf_diename(&member)) {
			value->die = member;
			return 0;
		}
		if (!tally_die_type(&member, true, &type))
			break;
	}
	return fail_step(argument, error, "its type is unknown");
}

/* --- types --- */

static bool is_char(Dwarf_Die *type)
{
	Dwarf_Word encoding;

	return dwarf_bytesize(type) == 1 && tally_die_number(type, DW_AT_encoding, &encoding) &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static int take_text(const struct probe_argument *argument, struct value *value, Dwarf_Die *type,
		     struct tally_error *error)
{
	int tag = dwarf_tag(type);
	Dwarf_Die element;

	if ((tag != DW_TAG_pointer_type && tag != DW_TAG_array_type) ||
	    !tally_die_type(type, true, &element) || !is_char(&element))
		return fail_step(argument, error,
				 "it is not text: a pointer to char, or an array of char");
	if (tag == DW_TAG_pointer_type && !tally_fetch_follow(&value->fetch, 0))
		return fail_step(argument, error, "too many pointers");
	return 0;
}

static int format_type(const struct probe_argument *argument, const struct trace_features *features,
		       struct value *value, struct tally_buf *to, struct tally_error *error)
{
	const char *cast = argument->type;
	struct bits bits;
	Dwarf_Die type;
	bool text = cast && (!strcmp(cast, "string") || !strcmp(cast, "ustring"));
	char prefix;
	int size;

	if (cast && !text && strcmp(cast, "x") && strcmp(cast, "s") && strcmp(cast, "u")) {
		tally_buf_text(to, cast);
		return 0;
	}
	if (read_bits(&value->die, &bits)) {
		tally_buf_printf(to, "b%" PRIu64 "@%" PRIu64 "/%" PRIu64, bits.width, bits.offset,
				 bits.bytes * 8);
		return 0;
	}
	if (!tally_die_type(&value->die, true, &type))
		return fail_step(argument, error, "its type is unknown");
	if (text) {
		tally_buf_text(to, cast);
		return take_text(argument, value, &type, error);
	}
	if (cast)
		prefix = *cast == 'x' && !features->hexadecimal ? 'u' : *cast;
	else
		prefix = tally_die_type_is_signed(&type) ? 's' : features->hexadecimal ? 'x' : 'u';
	size = dwarf_bytesize(&type);
	if (size > 0) /* more is cut */
		tally_buf_printf(to, "%c%d", prefix, size > 8 ? 64 : size * 8);
	return 0;
}

/* --- all of it --- */

static const char *function_name(const struct probe_scope *scope)
{
	Dwarf_Die die = scope->scope;
	const char *name = dwarf_diename(&die);

	return name ? name : "this function";
}

struct names {
	const char *names[256];
	size_t count;
};

static int add_name(Dwarf_Die *variable, void *context)
{
	struct names *names = context;

	if (names->count < 256)
		names->names[names->count++] = dwarf_diename(variable);
	return 0;
}

/* The function has it, and this inlined copy does not: the compiler left it out. */
static bool is_left_out(const struct probe_scope *scope, const char *name)
{
	struct search search = {.scope = scope, .name = name};
	Dwarf_Die top = scope->scope, origin, found;
	Dwarf_Attribute value;

	search.ret = &found;
	return dwarf_attr(&top, DW_AT_abstract_origin, &value) &&
	       dwarf_formref_die(&value, &origin) && tally_die_walk(&origin, match_named, &search);
}

static int fail_unknown(const struct probe_scope *scope, const struct probe_argument *argument,
			struct tally_error *error)
{
	struct names names = {.count = 0};
	const char *similar;

	tally_variables_walk(scope, false, add_name, &names);
	tally_variables_walk_file(scope, add_name, &names);
	similar =
	    names.count ? tally_text_nearest(argument->variable, names.names, names.count) : NULL;
	return tally_fail(error, -ENOENT, (int64_t)argument->column,
			  "%s has no variable %s%s%s%s; --vars lists those that can be read there",
			  function_name(scope), argument->variable,
			  similar ? "; did you mean " : "", similar ? similar : "",
			  similar ? "?" : "");
}

static int fail_place(const struct probe_scope *scope, const struct probe_argument *argument,
		      int result, const char *why, struct tally_error *error)
{
	if (result == -ENOENT)
		return tally_fail(
		    error, result, (int64_t)argument->column,
		    "%s cannot be read at this place of %s: the compiler optimized it "
		    "out there; --vars lists what can",
		    argument->variable, function_name(scope));
	return tally_fail(error, result, (int64_t)argument->column,
			  "%s cannot be read at this place of %s: %s", argument->variable,
			  function_name(scope), why);
}

static void add_argument_name(const struct probe_argument *argument, struct tally_buf *to)
{
	if (argument->name)
		tally_buf_text(to, argument->name);
	else if (argument->type)
		tally_buf_printf(to, "%s_%s", argument->variable, argument->type);
	else
		tally_buf_text(to, argument->variable);
	tally_buf_byte(to, '=');
}

int tally_variable_format(const struct probe_scope *scope, const struct probe_argument *argument,
			  const struct trace_features *features, struct tally_buf *to,
			  struct tally_error *error)
{
	struct tally_buf type = {0};
	struct value value;
	const char *why;
	int result;

	if (!tally_variable_find(scope, argument->variable, &value.die))
		return is_left_out(scope, argument->variable)
			   ? fail_place(scope, argument, -ENOENT, NULL, error)
			   : fail_unknown(scope, argument, error);
	result = tally_variable_locate(scope, &value.die, &value.fetch, &why);
	if (!result && value.fetch.base == FETCH_VALUE && !features->constants) {
		result = -ENOTSUP;
		why = "it is a constant, which this kernel does not take";
	}
	if (result)
		return fail_place(scope, argument, result, why, error);
	/* The kernel is loaded at any address; its own list of symbols has the variable's. */
	if (scope->kernel && value.fetch.base == FETCH_STATIC)
		value.fetch.name = dwarf_diename(&value.die);
	for (size_t i = 0; i < argument->step_count && !result; i++) {
		const struct probe_step *step = &argument->steps[i];

		result = step->member ? take_member(argument, step, &value, error)
				      : take_element(argument, step, &value, error);
	}
	if (!result)
		result = format_type(argument, features, &value, &type, error);
	if (!result) {
		add_argument_name(argument, to);
		tally_fetch_format(&value.fetch, scope->shift, argument->user, to);
		if (type.size)
			tally_buf_printf(to, ":%s", tally_buf_str(&type));
	}
	if (!result && (to->failed || type.failed))
		result = tally_fail(error, -ENOMEM, -1, "out of memory");
	tally_buf_done(&type);
	return result;
}

/* --- names of types --- */

static bool describe_type(Dwarf_Die *die, unsigned depth, struct tally_buf *to)
{
	const char *kind = "";
	Dwarf_Die type;
	int tag;

	if (depth > DIE_TYPES_MOST)
		return false;
	if (!tally_die_type(die, false, &type)) { /* void, behind a pointer */
		if (depth)
			tally_buf_text(to, "void");
		return depth;
	}
	tag = dwarf_tag(&type);
	if (tag == DW_TAG_array_type || tag == DW_TAG_pointer_type) {
		if (!describe_type(&type, depth + 1, to))
			return false;
		tally_buf_byte(to, '*');
		return true;
	}
	if (tag == DW_TAG_subroutine_type) {
		tally_buf_text(to, "(function_type)");
		return true;
	}
	if (!dwarf_diename(&type))
		return false;
	if (tag == DW_TAG_union_type)
		kind = "union ";
	else if (tag == DW_TAG_structure_type)
		kind = "struct ";
	else if (tag == DW_TAG_enumeration_type)
		kind = "enum ";
	tally_buf_printf(to, "%s%s", kind, dwarf_diename(&type));
	return true;
}

void tally_variable_describe(Dwarf_Die *variable, struct tally_buf *to)
{
	struct tally_buf type = {0};

	if (describe_type(variable, 0, &type))
		tally_buf_text(to, tally_buf_str(&type));
	else
		tally_buf_text(to, "(unknown_type)");
	tally_buf_printf(to, "\t%s", dwarf_diename(variable));
	tally_buf_done(&type);
}
