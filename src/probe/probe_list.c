/* Lists the defined events with their places, and removes them. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/text.h"
#include "elf/place.h"
#include "probe/kernel_symbols.h"
#include "base/name_filter.h"
#include "place/point_finder.h"
#include "probe/probe_set.h"

struct listing {
	struct tally_probe_event_options options;
	char tracefs[PATH_MAX];
	struct name_filter *filter; /* NULL: all */
	FILE *to;
	struct debug_info info; /* of the current program */
	char *path;             /* its */
	bool open;
	struct kernel_symbols kernel;
	bool kernel_tried;
	struct tally_error *error;
};

static int open_listing(const char *filter, const struct tally_probe_event_options *options,
			FILE *to, struct listing *listing, struct tally_error *error)
{
	int result;

	*listing = (struct listing){.options.size = sizeof(*options), .to = to, .error = error};
	result = tally_options_take(&listing->options, sizeof(listing->options), options);
	if (result)
		return tally_fail(error, result, -1, "unknown options");
	result = tally_trace_folder(listing->options.tracefs, listing->tracefs, PATH_MAX, error);
	if (!result && filter)
		result = tally_name_filter_new(filter, &listing->filter, error);
	return result;
}

static void close_program(struct listing *listing)
{
	if (listing->open)
		tally_debug_info_close(&listing->info);
	listing->open = false;
	free(listing->path);
	listing->path = NULL;
}

static void close_listing(struct listing *listing)
{
	close_program(listing);
	tally_kernel_symbols_close(&listing->kernel);
	tally_name_filter_free(listing->filter);
}

/* --- lines --- */

struct lines {
	char **lines;
	size_t count;
	bool uprobes;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void lines_done(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i]);
	free(lines->lines);
	*lines = (struct lines){0};
}

/* Of one of the two files, sorted.  A file that this kernel does not have is empty. */
static int lines_read(const struct listing *listing, bool uprobes, struct lines *ret)
{
	struct lines lines = {.uprobes = uprobes};
	struct tally_strings text = {0};
	int result = tally_trace_read(listing->tracefs, uprobes, &text);

	if (result == -ENOENT)
		result = 0;
	else if (result)
		result = tally_trace_fail(listing->tracefs, uprobes, result, listing->error);
	if (!result) {
		lines.lines = calloc(text.count + 1, sizeof(*lines.lines));
		result = lines.lines ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < text.count && !result; i++) {
		lines.lines[i] = strdup(text.text[i]);
		if (lines.lines[i])
			lines.count++;
		else
			result = -ENOMEM;
	}
	tally_strings_done(&text);
	if (result == -ENOMEM)
		tally_fail(listing->error, result, -1, "out of memory");
	if (result) {
		lines_done(&lines);
		return result;
	}
	qsort(lines.lines, lines.count, sizeof(*lines.lines), by_text);
	*ret = lines;
	return 0;
}

static bool is_wanted(const struct listing *listing, const struct trace_line *line, char *full,
		      size_t room)
{
	snprintf(full, room, "%s:%s", line->group, line->event);
	return !listing->filter || tally_name_filter_takes(listing->filter, line->event) ||
	       tally_name_filter_takes(listing->filter, full);
}

/* --- places --- */

static bool program_at(struct listing *listing, const char *path, size_t length)
{
	if (listing->path && !strncmp(listing->path, path, length) && !listing->path[length])
		return listing->open;
	close_program(listing);
	listing->path = strndup(path, length);
	if (!listing->path)
		return false;
	listing->open = !tally_debug_info_open(listing->path, listing->options.debug_root,
					       &listing->info, NULL);
	return listing->open;
}

static bool address_of(const struct debug_info *info, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < info->elf.load_count; i++) {
		const struct tally_elf_load *load = &info->elf.loads[i];

		if (offset >= load->offset && offset - load->offset < load->size) {
			*ret = load->address + (offset - load->offset);
			return true;
		}
	}
	return false;
}

/* "work+5" by the symbols. */
static bool symbol_at(const char *path, uint64_t offset, struct tally_buf *to)
{
	struct tally_symbol_list list = {0};
	size_t best = SIZE_MAX;

	if (tally_image_symbols(path, &list, NULL))
		return false;
	for (size_t i = 0; i < list.count; i++)
		if (list.starts[i] <= offset &&
		    (offset < list.ends[i] || list.starts[i] == offset) &&
		    (best == SIZE_MAX || list.starts[i] >= list.starts[best]))
			best = i;
	if (best != SIZE_MAX) {
		tally_buf_text(to, tally_symbol_list_name(&list, best));
		if (offset > list.starts[best])
			tally_buf_printf(to, "+%" PRIu64, offset - list.starts[best]);
	}
	tally_symbol_list_done(&list);
	return best != SIZE_MAX;
}

static void format_program(struct listing *listing, const struct trace_line *line,
			   struct tally_buf *to)
{
	const char *colon = strrchr(line->place, ':');
	size_t length = colon ? (size_t)(colon - line->place) : strlen(line->place);
	uint64_t offset = colon ? strtoull(colon + 1, NULL, 0) : 0, address;
	struct probe_point point;

