/* What `tally record` writes of each sample, and which records besides samples. */
#include <stdio.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/sample_words.h>
#include <tally/text.h>
#include "record_options.h"
#include "say.h"

#if defined(__x86_64__) || defined(__i386__) || defined(__powerpc__)
#define WEIGHT PERF_SAMPLE_WEIGHT_STRUCT /* several weights in one word */
#else
#define WEIGHT PERF_SAMPLE_WEIGHT
#endif

/* A flag of a field: `number` bits of sample_type, as an option's text cannot have them. */
#define FIELD(name, bits)                                                                       \
	static int take_##name(void *to, const char *value, bool on, struct tally_error *error) \
	{                                                                                       \
		uint64_t *fields = to;                                                          \
                                                                                                \
		(void)value;                                                                    \
		(void)error;                                                                    \
		*fields = on ? *fields | (bits) : *fields & ~(uint64_t)(bits);                  \
		return 0;                                                                       \
	}
FIELD(data, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC)
FIELD(mem_info, PERF_SAMPLE_DATA_SRC)
FIELD(phys, PERF_SAMPLE_PHYS_ADDR)
FIELD(data_page, PERF_SAMPLE_DATA_PAGE_SIZE)
FIELD(code_page, PERF_SAMPLE_CODE_PAGE_SIZE)
FIELD(weight, WEIGHT)
FIELD(raw, PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
FIELD(transaction, PERF_SAMPLE_TRANSACTION)
FIELD(time, PERF_SAMPLE_TIME)
FIELD(period, PERF_SAMPLE_PERIOD)
FIELD(cpu, PERF_SAMPLE_CPU)
FIELD(identifier, PERF_SAMPLE_IDENTIFIER)

static int take_any_branch(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)value;
	(void)error;
	*(uint64_t *)to = on ? PERF_SAMPLE_BRANCH_ANY : 0;
	return 0;
}

static int take_branches(void *to, const char *value, bool on, struct tally_error *error)
{
	*(uint64_t *)to = 0;
	return on ? tally_branch_filter_parse(value, to, error) : 0;
}

static int take_intr(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;

	record->intr_registers = 0;
	record->list_registers = on && value && !strcmp(value, "?");
	return on && !record->list_registers
		   ? tally_registers_parse(value, &record->intr_registers, error)
		   : 0;
}

static int take_user(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;

	record->user_registers = 0;
	record->list_registers = on && value && !strcmp(value, "?");
	return on && !record->list_registers
		   ? tally_registers_parse(value, &record->user_registers, error)
		   : 0;
}

static const char *register_word(size_t index, const char **ret_help)
{
	if (ret_help)
		*ret_help = "a register of this machine";
	return tally_register_word(index);
}

static int take_clock(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;

	record->use_clock = on;
	return on ? tally_clock_parse(value, &record->clock, error) : 0;
}

static const char *synth_word(size_t index, const char **ret_help)
{
	static const char *const words[][2] = {
	    {"all", "all of these"},
	    {"task", "threads and their names"},
	    {"mmap", "task, and the maps of processes"},
	    {"cgroup", "cgroups, with --all-cgroups"},
	    {"no", "none of these"},
	};

	if (index >= sizeof(words) / sizeof(words[0]))
		return NULL;
	if (ret_help)
		*ret_help = words[index][1];
	return words[index][0];
}

/* "task,cgroup" -> what is left out. */
static int take_synth(void *to, const char *value, bool on, struct tally_error *error)
{
	static const uint32_t given[] = {
	    TALLY_DESCRIBE_THREADS | TALLY_DESCRIBE_MAPS | TALLY_DESCRIBE_CGROUPS,
	    TALLY_DESCRIBE_THREADS,
	    TALLY_DESCRIBE_THREADS | TALLY_DESCRIBE_MAPS,
	    TALLY_DESCRIBE_CGROUPS,
	    0,
	};
	uint32_t wanted = 0;

	for (const char *at = on ? value : "all"; *at;) {
		size_t length = strcspn(at, ","), i = 0;
		const char *word;

		while ((word = synth_word(i, NULL)) &&
		       (strlen(word) != length || memcmp(word, at, length) != 0))
			i++;
		if (!word)
			return cli_refuse_word(error, at, length, "kind of records", synth_word);
		wanted |= given[i];
		at += length + (at[length] == ',');
	}
	*(uint32_t *)to = given[0] & ~wanted;
	return 0;
}

