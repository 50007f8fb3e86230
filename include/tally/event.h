/* Events by name: a string becomes attrs, and an attr its name again.  Opens nothing.
 *
 * The grammar is perf's: "cycles:u", "{instructions,cache-misses}:S", "L1-dcache-load-misses",
 * "r1a8:k", "sched:sched_switch", "mem:0x1000/8:w", "cpu/event=0xc0,umask=1/u",
 * "uncore_imc/cas_count_read/", several with commas between them.  Names of the CPU's vendor tables
 * are known as sysfs's are: "inst_retired.any:u", "cpu/mem_load_retired.l1_hit,period=1000/pp".
 *
 * A name that perf's grammar does not have can be one of libpfm4's (tally/pfm.h):
 * "INST_RETIRED:ANY_P:c=1", "skl::INST_RETIRED:ANY_P".  "perf:NAME" and "pfm:NAME" choose one of
 * the two.  libpfm4's spellings of the kernel's own events ("CYCLES") need such a prefix, as they
 * are more often a mistake. */
#ifndef TALLY_EVENT_H
#define TALLY_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/attr.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What the tool measures itself; attr is then PERF_COUNT_SW_DUMMY. */
enum tally_tool_event {
	TALLY_TOOL_NONE,
	TALLY_TOOL_DURATION_TIME, /* wall time, ns */
	TALLY_TOOL_USER_TIME,     /* of the command, ns */
	TALLY_TOOL_SYSTEM_TIME,
};

/* Terms that say how to measure an event: bits of tally_event_terms.given. */
#define TALLY_TERM_PERIOD          (1u << 0) /* in attr.sample_period */
#define TALLY_TERM_FREQ            (1u << 1) /* in attr.sample_freq, attr.freq is set */
#define TALLY_TERM_TIME            (1u << 2) /* time=0 or 1 */
#define TALLY_TERM_CALL_GRAPH      (1u << 3)
#define TALLY_TERM_STACK_SIZE      (1u << 4)
#define TALLY_TERM_MAX_STACK       (1u << 5)
#define TALLY_TERM_MAX_EVENTS      (1u << 6) /* nr=N */
#define TALLY_TERM_INHERIT         (1u << 7) /* inherit, no-inherit */
#define TALLY_TERM_OVERWRITE       (1u << 8) /* overwrite, no-overwrite */
#define TALLY_TERM_PERCORE         (1u << 9)
#define TALLY_TERM_AUX_OUTPUT      (1u << 10)
#define TALLY_TERM_AUX_SAMPLE_SIZE (1u << 11) /* in attr.aux_sample_size; bytes */
#define TALLY_TERM_BRANCH_TYPE     (1u << 12) /* in attr.branch_sample_type */
#define TALLY_TERM_METRIC_ID       (1u << 13)
#define TALLY_TERM_DRIVER          (1u << 14)
#define TALLY_TERM_NAME            (1u << 15)
#define TALLY_TERM_AUX_ACTION      (1u << 17) /* in attr.aux_action */
#define TALLY_TERM_WEAK            (1u << 16) /* the period is a vendor table's: one from elsewhere wins */

struct tally_event_terms {
	uint32_t given;                 /* TALLY_TERM_*; members that are not given are 0 */
	bool time;                      /* sample the time */
	bool inherit;                   /* children too */
	bool overwrite;                 /* the ring is written over */
	bool percore;                   /* counts of a core's threads are added */
	bool aux_output;                /* samples go to the leader's AUX area */
	uint32_t stack_size, max_stack; /* bytes; frames */
	uint64_t max_events;            /* stop after that many */
	char *call_graph;               /* "fp", "dwarf", "lbr", "no"; NULL */
	char *metric_id;                /* NULL */
	char *driver; /* "@key=value" terms without their @, commas between; NULL */
};