	if (colon && program_at(listing, line->place, length) && listing->info.dwarf &&
	    address_of(&listing->info, offset, &address) &&
	    tally_point_of(&listing->info, address, &point)) {
		point.at_return = line->is_return;
		tally_probe_point_format(&point, to);
	} else if (colon && listing->path && symbol_at(listing->path, offset, to)) {
		tally_buf_text(to, line->is_return ? "%return" : "");
	} else {
		tally_buf_printf(to, "0x%" PRIx64, offset);
	}
	tally_buf_printf(to, " in %.*s", (int)length, line->place);
}

static void format_kernel(struct listing *listing, const struct trace_line *line,
			  struct tally_buf *to)
{
	const char *colon = strchr(line->place, ':'), *place = colon ? colon + 1 : line->place;
	const struct kernel_symbol *symbol = NULL;
	const char *plus = strchr(place, '+');
	uint64_t offset = plus ? strtoull(plus + 1, NULL, 0) : 0;
	size_t length = plus ? (size_t)(plus - place) : strlen(place);

	if (!listing->kernel_tried)
		tally_kernel_symbols_open(listing->options.procfs, &listing->kernel, NULL);
	listing->kernel_tried = true;
	if (!colon && length == 5 && !strncmp(place, "_text", 5) && listing->kernel.text) {
		symbol = tally_kernel_symbols_at(&listing->kernel, listing->kernel.text + offset);
		if (symbol)
			offset = listing->kernel.text + offset - symbol->address;
	}
	if (symbol)
		tally_buf_text(to, symbol->name);
	else
		tally_buf_add(to, place, length);
	if (offset)
		tally_buf_printf(to, "+%" PRIu64, offset);
	if (line->is_return)
		tally_buf_text(to, "%return");
	if (colon)
		tally_buf_printf(to, " in %.*s", (int)(colon - line->place), line->place);
}

static int print_line(struct listing *listing, const struct trace_line *line, const char *full,
		      bool uprobes)
{
	struct tally_buf text = {0}, shown = {0};

	tally_buf_printf(&text, "  %-20s (on ", full);
	if (uprobes)
		format_program(listing, line, &text);
	else
		format_kernel(listing, line, &text);
	if (line->argument_count)
		tally_buf_text(&text, " with");
	for (size_t i = 0; i < line->argument_count; i++)
		tally_buf_printf(&text, " %.*s", (int)strcspn(line->arguments[i], "="),
				 line->arguments[i]);
	tally_buf_byte(&text, ')');
	tally_text_add_escaped(&shown, (char *)text.data, text.size);
	fprintf(listing->to, "%s\n", tally_buf_str(&shown));
	tally_buf_done(&text);
	tally_buf_done(&shown);
	return 0;
}

int64_t tally_probe_event_list(const char *filter, const struct tally_probe_event_options *options,
			       FILE *to, struct tally_error *error)
{
	struct listing listing;
	int64_t count = 0;
	int result = open_listing(filter, options, to, &listing, error);

	for (int uprobes = 0; uprobes < 2 && !result; uprobes++) {
		struct lines lines = {0};

		result = lines_read(&listing, uprobes, &lines);
		for (size_t i = 0; i < lines.count && !result; i++) {
			struct trace_line cut;
			char full[512];

			if (!tally_trace_line_cut(lines.lines[i], &cut) ||
			    !is_wanted(&listing, &cut, full, sizeof(full)))
				continue;
			result = print_line(&listing, &cut, full, uprobes);
			count++;
		}
		lines_done(&lines);
	}
	close_listing(&listing);
	return result ? result : count;
}

/* --- removing --- */

static int remove_lines(struct listing *listing, struct lines *lines, int64_t *count)
{
	char last[512] = "";
	int result = 0;

	for (size_t i = 0; i < lines->count && !result; i++) {
		struct trace_line cut;
		char full[512], line[520];

		if (!tally_trace_line_cut(lines->lines[i], &cut) ||
		    !is_wanted(listing, &cut, full, sizeof(full)) || !strcmp(full, last))
			continue; /* places of one event go together */
		snprintf(last, sizeof(last), "%s", full);
		snprintf(line, sizeof(line), "-:%s/%s", cut.group, cut.event);
		if (!listing->options.dry_run)
			result = tally_trace_write(listing->tracefs, lines->uprobes, line,
						   listing->error);
		if (!result && listing->to)
			fprintf(listing->to, "Removed event: %s\n", full);
		*count += !result;
	}
	return result;
}

int64_t tally_probe_event_remove(const char *filter,
				 const struct tally_probe_event_options *options, FILE *to,
				 struct tally_error *error)
{
	struct listing listing;
	int64_t count = 0;
	int result = open_listing(filter, options, to, &listing, error);

	for (int uprobes = 0; uprobes < 2 && !result; uprobes++) {
		struct lines lines = {0};

		result = lines_read(&listing, uprobes, &lines);
		if (!result)
			result = remove_lines(&listing, &lines, &count);
		lines_done(&lines);
	}
	close_listing(&listing);
	return result ? result : count;
}
