#include "synth/describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include "base/fail.h"
#include "collect/workload.h"
#include "synth/synth.h"

/* Whether samples of an event may be in the kernel. The side-band's event has no samples. */
static bool samples_kernel(const struct tally_plan *plan)
{
	bool kernel = false;

	for (size_t i = 0; i < plan->count; i++) {
		const struct tally_attr *attr = &plan->events[i].attr;

		kernel |= !attr->exclude_kernel && !(attr->type == PERF_TYPE_SOFTWARE &&
						     attr->config == PERF_COUNT_SW_DUMMY);
	}
	return kernel;
}

/* The targets, and all that they started. */
static int describe_again(const struct tally_describe *describe, const struct tally_synth *synth,
			  struct tally_buf *to)
{
	const struct tally_targets *targets = describe->targets;
	size_t own = targets->command ? describe->command != 0 : targets->pid_count, count = 0;
	pid_t *started = NULL, *all;
	int result = tally_left_running_find(describe->left_running, synth->root, &started, &count);

	if (result)
		return result;
	all = reallocarray(started, own + count + 1, sizeof(*all));
	if (!all) {
		free(started);
		return -ENOMEM;
	}
	if (targets->command)
		all[count] = describe->command;
	else if (own)
		memcpy(all + count, targets->pids, own * sizeof(*all));
	result = tally_synth_processes(synth, all, count + own, to);
	free(all);
	return result;
}

static int describe_targets(const struct tally_describe *describe, const struct tally_synth *synth,
			    struct tally_buf *to)
{
	const struct tally_targets *targets = describe->targets;

	if (describe->left_running && !synth->no_threads && !targets->system_wide)
		return describe_again(describe, synth, to);
	if (targets->command && !describe->left_running)
		return describe->command
			   ? tally_synth_comm(synth, describe->command, describe->command,
					      TALLY_WORKLOAD_NAME, to)
			   : 0;
	if (synth->no_threads)
		return 0;
	return targets->system_wide
		   ? tally_synth_system(synth, to)
		   : tally_synth_processes(synth, targets->pids, targets->pid_count, to);
}

int tally_describe_running(const struct tally_describe *describe, struct tally_buf *to,
			   bool *ret_hidden, struct tally_error *error)
{
	const struct tally_recorder_options *options = describe->options;
	uint32_t without = options->no_descriptions;
	struct tally_layout layout;
	struct tally_synth synth = {
	    .root = "",
	    .layout = &layout,
	    .build_ids = describe->build_ids,
	    .no_threads = without & TALLY_DESCRIBE_THREADS,
	    .no_maps = without & TALLY_DESCRIBE_MAPS,
	    .data_maps = options->data_maps,
	    .namespaces = options->namespaces,
	    .cgroups = options->cgroups && !(without & TALLY_DESCRIBE_CGROUPS),
	    .threads = options->describe_threads,
	    .maps_timeout_ms = options->maps_timeout_ms,
	    .text = describe->text,
	    .time = describe->time,
	};
	size_t before;
	int result;

	tally_layout_init(&layout, &describe->plan->events[0].attr);
	before = to->size;
	result = tally_synth_kernel(&synth, to);
	*ret_hidden = to->size == before && samples_kernel(describe->plan);
	if (!result && synth.cgroups)
		result = tally_synth_cgroups(&synth, to);
	if (!result)
		result = describe_targets(describe, &synth, to);
	if (!describe->time)
		tally_synth_end(to);
	if (!result)
		result = to->failed;
	return result
		   ? tally_fail(error, result, -1, "the running processes cannot be described: %s",
				strerror(-result))
		   : 0;
}