/* Where the meaning of an event was found. */
enum tally_event_origin {
	TALLY_ORIGIN_KERNEL,    /* a name or number of the kernel's own */
	TALLY_ORIGIN_SYSFS,     /* fields or a named event of a PMU */
	TALLY_ORIGIN_TRACEFS,   /* a tracepoint */
	TALLY_ORIGIN_TABLE,     /* a vendor table */
	TALLY_ORIGIN_PFM,       /* libpfm4's language and tables */
	TALLY_ORIGIN_PFM_TABLE, /* libpfm4's language, a vendor table's event */
	TALLY_ORIGIN_TOOL,      /* measured by the tool itself */
};

enum tally_probe_kind {
	TALLY_PROBE_PROGRAM, /* a place in a program or library */
	TALLY_PROBE_MARKER,  /* places that its author marked for tracing (SDT) */
	TALLY_PROBE_KERNEL,  /* a function of the kernel, which finds it itself */
};

/* The place in code of an event of the PMUs uprobe and kprobe.  tally_probe_resolve() of
 * <tally/probe.h> finds it and puts its address into the attr; before that config1 is 0. */
struct tally_event_probe {
	enum tally_probe_kind kind;
	bool resolved;
	char *path;   /* of the program, or a word to look it up by; NULL: the kernel, or unknown */
	char *symbol; /* function or marker; NULL: `offset` alone is the place */
	char *provider; /* of a marker */
	bool address; /* without a symbol: `offset` is an address of the program, not of its file */
	uint64_t offset;       /* bytes behind the symbol; without one: of the place */
	uint64_t counter_mask; /* bits of attr.config for a marker's counter of listeners */
};

struct tally_event {
	struct tally_attr attr; /* type, config*, bp_*, and what modifiers and terms say; of
				 * sampling only what terms say.  Without a modifier exclude_guest
				 * is set, as in perf, but not for PMUs outside the cores */
	char *name;             /* as a person would write it, modifiers included; never NULL */
	char *pmu;              /* "cpu", "uncore_imc_0"; NULL: not named by its PMU */
	char *cpus;    /* its PMU's cpumask or cpus, "0,28": open it there only; NULL: anywhere */
	char *unit;    /* of the scaled count, "Joules"; NULL: none */
	double scale;  /* a count is multiplied by it; 1 when there is nothing to scale */
	bool per_pkg;  /* one CPU a package counts for all of it */
	bool snapshot; /* the count is a value of the moment, not a sum */
	char *warning; /* one line for the person: something that is rarely meant; NULL: none */
	enum tally_tool_event tool;
	enum tally_event_origin origin;
	char *source; /* the vendor table's folder, or libpfm4's fully qualified name; NULL: none */
	struct tally_event_terms terms;
	struct tally_event_probe *probe; /* NULL: not an event at a place in code */
	uint32_t leader;      /* index of its group's leader in the list; itself when alone */
	bool precise_max;     /* modifier P: the highest precise_ip that opens */
	bool sample_read;     /* modifier S: the leader samples, members are read with it */
	bool privilege_given; /* a modifier u, k or h was written */
	bool weak;            /* modifier W: when the group does not open, its events stand alone */
	char *
	    filter; /* which of its occurrences are samples; NULL: all.  tally_event_set_filter() */
	char
	    *cgroup; /* only in this cgroup, a path from the top of the cgroups; NULL: everywhere */
};

struct tally_event_list {
	struct tally_event *events;
	size_t count;
};

struct tally_event_context;
struct tally_table;

