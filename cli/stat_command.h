/* The parts of `tally stat`. */
#ifndef TALLY_CLI_STAT_COMMAND_H
#define TALLY_CLI_STAT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <tally/counter.h>
#include <tally/data.h>
#include <tally/event.h>
#include <tally/metric.h>
#include <tally/stat.h>
#include <tally/stat_rounds.h>
#include "options.h"

#define STAT_MS 1000000ULL /* ns */

enum stat_format { STAT_TABLE, STAT_CSV, STAT_PERF_JSON, STAT_OWN_JSON };

struct stat_filter { /* of a tracepoint */
	size_t event;
	const char *text;
};

/* What the command line asks for. */
struct stat_ask {
	const struct cli_usage *usage;
	/* What to count. */
	struct tally_event_list events;
	struct stat_filter *filters;
	size_t filter_count;
	unsigned detailed;
	bool topdown, smi_cost, no_metric_only;
	const char *core; /* PMU of the kind of core that is counted, "cpu_atom"; NULL: all */
	char core_name[32];
	bool hybrid_merge, percore_each;
	uint64_t topdown_level; /* 0: the highest */
	bool smi_frozen;        /* by us */
	bool null_run, transaction, group, all_user, all_kernel, no_scale, no_merge;
	struct cli_list metric_names;
	struct tally_metrics *metrics; /* NULL: none */
	bool metric_no_group, metric_no_merge, metric_no_threshold;
	/* Where. */
	struct cli_list pids, tids, parents;
	pid_t *pid_numbers, *tid_numbers, *parent_numbers;
	size_t pid_count;  /* of pid_numbers */
	bool every_thread; /* pid_numbers are all processes of the system, listed at each opening */
	bool system_wide, no_inherit;
	const char *cpus;
	uint32_t *cpu_numbers;
	size_t cpu_count;
	struct cli_list cgroups, each_cgroup;
	/* How. */
	uint64_t repeat, interval_ms, interval_count, timeout_ms;
	int64_t delay_ms;
	bool repeat_given, interval_clear, sync, summary;
	bool compare;
	uint64_t warm_up;
	double until; /* %; 0: as often as -r says */
	const char *control, *before, *after;
	/* Output. */
	enum tally_stat_by by;
	bool json, perf_json, big_num, metric_only, table, no_csv_summary, quiet, append;
	const char *separator, *output;
	uint64_t log_fd;
	unsigned verbose;
	/* The command; NULL: none. */
	char **command;
	/* `tally stat record`: the recording, and the command line. */
	bool record;
	const char *recording;
	const char *const *cmdline;
	size_t cmdline_count;
};

static inline bool stat_has_tasks(const struct stat_ask *ask)
{
	return ask->pids.count || ask->tids.count || ask->parents.count || ask->every_thread;
}

static inline bool stat_has_cpus(const struct stat_ask *ask)
{
	return (ask->system_wide && !ask->every_thread) || ask->cpu_count;
}

/* Whether the command itself is counted. */
static inline bool stat_counts_command(const struct stat_ask *ask)
{
	return ask->command && !stat_has_tasks(ask) && !stat_has_cpus(ask);
}

/* --- stat_events.c --- */

/* Adds the default events, and those of -d. 0, or an exit status after having printed why not. */
int stat_events_complete(struct stat_ask *ask);
/* Whether the event is of one of several kinds of core. */
bool stat_is_hybrid(const struct tally_event *event);
/* Removes the events from `first` on that are of another kind of core than ask->core.
 * -ENOMEM. */
int stat_events_of_core(struct stat_ask *ask, size_t first);

/* --- stat_smi.c: --smi-cost, the time of the firmware's interrupts --- */

/* Adds its events.  0, or an exit status after having printed why they cannot be counted. */
int stat_smi_add(struct stat_ask *ask);
/* Stops the counters during these interrupts, until stat_smi_done(). */
int stat_smi_freeze(struct stat_ask *ask);
void stat_smi_done(const struct stat_ask *ask);

/* Finds the places in code of events (uprobe:, usdt:); an event at several places becomes several
 * events. 0, or an exit status after having printed why not. */
int stat_events_place(struct stat_ask *ask);

/* --- stat_metrics.c --- */

