#include "profile/chain_ends.h"

#include "profile/profile.h"
#include "session/numbers.h"

static bool is_cut(const struct tally_profile *profile, const struct tally_call_node *node)
{
	return tally_session_thread_start(profile->session, node->frame) == TALLY_START_NO;
}

/* How much below an outermost frame was cut off.  Where a thread starts, its frame pointer may be
 * anything, so that one word which is no code stands above the start: then what is below counts. */
static uint64_t cut_below(const struct tally_profile *profile, uint32_t number)
{
	const struct tally_call_node *nodes = profile->tree.nodes;
	const struct tally_call_node *node = &nodes[number];
	uint32_t end = number + node->size;
	uint64_t cut = node->total;

	if (!is_cut(profile, node))
		return 0;
	if (tally_session_frame(profile->session, node->frame).image != UINT32_MAX)
		return cut;
	for (uint32_t i = number + 1; i < end && i < profile->tree.count;
	     i += nodes[i].size ? nodes[i].size : 1)
		if (!nodes[i].unshown && !is_cut(profile, &nodes[i]))
			cut -= nodes[i].total;
	return cut;
}

void tally_profile_chain_ends(const struct tally_profile *profile, size_t event,
			      struct tally_chain_ends *ret)
{
	const struct tally_call_tree *tree = &profile->tree;
	uint32_t end;

	*ret = (struct tally_chain_ends){0};
	if (!profile->callchains || profile->max_stack)
		return;
	/* Below node 0 are contexts; below these the outermost frames. */
	for (uint32_t context = 1; context < tree->count; context = end) {
		const struct tally_call_node *above = &tree->nodes[context];

		end = context + (above->size ? above->size : 1);
		if (profile->contexts.list[above->frame].event != event)
			continue;
		for (uint32_t i = context + 1; i < end && i < tree->count;) {
			const struct tally_call_node *node = &tree->nodes[i];

			if (!node->unshown) { /* else a sample without a chain */
				ret->all += node->total;
				ret->cut += cut_below(profile, i);
			}
			i += node->size ? node->size : 1;
		}
	}
}