size_t record_field_rows(struct record *record, struct cli_option *to)
{
	uint64_t *fields = &record->sample_type;
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "What samples hold"},
	    {CLI_CALL, 'd', "data", NULL,
	     "the address of the data and its source, and maps of data", fields, CLI_BARE,
	     take_data},
	    {CLI_CALL, 0, "sample-mem-info", NULL, "where the data came from", fields, CLI_BARE,
	     take_mem_info},
	    {CLI_CALL, 0, "phys-data", NULL, "the physical address of the data", fields, CLI_BARE,
	     take_phys},
	    {CLI_CALL, 0, "data-page-size", NULL, "the size of the page of the data", fields,
	     CLI_BARE, take_data_page},
	    {CLI_CALL, 0, "code-page-size", NULL, "the size of the page of the code", fields,
	     CLI_BARE, take_code_page},
	    {CLI_CALL, 'W', "weight", NULL, "the weight: latencies, of some events", fields,
	     CLI_BARE, take_weight},
	    {CLI_CALL, 'b', "branch-any", NULL, "the last branches, as -j any",
	     &record->branch_filter, CLI_BARE, take_any_branch},
	    {CLI_CALL, 'j', "branch-filter", "KINDS", "the last branches of these kinds: {}",
	     &record->branch_filter, .call = take_branches, .word = tally_branch_filter_word},
	    {CLI_CALL, 'I', "intr-regs", "REGISTERS",
	     "registers where the sample was taken: all, or a list; ? prints their names", record,
	     CLI_OPTIONAL | CLI_ATTACHED, take_intr, .word = register_word},
	    {CLI_CALL, 0, "user-regs", "REGISTERS", "the same in user space", record,
	     CLI_OPTIONAL | CLI_ATTACHED, take_user, .word = register_word},
	    {CLI_CALL, 0, "transaction", NULL, "flags of transactions", fields, CLI_BARE,
	     take_transaction},
	    {CLI_CALL, 'R', "raw-samples", NULL,
	     "the raw data of the event (tracepoints always have it)", fields, CLI_BARE, take_raw},
	    {CLI_CALL, 'T', "timestamp", NULL, "the time, which is always recorded", fields,
	     CLI_BARE, take_time},
	    {CLI_CALL, 'P', "period", NULL,
	     "the period; software events with -c are then sampled each time", fields, CLI_BARE,
	     take_period},
	    {CLI_CALL, 0, "sample-cpu", NULL, "the CPU, which is always recorded", fields, CLI_BARE,
	     take_cpu},
	    {CLI_CALL, 0, "sample-identifier", NULL, "the event's id, which is always recorded",
	     fields, CLI_BARE, take_identifier},
	    {CLI_CALL, 'k', "clockid", "CLOCK", "the clock of all times: {}, or a number", record,
	     .call = take_clock, .word = tally_clock_word},
	    {CLI_FLAG, 0, "running-time", NULL,
	     "of events that are read with a leader (:S) the times of running",
	     &record->read_times},
	    {CLI_FLAG, 'n', "no-samples", NULL, "no samples: processes and maps alone",
	     &record->no_samples},
	    {CLI_GROUP, .help = "Records besides samples"},
	    {CLI_FLAG, 's', "stat", NULL, "what each thread counted, when it ends",
	     &record->thread_counts},
	    {CLI_FLAG, 0, "switch-events", NULL, "when threads leave a CPU and come back",
	     &record->context_switches},
	    {CLI_FLAG, 0, "latency", NULL, "the same, for shares of time in reports (perf 6.15)",
	     &record->context_switches},
	    {CLI_FLAG, 0, "namespaces", NULL, "namespaces of threads", &record->namespaces},
	    {CLI_FLAG, 0, "all-cgroups", NULL, "cgroups, and that of each sample",
	     &record->cgroup_records},
	    {CLI_FLAG, 0, "no-bpf-event", NULL, "no records about BPF programs",
	     &record->no_bpf_events},
	    {CLI_CALL, 0, "synth", "KINDS", "which records describe what already runs: {}",
	     &record->no_descriptions, .call = take_synth, .word = synth_word},
	    {CLI_FLAG, 0, "tail-synthesize", NULL, "these records are made at the end",
	     &record->describe_last},
	    {CLI_U64, 0, "num-thread-synthesize", "N", "so many threads make them",
	     &record->synth_threads},
	    {CLI_U64, 0, "proc-map-timeout", "MS",
	     "at most so many milliseconds for the maps of one process (default: no limit)",
	     &record->maps_timeout},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

bool record_fields_take(struct record *record, struct tally_recorder_options *to)
{
	if (record->synth_threads > 1024) {
		cli_say(record->command, "--num-thread-synthesize takes at most 1024 threads");
		return false;
	}
	to->sample_type = record->sample_type;
	to->data_maps = (record->sample_type & PERF_SAMPLE_ADDR) != 0;
	to->branch_filter = record->branch_filter;
	to->intr_registers = record->intr_registers;
	to->user_registers = record->user_registers;
	to->use_clockid = record->use_clock;
	to->clockid = record->clock;
	to->no_samples = record->no_samples;
	to->thread_counts = record->thread_counts;
	to->read_times = record->read_times;
	to->context_switches = record->context_switches;
	to->namespaces = record->namespaces;
	to->cgroups = record->cgroup_records;
	to->no_bpf_events = record->no_bpf_events;
	to->no_descriptions = record->no_descriptions;
	to->describe_last = record->describe_last;
	to->describe_threads = (unsigned)record->synth_threads;
	to->maps_timeout_ms = record->maps_timeout;
	return true;
}
