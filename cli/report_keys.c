/* What rows of a report are made of: -s, -F, and what follows from the recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <tally/data.h>
#include <tally/info.h>
#include <tally/text.h>
#include "report_options.h"

/* Adds a name, once. */
static int add_name(struct name_list *to, const char *name, struct tally_error *error)
{
	for (size_t i = 0; i < to->count; i++)
		if (!strcmp(to->names[i], name))
			return 0;
	if (to->count == REPORT_NAMES_MOST)
		return cli_refuse(error, "more than %d of them", REPORT_NAMES_MOST);
	to->names[to->count++] = name;
	return 0;
}

static bool has_name(const struct name_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->names[i], name))
			return true;
	return false;
}

/* A name that the library does not know may be a field of a tracepoint: that is known when the
 * recording is open.  It is kept until then. */
static int add_typed(struct report *report, struct name_list *to, const char *text, size_t length,
		     struct tally_error *error)
{
	char *name = strndup(text, length);

	if (!name || report->typed.count == REPORT_NAMES_MOST) {
		free(name);
		return cli_refuse(error, "more than %d of them", REPORT_NAMES_MOST);
	}
	report->typed.names[report->typed.count++] = name;
	return add_name(to, name, error);
}

/* The library's name of a key or a sum, or NULL. */
static const char *known_name(const char *text, size_t length)
{
	return length ? tally_report_field_find(text, length) : NULL;
}

/* Words of -s: the keys, then the sums, of which there are fewer. */
static const char *sort_word(size_t index, const char **ret_help)
{
	const char *name = tally_key_name(index, ret_help);
	size_t keys = 0;

	if (name)
		return name;
	while (tally_key_name(keys, NULL))
		keys++;
	name = tally_report_field_name(index - keys, ret_help);
	return name && tally_key_find(name, strlen(name)) == name ? NULL : name;
}

/* Words of -s and -F. */
static int choose(struct report *report, struct name_list *to, const char *text, size_t length,
		  const char *what, struct tally_error *error)
{
	const char *name = known_name(text, length);

	if (name)
		return add_name(to, name, error);
	if (!length)
		return cli_refuse_word(error, text, length, what, sort_word);
	if (!report->typed.count)
		report->typed_column = !strcmp(what, "column");
	return add_typed(report, to, text, length, error);
}

/* A list of names with commas between; "+" or "-" before the first one, or before each. */
static int choose_all(struct report *report, const char *value, struct name_list *list,
		      struct name_list *more, struct name_list *less, uint64_t *joins,
		      const char *what, struct tally_error *error)
{
	struct name_list *to = list;
	bool open = false;

	for (;; value++) {
		size_t length, before = list->count;
		bool joined = open;
		int result;

		if (*value == '{' && joins) {
			open = true;
			value++;
		}
		length = strcspn(value, open ? ",}" : ",");
		if (*value == '+' || *value == '-') {
			to = *value == '+' ? more : less;
			value++;
			length--;
		}
		result = choose(report, to, value, length, what, error);
		if (result)
			return result;
		if (joined && list->count > before && before < 64)
			*joins |= 1ULL << before;
		value += length;
		if (*value == '}' && open) {
			open = false;
			value++;
		}
		if (!*value)
			return open ? cli_refuse(error, "'{' has no '}'") : 0;
	}
}

int report_take_keys(void *to, const char *value, bool on, struct tally_error *error)
{
	struct report *report = to;
	struct key_choice keys = {.chosen = true};
	int result = 0;

	if (on && value)
		result = choose_all(report, value, &keys.list, &keys.more, &keys.less, &keys.joined,
				    "key", error);
	/* --no-sort: the default keys; as are those that +KEY and -KEY change. */
	if (!result && (keys.list.count || keys.more.count || keys.less.count))
		report->keys = keys;
	report->keys.chosen |= !result && keys.list.count;
	if (!keys.list.count)
		report->keys.chosen = false;
	return result;
}