struct tally_event_options {
	size_t size;         /* sizeof of this struct; the tail beyond what is known must be zero */
	const char *sysfs;   /* NULL: "/sys" */
	const char *tracefs; /* NULL: found among the usual places */
	/* PMUs and tables that were read already, for the same sysfs, events, cpuid and pmu; NULL:
	 * they are read for each call that needs them. */
	struct tally_event_context *context;
	/* "stat": terms about sampling are refused, as perf stat does.  NULL: all are taken. */
	const char *command;
	const char *events; /* folders of vendor tables, "DIR:DIR"; NULL: $TALLY_EVENTS, else
			     * $XDG_CACHE_HOME/pmu-events and /usr/share/tally/events */
	const char *cpuid;  /* whose tables, "GenuineIntel-6-55-7"; NULL: $PERF_CPUID, else this
			     * machine's */
	const char *pmu;    /* of libpfm4's names without "pmu::", "skl"; NULL: this machine's */
	bool pfm_strict;    /* libpfm4's answer where a vendor table has another one */
};

/* A context keeps the PMUs of options->sysfs and the CPU's vendor tables, each read when it is
 * first needed, for programs that parse many strings.  One thread at a time.  0; -ENAMETOOLONG,
 * -ENOMEM, -E2BIG. */
int tally_event_context_new(const struct tally_event_options *options,
			    struct tally_event_context **ret);
void tally_event_context_free(struct tally_event_context *context); /* NULL is fine */

/* Parses the whole string.  On failure error->position is the column and error->text says what was
 * expected, with the nearest name.  -EINVAL syntax or unknown name, -ENOENT no such tracepoint,
 * -EACCES tracefs not readable or not mounted (the text names how to lift it), -ENOMEM. The list is
 * the caller's; release with tally_event_list_done(). */
int tally_event_list_parse(const char *text, const struct tally_event_options *options,
			   struct tally_event_list *ret, struct tally_error *error);
/* The same, but appends to a list. */
int tally_event_list_append(struct tally_event_list *list, const char *text,
			    const struct tally_event_options *options, struct tally_error *error);
/* Releases the events of a list. */
void tally_event_list_done(struct tally_event_list *list);
/* Adds a filter to an event, for tally_recorder_new(): both must hold, when it has one.
 * - A tracepoint, and a place in code: an expression of its fields, "prev_pid == 12 && prev_comm ~
 *   \"sh*\"" (Documentation/trace/events.rst of Linux).  The recorder finds mistakes.
 * - Any other event: tests of its samples, "period > 1000 && (comm == \"sh\" || cpu == 1)", of ip,
 *   addr, period, pid, tid, uid, gid, cpu, cgroup (a number) and comm, by == != > >= < <= &,
 *   joined by && || ! and commas, which bind least.  The kernel runs it as a BPF program, so that
 *   the recorder needs CAP_BPF and CAP_PERFMON.
 * - A hardware trace: ranges of code, "filter main @ /bin/ls, tracestop 0x1000/0x20 @ /bin/ls"
 *   (perf-record(1)); several add up; tally_probe_resolve() finds the functions.
 * -EINVAL with the column; -EOPNOTSUPP: events of this kind have no such filters; -ENOMEM. */
int tally_event_set_filter(struct tally_event *event, const char *filter,
			   struct tally_error *error);
/* Whether the event is not in a group, or is the only one of its group. */
static inline bool tally_event_alone(const struct tally_event_list *list, size_t index)
{
	uint32_t leader = list->events[index].leader;

	/* The events of a group are side by side. */
	return leader == index &&
	       (index + 1 == list->count || list->events[index + 1].leader != leader);
}

/* Writes the name of an attr: "cycles:u"; "sched:sched_switch" if tracefs has its id; "r1a8"; for
 * an event of a PMU the shortest name that sysfs or the vendor's table has: "mem-loads:pp",
 * "uncore_imc_0/cas_count_read/".  Terms are added for config1 to config4, the period or frequency,
 * and the size of AUX samples.  Parsing the name gives the same attr, except for kinds of branches,
 * and for attrs that no string gives (user, kernel and hypervisor all excluded, or host and guest).
 * Writes at most `room` bytes with the NUL; returns the full length, as snprintf(3) does. */
int tally_event_format(const struct tally_attr *attr, const struct tally_event_options *options,
		       char *to, size_t room);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
