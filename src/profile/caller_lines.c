#include "profile/caller_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "profile/profile.h"
#include "resolve/frames.h"

#define SOURCE_COLUMNS (TALLY_COLUMN_LINE | TALLY_COLUMN_FILE)

static bool has_lines(const struct tally_profile *profile)
{
	return profile->keys.columns & SOURCE_COLUMNS && tally_session_places(profile->session);
}

bool tally_caller_lines_wanted(const struct tally_profile *profile)
{
	bool own = has_lines(profile);

	for (size_t i = 0; i < profile->keys.count; i++)
		own |= profile->keys.list[i]->of_caller != NULL;
	return own && profile->callchains && profile->children && !profile->branch_history;
}

/* Where the place of a node is from. */
#define SAMPLED  1U /* it is the sample's, not one that a call returns to */
#define ENCLOSES 2U /* a function that was inlined there is below it */

/* The context that has the lines and sizes of a frame in place of its own.  Its number, or -ENOMEM.
 */
static int64_t context_at(struct tally_profile *profile, uint32_t context, uint32_t frame,
			  unsigned flags)
{
	struct tally_contexts *contexts = &profile->contexts;
	const struct tally_context from = contexts->list[context];
	uint64_t values[PROFILE_KEYS_MOST];
	uint32_t line = 0, file = 0, count = contexts->count;
	bool lines = has_lines(profile);
	int64_t number;

	if (lines && tally_session_call_source(profile->session, frame, !(flags & SAMPLED),
					       flags & ENCLOSES, &line, &file))
		return -ENOMEM;
	memcpy(values, contexts_values(contexts, context), contexts->width * sizeof(*values));
	for (size_t i = 0; i < profile->keys.count; i++) {
		const struct profile_key *key = profile->keys.list[i];

		if (lines && key->columns & SOURCE_COLUMNS)
			values[i] = key->columns & TALLY_COLUMN_LINE ? line : file;
		if (key->of_caller)
			values[i] = key->of_caller(profile->session, frame);
	}
	number = tally_contexts_put(contexts, from.event, values);
	if (number >= 0 &&
	    (number >= count || contexts->list[number].last_offset < from.last_offset)) {
		contexts->list[number].last_comm = from.last_comm;
		contexts->list[number].last_offset = from.last_offset;
	}
	return number;
}

/* The same, remembered. */
static int64_t caller_context(struct tally_profile *profile, struct tally_map *known,
			      uint32_t context, uint32_t frame, unsigned flags)
{
	bool added;
	/* There are fewer contexts than nodes, of which there are less than 2^30. */
	uint64_t *number =
	    tally_map_put(known, (uint64_t)context << 34 | (uint64_t)frame << 2 | flags, &added);
	int64_t found;

	if (!number)
		return -ENOMEM;
	if (!added)
		return (int64_t)*number;
	found = context_at(profile, context, frame, flags);
	*number = (uint64_t)found;
	return found;
}

static bool is_same_place(const struct tally_profile *profile, uint32_t a, uint32_t b)
{
	struct tally_frame_place one, other;

	tally_session_frame_placed(profile->session, a, &one);
	tally_session_frame_placed(profile->session, b, &other);
	return one.place == other.place && one.image == other.image;
}

/* By node, for free(): parents are before their children.  NULL: out of memory. */
static uint8_t *flags_of_nodes(const struct tally_profile *profile)
{
	const struct tally_call_tree *tree = &profile->tree;
	uint8_t *flags = calloc((size_t)tree->count + 1, sizeof(*flags));

	for (uint32_t i = flags ? tree->count : 0; i-- > 1;) {
		const struct tally_call_node *node = &tree->nodes[i];
		uint32_t parent = node->parent;

		if (call_node_samples(tree, i))
			flags[i] |= SAMPLED;
		if (!parent || !tree->nodes[parent].parent ||
		    !(node->unshown ||
		      tally_session_frame(profile->session, tree->frames[i]).inlined) ||
		    !is_same_place(profile, tree->frames[i], tree->frames[parent]))
			continue;
		flags[parent] |= flags[i] & SAMPLED;
		if (!node->unshown)
			flags[parent] |= ENCLOSES;
	}
	return flags;
}

int tally_caller_lines_contexts(struct tally_profile *profile, uint32_t **ret)
{
	const struct tally_call_tree *tree = &profile->tree;
	uint32_t *contexts = calloc((size_t)tree->count + 1, sizeof(*contexts)), context = 0;
	uint8_t *flags = flags_of_nodes(profile);
	struct tally_map known = {0};
	int64_t number = contexts && flags ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < tree->count && number >= 0; i++) {
		const struct tally_call_node *node = &tree->nodes[i];

		if (!node->parent)
			context = node->frame;
		number = context;
		if (node->parent && !call_node_samples(tree, i))
			number =
			    caller_context(profile, &known, context, tree->frames[i], flags[i]);
		contexts[i] = (uint32_t)number;
	}
	tally_map_done(&known);
	free(flags);
	if (number < 0)
		free(contexts);
	else
		*ret = contexts;
	return number < 0 ? (int)number : 0;
}
