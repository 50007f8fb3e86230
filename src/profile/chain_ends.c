#include "profile/chain_ends.h"

#include <stdlib.h>
#include "profile/profile.h"
#include "session/numbers.h"

/* What an outermost frame says of its chain. */
enum end { NOT_KNOWN, WHOLE, CUT, CUT_NAMELESS };

/* Outermost frames repeat: they are looked up once each. */
struct ends {
	const struct tally_profile *profile;
	uint8_t *known; /* enum end by frame; NULL: out of memory */
};

static enum end look(const struct ends *ends, const struct tally_call_node *node)
{
	const struct tally_profile *profile = ends->profile;
	bool knows = ends->known && node->frame < profile->places.frame_count;
	enum end end = WHOLE;

	if (knows && ends->known[node->frame])
		return ends->known[node->frame];
	if (tally_session_thread_start(profile->session, node->frame) == TALLY_START_NO)
		end =
		    tally_session_frame(profile->session, node->frame).symbol ? CUT : CUT_NAMELESS;
	if (knows)
		ends->known[node->frame] = (uint8_t)end;
	return end;
}

/* How much below an outermost frame was cut off.  Where a thread starts, its frame pointer may be
 * anything, so that one word which is no code stands above the start; and _start of a stripped
 * program has no name.  So of an outermost frame without a name, what it calls counts. */
static uint64_t cut_below(const struct ends *ends, uint32_t number)
{
	const struct tally_call_node *nodes = ends->profile->tree.nodes;
	uint32_t behind = number + nodes[number].size;
	enum end end = look(ends, &nodes[number]);
	uint64_t cut = end == WHOLE ? 0 : call_node_total(&nodes[number]);

	if (end != CUT_NAMELESS)
		return cut;
	for (uint32_t i = number + 1; i < behind; i += nodes[i].size)
		if (!nodes[i].unshown && look(ends, &nodes[i]) == WHOLE)
			cut -= call_node_total(&nodes[i]);
	return cut;
}

void tally_profile_chain_ends(const struct tally_profile *profile, size_t event,
			      struct tally_chain_ends *ret)
{
	const struct tally_call_tree *tree = &profile->tree;
	struct ends ends = {.profile = profile};

	*ret = (struct tally_chain_ends){0};
	if (!profile->callchains || profile->max_stack)
		return;
	ends.known = calloc((size_t)profile->places.frame_count + 1, sizeof(*ends.known));
	/* Below node 0 are contexts; below these the outermost frames. */
	for (uint32_t context = 1, behind; context < tree->count; context = behind) {
		behind = context + tree->nodes[context].size;
		if (profile->contexts.list[tree->nodes[context].frame].event != event)
			continue;
		for (uint32_t i = context + 1; i < behind; i += tree->nodes[i].size) {
			if (tree->nodes[i].unshown) /* a sample without a chain */
				continue;
			ret->all += call_node_total(&tree->nodes[i]);
			ret->cut += cut_below(&ends, i);
		}
	}
	free(ends.known);
}
