/* Branch stacks: brstack, brstacksym, brstackoff. */
#include "script/script_state.h"
#include "dump/value_text.h"

int tally_script_branches_put(const struct script_out *out, const struct script_event *event)
{
	struct tally_buf *to = out->to;
	const struct tally_resolved *sample = out->at;
	bool named = out->script->kinds[event->branch].shape == SCRIPT_SHAPE_BRANCH_SYM;
	int result = 0;

	if (!(sample->sample.present & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	for (uint64_t i = 0; !result && i < sample->sample.branch_nr; i++) {
		const struct tally_branch *branch = &sample->sample.branches[i];

		if (!named)
			tally_buf_byte(to, ' ');
		result = tally_script_line_put(out, sample->cpumode, branch->from, event->branch);
		tally_buf_byte(to, '/');
		if (!result)
			result =
			    tally_script_line_put(out, sample->cpumode, branch->to, event->branch);
		tally_script_branch_flags(to, branch->flags);
	}
	return result;
}
