/* Folded stacks: "comm;outermost;...;innermost count", a line for each different stack, in the
 * order of their bytes.
 *
 * Source: what stackcollapse-perf.pl of FlameGraph makes of the text of `perf script`.  As there,
 * samples count their recorded period, or 1 where none is recorded; only samples of the first event
 * count unless others are asked for, and those of tracepoints always do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "base/text.h"
#include "convert/sample_sums.h"
#include "formats/format_list.h"
#include "session/numbers.h"
#include "session/record_sink.h"

/* Behind names of functions, as FlameGraph colours them. */
#define MARK_KERNEL "_[k]"
#define MARK_JIT    "_[j]"

/* Lines are the paths of a tree whose nodes have texts. */
struct text_node {
	uint32_t parent, text;
	uint64_t count; /* of the line that ends here; 0: there is none */
};

/* A node's line, or what is below it, as an entry of a sorted list. */
struct entry {
	uint32_t node;
	bool below;
};

/* Where a stack led to below the name of the last context that has it. */
struct reached {
	uint32_t context; /* + 1; 0: none */
	uint32_t node;
};

struct folded {
	struct convert *convert;
	struct sample_sums sums;
	struct tally_strings texts;
	uint32_t *first_text, *text_count; /* by frame of the stacks: a run of `run_texts` */
	uint32_t *run_texts;
	uint32_t run_count, run_room;
	struct text_node *nodes;
	uint32_t count, room;
	struct tally_map known;  /* parent and text -> node */
	struct reached *reached; /* by node of the stacks */
	uint32_t first_event;    /* of the recording's samples */
};

/* --- the texts of frames --- */

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* "net/http.(*Client).Do" of Go: parentheses between dots belong to the name. */
static bool is_go_method(const char *name)
{
	const char *open = strstr(name, ".(");

	return open && strstr(open, ").");
}

/* Where what follows a name begins: the first parenthesis that is not of "(anonymous namespace)".
 */
static size_t tidy_length(const char *name)
{
	const char *at = name;

	if (is_go_method(name))
		return strlen(name);
	while ((at = strchr(at, '(')) && has_prefix(at, "(anonymous namespace)"))
		at++;
	return at ? (size_t)(at - name) : strlen(name);
}

/* Appends a name without what its tools would trip over. */
static void put_tidy(struct tally_buf *to, const char *name, size_t length, bool java)
{
	size_t start = java && length && name[0] == 'L' && memchr(name, '/', length) ? 1 : 0;

	for (size_t i = start; i < length; i++) {
		if (name[i] == ';')
			tally_buf_byte(to, ':');
		else if (name[i] != '"' && name[i] != '\'')
			tally_text_add_escaped(to, name + i, 1);
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), most = strlen(end);

	return length >= most && !strcmp(text + length - most, end);
}

/* /tmp/perf-PID.map, which is what perf calls the image of code made at run time. */
static bool is_jit(const char *path)
{
	const char *at = strstr(path, "/tmp/perf-");
	size_t digits = at ? strspn(at + 10, "0123456789") : 0;

	return digits && has_prefix(at + 10 + digits, ".map");
}

static const char *mark_of(const struct tally_export_options *options, const char *path)
{
	if (options->mark_kernel && (path[0] == '[' || ends_with(path, "vmlinux")) &&
	    !strstr(path, "unknown"))
		return MARK_KERNEL;
	return options->mark_jit && is_jit(path) ? MARK_JIT : "";
}

static int add_text(struct folded *folded, struct tally_buf *text)
{
	uint32_t room = array_room(folded->run_room, folded->run_count + 1, 1024);
	int64_t number =
	    text->failed ? text->failed
			 : tally_strings_intern(&folded->texts, tally_buf_str(text), text->size);

	if (number < 0)
		return -ENOMEM;
	if (room != folded->run_room &&
	    !array_resize(&folded->run_texts, room, sizeof(*folded->run_texts)))
		return -ENOMEM;
	folded->run_room = room;
	folded->run_texts[folded->run_count++] = (uint32_t)number;
	return 0;
}

/* One function, whose name is [name, name + length). */
static int add_function(struct folded *folded, const char *name, size_t length, bool java,
			const char *path)
{
	const char *base = strrchr(path, '/'), *mark = mark_of(&folded->convert->options, path);
	struct tally_buf text = {0};
	char *own;
	int result;

	if (length == 9 && !memcmp(name, "[unknown]", 9)) {
		if (!strcmp(path, "[unknown]"))
			tally_buf_text(&text, "[unknown]");
		else
			tally_buf_printf(&text, "[%s]", base ? base + 1 : path);
	} else {
		tally_buf_add(&text, name, length);
	}
	own = text.failed ? NULL : strndup(tally_buf_str(&text), text.size);
	tally_buf_clear(&text);
	if (own)
		put_tidy(&text, own, own[0] == '[' ? strlen(own) : tidy_length(own), java);
	else
		text.failed = -ENOMEM;
	if (strcmp(mark, MARK_JIT) != 0 || !strstr(tally_buf_str(&text), MARK_JIT))
		tally_buf_text(&text, mark);
	result = add_text(folded, &text);
	free(own);
	tally_buf_done(&text);
	return result;
}

