/* The event of `offcpu-time`: what is opened to see threads leave the CPU, and how the file
 * describes it. */
#ifndef TALLY_COLLECT_PLAN_OFF_CPU_H
#define TALLY_COLLECT_PLAN_OFF_CPU_H

#include <stdbool.h>
#include <tally/abi.h>
#include <tally/limits.h>
#include "collect/plan_terms.h"

#define TALLY_OFF_CPU_NAME "offcpu-time" /* perf's */

/* Whether this user sees the stack that a thread leaves with: such samples are taken in the kernel.
 */
bool tally_off_cpu_sees_stacks(const struct tally_limits *limits);
/* How its chains are taken, where `chain` is how those of other events are: there is always one. */
struct tally_chain_plan tally_off_cpu_chain(const struct tally_chain_plan *chain);
/* What differs from other events that sample. `frequency`, Hz, counts where stacks are those of the
 * last sample. */
void tally_off_cpu_attr(bool sees_stacks, uint64_t frequency, struct tally_attr *attr);
/* The same as the file describes it. */
void tally_off_cpu_file_attr(struct tally_attr *attr);

#endif
