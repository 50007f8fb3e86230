/* The options of `tally record`, by theme: what is watched, what is sampled, call stacks, the
 * output.
 *
 * To add an option: its value into struct record, its row into the table of its theme
 * (cli/record_*.c), and what it means for the library into that file's function.  A new theme is a
 * new file, and a row of `themes` in cmd_record.c. */
#ifndef TALLY_CLI_RECORD_OPTIONS_H
#define TALLY_CLI_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/event.h>
#include <tally/recorder.h>
#include "debuginfod.h"
#include "options.h"

struct record {
	const char *command; /* that messages name: "record", or one that records for its own end */
	struct tally_event_list events;
	struct cli_list pids, tids, parents, users;
	const char *output, *cpus, *frequency, *ring, *call_graph;
	bool system_wide, no_inherit, callchain, keep_stacks, quiet;
	const char *stacks_output;
	/* From a configuration file: how -g records chains when the command line does not say how.
	 */
	char record_mode[32], dump_size[16], usual_call_graph[64];
	uint64_t compress;
	int64_t delay_ms;
	uint64_t period;
	unsigned verbose;
	const char *build_id_folder;
	char usual_folder[4096]; /* from a configuration file */
	bool no_build_ids, no_cache, all_binaries, kernel_copy;
	enum cli_debuginfod debuginfod;
	/* Long recordings (record_files.c). */
	struct tally_recorder_files files;
	struct tally_event_list switch_events;
	uint64_t switch_keep, most_bytes;
	bool overwrite;
	struct tally_recorder_range *ranges;
	size_t range_count;
	const char *control;
	bool off_cpu;
	double off_cpu_ms;
	/* What samples hold, and which other records there are (record_fields.c). */
	uint64_t sample_type, branch_filter, intr_registers, user_registers, synth_threads;
	bool data, no_samples, thread_counts, read_times, list_registers;
	bool context_switches, namespaces, cgroup_records, no_bpf_events;
	bool use_clock;
	int32_t clock;
	uint32_t no_descriptions;
	bool describe_last;
	uint64_t maps_timeout;
	/* Of events (record_events.c). */
	struct cli_list event_texts; /* of -e, for --for-each-cgroup */
	struct cli_list cgroups;     /* of --for-each-cgroup */
	size_t last_event;           /* first event of the last -e */
	bool cgroup_first;           /* -G without an event before it */
	size_t cgroup_at;            /* the event that takes the next name of -G */
	bool all_user, all_kernel, group, strict_frequency, unbuffered;
	bool kernel_chains, user_chains; /* these alone */
	bool per_thread, build_id_maps, dry_run;
	uint64_t realtime;
	pid_t *pid_numbers, *tid_numbers, *parent_numbers;
	uint32_t *cpu_numbers;
	size_t cpu_count;
	struct tally_recorder_rings rings;
	const char *flush;
};

/* Rows of a theme, copied to `to`; how many. */
size_t record_target_rows(struct record *record, struct cli_option *to);
size_t record_event_rows(struct record *record, struct cli_option *to);
size_t record_field_rows(struct record *record, struct cli_option *to);
size_t record_stack_rows(struct record *record, struct cli_option *to);
size_t record_output_rows(struct record *record, struct cli_option *to);
size_t record_files_rows(struct record *record, struct cli_option *to);
size_t record_off_cpu_rows(struct record *record, struct cli_option *to);
size_t record_ring_rows(struct record *record, struct cli_option *to);

/* What the options of a theme mean, for the library.  What `to` points to is the record's.  false:
 * an error was printed. */
bool record_targets_take(struct record *record, struct tally_recorder_options *to);
bool record_events_take(struct record *record, struct tally_recorder_options *to);
bool record_fields_take(struct record *record, struct tally_recorder_options *to);
bool record_stacks_take(struct record *record, struct tally_recorder_options *to);
bool record_output_take(struct record *record, struct tally_recorder_options *to);
bool record_files_take(struct record *record, struct tally_recorder_options *to);
bool record_off_cpu_take(struct record *record, struct tally_recorder_options *to);
bool record_rings_take(struct record *record, struct tally_recorder_options *to);

/* Frees what the options hold. */
void record_targets_done(struct record *record);
void record_events_done(struct record *record);
void record_files_done(struct record *record);

/* The value of -D; `to` is the record. */
int record_take_delay(void *to, const char *value, bool on, struct tally_error *error);

/* Whether a word is a value of --call-graph. */
bool record_is_call_graph(const char *word);
/* The same as an option: `to` is a const char *. */
int record_take_call_graph(void *to, const char *value, bool on, struct tally_error *error);
const char *record_call_graph_word(size_t index, const char **ret_help);
/* For `-g dwraf prog`: says which of these values the word is like, if any. */
void record_say_similar_call_graph(const struct record *record, const char *word);

/* `tally record` for another command, whose name messages and usage have instead. */
int record_main(const char *command, int argc, char **argv);

/* How the recording ended, on standard error (record_say.c). */
void record_say_result(const struct record *record, const char *output,
		       const struct tally_recorder_result *result);
/* The same of traces (record_rings.c). */
void record_say_traces(const struct record *record, const struct tally_recorder_result *result);

#endif
