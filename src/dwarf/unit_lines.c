#include "dwarf/unit_lines.h"

#include <errno.h>
#include <string.h>
#include "base/sorted.h"

static bool is_ascending(const uint32_t *list, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (list[i - 1] >= list[i])
			return false;
	return true;
}

static bool are_valid(const struct unit_lines *lines)
{
	if (lines->text_size && lines->text[lines->text_size - 1])
		return false;
	if (!is_ascending(lines->row_starts, lines->row_count) ||
	    !is_ascending(lines->span_starts, lines->span_count))
		return false;
	for (uint32_t i = 0; i < lines->row_count; i++)
		if (lines->row_files[i] >= lines->file_count &&
		    lines->row_files[i] != UNIT_LINES_NONE)
			return false;
	for (uint32_t i = 0; i < lines->span_count; i++)
		if (lines->span_functions[i] > lines->function_count)
			return false;
	for (uint32_t i = 0; i < lines->file_count; i++)
		if (lines->files[i] >= lines->text_size)
			return false;
	for (uint32_t i = 0; i < lines->function_count; i++) {
		const struct unit_lines_function *function = &lines->functions[i];

		if (function->name > lines->text_size || function->caller > i ||
		    (function->call_file >= lines->file_count &&
		     function->call_file != UNIT_LINES_NONE))
			return false;
	}
	return true;
}

int tally_unit_lines_take(const void *bytes, size_t size, struct unit_lines *ret)
{
	const struct unit_lines_head *head = bytes;
	struct unit_lines lines;
	const uint32_t *at;
	uint64_t needed;

	if (size < sizeof(*head) || (uintptr_t)bytes % sizeof(uint32_t))
		return -EBADMSG;
	needed = sizeof(*head) + (uint64_t)head->rows * 12 + (uint64_t)head->spans * 8 +
		 (uint64_t)head->functions * sizeof(struct unit_lines_function) +
		 (uint64_t)head->files * 4 + head->text_size;
	if (needed != size)
		return -EBADMSG;
	at = (const uint32_t *)(head + 1);
	lines = (struct unit_lines){.row_count = head->rows,
				    .span_count = head->spans,
				    .function_count = head->functions,
				    .file_count = head->files,
				    .text_size = head->text_size};
	lines.row_starts = at;
	lines.row_files = at += lines.row_count;
	lines.row_lines = at += lines.row_count;
	lines.span_starts = at += lines.row_count;
	lines.span_functions = at += lines.span_count;
	at += lines.span_count;
	lines.functions = (const struct unit_lines_function *)at;
	lines.files = (const uint32_t *)(lines.functions + lines.function_count);
	lines.text = (const char *)(lines.files + lines.file_count);
	if (!are_valid(&lines))
		return -EBADMSG;
	*ret = lines;
	return 0;
}

/* The last that is not above the address, + 1; 0: none. */
static uint32_t last_until(const uint32_t *list, uint32_t count, uint32_t address)
{
	return SORTED_BOUND(at, 0, count, list[at] <= address);
}

bool tally_unit_lines_find(const struct unit_lines *lines, uint32_t address,
			   struct unit_lines_found *ret)
{
	uint32_t row = last_until(lines->row_starts, lines->row_count, address);
	uint32_t span = last_until(lines->span_starts, lines->span_count, address);
	uint32_t function = span ? lines->span_functions[span - 1] : 0;
	struct unit_lines_found found = {.file = NULL};

	if (row && lines->row_files[row - 1] != UNIT_LINES_NONE) {
		found.file = lines->text + lines->files[lines->row_files[row - 1]];
		found.line = lines->row_lines[row - 1];
	}
	if (function)
		found.function = &lines->functions[function - 1];
	if (!found.file && !found.function)
		return false;
	*ret = found;
	return true;
}
