/* Which threads drain which CPUs' rings, and where they run: the value of --threads. */
#ifndef TALLY_RECORD_THREAD_SPEC_H
#define TALLY_RECORD_THREAD_SPEC_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

struct tally_thread_group {
	uint32_t *cpus; /* of which it drains the rings */
	size_t cpu_count;
	uint32_t *runs_on; /* CPUs; empty: anywhere */
	size_t runs_on_count;
};

struct tally_thread_spec {
	struct tally_thread_group *groups;
	size_t count;
};

/* "cpu", "core", "package", "numa": a thread for each, which runs there; or masks, CPUs that are
 * drained and CPUs to run on, "0-1/0:2-3/2", as perf's.  `cpus` are those that are recorded: each
 * must be in one group.  `root` is the folder that holds sys.  0; -EINVAL, -ENOMEM, with words. */
int tally_thread_spec_parse(const char *text, const char *root, const uint32_t *cpus, size_t count,
			    struct tally_thread_spec *ret, struct tally_error *error);
void tally_thread_spec_done(struct tally_thread_spec *spec);

/* A set of CPUs for sched_setaffinity(2), with its size; NULL: out of memory.  CPU_FREE() it. */
cpu_set_t *tally_thread_cpu_set(const uint32_t *cpus, size_t count, size_t *ret_size);

#endif
