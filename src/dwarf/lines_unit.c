/* One unit of debug information: its functions by address, and what each is called. */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf/lines_dwarf.h"

/* Deeper entries are made to exhaust a reader, not to describe a program. */
#define DEPTH_LIMIT 256U
/* What a function's entry may refer to before its name is found. */
#define REFER_LIMIT 16U

/* NULL: no memory, or too little of the budget is left. */
static struct tally_line_function *add_function(struct tally_line_unit *unit,
						struct tally_budget *budget)
{
	if (unit->count == unit->room) {
		size_t room = unit->room ? unit->room * 2 : 32;

		if (!budget_take(budget, (room - unit->room) * sizeof(*unit->functions)))
			return NULL;
	}
	if (unit->count == unit->room) {
		size_t room = unit->room ? unit->room * 2 : 32;
		void *grown = room < UINT32_MAX
				  ? reallocarray(unit->functions, room, sizeof(*unit->functions))
				  : NULL;

		if (!grown)
			return NULL;
		unit->functions = grown;
		unit->room = room;
	}
	unit->functions[unit->count] = (struct tally_line_function){0};
	return &unit->functions[unit->count++];
}

/* Ranges that go on where one before ended, or end where one started, are one, as their sizes
 * decide which function is the innermost. */
struct range {
	uint64_t low, high;
};

static bool joined(struct range *ranges, size_t count, uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < count; i++) {
		if (low == ranges[i].high) {
			ranges[i].high = high;
			return true;
		}
		if (high == ranges[i].low) {
			ranges[i].low = low;
			return true;
		}
	}
	return false;
}

static int add_ranges(struct tally_line_unit *unit, Dwarf_Die *die, struct tally_budget *budget,
		      uint32_t index, uint64_t *ret)
{
	struct range few[32];
	size_t count = 0;
	ptrdiff_t at = 0;
	Dwarf_Addr base = 0, low, high;
	int error = 0;

	while (!error && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (!budget_take(budget, 2 * sizeof(struct tally_span)))
			return -EFBIG;
		if (low >= high || joined(few, count, low, high))
			continue;
		if (count == sizeof(few) / sizeof(few[0])) { /* the last ones are final */
			count--;
			error =
			    tally_spans_add(&unit->spans, few[count].low, few[count].high, index);
		}
		few[count++] = (struct range){.low = low, .high = high};
	}
	if (count)
		*ret = few[0].low;
	for (size_t i = 0; i < count && !error; i++)
		error = tally_spans_add(&unit->spans, few[i].low, few[i].high, index);
	return error;
}

/* *around: the number of the function that the entry is in, + 1; becomes the entry's own. */
static int take_function(struct tally_line_unit *unit, Dwarf_Die *die, struct tally_budget *budget,
			 int tag, uint32_t *around)
{
	struct tally_line_function *function = add_function(unit, budget);

	if (!function)
		return budget->spent ? -EFBIG : -ENOMEM;
	function->die = dwarf_dieoffset(die);
	function->inlined = tag == DW_TAG_inlined_subroutine;
	function->caller = function->inlined ? *around : 0;
	*around = (uint32_t)unit->count;
	return add_ranges(unit, die, budget, (uint32_t)unit->count - 1, &function->low);
}

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_entry_point;
}

/* What holds no code, and is most of a unit. */
static bool is_closed(int tag)
{
	switch (tag) {
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		return true;
	default:
		return false;
	}
}

struct level {
	Dwarf_Die die;
	uint32_t around; /* for the entries beside it */
};

/* Moves on to the entry behind: the one beside, else the one beside what it is in, and so on.
 * False: the unit ends.  Each step goes forward in the file, as the end of a row of entries says
 * where what is beside the entry around them is: references to it are not believed, and a row is
 * not walked again to find its end. */
static bool move_on(struct level *levels, uint32_t *depth, const unsigned char *end)
{
	Dwarf_Die next = {0};
	unsigned char *at;

	if (!dwarf_siblingof(&levels[*depth].die, &next)) {
		levels[*depth].die = next;
		return true;
	}
	if (!next.addr) /* it is damaged, or ends without a sign */
		return false;
	at = next.addr;
	while (*depth) {
		--*depth;
		if (++at >= end)
			return false;
		if (*at) {
			levels[*depth].die = (Dwarf_Die){.addr = at, .cu = levels[*depth].die.cu};
			return true;
		}
	}
	return false;
}

