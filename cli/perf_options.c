/* Source: the options of perf 6.1, as `perf COMMAND -h` lists them; tools/command-options holds the
 * list against this table. */
#include "perf_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define TRACES \
	"hardware traces (Intel PT, SPE, CoreSight) are recorded, not decoded: perf decodes them"
#define LISTINGS  "it is about listings: `tally annotate` has it"
#define NOT_LIVE  "not live: record, and `tally report` has it"
#define SPANS     "choose spans with --time, or samples with --filter"
#define LIVE_SPAN "not live: record, and choose spans with `tally report --time`"
#define MODULES   "symbols of modules are always looked up"
#define RECORDS   "`tally script -D` prints records"
#define GUESTS    "binaries of guests are not read; their samples have addresses"
#define JOINED    "recordings of guests are not joined with the host's"
#define NAMES \
	"names are looked up when the recording is read: give it to `tally report` or `script`"
#define OBJDUMP  "tally disassembles by itself and runs no other program"
#define VMLINUX  "without -k only a vmlinux of the same build is used"
#define BPF_IN_C "BPF programs in C are not compiled; perf itself has dropped them since 6.4"
#define SCRIPTS  "no perf script is run: `tally script --json` gives samples to any program"

struct perf_option {
	const char *command; /* NULL: each one whose own rows do not have it */
	char letter;         /* 0: none */
	const char *name, *answer;
};

static const struct perf_option rows[] = {
    {"record", 0, "clang-opt", BPF_IN_C},
    {"record", 0, "clang-path", BPF_IN_C},
    {"record", 0, "vmlinux", "perf needs it for BPF programs in C only"},

    {"report", 0, "asm-raw", LISTINGS},
    {"report", 0, "disable-order", "records come in the order of time"},
    {"report", 'M', "disassembler-style", LISTINGS},
    {"report", 0, "full-source-path", "lines and files are shown by their base names"},
    {"report", 0, "percent-type", LISTINGS},
    {"report", 0, "prefix", LISTINGS},
    {"report", 0, "prefix-strip", LISTINGS},
    {"report", 0, "samples", "it is about a screen of perf; `tally script` prints samples"},
    {"report", 0, "show-ref-call-graph", "each event shows its own chains"},

    {"top", 0, "asm-raw", LISTINGS},
    {"top", 'b', "branch-any", NOT_LIVE},
    {"top", 'j', "branch-filter", NOT_LIVE},
    {"top", 'w', "column-widths", "columns follow the width of the terminal"},
    {"top", 'D', "dump-symtab", "it is for those who work on perf itself"},
    {"top", 0, "fields", NOT_LIVE},
    {"top", 0, "force", "nothing is refused that it could force"},
    {"top", 0, "group-sort-idx", NOT_LIVE},
    {"top", 0, "hierarchy", NOT_LIVE},
    {"top", 0, "overwrite", "rings are drained often enough; losses are counted in the first line"},
    {"top", 0, "prefix", LISTINGS},
    {"top", 0, "prefix-strip", LISTINGS},
    {"top", 0, "raw-trace", NOT_LIVE},
    {"top", 0, "show-on-off-events", LIVE_SPAN},
    {"top", 0, "stitch-lbr", NOT_LIVE},
    {"top", 0, "switch-off", LIVE_SPAN},
    {"top", 0, "switch-on", LIVE_SPAN},
    {"top", 0, "sym-annotate", "the key `a` shows the code of any function"},
    {"top", 'v', "verbose", "notices are in the first line; see `tally doctor`, too"},

    {"diff", 0, "cycles-hist",
     "blocks of branch stacks are not compared; `tally report --total-cycles` lists them"},

    {"script", 'a', "all-cpus", SCRIPTS},
    {"script", 0, "call-ret-trace", TRACES},
    {"script", 0, "call-trace", TRACES},
    {"script", 'd', "debug-mode", "`tally info` lists losses and damage"},
    {"script", 0, "dump-unsorted-raw-trace", "-D prints records in the order of time"},
    {"script", 'g', "gen-script", SCRIPTS},
    {"script", 0, "graph-function", "it chooses calls of decoded traces; -S chooses functions"},
    {"script", 0, "guest-code", GUESTS},
    {"script", 0, "guestkallsyms", GUESTS},
    {"script", 0, "guestmodules", GUESTS},
    {"script", 0, "guestmount", GUESTS},
    {"script", 0, "guestvmlinux", GUESTS},
    {"script", 0, "insn-trace", TRACES},
    {"script", 'L', "Latency", "-F trace has what the kernel recorded of a tracepoint"},
    {"script", 'l', "list", SCRIPTS},
    {"script", 0, "max-blocks", "the field brstackinsn has all blocks of a sample"},
    {"script", 0, "xed", "-F +insn has the bytes of instructions, `tally annotate` their text"},

    {"list", 0, "debug", "it is for those who work on perf itself"},

    {"inject", 0, "guest-data", JOINED},
    {"inject", 0, "guestmount", JOINED},
    {"inject", 0, "ignore-vmlinux", NAMES},
    {"inject", 0, "kallsyms", NAMES},
    {"inject", 0, "known-build-ids", "-b reads build-ids from the binaries"},
    {"inject", 's', "sched-stat", "`tally record --off-cpu` measures how long threads slept"},
    {"inject", 0, "strip", "no samples are made of traces, so no others are left over"},
    {"inject", 0, "vm-time-correlation", JOINED},
    {"inject", 'k', "vmlinux", NAMES},

    {"probe", 0, "demangle", "names of C++ functions are found as they are shown and as they are"},

    {"config", 0, "system", "the values of all files are shown, with the file of each"},
    {"config", 0, "user", "the values of all files are shown, with the file of each"},

    {"buildid-cache", 0, "debuginfod", "`tally report --debuginfod` fetches what a report lacks"},
    {"buildid-cache", 0, "target-ns", "give the path below /proc/PID/root"},

    {NULL, 0, "demangle-kernel", "the kernel's names are shown as its table of symbols has them"},
    {NULL, 'D', "dump-raw-trace", RECORDS},
    {NULL, 0, "ignore-vmlinux", VMLINUX},
    {NULL, 0, "itrace", TRACES},
    {NULL, 'm', "modules", MODULES},
    {NULL, 0, "objdump", OBJDUMP},
    {NULL, 0, "show-on-off-events", SPANS},
    {NULL, 0, "switch-off", SPANS},
    {NULL, 0, "switch-on", SPANS},
};

/* The commands of perf that have the options of the last rows. */
static bool shares(const char *command)
{
	static const char *const commands[] = {"annotate", "diff",   "inject", "probe",
					       "report",   "script", "top"};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i], command))
			return true;
	return false;
}

const char *cli_perf_option(const char *command, const char *name, char letter)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct perf_option *row = &rows[i];

		if (row->command ? strcmp(row->command, command) != 0 : !shares(command))
			continue;
		if (name ? !strcmp(row->name, name) : letter && row->letter == letter)
			return row->answer;
	}
	return NULL;
}
