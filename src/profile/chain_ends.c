#include "profile/chain_ends.h"

#include "profile/profile.h"
#include "session/thread_start.h"

void tally_profile_chain_ends(const struct tally_profile *profile, size_t event,
			      struct tally_chain_ends *ret)
{
	const struct tally_settled *settled = &profile->settled;
	uint32_t end;

	*ret = (struct tally_chain_ends){0};
	if (!profile->callchains || profile->max_stack)
		return;
	/* Below node 0 are contexts; below these the outermost frames. */
	for (uint32_t context = 1; context < settled->count; context = end) {
		const struct tally_settled_node *above = &settled->nodes[context];

		end = context + (above->size ? above->size : 1);
		if (profile->contexts.list[above->frame].event != event)
			continue;
		for (uint32_t i = context + 1; i < end && i < settled->count;) {
			const struct tally_settled_node *node = &settled->nodes[i];

			i += node->size ? node->size : 1;
			if (node->unshown) /* a sample without a chain */
				continue;
			ret->all += node->total;
			if (tally_session_thread_start(profile->session, node->frame) ==
			    TALLY_START_NO)
				ret->cut += node->total;
		}
	}
}
