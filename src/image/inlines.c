#include "image/inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "elf/demangle.h"
#include "image/image_state.h"
#include "dwarf/lines_dwarf.h"
#include "dwarf/lines_symbols.h"

/* More callers than this is a damaged file.  Source: perf's limit. */
#define NEST_LIMIT 1024U

static const char unknown[] = "??";

struct answer {
	int error; /* 0 or -ENOENT */
	struct tally_line line;
	uint32_t count;
	struct tally_inline *inlines;
};

/* Under the image's lines_lock. */
struct tally_lines {
	struct tally_elf binary, debug; /* elf is NULL: there is none */
	const struct tally_elf *symbol_file;
	struct tally_line_symbols symbols;
	struct tally_line_units units;
	uint64_t shift;             /* places to addresses: added */
	struct tally_map by_place;  /* struct answer * */
	struct tally_strings names; /* as shown */
	struct tally_map shown;     /* where a name is in the file -> where it is shown */
	struct tally_arena arena;
	struct tally_budget budget; /* of answers and names */
	uint64_t allowed;
	char *left_out;
};

void tally_lines_free(struct tally_lines *lines)
{
	if (!lines)
		return;
	tally_line_units_done(&lines->units);
	tally_line_symbols_done(&lines->symbols);
	tally_elf_close(&lines->binary);
	tally_elf_close(&lines->debug);
	tally_map_done(&lines->by_place);
	tally_strings_done(&lines->names);
	tally_map_done(&lines->shown);
	tally_arena_done(&lines->arena);
	free(lines->left_out);
	free(lines);
}

const char *tally_lines_left_out(const struct tally_lines *lines)
{
	return lines ? lines->left_out : NULL;
}

/* perf turns places into addresses by .text alone, wherever the place is. */
static uint64_t shift_of(const struct tally_elf *elf)
{
	const struct tally_elf_section *text = tally_elf_find(elf, ".text", SHT_NULL);

	return text ? text->header.sh_addr - text->header.sh_offset : 0;
}

static int open_lines(const struct tally_image *image, struct tally_lines *lines)
{
	int error;

	lines->binary = lines->debug = (struct tally_elf){.fd = -1};
	/* of the kernel and of what has no file nothing is known */
	if (image->kind != TALLY_IMAGE_FILE ||
	    tally_image_open_files(image, &lines->binary, &lines->debug))
		return 0;
	lines->shift = shift_of(lines->binary.elf ? &lines->binary : &lines->debug);
	lines->symbol_file = lines->debug.elf ? &lines->debug : &lines->binary;
	lines->allowed = lines->symbol_file->allowed;
	lines->budget.left = lines->allowed;
	error = tally_line_symbols_read(&lines->symbols, lines->symbol_file);
	if (!error && lines->debug.elf)
		error = tally_line_units_open(&lines->units, &lines->debug);
	else if (!error)
		error = tally_line_units_open(&lines->units, &lines->binary);
	return error == -ENOENT ? 0 : error;
}

/* The lock is held. */
static struct tally_lines *need_lines(struct tally_image *image)
{
	if (!image->lines) {
		struct tally_lines *lines = calloc(1, sizeof(*lines));

		(void)tally_image_symbol_count(image); /* loads it: its kind no longer changes */
		if (lines && open_lines(image, lines)) {
			tally_lines_free(lines);
			lines = NULL;
		}
		image->lines = lines;
	}
	return image->lines;
}

/* Equal names are one pointer.  NULL: out of memory. */
static const char *shown_name(const struct tally_image *image, struct tally_lines *lines,
			      const char *name)
{
	const char *of = name;
	char *demangled = NULL;
	uint64_t *known = tally_map_find(&lines->shown, (uintptr_t)name);
	size_t length;
	int64_t id;
	bool added;

	if (known)
		return (const char *)(uintptr_t)*known;
	if (!name)
		name = unknown;
	else if (!image->store->options.no_demangle)
		demangled = tally_demangle(name, &lines->budget.left);
	if (demangled)
		name = demangled;
	length = strnlen(name, TALLY_NAME_MOST);
	if (!budget_take(&lines->budget, length)) {
		name = unknown;
		length = sizeof(unknown) - 1;
	}
	id = tally_strings_intern(&lines->names, name, length);
	free(demangled);
	known = id < 0 ? NULL : tally_map_put(&lines->shown, (uintptr_t)of, &added);
	if (!known)
		return NULL;
	*known = (uintptr_t)lines->names.text[id];
	return lines->names.text[id];
}

/* What is known of an address: by debug information, with names of the symbol table where it has
 * none that linkers use; else by the symbol table. */
struct known {
	struct tally_line_found found;
	const char *name;
};

static int look_up(struct tally_lines *lines, uint64_t address, struct known *ret)
{
	uint32_t section = lines->symbol_file ? tally_line_section(lines->symbol_file, address) : 0;
	const struct tally_line_symbol *symbol;
	const struct tally_line_function *function;
	int error;

	if (!section)
		return -ENOENT;
	*ret = (struct known){0};
	error = lines->units.dwarf ? tally_line_units_find(&lines->units, address, &ret->found)
				   : -ENOENT;
	if (error && error != -ENOENT)
		return error;
	function = ret->found.function;
	if (function && (function->linkage || (function->inlined && function->name))) {
		ret->name = function->name;
		return 0; /* binutils 2.40 names inlined ones by the symbol at the first question */
	}
	symbol = tally_line_symbols_find(&lines->symbols, section, address);
	if (!symbol) {
		ret->name = function ? function->name : NULL;
		return error;
	}
	ret->name = symbol->name;
	if (!ret->found.file)
		ret->found.file = symbol->file;
	return 0;
}

