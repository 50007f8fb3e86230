/* A profile of callgrind, for callgrind_annotate and KCachegrind: costs by function and source
 * line, and calls.
 *
 * Source: valgrind's "Callgrind Format Specification", version 1.  Costs are samples and the sums
 * of periods of each event.  A function that was inlined is called by the one around it.  How often
 * calls happened is unknown: their count is that of the samples below them.  A call that a stack
 * has several times counts once, so that recursion costs no more than there is. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "base/text.h"
#include "convert/code_places.h"
#include "convert/sample_sums.h"
#include "formats/format_list.h"
#include "session/numbers.h"

struct function {
	uint32_t name, file, object; /* texts */
};

/* A line of a function, or a call from there. */
struct cost {
	uint32_t function, line;
	uint32_t callee;      /* a function + 1; 0: it is the line's own */
	uint32_t callee_line; /* where it was sampled, or calls */
	uint32_t last_sum;    /* the last sum that was added, + 1 */
	uint64_t calls;
};

struct callgrind {
	struct convert *convert;
	struct sample_sums sums;
	struct code_places places;
	struct tally_strings texts;
	struct tally_map known_functions, known_costs;
	struct function *functions;
	struct cost *costs;
	uint64_t *values;      /* `columns` for each cost */
	uint32_t *column_of;   /* by event; 0: it has no samples */
	uint32_t *path;        /* lines of the places, innermost first */
	uint32_t *function_of; /* by line of the places */
	uint8_t *written;      /* by text: the kinds of names it was written as */
	uint64_t *totals;
	uint32_t function_count, function_room, cost_count, cost_room, columns, path_room;
};

/* --- functions --- */

static int64_t text_of(struct callgrind *file, const char *text, size_t length)
{
	struct tally_buf escaped = {0};
	int64_t number = -ENOMEM;

	tally_text_add_escaped(&escaped, text, length);
	if (!escaped.failed)
		number = tally_strings_intern(&file->texts, tally_buf_str(&escaped), escaped.size);
	tally_buf_done(&escaped);
	return number;
}

static int find_function(struct callgrind *file, const struct code_line *line, uint32_t *ret)
{
	const struct tally_frame frame =
	    tally_session_frame(file->convert->session, file->sums.stacks.frames[line->frame]);
	const char *source = line->file ? line->file : "???";
	const char *path = frame.image_path ? frame.image_path : "[unknown]";
	struct tally_buf label = {0};
	int64_t name, from, object;
	uint64_t *known;
	uint32_t room;
	bool added;

	tally_convert_frame_label(&frame, &label);
	name = label.failed ? -ENOMEM : text_of(file, tally_buf_str(&label), label.size);
	tally_buf_done(&label);
	from = text_of(file, source, strlen(source));
	object = text_of(file, path, strlen(path));
	if (name < 0 || from < 0 || object < 0)
		return -ENOMEM;
	known = tally_map_put(
	    &file->known_functions,
	    hash_mix(hash_u64((uint64_t)name << 32 | (uint64_t)from), (uint64_t)object), &added);
	if (!known)
		return -ENOMEM;
	if (added) {
		room = array_room(file->function_room, file->function_count + 1, 256);
		if (room != file->function_room &&
		    !array_resize(&file->functions, room, sizeof(*file->functions)))
			return -ENOMEM;
		file->function_room = room;
		file->functions[file->function_count] =
		    (struct function){(uint32_t)name, (uint32_t)from, (uint32_t)object};
		*known = file->function_count++;
	}
	*ret = (uint32_t)*known;
	return 0;
}

static int find_functions(struct callgrind *file)
{
	int result = 0;

	file->function_of = calloc(file->places.line_count + 1ULL, sizeof(*file->function_of));
	if (!file->function_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < file->places.line_count && !result; i++)
		result = find_function(file, &file->places.lines[i], &file->function_of[i]);
	return result;
}

/* --- costs --- */

/* The cost of a line, or of a call from there.  NULL: out of memory. */
static struct cost *cost_of(struct callgrind *file, uint32_t line, uint32_t callee,
			    uint32_t callee_line)
{
	uint32_t function = file->function_of[line], at = file->places.lines[line].line;
	uint64_t key =
	    hash_mix(hash_u64((uint64_t)function << 32 | at), (uint64_t)callee << 32 | callee_line);
	uint32_t room = array_room(file->cost_room, file->cost_count + 1, 1024);
	uint64_t *known;
	bool added;

	if (room != file->cost_room &&
	    (!array_resize(&file->costs, room, sizeof(*file->costs)) ||
	     !array_resize(&file->values, room, file->columns * sizeof(*file->values))))
		return NULL;
	file->cost_room = room;
	known = tally_map_put(&file->known_costs, key, &added);
	if (!known)
		return NULL;
	if (added) {
		file->costs[file->cost_count] = (struct cost){
		    .function = function, .line = at, .callee = callee, .callee_line = callee_line};
		memset(file->values + (size_t)file->cost_count * file->columns, 0,
		       file->columns * sizeof(*file->values));
		*known = file->cost_count++;
	}
	return &file->costs[*known];
}

