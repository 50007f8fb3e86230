#include "lbr_chains.h"

#include <tally/abi.h>
#include <tally/data.h>
#include <tally/info.h>
#include "say.h"

bool cli_stitch_lbr(const char *command, const struct tally_data *data)
{
	bool known = tally_data_lbr_registers(tally_data_info(data)) > 0, calls = false;

	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		uint64_t kinds = tally_data_event(data, i)->attr.branch_sample_type;

		calls |= (kinds & PERF_SAMPLE_BRANCH_CALL_STACK) != 0;
		known &= !(kinds & PERF_SAMPLE_BRANCH_CALL_STACK) ||
			 (kinds & PERF_SAMPLE_BRANCH_HW_INDEX) != 0;
	}
	if (!calls)
		cli_say(command,
			"--stitch-lbr has no effect: no event has call chains of LBR; record with "
			"--call-graph lbr");
	else if (!known)
		cli_say(command,
			"--stitch-lbr has no effect: the recording does not say how many calls its "
			"processor keeps, or where; perf 5.8 and tally record both");
	return calls && known;
}