/* A function's own name.  One that is not the linker's gives way to that of the symbol that starts
 * where the function does. */
static const char *name_of(const struct tally_lines *lines,
			   const struct tally_line_function *function)
{
	const struct tally_line_symbol *symbol = NULL;
	uint32_t section;

	if (!function->linkage && !function->inlined) {
		section = tally_line_section(lines->symbol_file, function->low);
		symbol = tally_line_symbols_find(&lines->symbols, section, function->low);
	}
	return symbol && symbol->address == function->low ? symbol->name : function->name;
}

static const char *or_unknown(const char *text)
{
	return text ? text : unknown;
}

/* The file as addr2line names it, when the unit does. */
static const char *whole_path(struct tally_lines *lines, const struct tally_line_unit *unit,
			      const char *file)
{
	size_t folder = unit && unit->folder ? strlen(unit->folder) : 0, length;
	char *path;

	if (!folder || !file || *file == '/' || *file == '<')
		return or_unknown(file);
	length = strlen(file);
	path = budget_take(&lines->budget, folder + length + 2)
		   ? tally_arena_alloc(&lines->arena, folder + length + 2)
		   : NULL;
	if (!path)
		return file;
	memcpy(path, unit->folder, folder);
	path[folder] = '/';
	memcpy(path + folder + 1, file, length + 1);
	return path;
}

static int fill_inlines(struct tally_image *image, struct tally_lines *lines,
			const struct known *known, const char *symbol, struct answer *answer)
{
	const struct tally_line_function *function = known->found.function;
	const struct tally_line_function *at = function;
	uint32_t count = 1;

	while (at && count < NEST_LIMIT) {
		at = tally_line_caller(&lines->units, known->found.unit, at);
		count += at != NULL;
	}
	if (!budget_take(&lines->budget, count * sizeof(*answer->inlines)))
		return 0;
	answer->inlines = tally_arena_alloc(&lines->arena, count * sizeof(*answer->inlines));
	if (!answer->inlines)
		return -ENOMEM;
	answer->count = count;
	answer->inlines[0] = (struct tally_inline){
	    .name = known->name, .file = answer->line.file, .line = answer->line.line};
	at = function;
	for (uint32_t i = 1; i < count; i++) {
		const struct tally_line_function *caller =
		    tally_line_caller(&lines->units, known->found.unit, at);

		answer->inlines[i] = (struct tally_inline){
		    .name = name_of(lines, caller),
		    .file = whole_path(lines, known->found.unit, at->call_file),
		    .line = at->call_line};
		at = caller;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct tally_inline *one = &answer->inlines[i];

		one->name = shown_name(image, lines, one->name);
		if (!one->name)
			return -ENOMEM;
		one->inlined = strcmp(one->name, symbol) != 0;
	}
	return 0;
}

static int make_answer(struct tally_image *image, struct tally_lines *lines, uint64_t place,
		       struct answer *answer)
{
	int64_t symbol = tally_image_find_symbol(image, place);
	struct known known;

	answer->line = (struct tally_line){.file = unknown, .address = place + lines->shift};
	answer->error = look_up(lines, answer->line.address, &known);
	if (answer->error)
		return answer->error == -ENOENT ? 0 : answer->error;
	answer->line.file =
	    whole_path(lines, known.found.named ? known.found.unit : NULL, known.found.file);
	answer->line.line = known.found.line;
	if (symbol < 0)
		return 0;
	return fill_inlines(image, lines, &known, tally_image_symbol(image, symbol)->name, answer);
}

/* The lock is held. */
static const struct answer *find_answer(struct tally_image *image, uint64_t place)
{
	struct tally_lines *lines = need_lines(image);
	uint64_t *known = lines ? tally_map_find(&lines->by_place, place) : NULL;
	struct answer *answer;
	bool added;

	if (!lines || known)
		return known ? (const struct answer *)(uintptr_t)*known : NULL;
	answer = tally_arena_alloc(&lines->arena, sizeof(*answer));
	if (!answer || make_answer(image, lines, place, answer))
		return NULL;
	if (lines->budget.spent || lines->units.budget.spent)
		tally_image_leave_out(image, &lines->left_out, "source lines or inlined functions",
				      lines->allowed);
	known = tally_map_put(&lines->by_place, place, &added);
	if (!known)
		return NULL;
	*known = (uintptr_t)answer;
	return answer;
}

int tally_image_line(struct tally_image *image, uint64_t place, struct tally_line *ret)
{
	const struct answer *answer;

	if (image->kind == TALLY_IMAGE_DUMP)
		return tally_image_dump_line(image, place, ret);
	pthread_mutex_lock(&image->lines_lock);
	answer = find_answer(image, place);
	pthread_mutex_unlock(&image->lines_lock);
	if (!answer)
		return -ENOMEM;
	*ret = answer->line;
	return answer->error;
}

int tally_image_inlines(struct tally_image *image, uint64_t place, const struct tally_inline **ret,
			size_t *ret_count)
{
	const struct answer *answer;

	pthread_mutex_lock(&image->lines_lock);
	answer = find_answer(image, place);
	pthread_mutex_unlock(&image->lines_lock);
	if (!answer)
		return -ENOMEM;
	*ret = answer->inlines;
	*ret_count = answer->count;
	return 0;
}