static void add_cost(struct callgrind *file, struct cost *cost, const struct sample_sum *sum,
		     uint32_t number)
{
	uint64_t *values = file->values + (size_t)(cost - file->costs) * file->columns;
	uint32_t column = file->column_of[file->sums.contexts[sum->context].event];

	if (cost->last_sum == number + 1)
		return;
	cost->last_sum = number + 1;
	cost->calls += sum->samples;
	values[0] += sum->samples;
	values[column] += sum->period;
}

/* The lines of a stack into file->path; their count, or -ENOMEM. */
static int64_t find_path(struct callgrind *file, uint32_t node)
{
	struct code_position at = {.node = node};
	uint32_t count = 0;

	while (at.node) {
		uint32_t number = tally_code_places_walk(&file->places, &at), room;
		const struct code_place *place = &file->places.list[number];

		if (!number)
			return -ENOMEM;
		room = array_room(file->path_room, count + place->line_count, 256);
		if (room != file->path_room &&
		    !array_resize(&file->path, room, sizeof(*file->path)))
			return -ENOMEM;
		file->path_room = room;
		for (uint32_t i = 0; i < place->line_count; i++)
			file->path[count++] = place->first_line + i;
	}
	return count;
}

static int add_sum(struct callgrind *file, uint32_t number)
{
	const struct sample_sum *sum = &file->sums.list[number];
	int64_t count = find_path(file, sum->node);
	struct cost *cost;

	if (count < 0)
		return (int)count;
	for (int64_t i = 0; i < count; i++) {
		uint32_t below = i ? file->path[i - 1] : 0;

		cost = i ? cost_of(file, file->path[i], file->function_of[below] + 1,
				   file->places.lines[below].line)
			 : cost_of(file, file->path[i], 0, 0);
		if (!cost)
			return -ENOMEM;
		add_cost(file, cost, sum, number);
	}
	file->totals[0] += sum->samples;
	file->totals[file->column_of[file->sums.contexts[sum->context].event]] += sum->period;
	return 0;
}

static int add_sums(struct callgrind *file)
{
	int result = 0;

	/* All places are known before their lines are looked up. */
	for (uint32_t i = 0; i < file->sums.count && !result; i++)
		result = find_path(file, file->sums.list[i].node) < 0 ? -ENOMEM : 0;
	if (!result)
		result = tally_code_places_find(&file->places);
	if (!result)
		result = find_functions(file);
	for (uint32_t i = 0; i < file->sums.count && !result; i++)
		result = add_sum(file, i);
	return result;
}

/* --- the file --- */

/* A word: an event's name without what separates words. */
static void put_event(struct callgrind *file, uint32_t event)
{
	struct tally_buf *text = &file->convert->text;
	const char *name = tally_data_event(file->convert->data, event)->name;

	tally_buf_byte(text, ' ');
	for (; *name; name++)
		tally_buf_byte(text, isalnum((unsigned char)*name) || *name == '-' ? (uint8_t)*name
										   : '_');
	/* Events of one name get their numbers. */
	for (uint32_t i = 0; i < event; i++)
		if (file->column_of[i] &&
		    !strcmp(tally_data_event(file->convert->data, i)->name,
			    tally_data_event(file->convert->data, event)->name)) {
			tally_buf_printf(text, "_%u", event);
			break;
		}
}

static void put_fact(void *context, const char *line, size_t length)
{
	struct callgrind *file = context;
	struct tally_buf *text = &file->convert->text;

	tally_buf_text(text, "desc: ");
	tally_text_add_escaped(text, line, length);
	tally_buf_byte(text, '\n');
}

static int put_header(struct callgrind *file)
{
	struct tally_buf *text = &file->convert->text;
	int result;

	tally_buf_text(text, "# callgrind format\nversion: 1\ncreator: tally " TALLY_VERSION "\n");
	result = tally_convert_facts(file->convert, put_fact, file);
	tally_buf_text(text, "positions: line\nevents: Samples");
	for (uint32_t i = 0; i < tally_data_event_count(file->convert->data); i++)
		if (file->column_of[i])
			put_event(file, i);
	tally_buf_text(text, "\nsummary:");
	for (uint32_t i = 0; i < file->columns; i++)
		tally_buf_printf(text, " %llu", (unsigned long long)file->totals[i]);
	tally_buf_text(text, "\n\n");
	return result;
}

/* Each kind has numbers of its own.  Source: "Name Compression" in the format's description, in the
 * manual of Valgrind. */
