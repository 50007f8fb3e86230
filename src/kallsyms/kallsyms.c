/* Lines are "address type name" and, for modules, a tab and "[module]" (kernel/kallsyms.c, s_show).
 * The text is rewritten in place: only the names stay, one behind the other. */
#include "kallsyms/kallsyms.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hex.h"
#include "base/table.h"

#define MODULE_LIMIT 4096

struct line { /* a symbol while its name may still move */
	uint64_t address;
	uint32_t name; /* offset in the text */
	uint16_t group;
	char type;
};

struct parser {
	char *text, *out; /* out: where the next name goes */
	struct line *lines;
	size_t count, room, seen;
	uint32_t *modules; /* offsets of names in the text, by group */
	size_t group_count;
	uint64_t text_start, stext_start;
	bool some_address;
};

/* The types perf takes: text, weak, and data of either kind.  Capitals are global. */
static bool is_wanted(char type)
{
	char upper = (char)(type & ~32);

	return upper == 'T' || upper == 'W' || upper == 'D' || upper == 'B';
}

/* Names move towards the start of the text they come from and never overtake the reading. */
static uint32_t keep(struct parser *parser, const char *name, size_t length)
{
	uint32_t at = (uint32_t)(parser->out - parser->text);

	memmove(parser->out, name, length);
	parser->out[length] = 0;
	parser->out += length + 1;
	return at;
}

/* Symbols of a module follow each other mostly: the last group is tried first.  -ENOMEM, -E2BIG. */
static int group_of(struct parser *parser, const char *name, size_t length)
{
	for (size_t i = parser->group_count; i-- > 1;) {
		const char *known = parser->text + parser->modules[i];

		if (!strncmp(known, name, length) && !known[length])
			return (int)i;
	}
	if (parser->group_count == MODULE_LIMIT)
		return -E2BIG;
	if (!(parser->group_count & (parser->group_count - 1))) {
		void *grown = reallocarray(parser->modules, parser->group_count * 2,
					   sizeof(*parser->modules));

		if (!grown)
			return -ENOMEM;
		parser->modules = grown;
	}
	/* the line is longer than its names, so both fit where it was */
	parser->modules[parser->group_count] = keep(parser, name, length);
	return (int)parser->group_count++;
}

static int add_line(struct parser *parser, uint64_t address, char type, const char *name,
		    size_t length, int group)
{
	if (!array_next(&parser->lines, &parser->room, parser->count, 16384,
			sizeof(*parser->lines)))
		return -ENOMEM;
	parser->lines[parser->count++] = (struct line){
	    .address = address,
	    .name = keep(parser, name, length),
	    .group = (uint16_t)group,
	    .type = type,
	};
	return 0;
}

static int parse_line(struct parser *parser, const char *at, const char *end)
{
	uint64_t address;
	const char *name, *tab, *module;
	char type, saved[512];
	size_t length, module_length;
	int group = 0;

	name = hex_digits(at, end, &address);
	if (name == at || end - name < 4 || name[0] != ' ' || name[2] != ' ')
		return 0;
	type = name[1];
	name += 3;
	parser->seen++;
	if (address)
		parser->some_address = true;
	if (name + 5 == end && !memcmp(name, "_text", 5))
		parser->text_start = address;
	if (name + 6 == end && !memcmp(name, "_stext", 6))
		parser->stext_start = address;
	/* $x and the like mark kinds of code in modules of ARM */
	if (!is_wanted(type) || *name == '$')
		return 0;
	tab = memchr(name, '\t', (size_t)(end - name));
	length = (size_t)((tab ? tab : end) - name);
	/* KSYM_NAME_LEN is 512: a longer one is no name */
	if (!length || length >= sizeof(saved))
		return 0;
	if (tab && tab + 2 < end && tab[1] == '[') {
		module = tab + 2;
		for (module_length = 0; module + module_length < end; module_length++)
			if (module[module_length] == ']')
				break;
		if (!module_length || module_length >= 64)
			return 0;
		memcpy(saved, name, length); /* the module's name may be written over it */
		group = group_of(parser, module, module_length);
		if (group == -E2BIG)
			return 0;
		if (group < 0)
			return group;
		name = saved;
	}
	return add_line(parser, address, type, name, length, group);
}

static int parse_all(struct parser *parser, size_t size)
{
	const char *at = parser->text, *end = parser->text + size;
	int error = 0;

	while (at < end && !error) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		error = parse_line(parser, at, stop);
		at = stop + 1;
	}
	return error;
}

static uint8_t info_of(char type)
{
	char lower = (char)(type | 32);
	int binding = type >= 'A' && type <= 'Z' ? STB_GLOBAL : STB_LOCAL;

	if (type == 'W')
		binding = STB_WEAK;
	return (uint8_t)ELF64_ST_INFO(binding,
				      lower == 't' || lower == 'w' ? STT_FUNC : STT_OBJECT);
}

/* All symbols in one list, so that each ends where the next one of any module starts. */
static int fill(const struct parser *parser, struct tally_symbol_list *all)
{
	int error = tally_symbol_list_reserve(all, parser->count);

	if (error)
		return error;
	all->groups = malloc(parser->count * sizeof(*all->groups));
	if (!all->groups)
		return -ENOMEM;
	for (size_t i = 0; i < parser->count && !error; i++) {
		const struct line *line = &parser->lines[i];

		all->groups[i] = line->group;
		error = tally_symbol_list_add(all, line->address, line->address, line->name,
					      info_of(line->type));
	}
	if (!error)
		error = tally_symbol_list_sort(all);
	return error;
}

