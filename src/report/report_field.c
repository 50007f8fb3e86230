#include "report/report_field.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <tally/report.h>
#include "base/cell.h"
#include "cycles/cycles.h"
#include "profile/profile.h"
#include "profile/tree_lines.h"
#include "report/report_frame.h"

#define TASK_WIDTH 7 /* a pid's digits */

#define SUM(member) offsetof(struct tally_profile_row, member)

/* Widths: perf's. */
static const struct report_field sums[] = {
    {"overhead", "Overhead", "the row's own share", SUM(self), 8, .share = true},
    {"overhead_children", "Children", "its share with what it called", SUM(children), 8,
     .share = true},
    {"latency", "Latency", "with --latency: the row's share of the time that passed", SUM(self), 8,
     .share = true},
    {"overhead_sys", "sys", "the part of it in the kernel", SUM(modes[0]), 8, .share = true},
    {"overhead_us", "usr", "the part of it in user space", SUM(modes[1]), 8, .share = true},
    {"overhead_guest_sys", "guest sys", "the part of it in kernels of guests", SUM(modes[2]), 9,
     .share = true},
    {"overhead_guest_us", "guest usr", "the part of it in user space of guests", SUM(modes[3]), 9,
     .share = true},
    {"sample", "Samples", "number of samples", SUM(samples), 12},
    {"period", "Period", "sum of their periods", SUM(self), 12},
    {"ipc", "IPC   [IPC Coverage]",
     "instructions per cycle of the function, and how much of its code they are of", 0, 20,
     .made = REPORT_IPC},
    {"ipc_coverage", "IPC Coverage", "how much of the function's code its ipc is of", 0, 12,
     .made = REPORT_COVERAGE},
    {"callchain_branch_predicted", "Predicted",
     "with --branch-history: how many of the branches in its call chains were predicted, %", 0, 9,
     .made = REPORT_PREDICTED},
    {"callchain_branch_abort", "Abort", "how many of them were transactions that were aborted", 0,
     5, .made = REPORT_ABORT},
    {"callchain_branch_cycles", "Cycles", "average cycles from one of them to the next", 0, 6,
     .made = REPORT_CYCLES},
};
#define SUMS (sizeof(sums) / sizeof(*sums))

static const struct report_field *find_sum(const char *name, size_t length)
{
	for (size_t i = 0; i < SUMS; i++)
		if (strlen(sums[i].name) == length && !memcmp(sums[i].name, name, length))
			return &sums[i];
	return NULL;
}

const char *tally_report_field_find(const char *name, size_t length)
{
	const struct report_field *sum = find_sum(name, length);
	const char *key = sum ? NULL : tally_key_find(name, length);

	/* As with keys, the first that begins so. */
	for (size_t i = 0; !sum && !key && length && i < SUMS; i++)
		if (!strncmp(sums[i].name, name, length))
			sum = &sums[i];
	return sum ? sum->name : key;
}

const char *tally_report_field_name(size_t index, const char **ret_help)
{
	if (index >= SUMS)
		return tally_key_name(index - SUMS, ret_help);
	if (ret_help)
		*ret_help = sums[index].help;
	return sums[index].name;
}

bool tally_report_field_init(struct report_field *ret, const struct tally_profile *profile,
			     const char *name)
{
	const struct report_field *sum = find_sum(name, strlen(name));
	const struct profile_keys *keys = &profile->keys;
	const char *key = NULL;

	/* A field of a tracepoint may have the name of a key, or its beginning. */
	for (size_t i = 0; i < keys->count && !key; i++)
		if (!strcmp(keys->names[i], name))
			key = keys->names[i];
	if (!key)
		key = tally_key_find(name, strlen(name));
	if (sum) {
		*ret = *sum;
		ret->session = keys->session;
		ret->cycles = profile->cycles;
		ret->profile = profile;
		for (size_t i = 0; sum->made && !keys->symbol && i < keys->count; i++)
			if (!strcmp(keys->names[i], "symbol_to"))
				ret->index = i + 1;
		if (profile->latency && !strcmp(sum->name, "overhead"))
			ret->offset = SUM(undivided);
		return profile->latency || strcmp(sum->name, "latency") != 0;
	}
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->names[i] != key)
			continue;
		*ret = (struct report_field){
		    .name = key,
		    .title = keys->list[i]->title,
		    .help = keys->list[i]->help,
		    .width = strlen(keys->list[i]->title),
		    .key = keys->list[i],
		    .index = i,
		    .keys = keys,
		    .unit = keys->time_quantum,
		    .session = keys->session,
		};
		return true;
	}
	return false;
}

/* Seconds with six digits, as perf has it; with nine where values are finer. */
static void put_time(struct tally_buf *to, uint64_t ns, uint64_t unit)
{
	bool fine = unit % 1000 != 0;

	tally_cell_u64(to, ns / 1000000000U);
	tally_buf_byte(to, '.');
	tally_cell_padded(to, ns % 1000000000U / (fine ? 1 : 1000), fine ? 9 : 6);
}

