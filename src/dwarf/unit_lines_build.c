#include "dwarf/unit_lines_build.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/table.h"
#include "dwarf/address_order.h"
#include "dwarf/function_names.h"
#include "dwarf/line_table.h"
#include "dwarf/split_unit.h"
#include "dwarf/unit_functions.h"
#include "dwarf/unit_lines.h"
#include "dwarf/unit_top.h"

struct build {
	struct line_program *program;
	struct dwarf_unit unit;
	struct abbreviations abbreviations;
	struct unit_top top;
	struct split_unit split;
	bool is_split;
	struct abbreviations split_abbreviations;
	struct line_table table;
	struct unit_functions functions;
	struct function_names names;
	struct tally_budget budget;
	uint64_t base;

	/* what becomes the block */
	uint32_t *file_known; /* by the table's number: that in `files`, + 1 */
	uint32_t *used;       /* by function: its number in the block, + 1 */
	struct tally_buf rows, files, span_starts, span_functions, block, text;
	uint32_t row_count, span_count, function_count, file_count;
	struct tally_map texts; /* where a string was read -> where it is in `text` */
};

/* --- addresses --- */

/* Relative to the base; false: it is not within 4 GB of it. */
static bool place_of(const struct build *build, uint64_t address, uint32_t *ret)
{
	uint64_t place = address - build->base;

	if (address < build->base || place > UINT32_MAX)
		return false;
	*ret = (uint32_t)place;
	return true;
}

/* --- strings and files --- */

static int add_text(struct build *build, const char *text, uint32_t *ret)
{
	uint64_t *known = tally_map_find(&build->texts, (uintptr_t)text);
	char *to, *end;
	bool added;

	if (known) {
		*ret = (uint32_t)*known;
		return 0;
	}
	if (build->text.size > UINT32_MAX / 2)
		return -EFBIG;
	known = tally_map_put(&build->texts, (uintptr_t)text, &added);
	if (!known || tally_buf_reserve(&build->text, TALLY_NAME_MOST + 1))
		return -ENOMEM;
	*ret = (uint32_t)build->text.size;
	*known = *ret;
	to = (char *)build->text.data + build->text.size;
	end = memccpy(to, text, 0,
		      TALLY_NAME_MOST); /* read once: most are long, and not in a cache */
	if (!end) {
		end = to + TALLY_NAME_MOST + 1;
		end[-1] = 0;
	}
	build->text.size += (size_t)(end - to);
	return budget_take(&build->budget, (size_t)(end - to) + 63) ? 0 : -EFBIG;
}

static int add_file(struct build *build, uint64_t file, uint32_t *ret)
{
	const struct line_table *table = &build->table;
	/* one more stands for all that there are not */
	size_t number = file <= table->file_count ? (size_t)file : table->file_count + 1;
	char path[PATH_MAX];
	size_t length;

	if (!build->file_known[number]) {
		length = tally_line_table_path(table, file, path, sizeof(path));
		if (!budget_take(&build->budget, length + 1) || build->text.size > UINT32_MAX / 2)
			return -EFBIG;
		tally_buf_u32(&build->files, (uint32_t)build->text.size);
		tally_buf_add(&build->text, path, length);
		tally_buf_byte(&build->text, 0);
		if (build->files.failed || build->text.failed)
			return -ENOMEM;
		build->file_known[number] = ++build->file_count;
	}
	*ret = build->file_known[number] - 1;
	return 0;
}

/* --- rows --- */

static int add_rows(struct build *build)
{
	const struct line_table *table = &build->table;
	size_t most = table->order_count, count = 0;
	uint32_t *starts, *files, *lines;
	int error = 0;

	if (!budget_take(&build->budget, most * 12))
		return -EFBIG;
	if (tally_buf_reserve(&build->rows, most * 12 + 1))
		return -ENOMEM;
	starts = (uint32_t *)(void *)build->rows.data; /* malloc() aligns it */
	files = starts + most;
	lines = files + most;
	for (size_t i = 0; i < most && !error; i++) {
		const struct line_row *row = &table->rows[(uint32_t)table->order[i]];

		if (!place_of(build, row->address, &starts[count]))
			continue;
		files[count] = UNIT_LINES_NONE;
		if (row->goes_on)
			error = add_file(build, row->file, &files[count]);
		lines[count++] = row->line;
	}
	if (count < most) {
		memmove(starts + count, files, count * sizeof(*files));
		memmove(starts + 2 * count, lines, count * sizeof(*lines));
	}
	build->rows.size = count * 12;
	build->row_count = (uint32_t)count;
	return error;
}

