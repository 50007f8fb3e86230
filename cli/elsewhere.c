/* Names that people type by habit, a row each. */
#include "elsewhere.h"

#include <stddef.h>
#include <string.h>

#define IN_PERF "only perf has it"

static const struct {
	const char *name, *instead;
} elsewhere[] = {
    {"bench", IN_PERF},
    {"c2c", "`tally record -d -W`, then `tally report --mem-mode -s dcacheline,symbol_daddr,mem`"},
    {"daemon", "man tally-record describes a service that always records"},
    {"data", "`tally export` converts recordings, `tally info` describes them"},
    {"flame", "`tally report --svg` draws a flame graph, `tally report --html` a page with one"},
    {"flamegraph",
     "`tally report --svg` draws a flame graph, `tally report --html` a page with one"},
    {"ftrace", IN_PERF},
    {"iostat", IN_PERF},
    {"kallsyms", "`tally probe --funcs` lists the kernel's functions"},
    {"kmem", "`tally record -a -g -e 'kmem:*'`, then `tally report`"},
    {"kvm", "`tally record -a -e 'kvm:*'`, then `tally report -s trace`"},
    {"kwork", "`tally record -a -e 'irq:*,workqueue:*'`, then `tally script`"},
    {"lock", "`tally profile` says how long threads wait, and for what"},
    {"mem", "`tally record -d -W`, then `tally report --mem-mode`"},
    {"sched",
     "`tally record -a --off-cpu` records where threads wait, `tally report --html` draws when"},
    {"stackcollapse", "`tally export --to folded` writes folded stacks"},
    {"test", "`tally doctor` tests what this machine can measure"},
    {"timechart", "`tally report --html` draws threads and CPUs over time"},
    {"trace", "`tally record -e 'syscalls:*'`, then `tally script`"},
};

const char *cli_elsewhere_find(const char *name)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++)
		if (!strcmp(elsewhere[i].name, name))
			return elsewhere[i].instead;
	return NULL;
}