/* The file of a frame as perf's text has it: of code made at run time it is where its names may be.
 */
static const char *file_of(const struct folded *folded, const struct tally_frame *frame, char *room,
			   size_t size)
{
	uint32_t pid = tally_session_image_map_pid(folded->convert->session, frame->image);

	if (frame->inlined)
		return "inlined";
	if (!pid)
		return frame->image_path ? frame->image_path : "[unknown]";
	snprintf(room, size, "/tmp/perf-%u.map", pid);
	return room;
}

/* Names of several functions in one, "a->b", are those of inlined ones. */
static int add_frame(struct folded *folded, const struct tally_frame *frame, bool java)
{
	const char *name = frame->symbol ? frame->symbol : "[unknown]", *end;
	char room[64];
	const char *path = file_of(folded, frame, room, sizeof(room));
	int result = 0;

	if (name[0] == '(')
		return 0;
	while (!result && (end = strstr(name, "->"))) {
		result = add_function(folded, name, (size_t)(end - name), java, path);
		name = end + 2;
	}
	return result ? result : add_function(folded, name, strlen(name), java, path);
}

/* The texts of all frames, of samples in a program of Java or in another one. */
static int make_texts(struct folded *folded, bool java)
{
	const struct stack_table *stacks = &folded->sums.stacks;

	folded->run_count = 0;
	for (uint32_t i = 1; i < stacks->frame_count; i++) {
		struct tally_frame frame =
		    tally_session_frame(folded->convert->session, stacks->frames[i]);
		int result;

		folded->first_text[i] = folded->run_count;
		result = add_frame(folded, &frame, java);
		if (result)
			return result;
		folded->text_count[i] = folded->run_count - folded->first_text[i];
	}
	return 0;
}

/* --- the tree --- */

/* Its number; 0: out of memory. */
static uint32_t node_below(struct folded *folded, uint32_t parent, uint32_t text)
{
	bool added;
	uint64_t *known = tally_map_put(&folded->known, (uint64_t)parent << 32 | text, &added);
	uint32_t room = array_room(folded->room, folded->count + 1, 1024);

	if (!known)
		return 0;
	if (!added)
		return (uint32_t)*known;
	if (room != folded->room && !array_resize(&folded->nodes, room, sizeof(*folded->nodes)))
		return 0;
	folded->room = room;
	folded->nodes[folded->count] = (struct text_node){.parent = parent, .text = text};
	*known = folded->count;
	return folded->count++;
}

/* Stacks that are walked at once. */
#define WALKED 64U

/* The node of a stack below the name of a context; 0: out of memory. */
static uint32_t stack_below(struct folded *folded, uint32_t name, uint32_t context, uint32_t node)
{
	const struct stack_table *stacks = &folded->sums.stacks;
	uint32_t path[WALKED], depth = 0, at = node, result;

	while (at && folded->reached[at].context != context + 1 && depth < WALKED) {
		path[depth++] = at;
		at = stacks->nodes[at].caller;
	}
	if (depth == WALKED && at && !stack_below(folded, name, context, at))
		return 0;
	result = at ? folded->reached[at].node : name;
	while (depth) {
		const struct stack_node *of = &stacks->nodes[path[--depth]];

		for (uint32_t i = 0; i < folded->text_count[of->frame] && result; i++)
			result = node_below(folded, result,
					    folded->run_texts[folded->first_text[of->frame] + i]);
		if (!result)
			return 0;
		folded->reached[path[depth]] =
		    (struct reached){.context = context + 1, .node = result};
	}
	return result;
}