static int take_fields(void *to, const char *value, bool on, struct tally_error *error)
{
	struct report *report = to;
	struct field_choice fields = {.order_count = 0};
	int result = 0;

	if (on)
		result = choose_all(report, value, &fields.columns, &fields.more, &fields.less,
				    NULL, "column", error);
	if (!result)
		report->fields = fields;
	return result;
}

/* A number and its unit: "100ms". */
static int take_quantum(void *to, const char *value, bool on, struct tally_error *error)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	size_t digits = on ? strspn(value, "0123456789") : 0;
	char number[24];
	uint64_t count;

	if (!on) {
		*(uint64_t *)to = 0;
		return 0;
	}
	snprintf(number, sizeof(number), "%.*s", (int)digits, value);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(value + digits, units[i].name) && digits < sizeof(number) &&
		    !tally_text_u64(number, &count) && count && count <= UINT64_MAX / units[i].ns) {
			*(uint64_t *)to = count * units[i].ns;
			return 0;
		}
	return cli_refuse(error, "'%s' is not a time above 0 with its unit: ns, us, ms or s",
			  value);
}

static int take_branches(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)value;
	(void)error;
	*(int *)to = on;
	return 0;
}

/* --- once the recording is known --- */

/* Keys of branches and of memory, which only some recordings have; perf has the same lists. */
static const char *const branch_keys[] = {"comm",      "dso_from", "symbol_from",
					  "symbol_to", "cycles",   NULL};
static const char *const memory_keys[] = {"local_weight", "mem",       "symbol",        "dso",
					  "symbol_daddr", "dso_daddr", "snoop",         "tlb",
					  "locked",       "blocked",   "local_ins_lat", NULL};
static const char *const sample_keys[] = {"comm", "dso", "symbol", NULL};
static const char *const trace_keys[] = {"trace", NULL};
static const char *const field_keys[] = {"trace_fields", NULL};
static const char *const history_keys[] = {"srcline", "symbol", "dso", NULL};

static bool is_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

/* What a name needs: keys of branches and of memory accesses. */
static bool is_branch_key(const char *name)
{
	static const char *const list[] = {
	    "dso_from", "dso_to",       "symbol_from", "symbol_to", "mispredict", "in_tx", "abort",
	    "cycles",   "srcline_from", "srcline_to",  "addr_from", "addr_to",    NULL};

	return is_of(name, list);
}

static bool is_memory_key(const char *name)
{
	static const char *const list[] = {"mem",          "snoop",          "tlb",
					   "locked",       "blocked",        "dcacheline",
					   "symbol_daddr", "symbol_iaddr",   "dso_daddr",
					   "phys_daddr",   "data_page_size", NULL};

	return is_of(name, list);
}

static bool any_name(const struct report *report, bool (*is)(const char *name))
{
	const struct name_list *const lists[] = {&report->keys.list, &report->keys.more,
						 &report->fields.columns, &report->fields.more};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			if (is(lists[i]->names[k]))
				return true;
	return false;
}

static uint64_t sample_types(const struct tally_data *data)
{
	uint64_t types = 0;

	for (size_t i = 0; i < tally_data_event_count(data); i++)
		types |= tally_data_event(data, i)->attr.sample_type;
	return types;
}

/* perf's rule: the header says that branch stacks were asked for, and no copies of stacks are with
 * them, which need none. */
static bool has_branches(const struct tally_data *data)
{
	uint64_t types = sample_types(data);

	return types & PERF_SAMPLE_BRANCH_STACK && !(types & PERF_SAMPLE_STACK_USER) &&
	       tally_data_info(data)->features[0] & 1ULL << TALLY_FEATURE_BRANCH_STACK;
}

static int choose_kind(const struct report *report, const struct tally_data *data,
		       enum tally_profile_kind *ret, struct tally_error *error)
{
	bool history = report->history || report->trees.branches;
	bool blocks = report->blocks && data && sample_types(data) & PERF_SAMPLE_BRANCH_STACK;
	bool branches = report->branches > 0 || blocks || any_name(report, is_branch_key);
	bool memory = report->memory || any_name(report, is_memory_key);

