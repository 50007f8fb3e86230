/* The literals of expressions: number of cores, SMT and so on. */
#ifndef TALLY_METRIC_METRIC_MACHINE_H
#define TALLY_METRIC_METRIC_MACHINE_H

#include <stdbool.h>
#include "metric/expression.h"

struct metric_machine {
	const char *sysfs, *procfs; /* never NULL */
	const char *cpus;           /* those that are measured; NULL: all */
	bool system_wide;
	bool here; /* sysfs is this machine's: the CPU itself may be asked */

	bool known[EXPR_LITERALS];
	double literal[EXPR_LITERALS];
	bool topology_read;
	size_t cores, dies, packages; /* 0: unknown */
	bool several_threads;         /* on some core */
	bool core_wide;               /* `cpus` has each core either whole or not at all */
};

/* NaN: unknown. Read at the first use. */
double tally_metric_machine_literal(struct metric_machine *machine,
				    enum tally_expression_literal literal);
bool tally_metric_machine_smt(struct metric_machine *machine);
/* Whether the kernel's NMI watchdog uses a counter of each CPU. */
bool tally_metric_machine_watchdog(const struct metric_machine *machine);

#endif