/* Finds the metrics and adds the events that they need. 0, or an exit status after having printed
 * why not. */
int stat_metrics_find(struct stat_ask *ask);
struct stat_count;
/* Puts the metrics into the model's options.  0, or CLI_FAILED: out of memory. */
int stat_metrics_put(struct stat_count *count, struct tally_stat_options *options);

/* --- stat_count.c: a set of counters with the model of its counts --- */

struct stat_count {
	const struct stat_ask *ask;
	struct tally_counters *set; /* NULL: not open */
	struct tally_stat *stat;    /* made with the first set, kept over runs */
	struct tally_stat_event *events;
	struct tally_stat_place *places;
	size_t event_count, place_count;
	char **names; /* of events, where they differ from those of the list */
	struct tally_error *whys;
	char (*comms)[16];
	struct tally_count *read;   /* in the order of the set */
	struct tally_count *counts; /* [event][place] as the model wants them: by cgroup */
	const char **cgroups;
	size_t cgroup_count;
	struct tally_stat_metric *metrics;
	size_t metric_count; /* for each cgroup */
};

/* Opens the counters for a run. 0, or an exit status after having printed why not. */
int stat_count_open(struct stat_count *count, const struct stat_ask *ask);
/* Ends the run, and a command that still runs. The model is kept. */
void stat_count_close(struct stat_count *count);
void stat_count_done(struct stat_count *count);
/* Reads all into count->counts. */
void stat_count_read(struct stat_count *count);
/* Asks the kernel why events were not counted, and puts it into the model's events. */
void stat_count_explain(struct stat_count *count);
/* Prints once for each reason which event was not permitted; to be called after
 * stat_count_explain(). */
void stat_count_say_unpermitted(const struct stat_count *count);
/* Prints how many threads of the system could not be counted, and why. */
void stat_count_say_threads(const struct stat_count *count);

/* --- stat_record.c: counts into a perf.data file --- */

/* Creates the file; the counters of `count` are open. 0, or an exit status after having printed why
 * not. */
int stat_record_open(struct tally_stat_writer **ret, struct stat_count *count);
/* Adds the last reading, of the time until `time` (ns since the start; at the end, of the run).
 */
int stat_record_round(struct tally_stat_writer *writer, const struct stat_count *count,
		      uint64_t time, bool last);
int stat_record_close(struct tally_stat_writer *writer); /* NULL is fine */

/* --- stat_report.c --- */

/* `tally stat report`: the counts of a recording. */
int stat_report(int argc, char **argv);
/* Prints each of its counts on a line, as perf script does; an exit status. */
int stat_report_list(struct tally_data *data, const char *input);

/* --- stat_run.c --- */

struct stat_output;

/* Counts as often as -r says; returns the exit status. */
int stat_run(const struct stat_ask *ask, struct stat_output *output);

/* One run, added to `count`, whose counters are closed when it returns. Returns the command's
 * status, or the reason why it could not be run. *ret_over: no other run should follow, because a
 * signal came or the command could not be run. */
int stat_run_once(const struct stat_ask *ask, struct stat_count *count, bool *ret_over);
/* Whether a signal that asks to end came during the last run. */
bool stat_interrupted(void);

/* --- stat_compare.c --- */

/* Runs the commands in turn and compares them; each word of ask->command is one. */
int stat_compare(const struct stat_ask *ask, struct stat_output *output);

/* --- stat_output.c: where the text goes --- */

struct stat_output {
	const struct stat_ask *ask;
	enum stat_format format;
	FILE *to;
	bool own;      /* close it */
	bool terminal; /* colour, width */
	bool colour;
	unsigned width;
	unsigned intervals; /* printed so far */
	char *title;
};

int stat_output_open(struct stat_output *output, const struct stat_ask *ask);
/* CLI_OK, or CLI_FAILED after having printed that the text could not be written. */
int stat_output_close(struct stat_output *output);
void stat_output_interval(struct stat_output *output, const struct tally_stat *stat, uint64_t time);
struct stat_run_times { /* of each run, ns */
	uint64_t *ns;
	size_t count;
};
void stat_output_end(struct stat_output *output, const struct tally_stat *stat,
		     const struct stat_run_times *times);

#endif