	if (branches && memory)
		return cli_refuse(error,
				  "rows are of branches (-b) or of memory accesses (--mem-mode), "
				  "not of both");
	*ret = branches ? TALLY_PROFILE_BRANCHES
	       : memory ? TALLY_PROFILE_MEMORY
	       : report->branches < 0 && !history && data && has_branches(data)
		   ? TALLY_PROFILE_BRANCHES
		   : TALLY_PROFILE_SAMPLES;
	return 0;
}

static size_t count_tracepoints(const struct tally_data *data)
{
	size_t count = 0;

	for (size_t i = 0; i < tally_data_event_count(data); i++)
		count += tally_data_event(data, i)->attr.type == PERF_TYPE_TRACEPOINT;
	return count;
}

static bool has_tracepoints(const struct tally_data *data)
{
	return count_tracepoints(data) > 0;
}

/* perf's rule: rows of tracepoints alone are of what they say, where their formats are known. */
static bool has_only_tracepoints(const struct tally_data *data)
{
	return has_tracepoints(data) && count_tracepoints(data) == tally_data_event_count(data) &&
	       tally_data_feature(data, TALLY_FEATURE_TRACING_DATA).bytes;
}

/* The keys of -s, or the usual ones with what is added and left out.  `overhead` and other sums
 * stay among them. */
static int complete_keys(struct report *report, const struct tally_data *data,
			 enum tally_profile_kind kind, struct tally_error *error)
{
	const char *const *traced = report->raw_trace ? field_keys : trace_keys;
	const char *const *usual = kind == TALLY_PROFILE_BRANCHES       ? branch_keys
				   : kind == TALLY_PROFILE_MEMORY       ? memory_keys
				   : report->history                    ? history_keys
				   : data && has_only_tracepoints(data) ? traced
									: sample_keys;
	struct key_choice *keys = &report->keys;
	struct name_list list = {.count = 0};
	int result = 0;

	if (!keys->chosen)
		for (; *usual && !result; usual++)
			if (!has_name(&keys->less, *usual))
				result = add_name(&list, *usual, error);
	for (size_t i = 0; keys->chosen && i < keys->list.count && !result; i++)
		result = add_name(&list, keys->list.names[i], error);
	for (size_t i = 0; i < keys->more.count && !result; i++)
		result = add_name(&list, keys->more.names[i], error);
	if (report->parent && !result)
		result = add_name(&list, "parent", error);
	keys->list = list;
	return result;
}

static bool is_sum(const char *name)
{
	return !tally_key_find(name, strlen(name)) && tally_report_field_find(name, strlen(name));
}

/* Overhead is what rows are sorted by, and the first column, wherever it stands, as in perf.  With
 * other sums among the keys of -s the columns are given, as with -F. */
static int spread_sums(struct report *report, bool children, struct tally_error *error)
{
	struct name_list *keys = &report->keys.list, columns = {.count = 0};
	struct name_list left = {.count = 0};
	bool sums = false;
	int result = 0;

	for (size_t i = 0; i < keys->count; i++) {
		if (!strcmp(keys->names[i], "overhead"))
			continue;
		sums |= is_sum(keys->names[i]);
		left.names[left.count++] = keys->names[i];
	}
	*keys = left;
	if (!sums || report->fields.columns.count)
		return 0;
	if (children)
		columns.names[columns.count++] = "overhead_children";
	columns.names[columns.count++] = "overhead";
	report->title_self = children;
	if (report->show_modes) {
		columns.names[columns.count++] = "overhead_sys";
		columns.names[columns.count++] = "overhead_us";
	}
	if (report->show_samples)
		columns.names[columns.count++] = "sample";
	if (report->show_total_period)
		columns.names[columns.count++] = "period";
	for (size_t i = 0; i < keys->count && !result; i++)
		result = add_name(&columns, keys->names[i], error);
	report->fields.columns = columns;
	report->keys.chosen = false;
	return result;
}

