#include "image/inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include "elf/demangle.h"
#include "dwarf/line_index.h"
#include "image/image_state.h"
#include "image/module_lines.h"

/* More callers than this is a damaged file.  Source: perf's limit. */
#define NEST_LIMIT 1024U

static const char unknown[] = "??";

struct answer {
	int error; /* 0 or -ENOENT */
	struct tally_line line;
	uint32_t count;
	struct tally_inline *inlines;
};

/* Under the image's lines_lock but for the index, which has its own. */
struct tally_lines {
	bool has_index;
	struct line_index index;
	struct tally_module_places module; /* where its places are in the index */
	char *folder;                      /* of the cache, or NULL */
	struct tally_map by_place;         /* struct answer * */
	struct tally_strings names;        /* as shown */
	struct tally_map shown;            /* where a name is in the file -> where it is shown */
	struct tally_arena arena;
	struct tally_budget budget; /* of answers and names */
	uint64_t allowed;
	char *left_out;
};

void tally_lines_free(struct tally_lines *lines)
{
	if (!lines)
		return;
	if (lines->has_index)
		tally_line_index_close(&lines->index);
	tally_module_places_done(&lines->module);
	tally_map_done(&lines->by_place);
	tally_strings_done(&lines->names);
	tally_map_done(&lines->shown);
	tally_arena_done(&lines->arena);
	free(lines->folder);
	free(lines->left_out);
	free(lines);
}

const char *tally_lines_left_out(const struct tally_lines *lines)
{
	return lines ? lines->left_out : NULL;
}

static int open_files(void *context, struct tally_elf *ret_binary, struct tally_elf *ret_debug)
{
	const struct tally_image *image = context;

	if (image->kind == TALLY_IMAGE_KERNEL)
		return tally_image_open_vmlinux(image, ret_binary, ret_debug);
	if (image->kind == TALLY_IMAGE_MODULE)
		return tally_image_open_module(image, ret_binary, ret_debug);
	return tally_image_open_files(image, ret_binary, ret_debug);
}