/* --- which function is the innermost --- */

struct sweep { /* the spans that hold an address, as a heap with the best one first */
	const struct tally_span **heap;
	size_t count;
};

/* The smallest range; of equal ones that of the later entry, which is the inner one. */
static bool is_better(const struct tally_span *one, const struct tally_span *other)
{
	uint64_t size = one->high - one->low, other_size = other->high - other->low;

	return size != other_size ? size < other_size : one->index > other->index;
}

static void put(struct sweep *sweep, const struct tally_span *span)
{
	size_t at = sweep->count++;

	while (at && is_better(span, sweep->heap[(at - 1) / 2])) {
		sweep->heap[at] = sweep->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	sweep->heap[at] = span;
}

static void take_best(struct sweep *sweep)
{
	const struct tally_span *last = sweep->heap[--sweep->count];
	size_t at = 0, child;

	while ((child = at * 2 + 1) < sweep->count) {
		if (child + 1 < sweep->count &&
		    is_better(sweep->heap[child + 1], sweep->heap[child]))
			child++;
		if (!is_better(sweep->heap[child], last))
			break;
		sweep->heap[at] = sweep->heap[child];
		at = child;
	}
	sweep->heap[at] = last;
}

static int compare_places(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static int compare_spans(const void *a, const void *b)
{
	const struct tally_span *one = a, *other = b;

	return one->low < other->low ? -1 : one->low > other->low;
}

/* Marks a function and those around it as used; callers stand before what they call. */
static void use(struct build *build, uint32_t index)
{
	for (uint32_t next = index + 1; next && !build->used[next - 1];) {
		build->used[next - 1] = 1;
		next = build->functions.list[next - 1].caller;
	}
}

static void add_span(struct build *build, uint64_t address, uint32_t function, uint32_t *last)
{
	uint32_t place = 0;

	if (function == *last)
		return;
	/* one that begins before the base counts from there */
	if (address >= build->base && !place_of(build, address, &place))
		return;
	if (build->span_count && address <= build->base) {
		tally_buf_done(&build->span_starts);
		tally_buf_done(&build->span_functions);
		build->span_count = 0;
	}
	tally_buf_u32(&build->span_starts, place);
	tally_buf_u32(&build->span_functions, function);
	build->span_count++;
	if (function)
		use(build, function - 1);
	*last = function;
}

/* What a sweep over the addresses where spans begin and end meets. */
static void sweep_spans(struct build *build, struct sweep *sweep, const uint64_t *ends)
{
	const struct tally_spans *spans = &build->functions.spans;
	size_t at = 0, end = 0;
	uint32_t last = 0;

	while (end < spans->count) {
		uint64_t address = ends[end];

		if (at < spans->count && spans->list[at].low < address)
			address = spans->list[at].low;
		for (; at < spans->count && spans->list[at].low == address; at++)
			put(sweep, &spans->list[at]);
		while (end < spans->count && ends[end] == address)
			end++;
		while (sweep->count && sweep->heap[0]->high <= address)
			take_best(sweep);
		add_span(build, address, sweep->count ? sweep->heap[0]->index + 1 : 0, &last);
	}
}

/* By where they begin, and in `ends`, which has room for twice as many, where they end; a unit's
 * spans are within 4 GB.  False: they are as they were. */
static bool sort_by_digits(struct tally_spans *spans, uint64_t *ends)
{
	uint64_t low = UINT64_MAX, high = 0, *spare = ends + spans->count;
	struct tally_span *sorted;

	for (size_t i = 0; i < spans->count; i++) {
		low = spans->list[i].low < low ? spans->list[i].low : low;
		high = spans->list[i].high > high ? spans->list[i].high : high;
	}
	sorted = high - low <= UINT32_MAX ? calloc(spans->count, sizeof(*sorted)) : NULL;
	if (!sorted)
		return false;
	for (size_t i = 0; i < spans->count; i++)
		ends[i] = (spans->list[i].low - low) << 32 | i;
	tally_address_sort(ends, spare, spans->count);
	for (size_t i = 0; i < spans->count; i++)
		sorted[i] = spans->list[(uint32_t)ends[i]];
	free(spans->list);
	spans->list = sorted;
	spans->room = spans->count;
	for (size_t i = 0; i < spans->count; i++)
		ends[i] = (spans->list[i].high - low) << 32;
	tally_address_sort(ends, spare, spans->count);
	for (size_t i = 0; i < spans->count; i++)
		ends[i] = low + (ends[i] >> 32);
	return true;
}

static void sort_by_pairs(struct tally_spans *spans, uint64_t *ends)
{
	qsort(spans->list, spans->count, sizeof(*spans->list), compare_spans);
	for (size_t i = 0; i < spans->count; i++)
		ends[i] = spans->list[i].high;
	qsort(ends, spans->count, sizeof(*ends), compare_places);
}

static int add_spans(struct build *build)
{
	struct tally_spans *spans = &build->functions.spans;
	struct sweep sweep = {.heap = calloc(spans->count + 1, sizeof(*sweep.heap))};
	uint64_t *ends = calloc(spans->count + 1, 2 * sizeof(*ends));
	int error = -ENOMEM;

	if (ends && sweep.heap) {
		if (spans->count && !sort_by_digits(spans, ends))
			sort_by_pairs(spans, ends);
		sweep_spans(build, &sweep, ends);
		error = build->span_starts.failed || build->span_functions.failed ? -ENOMEM : 0;
	}
	free(ends);
	free(sweep.heap);
	return error;
}

/* --- functions --- */

/* A function's own name, if it is not the linker's, gives way to that of the symbol that starts
 * where the function does. */
static void take_symbol(const struct build *build, const struct unit_function *function,
			struct function_name *name, uint32_t *flags)
{
	const struct line_program *program = build->program;
	uint32_t section = tally_line_section(program->symbol_file, function->low);
	const struct tally_line_symbol *symbol =
	    section ? tally_line_symbols_find(&program->symbols, section, function->low) : NULL;
	const struct tally_line_symbol *end;

	if (!symbol || symbol->address != function->low)
		return;
	end = program->symbols.list + program->symbols.count;
	name->text = symbol->name;
	if (!function->scattered && (symbol + 1 == end || symbol[1].section != section ||
				     symbol[1].address >= function->high))
		*flags |= UNIT_LINES_SYMBOL;
}

static int add_function(struct build *build, const struct unit_function *function)
{
	struct function_name name = tally_function_names_find(&build->names, function);
	struct unit_lines_function made = {.call_file = UNIT_LINES_NONE};
	int error = 0;

	if (function->inlined)
		made.flags |= UNIT_LINES_INLINED;
	else if (!name.linkage)
		take_symbol(build, function, &name, &made.flags);
	if (name.linkage)
		made.flags |= UNIT_LINES_LINKAGE;
	if (name.text) {
		error = add_text(build, name.text, &made.name);
		made.name++;
	}
	if (function->inlined && function->caller)
		made.caller = build->used[function->caller - 1];
	if (!error && function->inlined && function->has_call_file)
		error = add_file(build, function->call_file, &made.call_file);
	made.call_line = function->call_line;
	tally_buf_add(&build->block, &made, sizeof(made));
	build->function_count++;
	return error;
}

static int add_functions(struct build *build)
{
	int error = 0;

	for (size_t i = 0; i < build->functions.count && !error; i++) {
		if (!build->used[i])
			continue;
		error = add_function(build, &build->functions.list[i]);
		build->used[i] = build->function_count;
	}
	for (uint32_t i = 0; i < build->span_count; i++) {
		uint8_t *at = build->span_functions.data + i * sizeof(uint32_t);
		uint32_t function = load_u32(at);

		store_u32(at, function ? build->used[function - 1] : 0);
	}
	return error;
}

/* --- the unit --- */

static int read_abbreviations(struct build *build, const struct dwarf_unit *unit,
			      struct abbreviations *ret)
{
	uint64_t read;
	int error = tally_abbreviations_read(unit, 0, build->budget.left, ret, &read);

	if (error == -EBADMSG)
		error = 0; /* those before the damage */
	return error ? error : budget_take(&build->budget, read) ? 0 : -EFBIG;
}

static int read_lines(struct build *build)
{
	const struct line_reading reading = {
	    .file = build->unit.file,
	    .offset = build->top.lines,
	    .address_size = build->unit.address_size,
	    .unit_folder = build->top.folder,
	    .allowed = build->budget.left / 3, /* sorting takes as much, and the block */
	    .is_code = tally_line_program_is_code,
	    .context = build->program,
	};
	int error = tally_line_table_read(&reading, &build->table);

	if (error)
		return error == -EBADMSG ? -ENOENT : error;
	(void)budget_take(&build->budget, build->table.row_room * sizeof(*build->table.rows) +
					      build->table.file_room * sizeof(*build->table.files));
	error = tally_line_table_sort(&build->table);
	if (error)
		return error;
	build->file_known = calloc(build->table.file_count + 2, sizeof(*build->file_known));
	return build->file_known ? 0 : -ENOMEM;
}

static int read_functions(struct build *build)
{
	const struct dwarf_file *alternate =
	    build->program->has_alternate ? &build->program->alternate : NULL;
	const struct dwarf_unit *unit = &build->unit;
	const struct abbreviations *abbreviations = &build->abbreviations;
	struct unit_top top = build->top;
	int error = 0;

	if (top.split_name) {
		build->is_split =
		    !tally_split_unit_open(build->program, unit, &build->top, &build->split);
		if (!build->is_split) {
			build->program->lacks = true;
			return 0;
		}
		unit = &build->split.unit;
		error = read_abbreviations(build, unit, &build->split_abbreviations);
		abbreviations = &build->split_abbreviations;
		if (!error && tally_unit_top_read(&build->split.unit, abbreviations, NULL, &top))
			return 0;
		build->split.unit.low = build->unit.low;
	}
	build->names = (struct function_names){
	    .program = build->program,
	    .unit = unit,
	    .abbreviations = abbreviations,
	    .names_are_linkage = tally_unit_names_are_linkage(top.language),
	    .budget = &build->budget,
	};
	if (!error)
		error = tally_unit_functions_read(unit, abbreviations, alternate, &build->budget,
						  &build->functions);
	if (!error && build->functions.count) {
		build->used = calloc(build->functions.count, sizeof(*build->used));
		error = build->used ? 0 : -ENOMEM;
	}
	return error;
}

static int join(struct build *build, void **ret, size_t *ret_size)
{
	const struct unit_lines_head head = {
	    .rows = build->row_count,
	    .spans = build->span_count,
	    .functions = build->function_count,
	    .files = build->file_count,
	    .text_size = (uint32_t)build->text.size,
	};
	const struct tally_buf *const parts[] = {&build->rows,           &build->span_starts,
						 &build->span_functions, &build->block,
						 &build->files,          &build->text};
	size_t size = sizeof(head);
	uint8_t *block;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i]->failed)
			return -ENOMEM;
		size += parts[i]->size;
	}
	block = malloc(size);
	if (!block)
		return -ENOMEM;
	memcpy(block, &head, sizeof(head));
	*ret = block;
	*ret_size = size;
	block += sizeof(head);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i]->size)
			memcpy(block, parts[i]->data, parts[i]->size);
		block += parts[i]->size;
	}
	return 0;
}

