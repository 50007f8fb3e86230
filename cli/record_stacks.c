/* How `tally record` takes call stacks. */
#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "record_options.h"
#include "say.h"

static const char *const ways[] = {"auto", "fp", "dwarf", "lbr", "no", NULL};

const char *record_call_graph_word(size_t index, const char **ret_help)
{
	static const char *const help[] = {
	    "unwound while recording, else fp", "frame pointers, by the kernel",
	    "unwound, of copies of the stack; dwarf,SIZE: of so many bytes",
	    "the processor's own record of calls", "none"};

	if (index >= sizeof(help) / sizeof(*help))
		return NULL;
	if (ret_help)
		*ret_help = help[index];
	return ways[index];
}

bool record_is_call_graph(const char *value)
{
	size_t length = strcspn(value, ",");

	for (size_t i = 0; ways[i]; i++)
		if (strlen(ways[i]) == length && !strncmp(ways[i], value, length))
			return true;
	return false;
}

void record_say_similar_call_graph(const struct record *record, const char *word)
{
	const char *way = tally_text_nearest(word, ways, sizeof(ways) / sizeof(*ways) - 1);

	if (way)
		cli_say(record->command, "-g takes no value; did you mean --call-graph %s?", way);
}

int record_take_call_graph(void *to, const char *value, bool on, struct tally_error *error)
{
	*(const char **)to = on ? value : NULL;
	if (!on || record_is_call_graph(value))
		return 0;
	return cli_refuse_listed(error, value, strcspn(value, ","), "way to record call chains",
				 ways);
}

/* The mode from the command line, else from a configuration file. */
static const char *call_graph(struct record *record)
{
	const char *mode = record->call_graph;

	if (!mode && record->callchain && record->record_mode[0])
		mode = record->record_mode;
	if (!mode || strcmp(mode, "dwarf") != 0 || !record->dump_size[0])
		return mode;
	snprintf(record->usual_call_graph, sizeof(record->usual_call_graph), "dwarf,%s",
		 record->dump_size);
	return record->usual_call_graph;
}

size_t record_stack_rows(struct record *record, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Call stacks"},
	    {CLI_FLAG, 'g', NULL, NULL, "call chains, as --call-graph auto", &record->callchain,
	     .with_value = "call-graph"},
	    {CLI_CALL, 0, "call-graph", "HOW",
	     "record call chains by auto (unwound while recording, else fp), fp (frame pointers), "
	     "dwarf[,SIZE] (unwound; copies of the stack of SIZE bytes) or lbr",
	     &record->call_graph, .call = record_take_call_graph, .word = record_call_graph_word},
	    {CLI_FLAG, 0, "kernel-callchains", NULL, "call chains of the kernel alone",
	     &record->kernel_chains},
	    {CLI_FLAG, 0, "user-callchains", NULL, "call chains of user space alone",
	     &record->user_chains},
	    {CLI_FLAG, 0, "keep-stacks", NULL,
	     "write copies of the stack to the file, as perf does, instead of unwinding them",
	     &record->keep_stacks},
	    {CLI_STRING, 0, "stacks-output", "FILE",
	     "also write the same samples with copies of the stack, to compare call chains",
	     &record->stacks_output},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

bool record_stacks_take(struct record *record, struct tally_recorder_options *to)
{
	to->callchain = record->callchain;
	to->no_user_chain = record->kernel_chains;
	to->no_kernel_chain = record->user_chains;
	to->call_graph = call_graph(record);
	to->keep_stacks = record->keep_stacks;
	to->stacks_output = record->stacks_output;
	return true;
}