static int open_lines(struct tally_image *image, struct tally_lines *lines)
{
	bool kernel = image->kind == TALLY_IMAGE_KERNEL;
	bool recorded = image->build_id_size != 0 && !kernel;
	struct line_index_options options = {
	    .path = kernel ? image->store->options.vmlinux : image->path,
	    .id_size = recorded ? image->build_id_size : image->found_id_size,
	    .least = LINE_INDEX_LEAST,
	    .open = open_files,
	    .context = image,
	};
	int error;

	if (image->kind == TALLY_IMAGE_MODULE) {
		error = tally_module_places_read(image, &lines->module);
		if (error)
			return error == -ENOENT ? 0 : error;
	}
	/* of what has no file nothing is known */
	if (image->kind != TALLY_IMAGE_FILE && image->kind != TALLY_IMAGE_MODULE &&
	    !(kernel && image->store->options.vmlinux && image->own.count))
		return 0;
	memcpy(options.id, recorded ? image->build_id : image->found_id, sizeof(options.id));
	lines->folder = tally_image_cache_folder(image->store);
	options.folder = lines->folder;
	error = tally_line_index_open(&lines->index, &options);
	lines->has_index = !error;
	if (kernel && !error) /* its places are recorded addresses */
		lines->index.shift = 0 - image->vmlinux_shift;
	lines->allowed = elf_allowed(lines->has_index ? lines->index.file.size : 0);
	if (lines->has_index && lines->index.allowed)
		lines->allowed = lines->index.allowed;
	lines->budget.left = lines->allowed;
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

const char *tally_lines_kept_name(struct tally_image *image, const char *name)
{
	const struct tally_lines *lines = image->lines;

	return lines && lines->has_index ? tally_line_names_find(&lines->index.names, name) : NULL;
}

void tally_lines_keep_name(struct tally_image *image, const char *name, const char *shown)
{
	struct tally_lines *lines = image->lines;

	if (lines && lines->has_index && lines->folder)
		tally_line_names_add(&lines->index.names, name, shown);
}

/* The lock is held, and released meanwhile. */
static char *demangle(struct tally_image *image, struct tally_lines *lines, const char *name)
{
	uint64_t before = lines->budget.left, left = before;
	char *demangled;

	pthread_mutex_unlock(&image->lines_lock);
	demangled = tally_demangle(name, &left);
	if (demangled)
		tally_lines_keep_name(image, name, demangled);
	pthread_mutex_lock(&image->lines_lock);
	lines->budget.left -= MIN(before - left, lines->budget.left);
	return demangled;
}

/* Equal names are one pointer.  NULL: out of memory. */
static const char *shown_name(struct tally_image *image, struct tally_lines *lines,
			      const char *name)
{
	const char *of = name, *kept;
	char *demangled = NULL;
	uint64_t *known = tally_map_find(&lines->shown, (uintptr_t)name);
	size_t length;
	int64_t id;
	bool added;

	if (known)
		return (const char *)(uintptr_t)*known;
	if (!name) {
		name = unknown;
	} else if (!image->store->options.no_demangle && tally_demangle_wanted(name)) {
		kept = tally_lines_kept_name(image, name);
		demangled = kept ? NULL : demangle(image, lines, name);
		name = kept ? kept : demangled ? demangled : name;
	}
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
	struct line_found found;
	const char *name;
};

/* Without the image's lock, as units may be read for it.  0, -ENOENT, -ENOMEM. */
static int look_up(struct tally_lines *lines, uint64_t address, struct known *ret)
{
	const struct tally_line_symbol *symbol;
	const struct unit_lines_function *function;
	int error;

	*ret = (struct known){.name = NULL};
	if (!lines->has_index)
		return -ENOENT;
	error = tally_line_index_find(&lines->index, address, &ret->found);
	if (error)
		return error;
	function = ret->found.at.function;
	if (function)
		ret->name = unit_lines_name(ret->found.lines, function);
	if (function && (function->flags & UNIT_LINES_LINKAGE ||
			 (function->flags & UNIT_LINES_INLINED && ret->name)))
		return 0; /* binutils 2.40 names inlined ones by the symbol at the first question */
	if (function && function->flags & UNIT_LINES_SYMBOL && ret->found.at.file)
		return 0;
	symbol = tally_line_index_symbol(&lines->index, address);
	if (!symbol)
		return ret->found.lines ? 0 : -ENOENT;
	ret->name = symbol->name;
	if (!ret->found.at.file)
		ret->found.at.file = symbol->file;
	return 0;
}

static const char *or_unknown(const char *text)
{
	return text ? text : unknown;
}

static int fill_inlines(struct tally_image *image, struct tally_lines *lines,
			const struct known *known, const char *symbol, struct answer *answer)
{
	const struct unit_lines *unit = known->found.lines;
	const struct unit_lines_function *at = known->found.at.function;
	uint32_t count = 1;

	while (at && count < NEST_LIMIT) {
		at = unit_lines_caller(unit, at);
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
	at = known->found.at.function;
	for (uint32_t i = 1; i < count; i++) {
		const struct unit_lines_function *caller = unit_lines_caller(unit, at);

		answer->inlines[i] =
		    (struct tally_inline){.name = unit_lines_name(unit, caller),
					  .file = or_unknown(unit_lines_call_file(unit, at)),
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

/* `result`: of look_up(). */
static int make_answer(struct tally_image *image, struct tally_lines *lines, uint64_t place,
		       uint64_t address, int result, const struct known *known,
		       struct answer *answer)
{
	int64_t symbol = tally_image_find_symbol(image, place);

	answer->line = (struct tally_line){.file = unknown, .address = address};
	answer->error = result;
	if (result)
		return result == -ENOENT ? 0 : result;
	answer->line.file = or_unknown(known->found.at.file);
	answer->line.line = known->found.at.line;
	if (symbol < 0)
		return 0;
	return fill_inlines(image, lines, known, tally_image_symbol(image, symbol)->name, answer);
}

/* The address of a place in the debug information. 0 or -ENOENT. */
static int address_of(const struct tally_image *image, const struct tally_lines *lines,
		      uint64_t place, uint64_t *ret)
{
	*ret = place;
	if (image->kind == TALLY_IMAGE_MODULE)
		return tally_module_address(&lines->module, place, ret);
	*ret += lines->has_index ? lines->index.shift : 0;
	return 0;
}

/* The lock is held, and released while units are read and names are made. */
static const struct answer *find_answer(struct tally_image *image, uint64_t place)
{
	struct tally_lines *lines = need_lines(image);
	uint64_t *known = lines ? tally_map_find(&lines->by_place, place) : NULL;
	struct answer *answer;
	struct known found = {.name = NULL};
	uint64_t address;
	bool added;
	int result;

	if (!lines || known)
		return known ? (const struct answer *)(uintptr_t)*known : NULL;
	pthread_mutex_unlock(&image->lines_lock);
	result = address_of(image, lines, place, &address);
	if (!result)
		result = look_up(lines, address, &found);
	pthread_mutex_lock(&image->lines_lock);
	known = tally_map_find(&lines->by_place, place); /* another thread may have been faster */
	if (known)
		return (const struct answer *)(uintptr_t)*known;
	answer = tally_arena_alloc(&lines->arena, sizeof(*answer));
	if (!answer || make_answer(image, lines, place, address, result, &found, answer))
		return NULL;
	known = tally_map_find(&lines->by_place, place);
	if (known)
		return (const struct answer *)(uintptr_t)*known;
	if (lines->budget.spent || (lines->has_index && tally_line_index_is_short(&lines->index)))
		tally_image_leave_out(image, &lines->left_out, "source lines or inlined functions",
				      lines->allowed);
	known = tally_map_put(&lines->by_place, place, &added);
	if (!known)
		return NULL;
	*known = (uintptr_t)answer;
	return answer;
}

int tally_lines_index(struct tally_image *image, uint64_t place, struct line_index **ret,
		      uint64_t *ret_address)
{
	struct tally_lines *lines;

	pthread_mutex_lock(&image->lines_lock);
	lines = need_lines(image);
	pthread_mutex_unlock(&image->lines_lock);
	if (!lines)
		return -ENOMEM;
	if (!lines->has_index)
		return -ENOENT;
	*ret = &lines->index;
	return address_of(image, lines, place, ret_address);
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