static int name_of(struct folded *folded, const struct sum_context *context, uint32_t *ret)
{
	const struct tally_export_options *options = &folded->convert->options;
	const char *comm = context->comm ? context->comm : "";
	size_t length = strlen(comm);
	struct tally_buf text = {0};
	int64_t number = -ENOMEM;

	/* In the text, the last blanks are before the thread's number. */
	while (length > 1 && comm[length - 1] == ' ')
		length--;
	for (size_t i = 0; i < length; i++)
		if (comm[i] == ' ' || comm[i] == ';')
			tally_buf_byte(&text, comm[i] == ' ' ? '_' : ':');
		else
			tally_text_add_escaped(&text, &comm[i], 1);
	if (options->with_tid)
		tally_buf_printf(&text, "-%d/%d", (int)context->pid, (int)context->tid);
	else if (options->with_pid)
		tally_buf_printf(&text, "-%d", (int)context->pid);
	if (!text.failed)
		number = tally_strings_intern(&folded->texts, tally_buf_str(&text), text.size);
	tally_buf_done(&text);
	if (number < 0)
		return -ENOMEM;
	*ret = node_below(folded, 0, (uint32_t)number);
	return *ret ? 0 : -ENOMEM;
}

static bool is_tracepoint(const struct folded *folded, uint32_t event)
{
	return tally_data_event(folded->convert->data, event)->attr.type == PERF_TYPE_TRACEPOINT;
}

/* Whether its samples count. */
static bool is_counted(const struct folded *folded, uint32_t event)
{
	return folded->convert->options.event_count || is_tracepoint(folded, event) ||
	       !strcmp(tally_data_event(folded->convert->data, event)->name,
		       tally_data_event(folded->convert->data, folded->first_event)->name);
}

static bool has_period(const struct folded *folded, uint32_t event)
{
	return !is_tracepoint(folded, event) &&
	       tally_data_event(folded->convert->data, event)->attr.sample_type &
		   PERF_SAMPLE_PERIOD;
}

/* The lines of the sums from one on that have one context; *at is behind them. */
static int take_context(struct folded *folded, uint32_t *at, int *java)
{
	const struct sample_sums *sums = &folded->sums;
	uint32_t number = sums->list[*at].context, name;
	const struct sum_context *context = &sums->contexts[number];
	bool period = has_period(folded, context->event), counted;
	int is_java = context->comm && has_prefix(context->comm, "java");
	int result = name_of(folded, context, &name);

	counted = is_counted(folded, context->event);
	if (!result && counted && is_java != *java) {
		result = make_texts(folded, is_java);
		*java = is_java;
	}
	for (; *at < sums->count && sums->list[*at].context == number; ++*at) {
		const struct sample_sum *sum = &sums->list[*at];
		uint64_t count = period ? sum->period : sum->samples;
		uint32_t node;

		if (result || !counted)
			continue;
		node = stack_below(folded, name, number, sum->node);
		if (!node)
			return -ENOMEM;
		folded->nodes[node].count += count ? count : sum->samples;
	}
	return result;
}

static int make_tree(struct folded *folded)
{
	const struct stack_table *stacks = &folded->sums.stacks;
	int java = -1, result = 0;

	folded->first_text = calloc(stacks->frame_count + 1ULL, sizeof(uint32_t));
	folded->text_count = calloc(stacks->frame_count + 1ULL, sizeof(uint32_t));
	folded->reached = calloc(stacks->node_count + 1ULL, sizeof(*folded->reached));
	if (!folded->first_text || !folded->text_count || !folded->reached)
		return -ENOMEM;
	folded->count = 1; /* node 0 is above all */
	if (!array_resize(&folded->nodes, 1024, sizeof(*folded->nodes)))
		return -ENOMEM;
	folded->room = 1024;
	folded->nodes[0] = (struct text_node){0};
	for (uint32_t at = 0; at < folded->sums.count && !result;)
		result = take_context(folded, &at, &java);
	return result;
}

/* --- the lines --- */

static int by_line(const void *left, const void *right, void *context)
{
	const struct entry *a = left, *b = right;
	const struct folded *folded = context;
	uint32_t one = folded->nodes[a->node].text, other = folded->nodes[b->node].text;
	uint32_t length = folded->texts.length[one], most = folded->texts.length[other];
	uint32_t least = length < most ? length : most;
	int order = memcmp(folded->texts.text[one], folded->texts.text[other], least);

	if (order)
		return order;
	/* What is behind the shorter one: nothing, or the separator of what is below it. */
	if (length == most)
		return (int)a->below - (int)b->below;
	if (length < most)
		return !a->below || ';' < (uint8_t)folded->texts.text[other][least] ? -1 : 1;
	return !b->below || ';' < (uint8_t)folded->texts.text[one][least] ? 1 : -1;
}

