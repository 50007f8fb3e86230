#include "dwarf/die.h"

#include <dwarf.h>
#include <string.h>
#include "base/name_filter.h"

static bool walk(Dwarf_Die *top, unsigned depth, die_visit visit, void *context)
{
	Dwarf_Die die;

	if (depth > DIE_DEPTH_MOST || dwarf_child(top, &die))
		return false;
	do {
		enum die_next next = visit(&die, depth, context);

		if (next == DIE_END ||
		    (next == DIE_INSIDE && walk(&die, depth + 1, visit, context)))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

bool tally_die_walk(Dwarf_Die *top, die_visit visit, void *context)
{
	return walk(top, 0, visit, context);
}

const char *tally_die_text(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute value;

	return dwarf_attr_integrate(die, attribute, &value) ? dwarf_formstring(&value) : NULL;
}

bool tally_die_number(Dwarf_Die *die, unsigned attribute, Dwarf_Word *ret)
{
	Dwarf_Attribute value;

	return dwarf_attr_integrate(die, attribute, &value) && !dwarf_formudata(&value, ret);
}

int tally_die_line(Dwarf_Die *die)
{
	int line;

	return dwarf_decl_line(die, &line) ? 0 : line;
}

bool tally_die_is_called(Dwarf_Die *die, const char *glob)
{
	const char *name = dwarf_diename(die);

	if (name && tally_name_matches(name, glob))
		return true;
	name = tally_die_text(die, DW_AT_linkage_name);
	return name && tally_name_matches(name, glob);
}

bool tally_die_entry(Dwarf_Die *die, Dwarf_Addr *ret)
{
	Dwarf_Addr base, end;

	if (!dwarf_entrypc(die, ret))
		return true;
	return dwarf_hasattr(die, DW_AT_ranges) && dwarf_ranges(die, 0, &base, ret, &end) > 0;
}

bool tally_die_has_code(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	Dwarf_Addr entry;

	return (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) &&
	       (!dwarf_entrypc(die, &entry) || dwarf_hasattr(die, DW_AT_ranges));
}

bool tally_die_is_function(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_subprogram && !dwarf_hasattr(die, DW_AT_declaration) &&
	       (dwarf_hasattr(die, DW_AT_inline) || tally_die_has_code(die));
}

int tally_die_call_line(Dwarf_Die *die)
{
	Dwarf_Attribute value;
	Dwarf_Word line;

	return dwarf_attr(die, DW_AT_call_line, &value) && !dwarf_formudata(&value, &line) &&
		       line < INT32_MAX
		   ? (int)line
		   : 0;
}

/* The number is one of the unit that the attribute is in, which may be another than the entry's.
 * 0 is a file, too, from DWARF 5 on, though dwarf_decl_file() refuses it. */
static const char *file_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute value;
	Dwarf_Word number;
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t count;

	if (!dwarf_attr_integrate(die, attribute, &value) || dwarf_formudata(&value, &number) ||
	    !dwarf_cu_die(value.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &count) || number >= count)
		return NULL;
	return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

const char *tally_die_call_file(Dwarf_Die *die)
{
	return file_of(die, DW_AT_call_file);
}

const char *tally_die_declared_file(Dwarf_Die *die)
{
	return file_of(die, DW_AT_decl_file);
}

bool tally_die_type(Dwarf_Die *die, bool names_too, Dwarf_Die *ret)
{
	Dwarf_Die at = *die;

	for (unsigned i = 0; i < DIE_TYPES_MOST; i++) {
		Dwarf_Attribute value;

		if (!dwarf_attr_integrate(&at, DW_AT_type, &value) ||
		    !dwarf_formref_die(&value, &at))
			return false;
		switch (dwarf_tag(&at)) {
		case DW_TAG_const_type:
		case DW_TAG_restrict_type:
		case DW_TAG_volatile_type:
		case DW_TAG_shared_type:
		case DW_TAG_atomic_type:
			continue;
		case DW_TAG_typedef:
			if (names_too)
				continue;
			break;
		default:
			break;
		}
		*ret = at;
		return true;
	}
	return false;
}

bool tally_die_type_is_signed(Dwarf_Die *type)
{
	Dwarf_Word encoding;

	return tally_die_number(type, DW_AT_encoding, &encoding) &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_signed ||
		encoding == DW_ATE_signed_fixed);
}

struct search {
	Dwarf_Addr address;
	Dwarf_Die *ret;
	bool found;
};

static int is_function_at(Dwarf_Die *die, void *context)
{
	struct search *search = context;

	if (dwarf_tag(die) != DW_TAG_subprogram || dwarf_haspc(die, search->address) <= 0)
		return DWARF_CB_OK;
	*search->ret = *die;
	search->found = true;
	return DWARF_CB_ABORT;
}

bool tally_die_function_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *ret)
{
	struct search search = {address, ret, false};

	dwarf_getfuncs(unit, is_function_at, &search, 0);
	return search.found;
}

static enum die_next is_inlined_at(Dwarf_Die *die, unsigned depth, void *context)
{
	struct search *search = context;

	(void)depth;
	if (dwarf_tag(die) != DW_TAG_inlined_subroutine || dwarf_haspc(die, search->address) <= 0)
		return DIE_INSIDE;
	*search->ret = *die;
	return DIE_END;
}

bool tally_die_inlined_at(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *ret)
{
	struct search search = {address, ret, false};

	return tally_die_walk(function, is_inlined_at, &search);
}

bool tally_path_ends(const char *path, const char *end)
{
	size_t length = strlen(path), most = strlen(end);

	return most <= length && !strcmp(path + length - most, end);
}

const char *tally_die_file(Dwarf_Die *unit, const char *end)
{
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *file = dwarf_filesrc(files, i, NULL, NULL);

		if (file && tally_path_ends(file, end))
			return file;
	}
	return NULL;
}