/* Keys of -s that are not columns become the last columns, and rows are sorted by them first;
 * without -s only the columns make rows. */
static int complete_fields(struct report *report, struct tally_error *error)
{
	struct field_choice *fields = &report->fields;
	struct name_list keys = {.count = 0};
	int result = 0;

	for (size_t i = 0; i < fields->more.count && !result; i++) {
		report->show_samples |= !strcmp(fields->more.names[i], "sample");
		report->show_total_period |= !strcmp(fields->more.names[i], "period");
		report->show_modes |= !strncmp(fields->more.names[i], "overhead_", 9) &&
				      strcmp(fields->more.names[i], "overhead_children") != 0;
		if (!is_sum(fields->more.names[i]))
			result = add_name(&report->keys.list, fields->more.names[i], error);
	}
	if (!fields->columns.count || result)
		return result;
	for (size_t i = 0; report->keys.chosen && i < report->keys.list.count && !result; i++) {
		result = add_name(&fields->columns, report->keys.list.names[i], error);
		fields->order[fields->order_count++] = report->keys.list.names[i];
	}
	for (size_t i = 0; i < fields->columns.count && !result; i++) {
		const char *name = fields->columns.names[i];

		fields->order[fields->order_count++] = name;
		if (!is_sum(name))
			result = add_name(&keys, name, error);
	}
	report->keys.list = keys;
	return result;
}

/* Columns and keys that -F takes away. */
static void leave_out(struct report *report)
{
	struct name_list *keys = &report->keys.list, left = {.count = 0};

	for (size_t i = 0; i < keys->count; i++)
		if (!has_name(&report->fields.less, keys->names[i]))
			left.names[left.count++] = keys->names[i];
	*keys = left;
}

/* Instructions per cycle are a column of functions that were asked for, as in perf, or by its
 * name. */
static bool shows_ipc(const struct report *report)
{
	const struct name_list *columns = &report->fields.columns, *keys = &report->keys.list;

	return has_name(columns, "ipc") || has_name(columns, "ipc_coverage") ||
	       (report->keys.chosen && (has_name(keys, "symbol") || has_name(keys, "symbol_to")));
}

int report_keys_finish(struct report *report, const struct tally_data *data,
		       struct tally_profile_options *ret, struct tally_error *error)
{
	enum tally_profile_kind kind = TALLY_PROFILE_SAMPLES;
	int result = choose_kind(report, data, &kind, error);

	report->latency |= has_name(&report->fields.columns, "latency") ||
			   has_name(&report->fields.more, "latency");
	if (!result && report->typed.count && !(data && has_tracepoints(data)))
		return cli_refuse_word(error, report->typed.names[0],
				       strlen(report->typed.names[0]),
				       report->typed_column ? "column" : "key", sort_word);
	if (!result)
		result = complete_keys(report, data, kind, error);
	if (!result)
		result = spread_sums(report, ret->children && kind == TALLY_PROFILE_SAMPLES, error);
	if (!result)
		result = complete_fields(report, error);
	if (result)
		return result;
	leave_out(report);
	ret->kind = kind;
	ret->branch_history =
	    kind == TALLY_PROFILE_SAMPLES && (report->history || report->trees.branches);
	ret->keys = report->keys.list.names;
	ret->key_count = report->keys.list.count;
	ret->latency = report->latency;
	ret->hide_unresolved = report->hide_unresolved;
	ret->exclude_other = report->other && report->parent;
	ret->raw_trace = report->raw_trace;
	ret->parent = report->parent;
	ret->ignore_callees = report->ignore_callees;
	ret->symbol_part = report->symbol_part;
	ret->cycles = kind == TALLY_PROFILE_BRANCHES && (report->blocks || shows_ipc(report));
	ret->only_socket = report->socket != NULL;
	ret->socket = report->socket_number;
	ret->by_mode = report->show_modes;
	for (size_t i = 0; i < report->fields.columns.count; i++)
		ret->by_mode |= !strncmp(report->fields.columns.names[i], "overhead_", 9) &&
				strcmp(report->fields.columns.names[i], "overhead_children") != 0;
	return 0;
}