static int split(const struct tally_symbol_list *all, struct tally_kallsyms *to)
{
	struct tally_symbol_list *parts = calloc(to->group_count, sizeof(*parts));
	size_t *counts = calloc(to->group_count, sizeof(*counts));
	int error = parts && counts ? 0 : -ENOMEM;

	for (size_t i = 0; i < all->count && !error; i++)
		counts[all->groups[i]]++;
	for (size_t i = 0; i < to->group_count && !error; i++)
		error = tally_symbol_list_reserve(&parts[i], counts[i]);
	for (size_t i = 0; i < all->count && !error; i++)
		error = tally_symbol_list_add(&parts[all->groups[i]], all->starts[i], all->ends[i],
					      all->names[i], all->infos[i]);
	for (size_t i = 0; i < to->group_count && !error; i++)
		error = tally_symbol_table_take_rows(&to->tables[i], &parts[i], to->text,
						     to->text_size);
	for (size_t i = 0; parts && i < to->group_count; i++)
		tally_symbol_list_done(&parts[i]);
	free(parts);
	free(counts);
	return error;
}

/* The names stay in the text: the list only borrows it while aliases are compared. */
static void finish_list(struct tally_symbol_list *all, const struct tally_kallsyms *to)
{
	all->text = (struct tally_buf){.data = (uint8_t *)to->text, .size = to->text_size};
	tally_symbol_list_finish(all, NULL);
	all->text = (struct tally_buf){0};
}

static int finish(struct parser *parser, struct tally_kallsyms *to)
{
	struct tally_symbol_list all = {0};
	size_t size = (size_t)(parser->out - parser->text) + 1;
	char *shrunk;
	int error;

	*parser->out = 0;
	shrunk = realloc(parser->text, size);
	if (shrunk)
		parser->text = shrunk;
	to->text = parser->text;
	to->text_size = size;
	parser->text = NULL;
	to->lines = parser->seen;
	to->text_start = parser->text_start;
	to->stext_start = parser->stext_start;
	to->hidden = parser->seen && !parser->some_address;
	if (!parser->count || to->hidden)
		return 0;
	to->group_count = parser->group_count;
	to->modules = calloc(to->group_count, sizeof(*to->modules));
	to->tables = calloc(to->group_count, sizeof(*to->tables));
	if (!to->modules || !to->tables)
		return -ENOMEM;
	for (size_t i = 1; i < to->group_count; i++)
		to->modules[i] = to->text + parser->modules[i];
	error = fill(parser, &all);
	free(parser->lines); /* large, and done with */
	parser->lines = NULL;
	if (!error) {
		finish_list(&all, to);
		error = split(&all, to);
	}
	tally_symbol_list_done(&all);
	return error;
}

int tally_kallsyms_parse(char *text, size_t size, struct tally_kallsyms *ret)
{
	struct parser parser = {.text = text, .out = text, .group_count = 1};
	struct tally_kallsyms made = {0};
	int error = 0;

	parser.modules = calloc(2, sizeof(*parser.modules));
	if (!parser.modules)
		error = -ENOMEM;
	if (!error && size < UINT32_MAX)
		error = parse_all(&parser, size);
	if (!error)
		error = finish(&parser, &made);
	free(parser.text);
	free(parser.lines);
	free(parser.modules);
	if (error) {
		tally_kallsyms_done(&made);
		return error;
	}
	*ret = made;
	return 0;
}

void tally_kallsyms_done(struct tally_kallsyms *kallsyms)
{
	for (size_t i = 0; kallsyms->tables && i < kallsyms->group_count; i++)
		tally_symbol_table_done(&kallsyms->tables[i]);
	free(kallsyms->tables);
	free(kallsyms->modules);
	free(kallsyms->text);
	tally_fs_unmap(&kallsyms->mapped);
	*kallsyms = (struct tally_kallsyms){0};
}

const struct tally_symbol_table *tally_kallsyms_find(const struct tally_kallsyms *kallsyms,
						     const char *module)
{
	if (!kallsyms->group_count)
		return NULL;
	if (!module)
		return &kallsyms->tables[0];
	for (size_t i = 1; i < kallsyms->group_count; i++)
		if (!strcmp(kallsyms->modules[i], module))
			return &kallsyms->tables[i];
	return NULL;
}

uint64_t tally_kallsyms_anchor(const struct tally_kallsyms *kallsyms, const char *name)
{
	if (!strcmp(name, "_text"))
		return kallsyms->text_start;
	return strcmp(name, "_stext") ? 0 : kallsyms->stext_start;
}

void tally_kallsyms_shift(struct tally_kallsyms *kallsyms, uint64_t delta)
{
	if (kallsyms->text_start)
		kallsyms->text_start += delta;
	if (kallsyms->stext_start)
		kallsyms->stext_start += delta;
	for (size_t group = 0; group < kallsyms->group_count; group++)
		kallsyms->tables[group].shift += delta;
}