/* Entries below each node, sorted; starts[n] is where those of node n begin. */
static int sort_entries(struct folded *folded, uint32_t **ret_starts, struct entry **ret)
{
	uint32_t *starts = calloc(folded->count + 2ULL, sizeof(*starts)), total = 0;
	struct entry *entries;

	if (!starts)
		return -ENOMEM;
	for (uint32_t i = 1; i < folded->count; i++) {
		starts[folded->nodes[i].parent]++;
		starts[folded->nodes[i].parent] += folded->nodes[i].count != 0;
	}
	for (uint32_t i = 0; i < folded->count; i++)
		total += starts[i];
	counts_to_starts(starts, folded->count + 1);
	entries = calloc(total + 1ULL, sizeof(*entries));
	if (!entries) {
		free(starts);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < folded->count; i++) {
		uint32_t *to = &starts[folded->nodes[i].parent];

		if (folded->nodes[i].count)
			entries[(*to)++] = (struct entry){.node = i};
		entries[(*to)++] = (struct entry){.node = i, .below = true};
	}
	for (uint32_t i = folded->count; i > 0; i--)
		starts[i] = starts[i - 1];
	starts[0] = 0;
	for (uint32_t i = 0; i < folded->count; i++)
		qsort_r(entries + starts[i], starts[i + 1] - starts[i], sizeof(*entries), by_line,
			folded);
	*ret_starts = starts;
	*ret = entries;
	return 0;
}

/* Where the walk is: in the entries below a node, whose path has a length. */
struct level {
	uint32_t at, end;
	size_t length;
};

static int write_lines(struct folded *folded)
{
	struct convert *convert = folded->convert;
	struct tally_buf path = {0};
	struct level *levels = NULL;
	uint32_t *starts, depth = 1, room = 64;
	struct entry *entries;
	int result = sort_entries(folded, &starts, &entries);

	if (result)
		return result;
	if (!array_resize(&levels, room, sizeof(*levels))) {
		depth = 0;
		result = -ENOMEM;
	} else {
		levels[0] = (struct level){.at = starts[0], .end = starts[1]};
	}
	while (depth && !result) {
		struct level *level = &levels[depth - 1];
		const struct entry *entry = &entries[level->at];
		const struct text_node *node = &folded->nodes[entry->node];

		if (level->at++ == level->end) {
			depth--;
			continue;
		}
		path.size = level->length;
		tally_buf_add(&path, folded->texts.text[node->text],
			      folded->texts.length[node->text]);
		if (!entry->below) {
			tally_buf_add(&convert->text, path.data, path.size);
			tally_buf_printf(&convert->text, " %llu\n",
					 (unsigned long long)node->count);
			result = convert_pour(convert);
			continue;
		}
		tally_buf_byte(&path, ';');
		if (depth == room) {
			room *= 2;
			if (!array_resize(&levels, room, sizeof(*levels)))
				result = -ENOMEM;
		}
		if (!result)
			levels[depth++] = (struct level){.at = starts[entry->node],
							 .end = starts[entry->node + 1],
							 .length = path.size};
		if (path.failed)
			result = path.failed;
	}
	tally_buf_done(&path);
	free(levels);
	free(starts);
	free(entries);
	return result;
}

/* --- the first event --- */

static int find_first(void *context, struct tally_record_batch *batch)
{
	struct folded *folded = context;
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		if (entry.kind != TALLY_ENTRY_SAMPLE || is_tracepoint(folded, entry.at->event))
			continue;
		folded->first_event = entry.at->event;
		return 1;
	}
	return result;
}

/* Which event the first sample is of, when there is a choice. */
static int choose_event(struct folded *folded)
{
	struct convert *convert = folded->convert;
	const struct tally_record_sink sink = {
	    .context = folded, .samples = true, .batch = find_first};
	size_t with_samples = 0;

	for (size_t i = tally_data_event_count(convert->data); i-- > 0;) {
		if (!tally_session_event_samples(convert->session, i))
			continue;
		folded->first_event = (uint32_t)i;
		with_samples++;
	}
	if (convert->options.event_count || with_samples < 2)
		return 0;
	return tally_session_run_in_order(convert->session, &sink, true, convert->error);
}

static int write_folded(struct convert *convert)
{
	struct folded folded = {.convert = convert};
	const struct tally_export_options *options = &convert->options;
	int result = choose_event(&folded);

	if (!result)
		result = tally_sample_sums_make(
		    convert,
		    SUMS_BY_COMM | (options->with_pid || options->with_tid ? SUMS_BY_THREAD : 0),
		    &folded.sums);
	if (!result)
		result = make_tree(&folded);
	if (!result)
		result = write_lines(&folded);
	tally_sample_sums_done(&folded.sums);
	tally_strings_done(&folded.texts);
	tally_map_done(&folded.known);
	free(folded.first_text);
	free(folded.text_count);
	free(folded.run_texts);
	free(folded.reached);
	free(folded.nodes);
	return result;
}

const struct export_format tally_export_format_folded = {
    .name = "folded",
    .help = "a line for each stack, for flame graphs",
    .only_samples = true,
    .as_recorded = true,
    .write = write_folded,
};