void report_keys_columns(const struct report *report, struct tally_report_options *ret)
{
	if (!report->fields.columns.count)
		return;
	ret->columns = report->fields.columns.names;
	ret->column_count = report->fields.columns.count;
	ret->order_by = report->fields.order;
	ret->order_by_count = report->fields.order_count;
	ret->title_self = report->title_self;
}

void report_keys_done(struct report *report)
{
	for (size_t i = 0; i < report->typed.count; i++)
		free((char *)report->typed.names[i]);
}

size_t report_key_rows(struct report *report, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Rows"},
	    {CLI_CALL, 's', "sort", "KEYS",
	     "the keys that rows are made of: {}, fields of tracepoints by their names, as "
	     "sched_switch.prev_comm (default: comm,dso,symbol); +KEYS adds to the default keys, "
	     "-KEYS takes away from them",
	     .to = report, .call = report_take_keys, .word = sort_word},
	    {CLI_CALL, 'F', "fields", "FIELDS",
	     "columns, and the order by which rows are sorted: {}; +FIELDS adds to the default "
	     "columns, -FIELDS takes away from them",
	     .to = report, .call = take_fields, .word = tally_report_field_name},
	    {CLI_CALL, 0, "time-quantum", "TIME",
	     "length of the intervals of the key time, with its unit: ns, us, ms or s (default: "
	     "100ms)",
	     .to = &report->time_quantum, .call = take_quantum},
	    {CLI_FLAG, 0, "children", NULL,
	     "add what a function called to the function's own share, when there are call chains "
	     "(default)",
	     .to = &report->children},
	    {CLI_FLAG, 0, "addresses", NULL,
	     "rows as in perf: one for each address without a symbol, and one for each version of "
	     "a Java or JavaScript function",
	     .to = &report->addresses},
	    {CLI_CALL, 'b', "branch-stack", NULL,
	     "rows of branches, not of samples (default where the recording has them)",
	     .to = &report->branches, .flags = CLI_BARE, .call = take_branches},
	    {CLI_FLAG, 0, "mem-mode", NULL,
	     "rows of memory accesses, by what they cost (tally record -e of memory events)",
	     .to = &report->memory},
	    {CLI_FLAG, 0, "total-cycles", NULL,
	     "blocks of code instead of rows, by the cycles that branch stacks have of them",
	     .to = &report->blocks},
	    {CLI_FLAG, 0, "latency", NULL,
	     "shares of the time that passed: each sample counts for as much as there were "
	     "threads that ran at its time; needs record --switch-events",
	     .to = &report->latency},
	    {CLI_FLAG, 0, "raw-trace", NULL,
	     "fields of tracepoints as they were recorded, not as their format writes them",
	     .to = &report->raw_trace},
	    {CLI_STRING, 'p', "parent", "REGEX",
	     "the key parent: the innermost caller that matches this regular expression "
	     "(default: ^sys_|^do_page_fault)",
	     .to = &report->parent},
	    {CLI_STRING, 0, "ignore-callees", "REGEX",
	     "samples in what matching functions call count for these functions",
	     .to = &report->ignore_callees},
	    {CLI_FLAG, 0, "show-cpu-utilization", NULL,
	     "columns with the parts in the kernel, in user space, and in guests",
	     .to = &report->show_modes},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

bool report_keys_have_lines(const struct tally_profile_options *options)
{
	for (size_t i = 0; i < options->key_count; i++)
		if (!strcmp(options->keys[i], "srcline") || !strcmp(options->keys[i], "srcfile"))
			return true;
	return false;
}
