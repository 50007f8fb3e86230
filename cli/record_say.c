/* How a recording ended: its counts, and what is missing, each in a line. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>
#include <tally/limits.h>
#include "record_options.h"
#include "say.h"

/* 1234567 -> "1,234,567" */
static const char *grouped(uint64_t number, char room[32])
{
	char digits[24];
	size_t length =
	    (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	size_t at = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			room[at++] = ',';
		room[at++] = digits[i];
	}
	room[at] = 0;
	return room;
}

static void bytes_in_words(uint64_t bytes, char room[32])
{
	if (bytes < 1000000)
		snprintf(room, 32, "%.1f kB", (double)bytes / 1e3);
	else if (bytes < 1000000000)
		snprintf(room, 32, "%.1f MB", (double)bytes / 1e6);
	else
		snprintf(room, 32, "%.2f GB", (double)bytes / 1e9);
}

static void say_hidden_kernel(void)
{
	struct tally_limits limits = {.size = sizeof(limits)};

	tally_limits_read(NULL, &limits);
	if (limits.kptr_restrict >= 2)
		cli_say(NULL,
			"kernel functions have no names: kernel.kptr_restrict=%d hides them even "
			"from root; set it to 1",
			limits.kptr_restrict);
	else if (limits.paranoid == INT_MIN)
		cli_say(NULL, "kernel functions have no names: /proc/kallsyms cannot be read; "
			      "record where /proc is mounted");
	else
		cli_say(NULL,
			"kernel functions have no names for this user: %s=%d hides them; report as "
			"root or with CAP_SYSLOG",
			limits.kptr_restrict ? "kernel.kptr_restrict"
					     : "kernel.perf_event_paranoid",
			limits.kptr_restrict ? limits.kptr_restrict : limits.paranoid);
}

/* A command that becomes a daemon ends at once, and the work of the daemon is not recorded. */
static void say_running(const struct tally_recorder_result *result)
{
	char list[96] = "", number[32];
	size_t length = 0;

	/* Processes that a person interrupted may still be ending. */
	if (!result->running_count || result->ended_by)
		return;
	for (size_t i = 0; i < result->running_count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%d",
					   i ? "," : "", result->running[i]);
	cli_say(NULL,
		"the command has ended; %s process%s that it started still run%s and %s not "
		"recorded any more: -p %s records %s",
		grouped(result->running_count, number), result->running_count == 1 ? "" : "es",
		result->running_count == 1 ? "s" : "", result->running_count == 1 ? "is" : "are",
		length < sizeof(list) ? list : "PID,...",
		result->running_count == 1 ? "it" : "them");
}

/* Appends ", N why" when there are any. */
static size_t add_count(char *line, size_t room, size_t length, uint64_t count, const char *why)
{
	char number[32];
	int added;

	if (!count || length >= room)
		return length;
	added = snprintf(line + length, room - length, "%s%s %s", length ? ", " : "",
			 grouped(count, number), why);
	return added > 0 ? length + (size_t)added : length;
}

/* How many call chains are whole, and why the others are not. */
static void say_stacks(const struct tally_stack_counts *stacks)
{
	char line[512] = "", joined[96] = "", number[32], whole[32];
	size_t length = 0;

	if (!stacks->count)
		return;
	if (stacks->joined)
		snprintf(joined, sizeof(joined), " (%s by callers of other samples)",
			 grouped(stacks->joined, number));
	length = add_count(line, sizeof(line), length, stacks->copy_ended,
			   "where the copy of the stack ends");
	length = add_count(line, sizeof(line), length, stacks->unknown_code,
			   "in code without a readable file");
	length = add_count(line, sizeof(line), length,
			   stacks->lost - MIN(stacks->lost, stacks->lost_made),
			   "at a frame without a valid caller");
	length = add_count(line, sizeof(line), length, stacks->lost_made,
			   "in code made at run time without frame pointers");
	(void)add_count(line, sizeof(line), length, stacks->too_deep, "with too many frames");
	if (stacks->count == 1 && stacks->whole)
		cli_say(NULL, "its stack is whole%s", joined);
	else if (stacks->whole == stacks->count)
		cli_say(NULL, "all %s stacks are whole%s", grouped(stacks->count, number), joined);
	else
		cli_say(NULL, "%s of %s stacks are whole%s; cut: %s", grouped(stacks->whole, whole),
			grouped(stacks->count, number), joined, line);
	if (stacks->lost_made >= stacks->count / 100 + 1)
		cli_say(NULL, "compilers that work at run time leave frame pointers out, where no "
			      "option says otherwise: java keeps them with "
			      "-XX:+PreserveFramePointer");
	line[0] = 0;
	length = add_count(line, sizeof(line), 0, stacks->cut_copies,
			   "copies of stacks were made smaller");
	length = add_count(line, sizeof(line), length, (stacks->spilled_bytes + 999999) / 1000000,
			   "MB waited in a temporary file");
	length = add_count(line, sizeof(line), length, stacks->dropped,
			   "samples have the kernel's chain alone");
	if (length)
		cli_say(NULL, "unwinding was slower than sampling: %s; record less (-F, -c)", line);
}

void record_say_result(const struct record *record, const char *output,
		       const struct tally_recorder_result *result)
{
	bool to_stdout = !strcmp(output, "-");
	char samples[32], lost[32], size[32], throttled[64] = "", number[32];

	bytes_in_words(result->bytes, size);
	if (result->throttled)
		snprintf(throttled, sizeof(throttled), ", throttled %s time%s",
			 grouped(result->throttled, number), result->throttled == 1 ? "" : "s");
	if (!record->quiet)
		cli_say(NULL, "%s sample%s in %s (%s), %s lost%s",
			grouped(result->samples, samples), result->samples == 1 ? "" : "s",
			to_stdout ? "standard output" : output, size,
			result->lost ? grouped(result->lost, lost) : "none", throttled);
	if (result->limit_reached)
		cli_say(NULL, "the recording ended: its file is as large as --max-size allows");
	if (!record->quiet)
		say_stacks(&result->stacks);
	if (result->lost)
		cli_say(NULL, "%s record%s lost %s", grouped(result->lost, lost),
			result->lost == 1 ? "" : "s",
			record->overwrite
			    ? "while rings were copied: --overwrite pauses a ring for that time; "
			      "a small one (-m 1M) is paused for less"
			    : "because the rings were full: record less (-F, -c), or use larger "
			      "rings (-m 64M)");
	if (result->sideband_lost)
		cli_say(NULL,
			"%s of them described processes and maps: some samples will have no names",
			grouped(result->sideband_lost, lost));
	if (result->kernel_hidden && result->samples && !record->quiet)
		say_hidden_kernel();
	if (!record->quiet)
		say_running(result);
	if (!result->samples && !result->aux_bytes && !record->quiet && !record->delay_ms &&
	    !record->no_samples)
		cli_say(NULL, "no samples: the event did not happen during the recording");
}
