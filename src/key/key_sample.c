/* Keys of who ran where: commands, tasks, CPUs, code, source lines, time, and the address. */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/info.h>
#include <tally/text.h>
#include "base/own_pid.h"
#include "base/pattern.h"
#include "dump/value_text.h"
#include "key/key_parallel.h"
#include "key/key_tables.h"
#include "resolve/locate.h"
#include "session/batch_sample.h"
#include "session/numbers.h"

/* perf's: default_parent_pattern of util/sort.c. */
#define PARENT_USUAL "^sys_|^do_page_fault"

static uint64_t comm_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->comm;
}

static uint64_t tgid_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->thread.pid;
}

static uint64_t tid_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->thread.tid;
}

static uint64_t cpu_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint32_t cpu = row->batch->cpu[row->at];

	(void)keys;
	return cpu == UINT32_MAX ? KEY_UNKNOWN : cpu;
}

static uint64_t socket_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint32_t cpu = row->batch->cpu[row->at];

	return cpu < keys->cpu_count ? keys->sockets[cpu] : KEY_UNKNOWN;
}

static uint64_t core_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint32_t cpu = row->batch->cpu[row->at];

	return cpu < keys->cpu_count ? keys->cores[cpu] : KEY_UNKNOWN;
}

static uint64_t node_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint32_t cpu = row->batch->cpu[row->at];

	return cpu < keys->node_count && keys->nodes[cpu] != UINT32_MAX ? keys->nodes[cpu]
									: KEY_UNKNOWN;
}

static uint64_t period_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->batch->period[row->at];
}

/* The code that a row of a branch is of: where that led to. */
static struct source_numbers source_of_branch(const struct key_row *row)
{
	struct source_numbers numbers = {0};

	tally_batch_source(row->batch, row->at, PERF_RECORD_MISC_CPUMODE_UNKNOWN, row->branch->to,
			   &numbers);
	return numbers;
}

static uint64_t line_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->branch ? source_of_branch(row).line : row->batch->line[row->at];
}

static uint64_t file_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->branch ? source_of_branch(row).file : row->batch->file[row->at];
}

static uint64_t time_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint64_t time = row->batch->time[row->at];

	if (!tally_session_has_time(row->session, row->batch->event[row->at]))
		return KEY_UNKNOWN;
	return time - time % keys->time_quantum;
}

static uint64_t parallelism_of(const struct profile_keys *keys, const struct key_row *row)
{
	return keys->parallel ? tally_key_parallel_at(keys->parallel, row->batch->time[row->at])
			      : KEY_UNKNOWN;
}

static uint64_t recording_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return recording_of_pid(row->thread.pid);
}

static void recording_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
			   struct tally_buf *to)
{
	const struct tally_data *data = tally_session_data(keys->session);
	const struct tally_data_info *info = tally_data_info(data);

	(void)samples;
	if (value < info->recording_count)
		tally_buf_text(to, info->recordings[value].name);
	else
		tally_buf_text(to, tally_data_path(data));
}

static uint64_t address_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->branch ? row->branch->to : row->batch->ip[row->at];
}

static void address_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
			 struct tally_buf *to)
{
	(void)keys;
	(void)samples;
	tally_buf_printf(to, "%#-18llx", (unsigned long long)value);
	while (to->size && to->data[to->size - 1] == ' ')
		to->size--;
}

static uint64_t page_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->sample->present & PERF_SAMPLE_CODE_PAGE_SIZE ? row->sample->code_page_size : 0;
}

void tally_key_page_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
			 struct tally_buf *to)
{
	size_t start = to->size;

	(void)keys;
	(void)samples;
	tally_script_page_size(to, value);
	if (!to->failed && to->size > start && to->data[start] == ' ') {
		memmove(to->data + start, to->data + start + 1, to->size - start - 1);
		to->size--;
	}
}

static int locate(const struct key_row *row, struct tally_location *ret)
{
	if (row->branch)
		return tally_batch_location(row->batch, row->at, PERF_RECORD_MISC_CPUMODE_UNKNOWN,
					    row->branch->to, ret);
	return tally_batch_location(row->batch, row->at, tally_batch_cpumode(row->batch, row->at),
				    row->sample->ip, ret);
}

static uint64_t symbol_size_of(const struct profile_keys *keys, const struct key_row *row)
{
	struct tally_location location = {0};

	(void)keys;
	if (locate(row, &location) || location.symbol_end <= location.symbol_start)
		return KEY_UNKNOWN;
	return location.symbol_end - location.symbol_start;
}

