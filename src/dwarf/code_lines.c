#include "dwarf/code_lines.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>
#include "dwarf/die.h"

struct walk {
	code_line_visit visit;
	void *context;
	bool deep; /* into inlined functions, too */
	int result;
};

/* --- what functions add --- */

static enum die_next add_inlined(Dwarf_Die *die, unsigned depth, void *context)
{
	struct walk *walk = context;
	Dwarf_Addr entry;
	const char *file;
	int line;

	(void)depth;
	if (dwarf_tag(die) != DW_TAG_inlined_subroutine)
		return DIE_INSIDE;
	file = tally_die_call_file(die);
	line = tally_die_call_line(die);
	if (!file || line <= 0 || !tally_die_entry(die, &entry))
		return walk->deep ? DIE_INSIDE : DIE_BEHIND;
	walk->result = walk->visit(file, line, entry, walk->context);
	if (walk->result)
		return DIE_END;
	if (!walk->deep)
		return DIE_BEHIND;
	file = tally_die_declared_file(die);
	line = tally_die_line(die);
	if (file && line && entry)
		walk->result = walk->visit(file, line, entry, walk->context);
	return walk->result ? DIE_END : DIE_INSIDE;
}

static int add_function(Dwarf_Die *die, void *context)
{
	struct walk *walk = context;
	const char *file = tally_die_declared_file(die);
	int line = tally_die_line(die);
	Dwarf_Addr entry;

	if (file && line && tally_die_entry(die, &entry))
		walk->result = walk->visit(file, line, entry, walk->context);
	if (!walk->result)
		tally_die_walk(die, add_inlined, walk);
	return walk->result ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* --- the table --- */

struct owner { /* the function whose lines are wanted */
	Dwarf_Die *die;
	const char *file;
	int line;
};

static bool innermost(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *ret)
{
	bool found = false;
	Dwarf_Die at = *function, next;

	for (unsigned i = 0; i < DIE_DEPTH_MOST && tally_die_inlined_at(&at, address, &next); i++) {
		*ret = at = next;
		found = true;
	}
	return found;
}

/* A row of what was inlined is the owner's where it was called, or where it is the owner again. */
static bool is_own(const struct owner *owner, Dwarf_Addr address, int line)
{
	const char *file;
	Dwarf_Die inner;

	if (dwarf_haspc(owner->die, address) <= 0)
		return false;
	if (!innermost(owner->die, address, &inner))
		return true;
	file = tally_die_call_file(&inner);
	if (file && owner->file && !strcmp(file, owner->file) &&
	    tally_die_call_line(&inner) == line)
		return true;
	file = tally_die_declared_file(&inner);
	return tally_die_line(&inner) == owner->line && file && owner->file &&
	       !strcmp(file, owner->file);
}

static bool is_statement(Dwarf_Line *row, int *line, Dwarf_Addr *address)
{
	bool flag;

	return row && !dwarf_lineno(row, line) && !dwarf_lineaddr(row, address) &&
	       !dwarf_lineendsequence(row, &flag) && !flag &&
	       !dwarf_linebeginstatement(row, &flag) && flag;
}

int tally_code_lines_walk(Dwarf_Die *top, code_line_visit visit, void *context)
{
	struct walk walk = {.visit = visit, .context = context};
	bool whole = dwarf_tag(top) == DW_TAG_compile_unit;
	struct owner owner = {.die = top};
	Dwarf_Die unit = *top;
	Dwarf_Lines *lines;
	size_t count;

	if (!whole && !dwarf_diecu(top, &unit, NULL, NULL))
		return 0;
	if (dwarf_getsrclines(&unit, &lines, &count))
		return 0;
	if (!whole) {
		owner.file = tally_die_declared_file(top);
		owner.line = tally_die_line(top);
	}
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		Dwarf_Addr address;
		const char *file;
		int line, result;

		if (!is_statement(row, &line, &address) ||
		    (!whole && !is_own(&owner, address, line)))
			continue;
		file = dwarf_linesrc(row, NULL, NULL);
		result = file ? visit(file, line, address, context) : 0;
		if (result)
			return result;
	}
	walk.deep = whole;
	if (whole)
		dwarf_getfuncs(&unit, add_function, &walk, 0);
	else
		add_function(top, &walk);
	return walk.result;
}

/* The first statement of those that begin at the address, or of the nearest before it. */
static Dwarf_Line *find_row(Dwarf_Die *unit, Dwarf_Addr address)
{
	size_t count, from = 0, to;
	Dwarf_Lines *lines;
	Dwarf_Addr at;

	if (dwarf_getsrclines(unit, &lines, &count) || !count)
		return NULL;
	to = count;
	while (from < to) { /* the first row behind */
		size_t middle = from + (to - from) / 2;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &at))
			return NULL;
		if (at <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from--)
		return NULL;
	/* back to the first that has its address, if that is the one asked for */
	dwarf_lineaddr(dwarf_onesrcline(lines, from), &at);
	while (at == address && from) {
		Dwarf_Addr before;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, from - 1), &before) || before != at)
			break;
		from--;
	}
	for (; from < count; from++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, from);
		bool flag;

		if (dwarf_lineaddr(row, &at) || at > address ||
		    dwarf_linebeginstatement(row, &flag))
			return NULL;
		if (flag)
			return row;
	}
	return NULL;
}

int tally_code_line_at(Dwarf_Die *unit, Dwarf_Addr address, const char **ret_file)
{
	Dwarf_Die function;
	Dwarf_Addr entry;
	Dwarf_Line *row;
	int line;

	if (tally_die_function_at(unit, address, &function) && tally_die_entry(&function, &entry) &&
	    entry == address) {
		*ret_file = tally_die_declared_file(&function);
		return *ret_file ? tally_die_line(&function) : 0;
	}
	row = find_row(unit, address);
	if (!row || dwarf_lineno(row, &line))
		return 0;
	*ret_file = dwarf_linesrc(row, NULL, NULL);
	return *ret_file ? line : 0;
}

/* The row behind the entry's own: the end of the prologue where the compiler marked it, another
 * line, or the second row of the same line. */
Dwarf_Addr tally_code_behind_prologue(Dwarf_Die *function, Dwarf_Die *unit, Dwarf_Addr entry)
{
	Dwarf_Lines *lines;
	Dwarf_Addr at, end;
	size_t count, first = 0, i;
	bool marked;
	int own, line;

	if (dwarf_highpc(function, &end) || dwarf_getsrclines(unit, &lines, &count))
		return entry;
	while (first < count &&
	       (dwarf_lineaddr(dwarf_onesrcline(lines, first), &at) || at != entry))
		first++;
	if (first == count || dwarf_lineno(dwarf_onesrcline(lines, first), &own))
		return entry;
	for (i = first; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (dwarf_lineaddr(row, &at) || dwarf_lineno(row, &line) ||
		    dwarf_lineprologueend(row, &marked))
			return entry;
		if (at >= end)
			break;
		if (marked || line != own || i != first)
			return at;
	}
	return entry;
}