static int make(struct build *build, void **ret, size_t *ret_size)
{
	const struct dwarf_file *alternate =
	    build->program->has_alternate ? &build->program->alternate : NULL;
	int error = read_abbreviations(build, &build->unit, &build->abbreviations);

	if (!error &&
	    (tally_unit_top_read(&build->unit, &build->abbreviations, alternate, &build->top) ||
	     !build->top.has_lines))
		return -ENOENT;
	if (!error)
		error = read_lines(build);
	if (!error)
		error = read_functions(build);
	if (!error)
		error = add_rows(build);
	if (!error)
		error = add_spans(build);
	if (!error)
		error = add_functions(build);
	return error ? error : join(build, ret, ret_size);
}

int tally_unit_lines_build(struct line_program *program, uint64_t offset, uint64_t allowed,
			   void **ret, size_t *ret_size)
{
	struct build *build = calloc(1, sizeof(*build));
	int error;

	if (!build)
		return -ENOMEM;
	build->program = program;
	build->base = program->base;
	build->budget.left = allowed;
	error = tally_dwarf_unit_next(&program->file, &offset, &build->unit);
	error = error ? -ENOENT : make(build, ret, ret_size);
	tally_abbreviations_done(&build->abbreviations);
	tally_abbreviations_done(&build->split_abbreviations);
	tally_function_names_done(&build->names);
	tally_unit_functions_done(&build->functions);
	tally_line_table_done(&build->table);
	if (build->is_split)
		tally_split_unit_close(&build->split);
	tally_map_done(&build->texts);
	free(build->file_known);
	free(build->used);
	tally_buf_done(&build->rows);
	tally_buf_done(&build->files);
	tally_buf_done(&build->span_starts);
	tally_buf_done(&build->span_functions);
	tally_buf_done(&build->block);
	tally_buf_done(&build->text);
	free(build);
	return error;
}
