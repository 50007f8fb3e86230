/* The same as profile/chain_ends.c, of the page's tree of stacks. */
#include <errno.h>
#include <stdlib.h>
#include "page/page_facts.h"
#include "session/numbers.h"

struct cutting {
	const struct page_facts *facts;
	uint8_t *starts; /* by function: 1: a thread starts in it, 2: not; 0: not looked up yet */
};

static bool is_cut(const struct cutting *cutting, uint32_t node)
{
	const struct page_tables *tables = cutting->facts->tables;
	uint32_t function = tables->nodes[node].function;
	uint8_t *known = &cutting->starts[function];

	if (!*known)
		*known = tally_session_thread_start(
			     cutting->facts->source->session,
			     tables->functions[function].frames[cutting->facts->source->number]) ==
				 TALLY_START_NO
			     ? 2
			     : 1;
	return *known == 2;
}

static bool has_name(const struct cutting *cutting, uint32_t node)
{
	const struct page_source *source = cutting->facts->source;
	const struct page_tables *tables = cutting->facts->tables;
	uint32_t frame = tables->functions[tables->nodes[node].function].frames[source->number];

	return tally_session_frame(source->session, frame).symbol;
}

/* Nodes are in preorder, so that parents come before their children. */
int tally_page_cut_chains(const struct page_facts *facts, uint32_t event,
			  struct tally_chain_ends *ret)
{
	const struct page_tables *tables = facts->tables;
	struct cutting cutting = {
	    .facts = facts,
	    .starts = calloc((size_t)tables->function_count + 1, sizeof(*cutting.starts)),
	};
	uint64_t *totals = calloc((size_t)tables->node_count + 1, sizeof(*totals));
	int result = cutting.starts && totals ? 0 : -ENOMEM;

	*ret = (struct tally_chain_ends){0};
	for (uint32_t i = 0; i < tables->sample_count && !result; i++)
		if (page_facts_have(facts, event, &tables->samples[i]))
			totals[tables->samples[i].node] += tables->samples[i].weight;
	for (uint32_t i = tables->node_count; i-- > 1 && !result;) {
		const struct page_node *node = &tables->nodes[i];
		const struct page_node *above = &tables->nodes[node->parent];

		if (!totals[i])
			continue;
		totals[node->parent] += totals[i];
		if (!node->parent) {
			if (!node->hidden) { /* else a sample without a chain */
				ret->all += totals[i];
				ret->cut += is_cut(&cutting, i) ? totals[i] : 0;
			}
		} else if (!above->parent && !node->hidden && is_cut(&cutting, node->parent) &&
			   !has_name(&cutting, node->parent) && !is_cut(&cutting, i)) {
			/* A frame pointer's word above the start, which is no code, or _start of a
			 * stripped program. */
			ret->cut -= totals[i];
		}
	}
	free(cutting.starts);
	free(totals);
	return result;
}
