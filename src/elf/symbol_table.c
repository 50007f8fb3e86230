#include "elf/symbol_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

void tally_symbol_table_done(struct tally_symbol_table *table)
{
	if (table->owns_rows) {
		free((void *)table->starts);
		free((void *)table->ends);
		free((void *)table->names);
		free((void *)table->infos);
		free((void *)table->outer);
		free((void *)table->further);
	}
	if (table->owns_text)
		free((void *)table->text);
	free((void *)table->more);
	tally_fs_unmap(&table->mapped);
	*table = (struct tally_symbol_table){0};
}

/* Links each symbol to the nearest earlier one that ends after it, so that an address after a
 * nested symbol is found in the symbol around it. */
static int link_outer(const struct tally_symbol_list *list, uint32_t **ret)
{
	bool overlap = false;
	uint32_t *outer;

	*ret = NULL;
	for (size_t i = 1; i < list->count && !overlap; i++)
		overlap = list->ends[i - 1] > list->starts[i];
	if (!overlap)
		return 0;
	outer = calloc(list->count, sizeof(*outer));
	if (!outer)
		return -ENOMEM;
	for (size_t i = 1; i < list->count; i++) {
		size_t around = i; /* index + 1 of the candidate */

		while (around && list->ends[around - 1] <= list->ends[i])
			around = outer[around - 1];
		outer[i] = (uint32_t)around;
	}
	*ret = outer;
	return 0;
}

/* The depth of a symbol is the number of symbols around it.  Each has a second, longer link: if the
 * two next links of its outer symbol have equal lengths, it goes as far as both together, else to
 * the outer symbol itself.  So any depth is reached by few links (skew-binary numbers).  Source: E.
 * W.  Myers, "An applicative random-access stack", 1983. */
static uint32_t *link_further(const uint32_t *outer, size_t count)
{
	uint32_t *further = calloc(count, sizeof(*further));
	uint32_t *depths = calloc(count + 1, sizeof(*depths)); /* by index + 1 */

	for (size_t i = 0; further && depths && i < count; i++) {
		uint32_t parent = outer[i], far = parent ? further[parent - 1] : 0;
		uint32_t behind = far ? further[far - 1] : 0;

		depths[i + 1] = parent ? depths[parent] + 1 : 1;
		further[i] = parent && depths[parent] - depths[far] == depths[far] - depths[behind]
				 ? behind
				 : parent;
	}
	if (!depths) {
		free(further);
		further = NULL;
	}
	free(depths);
	return further;
}

static void *shrink(void *array, size_t count, size_t size)
{
	void *shrunk = reallocarray(array, count, size);

	return shrunk ? shrunk : array;
}

int tally_symbol_table_take_rows(struct tally_symbol_table *table, struct tally_symbol_list *list,
				 const char *text, size_t text_size)
{
	uint32_t *outer, *further = NULL;
	int error = link_outer(list, &outer);

	if (error)
		return error;
	if (outer)
		further = link_further(outer, list->count);
	if (outer && !further) {
		free(outer);
		return -ENOMEM;
	}
	if (list->count) {
		list->starts = shrink(list->starts, list->count, sizeof(*list->starts));
		list->ends = shrink(list->ends, list->count, sizeof(*list->ends));
		list->names = shrink(list->names, list->count, sizeof(*list->names));
		list->infos = shrink(list->infos, list->count, sizeof(*list->infos));
	}
	*table = (struct tally_symbol_table){
	    .starts = list->starts,
	    .ends = list->ends,
	    .names = list->names,
	    .infos = list->infos,
	    .outer = outer,
	    .further = further,
	    .text = text,
	    .text_size = text_size,
	    .count = list->count,
	    .owns_rows = true,
	};
	list->starts = list->ends = NULL;
	list->names = NULL;
	list->infos = NULL;
	tally_symbol_list_done(list);
	return 0;
}

int tally_symbol_table_take(struct tally_symbol_table *table, struct tally_symbol_list *list)
{
	struct tally_mapped mapped = list->mapped;
	struct tally_buf text = list->text;
	const char *first = list->first;
	size_t first_size = list->first_size;
	int error;

	list->text = (struct tally_buf){0};
	list->mapped = (struct tally_mapped){0};
	if (first_size)
		error = tally_symbol_table_take_rows(table, list, first, first_size);
	else
		error =
		    tally_symbol_table_take_rows(table, list, (const char *)text.data, text.size);
	if (error) {
		list->text = text;
		list->mapped = mapped;
		return error;
	}
	table->mapped = mapped;
	if (first_size) {
		table->more = (const char *)text.data;
		table->more_size = text.size;
	} else {
		table->owns_text = true;
	}
	return 0;
}

/* The innermost symbol that contains the address, around one that ends before it: outer symbols end
 * later. */
static int64_t find_around(const struct tally_symbol_table *table, uint64_t place, size_t at)
{
	while (place >= table->ends[at]) {
		uint32_t parent = table->outer[at], far = table->further ? table->further[at] : 0;

		/* an outer one is earlier, so this ends with any contents of the arrays */
		if (!parent || parent > at)
			return -ENOENT;
		at = (far && place >= table->ends[far - 1] ? far : parent) - 1;
	}
	return (int64_t)at;
}

int64_t tally_symbol_table_find_among(const struct tally_symbol_table *table, uint64_t place,
				      size_t from, size_t count)
{
	const uint64_t *base;
	size_t left = count, at;

	place -= table->shift;
	if (!left || place < table->starts[from])
		return -ENOENT;
	base = table->starts + from;
	while (left > 1) { /* base[0] <= place throughout */
		size_t half = left / 2;

		base += base[half] <= place ? half : 0;
		left -= half;
	}
	at = (size_t)(base - table->starts);
	/* as perf does, a symbol that stayed without a size covers its first byte */
	if (place < table->ends[at] ||
	    (place == table->starts[at] && table->starts[at] == table->ends[at]))
		return (int64_t)at;
	return table->outer ? find_around(table, place, at) : -ENOENT;
}

int64_t tally_symbol_table_find(const struct tally_symbol_table *table, uint64_t place)
{
	return tally_symbol_table_find_among(table, place, 0, table->count);
}

static const char *name_at(const struct tally_symbol_table *table, size_t name)
{
	if (name < table->text_size)
		return table->text + name;
	name -= table->text_size;
	return name < table->more_size ? table->more + name : "";
}

struct tally_symbol tally_symbol_table_get(const struct tally_symbol_table *table, size_t index)
{
	return (struct tally_symbol){
	    .start = table->starts[index] + table->shift,
	    .end = table->ends[index] + table->shift,
	    .name = name_at(table, table->names[index]),
	    .binding = ELF64_ST_BIND(table->infos[index]),
	    .type = ELF64_ST_TYPE(table->infos[index]),
	};
}