/* A thread that ends has the number -1 in its last samples. */
static void put_task(struct tally_buf *to, uint64_t number, const char *comm)
{
	tally_buf_printf(to, "%*d:", (int)TASK_WIDTH, (int32_t)number);
	tally_cell_name(to, comm);
}

static void put_number(const struct report_field *field, uint64_t value, struct tally_buf *to)
{
	if (value == KEY_UNKNOWN)
		tally_buf_byte(to, '-');
	else if (field->key->type == KEY_TIME)
		put_time(to, value, field->unit);
	else
		tally_cell_padded(to, value, field->key->digits);
}

static const char *source_of(const struct report_field *field, const struct tally_profile_row *row)
{
	return tally_session_source(field->session, (uint32_t)row->values[field->index]);
}

/* Of a key with texts of its own. */
static void put_made(const struct report_field *field, const struct tally_profile_row *row,
		     struct tally_buf *to)
{
	uint64_t value = row->values[field->index];
	struct tally_frame frame;

	if (field->key->type == KEY_CODE) {
		field->key->text(field->keys, value, row->samples, to);
	} else if (field->key->type == KEY_TEXT) {
		tally_cell_name(to, tally_key_texts_get(field->keys->texts, value));
	} else {
		frame = tally_session_frame(field->session, (uint32_t)value);
		/* As perf's letter for what no mapping holds. */
		if (frame.image == UINT32_MAX && !frame.symbol)
			frame.level = 'H';
		tally_report_symbol(to, &frame);
	}
}

/* False: the row has no function with a symbol. */
static bool find_ipc(const struct report_field *field, const struct tally_profile_row *row,
		     double *ret_ipc, double *ret_coverage)
{
	struct tally_frame frame = report_field_function(field, row);
	const struct cycle_function *function =
	    field->cycles ? tally_cycles_function(field->cycles, &frame) : NULL;

	*ret_ipc = function ? function->ipc : 0;
	*ret_coverage = function ? 100 * function->coverage : 0;
	return field->cycles && frame.symbol;
}

/* False: the row's call chains have no branches. */
static bool find_branches(const struct report_field *field, const struct tally_profile_row *row,
			  double *ret)
{
	struct tally_branch_counts counts;

	if (tally_profile_branches(field->profile, row, &counts) || !(counts.to + counts.from))
		return false;
	if (field->made == REPORT_PREDICTED)
		*ret = counts.to ? (double)counts.predicted * 100 / (double)counts.to : 0;
	else if (field->made == REPORT_ABORT)
		*ret = (double)counts.aborts;
	else
		*ret = (double)(counts.from ? counts.cycles / counts.from : 0);
	return true;
}

static void put_branches(const struct report_field *field, const struct tally_profile_row *row,
			 struct tally_buf *to)
{
	double value;

	if (!find_branches(field, row, &value))
		tally_buf_byte(to, '-');
	else if (field->made == REPORT_PREDICTED)
		tally_buf_printf(to, "%.1f%%", value);
	else
		tally_cell_u64(to, (uint64_t)value);
}

static void put_ipc(const struct report_field *field, const struct tally_profile_row *row,
		    struct tally_buf *to)
{
	double ipc, coverage;

	if (!find_ipc(field, row, &ipc, &coverage))
		tally_buf_byte(to, '-');
	else if (field->made == REPORT_IPC)
		tally_buf_printf(to, "%-5.2f [%5.1f%%]", ipc, coverage);
	else
		tally_buf_printf(to, "%5.1f%%", coverage);
}

/* Two digits after the point are what the text has; these are for programs. */
static void put_plain_ipc(const struct report_field *field, const struct tally_profile_row *row,
			  struct json *json)
{
	double ipc, coverage;

	if (find_ipc(field, row, &ipc, &coverage))
		json_double(json, round(1e4 * (field->made == REPORT_IPC ? ipc : coverage)) / 1e4);
}

void tally_report_field_text(const struct report_field *field, const struct tally_profile_row *row,
			     uint64_t whole, struct tally_buf *to)
{
	if (field->share) {
		tally_cell_percent(to, tally_cell_share(report_field_sum(field, row),
							report_field_whole(field, whole)));
		return;
	}
	if (report_field_is_sum(field)) {
		tally_cell_u64(to, report_field_sum(field, row));
		return;
	}
	if (!field->key && field->made >= REPORT_PREDICTED) {
		put_branches(field, row, to);
		return;
	}
	if (!field->key) {
		put_ipc(field, row, to);
		return;
	}
	switch (field->key->type) {
	case KEY_NAME:
		tally_cell_name(to, row->comm);
		break;
	case KEY_IMAGE:
		tally_cell_name(to, row->frame.image_name);
		break;
	case KEY_SYMBOL:
		tally_report_symbol(to, &row->frame);
		break;
	case KEY_TASK:
		put_task(to, row->values[field->index], row->comm);
		break;
	case KEY_SOURCE:
		tally_cell_name(to, source_of(field, row));
		break;
	case KEY_NUMBER:
	case KEY_TIME:
		put_number(field, row->values[field->index], to);
		break;
	case KEY_TEXT:
	case KEY_CODE:
	case KEY_FRAME:
		put_made(field, row, to);
		break;
	}
}

