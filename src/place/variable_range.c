/* Where in its function a variable can be read, as text. */
#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include "dwarf/die.h"
#include "place/variable.h"

/* More ranges are cut off. */
#define RANGES_MOST 1000

struct text {
	struct tally_buf *to;
	const char *name;
	Dwarf_Addr entry;
	unsigned count;
};

static bool add(struct text *text, Dwarf_Addr start, Dwarf_Addr end)
{
	if (!text->count)
		tally_buf_printf(text->to, "\t@<%s+[", text->name);
	else
		tally_buf_byte(text->to, ',');
	tally_buf_printf(text->to, "%" PRIu64 "-%" PRIu64, start - text->entry, end - text->entry);
	return ++text->count < RANGES_MOST;
}

/* With one place for all addresses: those of the block that it is declared in. */
static void add_block(struct text *text, Dwarf_Die *variable)
{
	Dwarf_Addr base, start, end;
	Dwarf_Die *scopes = NULL;
	ptrdiff_t at = 0;

	if (dwarf_getscopes_die(variable, &scopes) > 1)
		while ((at = dwarf_ranges(&scopes[1], at, &base, &start, &end)) > 0 &&
		       add(text, start, end))
			;
	free(scopes);
}

static void add_list(struct text *text, Dwarf_Die *variable)
{
	Dwarf_Addr base, start, end;
	Dwarf_Attribute places;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(variable, DW_AT_location, &places))
		return;
	while ((at = dwarf_getlocations(&places, at, &base, &start, &end, &ops, &count)) > 0) {
		if (!start) {
			add_block(text, variable);
			return;
		}
		if (!add(text, start, end))
			return;
	}
}

void tally_variable_describe_range(const struct probe_scope *scope, Dwarf_Die *variable,
				   struct tally_buf *to)
{
	Dwarf_Die function = scope->function;
	struct text text = {.to = to, .name = dwarf_diename(&function)};

	if (!text.name || !tally_die_entry(&function, &text.entry))
		return;
	add_list(&text, variable);
	if (text.count)
		tally_buf_text(to, "]>");
}