static uint64_t dso_size_of(const struct profile_keys *keys, const struct key_row *row)
{
	struct tally_location location = {0};

	(void)keys;
	if (locate(row, &location) || !location.mapped)
		return KEY_UNKNOWN;
	return location.map_end - location.map_start;
}

static void size_text(const struct profile_keys *keys, uint64_t value, uint64_t samples,
		      struct tally_buf *to)
{
	(void)keys;
	(void)samples;
	if (value == KEY_UNKNOWN)
		tally_buf_text(to, "unknown");
	else
		tally_buf_printf(to, "%llu", (unsigned long long)value);
}

const char *tally_profile_keys_parent_of(const struct profile_keys *keys, const struct key_row *row)
{
	struct tally_stack stack;

	for (uint32_t number = row->stack; !tally_session_stack(row->session, number, &stack);
	     number = stack.caller) {
		struct tally_frame frame = tally_session_frame(row->session, stack.frame);

		if (frame.symbol && !regexec(keys->parent_regex, frame.symbol, 0, NULL, 0))
			return frame.symbol;
	}
	return NULL;
}

static uint64_t parent_of(const struct profile_keys *keys, const struct key_row *row)
{
	const char *name = tally_profile_keys_parent_of(keys, row);

	name = name ? name : "[other]";
	return tally_key_texts_put(keys->texts, name, strlen(name));
}

static int take_parent(struct profile_keys *keys, struct tally_session *session,
		       struct tally_error *error)
{
	const char *pattern = keys->parent ? keys->parent : PARENT_USUAL;
	regex_t *regex = calloc(1, sizeof(*regex));

	(void)session;
	if (!regex)
		return -ENOMEM;
	if (tally_pattern_compile(pattern, REG_EXTENDED, regex, error)) {
		free(regex);
		return -EINVAL;
	}
	keys->parent_regex = regex;
	return 0;
}

void tally_key_parent_done(struct profile_keys *keys)
{
	if (keys->parent_regex)
		regfree(keys->parent_regex);
	free(keys->parent_regex);
}

/* Sockets and cores as the recording's header has them. */
static int take_topology(struct profile_keys *keys, struct tally_session *session,
			 struct tally_error *error)
{
	const struct tally_data_info *info = tally_data_info(tally_session_data(session));
	uint32_t count = (uint32_t)info->topology.cpu_count;

	(void)error;
	if (keys->sockets)
		return 0;
	keys->sockets = calloc((size_t)count + 1, sizeof(*keys->sockets));
	keys->cores = calloc((size_t)count + 1, sizeof(*keys->cores));
	if (!keys->sockets || !keys->cores)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		keys->sockets[i] = info->topology.cpus[i].socket;
		keys->cores[i] = info->topology.cpus[i].core;
	}
	keys->cpu_count = count;
	return 0;
}

/* The nodes of memory, whose CPUs are lists in the header. */
static int take_nodes(struct profile_keys *keys, struct tally_session *session,
		      struct tally_error *error)
{
	const struct tally_data_info *info = tally_data_info(tally_session_data(session));
	int result = 0;

	(void)error;
	for (size_t i = 0; i < info->numa_node_count && !result; i++) {
		const struct tally_data_numa_node *node = &info->numa_nodes[i];
		uint32_t *cpus = NULL;
		size_t count = 0;

		if (!node->cpus || tally_text_cpu_list(node->cpus, &cpus, &count))
			continue;
		for (size_t k = 0; k < count && !result; k++) {
			uint32_t room = cpus[k] + 1, *grown;

			if (cpus[k] >= 1U << 20)
				continue;
			if (room > keys->node_count) {
				grown = reallocarray(keys->nodes, room, sizeof(*grown));
				result = grown ? 0 : -ENOMEM;
				if (result)
					break;
				keys->nodes = grown;
				while (keys->node_count < room)
					keys->nodes[keys->node_count++] = UINT32_MAX;
			}
			keys->nodes[cpus[k]] = node->node;
		}
		free(cpus);
	}
	return result;
}

uint64_t tally_key_image_text(const struct profile_keys *keys, uint32_t frame)
{
	struct tally_frame facts = tally_session_frame(keys->session, frame);
	const char *name = facts.image_name ? facts.image_name : "[unknown]";

	return tally_key_texts_put(keys->texts, name, strlen(name));
}