static int scan_functions(struct tally_line_unit *unit, Dwarf_Die *top, struct tally_budget *budget)
{
	const unsigned char *end = (unsigned char *)top->addr + (unit->end - unit->die);
	struct level *levels = malloc(DEPTH_LIMIT * sizeof(*levels));
	uint32_t depth = 0, around = 0;
	bool more;
	int error = 0;

	if (!levels)
		return -ENOMEM;
	levels[0] = (struct level){0};
	more = !dwarf_child(top, &levels[0].die);
	while (more && !error) {
		struct level *level = &levels[depth];
		int tag = dwarf_tag(&level->die);

		around = level->around;
		if (is_function(tag))
			error = take_function(unit, &level->die, budget, tag, &around);
		if (depth + 1 < DEPTH_LIMIT && !is_closed(tag) && !error &&
		    !dwarf_child(&level->die, &levels[depth + 1].die))
			levels[++depth].around = around;
		else
			more = move_on(levels, &depth, end);
	}
	free(levels);
	return error;
}

static const char *relative_folder(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));

	return folder && *folder && *folder != '/' ? folder : NULL;
}

/* Whether the unit's lines may be read; then *ret is what they take. */
static bool lines_fit(struct tally_line_units *units, Dwarf_Die *die, uint64_t *ret)
{
	const struct tally_lines_sections *sections = &units->sections;
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	Dwarf_Die unit;
	uint8_t address_size;
	uint64_t meanwhile;

	if (!dwarf_attr(die, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset) ||
	    !dwarf_diecu(die, &unit, &address_size, NULL))
		return false;
	if (units->foreign) { /* not looked at: a byte of a table is rarely a row */
		meanwhile = sections->line.size * 40;
		*ret = 0;
	} else if (tally_lines_cost(sections, offset, address_size, &meanwhile, ret)) {
		return false;
	}
	if (meanwhile <= units->budget.left)
		return true;
	units->budget.spent = true;
	return false;
}

int tally_line_unit_read(struct tally_line_units *units, struct tally_line_unit *unit)
{
	uint64_t cost;
	Dwarf_Die die;
	int error;

	if (unit->read)
		return 0;
	unit->read = true;
	unit->useless = true;
	if (!dwarf_offdie(units->dwarf, unit->die, &die) || !lines_fit(units, &die, &cost) ||
	    dwarf_getsrclines(&die, &unit->lines, &unit->line_count))
		return 0;
	(void)budget_take(&units->budget, cost);
	if (dwarf_getsrcfiles(&die, &unit->files, &unit->file_count))
		unit->file_count = 0;
	unit->folder = relative_folder(&die);
	error = scan_functions(unit, &die, &units->budget);
	if (error == -EFBIG) {
		free(unit->functions);
		unit->functions = NULL;
		unit->count = unit->room = 0;
		tally_spans_done(&unit->spans);
		return 0;
	}
	if (error)
		return error;
	tally_spans_finish(&unit->spans);
	unit->useless = false;
	return 0;
}

/* Languages whose functions are called in the object file as in the source.  Source: DWARF 5,
 * 7.12, for the numbers; binutils for the choice. */
static bool names_are_linkage(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Cobol74:
	case DW_LANG_Cobol85:
	case DW_LANG_Fortran77:
	case DW_LANG_Pascal83:
	case DW_LANG_PLI:
	case DW_LANG_UPC:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* Looks in the entry, then in what it is an instance or the definition of. */
static void read_name(struct tally_line_function *function, Dwarf_Die die)
{
	static const unsigned refers[] = {DW_AT_abstract_origin, DW_AT_specification};

	for (unsigned depth = 0; depth < REFER_LIMIT; depth++) {
		const char *name = text_of(&die, DW_AT_linkage_name);
		Dwarf_Attribute attribute;
		bool found = false;

		if (!name)
			name = text_of(&die, DW_AT_MIPS_linkage_name);
		if (name) {
			function->name = name;
			function->linkage = true;
			return;
		}
		name = function->name ? NULL : text_of(&die, DW_AT_name);
		if (name) {
			function->name = name;
			function->linkage = names_are_linkage(&die);
		}
		for (size_t i = 0; i < 2 && !found; i++) {
			Dwarf_Die other;

			found = dwarf_attr(&die, refers[i], &attribute) &&
				dwarf_formref_die(&attribute, &other);
			if (found)
				die = other;
		}
		if (!found)
			return;
	}
}

void tally_line_function_read(Dwarf *dwarf, const struct tally_line_unit *unit,
			      struct tally_line_function *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	Dwarf_Die die;

	if (function->read)
		return;
	function->read = true;
	if (!dwarf_offdie(dwarf, function->die, &die))
		return;
	read_name(function, die);
	if (!function->inlined)
		return;
	if (dwarf_attr(&die, DW_AT_call_file, &attribute) && !dwarf_formudata(&attribute, &value)) {
		const char *file = value < unit->file_count
				       ? dwarf_filesrc(unit->files, (size_t)value, NULL, NULL)
				       : NULL;

		function->call_file = file ? file : "<unknown>";
	}
	if (dwarf_attr(&die, DW_AT_call_line, &attribute) && !dwarf_formudata(&attribute, &value))
		function->call_line = (uint32_t)value;
}
