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

/* Siblings lead to frames all over the memory: those that are soon asked for are fetched before. */
#define AHEAD 8U

struct siblings {
	uint32_t at, ahead, end; /* nodes; that many further on */
};

static uint32_t node_behind(const struct tally_profile *profile, uint32_t number)
{
	return number + profile->tree.nodes[number].size;
}

static struct siblings below(const struct tally_profile *profile, uint32_t number)
{
	return (struct siblings){number + 1, number + 1, node_behind(profile, number)};
}

static void fetch(const struct ends *ends, struct siblings *siblings)
{
	const struct tally_profile *profile = ends->profile;

	if (siblings->ahead >= siblings->end)
		return;
	tally_session_frame_ahead(profile->session, profile->tree.nodes[siblings->ahead].frame);
	siblings->ahead = node_behind(profile, siblings->ahead);
}

/* The next one; 0: there is none. */
static uint32_t next(const struct ends *ends, struct siblings *siblings)
{
	uint32_t at = siblings->at;

	if (at >= siblings->end)
		return 0;
	for (unsigned i = 0; at == siblings->ahead && i < AHEAD; i++)
		fetch(ends, siblings);
	fetch(ends, siblings);
	siblings->at = node_behind(ends->profile, at);
	return at;
}

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
	struct siblings siblings = below(ends->profile, number);
	enum end end = look(ends, &nodes[number]);
	uint64_t cut = end == WHOLE ? 0 : call_node_total(&nodes[number]);

	if (end != CUT_NAMELESS)
		return cut;
	for (uint32_t i; (i = next(ends, &siblings));)
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
	for (uint32_t context = 1; context < tree->count; context = node_behind(profile, context)) {
		struct siblings siblings = below(profile, context);

		if (profile->contexts.list[tree->nodes[context].frame].event != event)
			continue;
		for (uint32_t i; (i = next(&ends, &siblings));) {
			if (tree->nodes[i].unshown) /* a sample without a chain */
				continue;
			ret->all += call_node_total(&tree->nodes[i]);
			ret->cut += cut_below(&ends, i);
		}
	}
	free(ends.known);
}