static const struct profile_key rows[] = {
    {.name = "comm",
     .title = "Command",
     .help = "name of the command",
     .type = KEY_NAME,
     .columns = TALLY_COLUMN_THREAD,
     .value = comm_of},
    {.name = "dso",
     .title = "Shared Object",
     .help = "program or library",
     .type = KEY_IMAGE,
     .columns = TALLY_COLUMN_FRAME},
    {.name = "symbol",
     .alias = "sym",
     .title = "Symbol",
     .help = "function",
     .type = KEY_SYMBOL,
     .columns = TALLY_COLUMN_FRAME},
    {.name = "pid",
     .title = "    Pid:Command",
     .help = "thread, with the last name that it had; the word is perf's",
     .type = KEY_TASK,
     .columns = TALLY_COLUMN_THREAD,
     .value = tid_of},
    {.name = "tid",
     .title = "    Tid:Command",
     .help = "thread, with the last name that it had",
     .type = KEY_TASK,
     .columns = TALLY_COLUMN_THREAD,
     .value = tid_of},
    {.name = "tgid",
     .title = "   Tgid:Command",
     .help = "process, with the last name that a thread of it had",
     .type = KEY_TASK,
     .columns = TALLY_COLUMN_THREAD,
     .value = tgid_of},
    {.name = "cpu",
     .title = "CPU",
     .help = "CPU that the sample was taken on",
     .type = KEY_NUMBER,
     .digits = 3,
     .columns = TALLY_COLUMN_CPU,
     .value = cpu_of},
    {.name = "srcline",
     .title = "Source:Line",
     .help = "source file and line of the sampled address; needs debug information",
     .type = KEY_SOURCE,
     .columns = TALLY_COLUMN_LINE,
     .value = line_of},
    {.name = "srcfile",
     .title = "Source File",
     .help = "source file of the sampled address; needs debug information",
     .type = KEY_SOURCE,
     .columns = TALLY_COLUMN_FILE,
     .value = file_of},
    {.name = "socket",
     .title = "Socket",
     .help = "socket of that CPU, as the recording's header has it",
     .type = KEY_NUMBER,
     .digits = 3,
     .columns = TALLY_COLUMN_CPU,
     .value = socket_of,
     .prepare = take_topology},
    {.name = "core",
     .title = "Core",
     .help = "core of that CPU within its socket, as the recording's header has it",
     .type = KEY_NUMBER,
     .digits = 3,
     .columns = TALLY_COLUMN_CPU,
     .value = core_of,
     .prepare = take_topology},
    {.name = "node",
     .title = "Node",
     .help = "NUMA node of that CPU, as the recording's header has it",
     .type = KEY_NUMBER,
     .digits = 3,
     .columns = TALLY_COLUMN_CPU,
     .value = node_of,
     .prepare = take_nodes},
    {.name = "local_period",
     .title = "Local Period",
     .help = "period of the sample itself",
     .type = KEY_NUMBER,
     .columns = TALLY_COLUMN_PERIOD,
     .value = period_of},
    {.name = "time",
     .title = "Time",
     .help =
	 "start of the interval that the sample is in, in seconds; --time-quantum is its length",
     .type = KEY_TIME,
     .columns = TALLY_COLUMN_TIME,
     .value = time_of},
    {.name = "parallelism",
     .title = "Parallelism",
     .help = "how many of the recorded threads ran at that time; needs records of context "
	     "switches",
     .type = KEY_NUMBER,
     .columns = TALLY_COLUMN_TIME,
     .value = parallelism_of},
    {.name = "parent",
     .title = "Parent symbol",
     .help = "innermost caller that --parent matches",
     .type = KEY_TEXT,
     .columns = TALLY_COLUMN_STACK | TALLY_COLUMN_SAMPLE,
     .value = parent_of,
     .prepare = take_parent},
    {.name = "addr",
     .title = "Address",
     .help = "sampled address of the code",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_IP,
     .value = address_of,
     .text = address_text},
    {.name = "code_page_size",
     .title = "Code Page Size",
     .help = "size of the page that holds the code",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = page_of,
     .text = tally_key_page_text},
    {.name = "symbol_size",
     .title = "Symbol size",
     .help = "bytes of the function",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = symbol_size_of,
     .of_caller = tally_session_frame_size,
     .text = size_text},
    {.name = "dso_size",
     .title = "DSO size",
     .help = "bytes of the mapping that holds the code",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_SAMPLE,
     .value = dso_size_of,
     .of_caller = tally_session_frame_map_size,
     .text = size_text},
    {.name = "recording",
     .title = "Recording",
     .help = "recording that the sample is of, in a file of tally merge",
     .type = KEY_CODE,
     .columns = TALLY_COLUMN_THREAD,
     .value = recording_of,
     .text = recording_text},
};
const struct key_table tally_keys_sample = KEY_TABLE(rows);