static bool is_made(const struct report_field *field)
{
	return field->key && (field->key->type == KEY_TEXT || field->key->type == KEY_CODE ||
			      field->key->type == KEY_FRAME);
}

/* With four digits after the point. */
static double percent(uint64_t part, uint64_t whole)
{
	return whole ? round(1e6 * (double)part / (double)whole) / 1e4 : 0;
}

void tally_report_field_plain(const struct report_field *field, const struct tally_profile_row *row,
			      uint64_t whole, struct tally_buf *to)
{
	struct json json = {.to = to};
	uint64_t value;

	if (field->share) {
		json_double(
		    &json, percent(report_field_sum(field, row), report_field_whole(field, whole)));
		return;
	}
	if (!field->key && field->made >= REPORT_PREDICTED) {
		double branches;

		if (find_branches(field, row, &branches))
			json_double(&json, round(1e4 * branches) / 1e4);
		return;
	}
	if (!field->key && field->made) {
		put_plain_ipc(field, row, &json);
		return;
	}
	if (!field->key || field->key->type == KEY_NAME || field->key->type == KEY_IMAGE ||
	    field->key->type == KEY_SOURCE || is_made(field)) {
		tally_report_field_text(field, row, whole, to);
		return;
	}
	if (field->key->type == KEY_SYMBOL) {
		tally_report_frame(to, &row->frame);
		return;
	}
	value = row->values[field->index];
	if (value == KEY_UNKNOWN)
		return;
	if (field->key->type == KEY_TIME)
		put_time(to, value, field->unit);
	else
		tally_cell_u64(to, value);
}

void tally_report_field_json(const struct report_field *field, const struct tally_profile_row *row,
			     uint64_t whole, struct json *json)
{
	const struct tally_frame *frame = &row->frame;
	struct tally_buf text = {0};

	if (field->key && field->key->type == KEY_NAME) {
		json_text(json, row->comm);
		return;
	}
	if (field->key && field->key->type == KEY_SOURCE) {
		json_text(json, source_of(field, row));
		return;
	}
	if (field->key && field->key->type == KEY_IMAGE) {
		json_text(json, frame->image_name);
		return;
	}
	if (field->key && field->key->type == KEY_SYMBOL && frame->symbol && !frame->inlined) {
		json_text(json, frame->symbol);
		return;
	}
	tally_report_field_plain(field, row, whole, &text);
	if (!text.size)
		json_null(json);
	else if (field->key && (field->key->type == KEY_SYMBOL || is_made(field)))
		json_string(json, (const char *)text.data, text.size);
	else
		json_raw(json, (const char *)text.data, text.size);
	if (text.failed)
		json->to->failed = text.failed;
	tally_buf_done(&text);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

int tally_report_field_compare(const struct report_field *field, const struct tally_profile_row *a,
			       const struct tally_profile_row *b)
{
	int result;

	if (!field->key && field->made >= REPORT_PREDICTED) {
		double first = -1, second = -1;

		find_branches(field, a, &first);
		find_branches(field, b, &second);
		return first > second ? -1 : first < second;
	}
	if (!field->key && field->made) {
		double first[2] = {0}, second[2] = {0};
		unsigned at = field->made == REPORT_COVERAGE;

		find_ipc(field, a, &first[0], &first[1]);
		find_ipc(field, b, &second[0], &second[1]);
		return first[at] > second[at] ? -1 : first[at] < second[at];
	}
	if (!field->key)
		return compare_numbers(report_field_sum(field, b), report_field_sum(field, a));
	switch (field->key->type) {
	case KEY_NAME:
		return compare_texts(a->comm, b->comm);
	case KEY_IMAGE:
		return compare_texts(a->frame.image_name, b->frame.image_name);
	case KEY_SYMBOL: /* there are functions with the same name */
		result = compare_texts(a->frame.symbol, b->frame.symbol);
		return result ? result : compare_numbers(a->frame.place, b->frame.place);
	case KEY_SOURCE:
		return compare_texts(source_of(field, a), source_of(field, b));
	case KEY_TASK:
	case KEY_NUMBER:
	case KEY_TIME:
		break;
	case KEY_TEXT:
	case KEY_CODE:
	case KEY_FRAME:
		return tally_profile_key_compare(field->keys, field->index, a->values[field->index],
						 b->values[field->index]);
	}
	return compare_numbers(a->values[field->index], b->values[field->index]);
}