enum name_kind { NAME_OBJECT = 1, NAME_FILE = 2, NAME_FUNCTION = 4 };

/* "fn=(3) name", and "fn=(3)" from then on. */
static void put_name(struct callgrind *file, const char *what, enum name_kind kind, uint32_t text)
{
	tally_buf_printf(&file->convert->text, "%s=(%u)", what, text + 1);
	if (!(file->written[text] & kind))
		tally_buf_printf(&file->convert->text, " %s", file->texts.text[text]);
	file->written[text] |= (uint8_t)kind;
	tally_buf_byte(&file->convert->text, '\n');
}

static void put_values(struct callgrind *file, const struct cost *cost)
{
	const uint64_t *values = file->values + (size_t)(cost - file->costs) * file->columns;

	tally_buf_printf(&file->convert->text, "%u", cost->line);
	for (uint32_t i = 0; i < file->columns; i++)
		tally_buf_printf(&file->convert->text, " %llu", (unsigned long long)values[i]);
	tally_buf_byte(&file->convert->text, '\n');
}

static int by_place(const void *left, const void *right, void *context)
{
	const struct callgrind *file = context;
	const struct cost *a = &file->costs[*(const uint32_t *)left];
	const struct cost *b = &file->costs[*(const uint32_t *)right];

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (!a->callee != !b->callee)
		return a->callee ? 1 : -1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	return a->callee_line < b->callee_line ? -1 : a->callee_line > b->callee_line;
}

static void put_function(struct callgrind *file, const struct function *function)
{
	tally_buf_byte(&file->convert->text, '\n');
	put_name(file, "ob", NAME_OBJECT, function->object);
	put_name(file, "fl", NAME_FILE, function->file);
	put_name(file, "fn", NAME_FUNCTION, function->name);
}

static void put_call(struct callgrind *file, const struct cost *cost)
{
	const struct function *callee = &file->functions[cost->callee - 1];

	put_name(file, "cob", NAME_OBJECT, callee->object);
	put_name(file, "cfi", NAME_FILE, callee->file);
	put_name(file, "cfn", NAME_FUNCTION, callee->name);
	tally_buf_printf(&file->convert->text, "calls=%llu %u\n", (unsigned long long)cost->calls,
			 cost->callee_line);
}

static int put_costs(struct callgrind *file)
{
	uint32_t *order = calloc(file->cost_count + 1ULL, sizeof(*order));
	int result = 0;

	file->written = calloc(file->texts.count + 1, sizeof(*file->written));
	if (!order || !file->written) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < file->cost_count; i++)
		order[i] = i;
	qsort_r(order, file->cost_count, sizeof(*order), by_place, file);
	for (uint32_t i = 0; i < file->cost_count && !result; i++) {
		const struct cost *cost = &file->costs[order[i]];

		if (!i || cost->function != file->costs[order[i - 1]].function)
			put_function(file, &file->functions[cost->function]);
		if (cost->callee)
			put_call(file, cost);
		put_values(file, cost);
		result = convert_pour(file->convert);
	}
	free(order);
	return result;
}

static int make_columns(struct callgrind *file)
{
	uint32_t events = (uint32_t)tally_data_event_count(file->convert->data);

	file->columns = 1;
	file->column_of = calloc(events + 1ULL, sizeof(*file->column_of));
	if (!file->column_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < file->sums.count; i++)
		file->column_of[file->sums.contexts[file->sums.list[i].context].event] = 1;
	for (uint32_t i = 0; i < events; i++)
		if (file->column_of[i])
			file->column_of[i] = file->columns++;
	file->totals = calloc(file->columns, sizeof(*file->totals));
	return file->totals ? 0 : -ENOMEM;
}

static int write_callgrind(struct convert *convert)
{
	struct callgrind file = {.convert = convert};
	int result = tally_sample_sums_make(convert, 0, &file.sums);

	if (!result)
		result = tally_code_places_init(&file.places, convert, &file.sums.stacks);
	if (!result)
		result = make_columns(&file);
	if (!result)
		result = add_sums(&file);
	if (!result)
		result = put_header(&file);
	if (!result)
		result = put_costs(&file);
	tally_code_places_done(&file.places);
	tally_sample_sums_done(&file.sums);
	tally_strings_done(&file.texts);
	tally_map_done(&file.known_functions);
	tally_map_done(&file.known_costs);
	free(file.functions);
	free(file.costs);
	free(file.values);
	free(file.column_of);
	free(file.path);
	free(file.function_of);
	free(file.written);
	free(file.totals);
	return result;
}

const struct export_format tally_export_format_callgrind = {
    .name = "callgrind",
    .help = "text for callgrind_annotate and KCachegrind",
    .places = true,
    .write = write_callgrind,
};
