#include "profile/chain_ends.h"

#include <stdlib.h>
#include "profile/profile.h"
#include "session/numbers.h"

/* Outermost frames repeat: whether a thread starts there is looked up once for each. */
struct ends {
	const struct tally_profile *profile;
	uint8_t *known; /* by frame: 1: cut, 2: not; NULL: out of memory */
};

static bool is_cut(const struct ends *ends, const struct tally_call_node *node)
{
	const struct tally_profile *profile = ends->profile;
	bool knows = ends->known && node->frame < profile->places.frame_count, cut;

	if (knows && ends->known[node->frame])
		return ends->known[node->frame] == 1;
	cut = tally_session_thread_start(profile->session, node->frame) == TALLY_START_NO;
	if (knows)
		ends->known[node->frame] = cut ? 1 : 2;
	return cut;
}

/* How much below an outermost frame was cut off.  Where a thread starts, its frame pointer may be
 * anything, so that one word which is no code stands above the start; and _start of a stripped
 * program has no name.  So of an outermost frame without a name, what it calls counts. */
static uint64_t cut_below(const struct ends *ends, uint32_t number)
{
	const struct tally_profile *profile = ends->profile;
	const struct tally_call_node *nodes = profile->tree.nodes;
	const struct tally_call_node *node = &nodes[number];
	uint32_t end = number + node->size;
	uint64_t cut = call_node_total(node);

	if (!is_cut(ends, node))
		return 0;
	if (tally_session_frame(profile->session, node->frame).symbol)
		return cut;
	for (uint32_t i = number + 1; i < end && i < profile->tree.count;
	     i += nodes[i].size ? nodes[i].size : 1)
		if (!nodes[i].unshown && !is_cut(ends, &nodes[i]))
			cut -= call_node_total(&nodes[i]);
	return cut;
}

void tally_profile_chain_ends(const struct tally_profile *profile, size_t event,
			      struct tally_chain_ends *ret)
{
	const struct tally_call_tree *tree = &profile->tree;
	struct ends ends = {.profile = profile};
	uint32_t end;

	*ret = (struct tally_chain_ends){0};
	if (!profile->callchains || profile->max_stack)
		return;
	ends.known = calloc((size_t)profile->places.frame_count + 1, sizeof(*ends.known));
	/* Below node 0 are contexts; below these the outermost frames. */
	for (uint32_t context = 1; context < tree->count; context = end) {
		const struct tally_call_node *above = &tree->nodes[context];

		end = context + (above->size ? above->size : 1);
		if (profile->contexts.list[above->frame].event != event)
			continue;
		for (uint32_t i = context + 1; i < end && i < tree->count;) {
			const struct tally_call_node *node = &tree->nodes[i];

			if (!node->unshown) { /* else a sample without a chain */
				ret->all += call_node_total(node);
				ret->cut += cut_below(&ends, i);
			}
			i += node->size ? node->size : 1;
		}
	}
	free(ends.known);
}
