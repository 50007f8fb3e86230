/* The call tree of one row, on demand: groups of nodes with one frame, opened only when large
 * enough.
 *
 * A node of the result stands for a list of nodes of the call tree (its entries).  Opening it
 * makes the entries one step further on, groups them by frame, and keeps the groups that are not
 * too small. The entries of what waits to be opened stand on one stack; what is opened last was put
 * there last, so memory is bounded by one path's worth of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/option_struct.h"
#include "profile/profile.h"
#include "profile/tree_lines.h"
#include "resolve/frames.h"

#define SIBLINGS_TRIED 16
/* Nodes are all over the memory: those that are soon read were fetched before. */
#define AHEAD 12U

/* With CALLEE entries go to the caller, from the row's innermost frame on.  With CALLER they go
 * down, and there are two kinds, as in perf's reports: the samples that pass through the row are
 * shown from its outermost frame on, and those that end in it, which would show nothing there, from
 * the outermost frame down to it. */
struct entry {
	uint32_t node;
	uint32_t first;    /* the row's ends in its run, indexes in the list of ends */
	uint32_t end : 31; /* as nodes, there are fewer (call_tree.c) */
	uint32_t path : 1; /* goes down to those ends; else to all but those */
	uint32_t samples;  /* tally_profile_prepare() refuses more */
	uint64_t weight;
};
#define ENDS_MASK 0x7fffffffU

struct group {
	uint32_t frame, count;
	uint32_t at; /* where its entries go */
	uint32_t samples, own_samples;
	uint64_t total, self;
};

struct waiting {
	uint32_t tree_node;
	uint32_t first, end; /* its entries */
};

/* An array that doubles. */
#define LIST(type)                    \
	struct {                      \
		type *at;             \
		uint32_t count, room; \
	}

struct slot {
	uint32_t frame, group;
	uint32_t stamp; /* the slot is taken when it is the walk's */
};

struct walk {
	const struct tally_profile *profile;
	const struct tally_call_node *nodes;
	bool up; /* to the callers */
	uint64_t least;
	const uint32_t *ends;
	uint32_t end_count;
	LIST(struct entry) entries;
	LIST(struct entry) raw;
	LIST(uint32_t) raw_group; /* of each raw entry */
	LIST(struct group) groups;
	LIST(struct tally_branch_counts) branches; /* of each group, if they are asked for */
	LIST(uint32_t) order;                      /* of the groups that are kept */
	LIST(struct waiting) waiting;
	LIST(struct tally_tree_node) tree;
	LIST(struct tally_branch_counts) tree_branches; /* of each of its nodes */
	struct slot *slots;
	uint32_t slot_room, stamp;
	uint64_t unshown; /* weight of nodes that are not shown, below what is opened */
	uint64_t unshown_samples;
};

static int reserve(void **at, uint32_t *room, uint32_t count, uint32_t more, size_t size)
{
	uint64_t need = (uint64_t)count + more, next = *room ? *room : 64;
	void *grown;

	if (need <= *room)
		return 0;
	while (next < need)
		next *= 2;
	if (next > UINT32_MAX)
		return -ENOMEM;
	grown = reallocarray(*at, next, size);
	if (!grown)
		return -ENOMEM;
	*at = grown;
	*room = (uint32_t)next;
	return 0;
}

#define RESERVE(list, more) \
	reserve((void **)&(list).at, &(list).room, (list).count, (more), sizeof(*(list).at))

static bool is_context(const struct walk *walk, uint32_t node)
{
	return !walk->nodes[node].parent;
}

/* Samples that end in a node, and those with all below; 0 where they are not asked for. */
static uint32_t samples_in(const struct walk *walk, uint32_t node)
{
	const struct tally_profile *profile = walk->profile;

	return profile->tree_samples ? (uint32_t)profile->tree.samples[2 * (size_t)node] : 0;
}

static uint32_t samples_of(const struct walk *walk, uint32_t node)
{
	const struct tally_profile *profile = walk->profile;

	return profile->tree_samples ? (uint32_t)profile->tree.samples[2 * (size_t)node + 1] : 0;
}

/* Whether an entry's weight, or that of its node itself, goes no further. */
static bool goes_on(const struct walk *walk, const struct entry *entry)
{
	bool ends = entry->first < entry->end && walk->ends[entry->first] == entry->node;

	return walk->up ? !is_context(walk, walk->nodes[entry->node].parent) : ends != entry->path;
}

static uint64_t own_weight(const struct walk *walk, const struct entry *entry)
{
	if (goes_on(walk, entry))
		return 0;
	return walk->up ? entry->weight : call_node_self(&walk->nodes[entry->node]);
}

static uint32_t own_samples(const struct walk *walk, const struct entry *entry)
{
	if (goes_on(walk, entry))
		return 0;
	return walk->up ? entry->samples : samples_in(walk, entry->node);
}

static int find_group(struct walk *walk, uint32_t frame, uint32_t *ret)
{
	uint32_t at;

	if (walk->groups.count * 2 >= walk->slot_room) {
		uint32_t room = walk->slot_room ? walk->slot_room * 2 : 64;
		struct slot *slots = room ? calloc(room, sizeof(*slots)) : NULL;

		if (!slots)
			return -ENOMEM;
		walk->stamp = 1;
		for (uint32_t i = 0; i < walk->groups.count; i++) {
			for (at = (uint32_t)hash_u64(walk->groups.at[i].frame) & (room - 1);
			     slots[at].stamp;)
				at = (at + 1) & (room - 1);
			slots[at] = (struct slot){
			    .frame = walk->groups.at[i].frame, .group = i, .stamp = 1};
		}
		free(walk->slots);
		walk->slots = slots;
		walk->slot_room = room;
	}
	for (at = (uint32_t)hash_u64(frame) & (walk->slot_room - 1);
	     walk->slots[at].stamp == walk->stamp; at = (at + 1) & (walk->slot_room - 1))
		if (walk->slots[at].frame == frame) {
			*ret = walk->slots[at].group;
			return 0;
		}
	if (RESERVE(walk->groups, 1))
		return -ENOMEM;
	*ret = walk->groups.count;
	if (walk->profile->branch_history) {
		if (RESERVE(walk->branches, 1))
			return -ENOMEM;
		walk->branches.at[walk->branches.count++] = (struct tally_branch_counts){0};
	}
	walk->groups.at[walk->groups.count++] = (struct group){.frame = frame};
	walk->slots[at] = (struct slot){.frame = frame, .group = *ret, .stamp = walk->stamp};
	return 0;
}

static void clear_groups(struct walk *walk)
{
	walk->raw.count = walk->raw_group.count = walk->groups.count = walk->branches.count = 0;
	if (walk->stamp == UINT32_MAX) { /* stamps begin anew */
		memset(walk->slots, 0, walk->slot_room * sizeof(*walk->slots));
		walk->stamp = 0;
	}
	walk->stamp++;
}

/* Fetches a node of a list that is read in its order. */
static void fetch(const struct walk *walk, const uint32_t *list, uint32_t count, uint32_t at)
{
	if (at + AHEAD < count)
		__builtin_prefetch(&walk->nodes[list[at + AHEAD]]);
}

/* What a node is in this tree. */
static uint32_t frame_of(const struct walk *walk, uint32_t node)
{
	return walk->profile->lines ? tally_tree_lines_frame(walk->profile, node)
				    : places_call(&walk->profile->places, walk->nodes[node].frame);
}

/* Puts an entry into the group of its node's frame. */
static int take(struct walk *walk, const struct entry *entry)
{
	struct group *group;
	uint32_t number;

	if (walk->nodes[entry->node].unshown) { /* a leaf that only its row knows */
		walk->unshown += entry->weight;
		walk->unshown_samples += entry->samples;
		return 0;
	}
	if (RESERVE(walk->raw, 1) || RESERVE(walk->raw_group, 1) ||
	    find_group(walk, frame_of(walk, entry->node), &number))
		return -ENOMEM;
	walk->raw.at[walk->raw.count++] = *entry;
	walk->raw_group.at[walk->raw_group.count++] = number;
	group = &walk->groups.at[number];
	group->count++;
	group->total += entry->weight;
	group->self += own_weight(walk, entry);
	group->samples += entry->samples;
	group->own_samples += own_samples(walk, entry);
	if (walk->profile->branch_history)
		tally_tree_branches_add(walk->profile, entry->node, entry->samples,
					&walk->branches.at[number]);
	return 0;
}

/* The child of a node in whose run `inside` stands; `child` is one of the node's at or before it.
 * A context may have a hundred thousand children: after some steps it is nearer from below. */
static uint32_t child_with(const struct walk *walk, uint32_t node, uint32_t child, uint32_t inside)
{
	const struct tally_call_node *nodes = walk->nodes;

	for (unsigned i = 0; i < SIBLINGS_TRIED; i++) {
		if (inside < child + nodes[child].size)
			return child;
		child += nodes[child].size;
	}
	while (nodes[inside].parent != node)
		inside = nodes[inside].parent;
	return inside;
}

/* Down to the ends alone: ends and children both stand in order. */
static int take_path(struct walk *walk, const struct entry *entry)
{
	const struct tally_call_node *nodes = walk->nodes;
	uint32_t child = entry->node + 1, at = entry->first;

	if (at < entry->end && walk->ends[at] == entry->node)
		at++;
	while (at < entry->end) {
		struct entry next = {.first = at, .path = true};

		next.node = child = child_with(walk, entry->node, child, walk->ends[at]);
		child += nodes[child].size;
		for (; at < entry->end && walk->ends[at] < child; at++) {
			next.weight += call_node_self(&nodes[walk->ends[at]]);
			next.samples += samples_in(walk, walk->ends[at]);
		}
		next.end = at & ENDS_MASK;
		if (take(walk, &next))
			return -ENOMEM;
	}
	return 0;
}

/* All children, without what ends in the row. */
static int take_below(struct walk *walk, const struct entry *entry)
{
	const struct tally_call_node *nodes = walk->nodes;
	uint32_t end = entry->node + nodes[entry->node].size, at = entry->first;

	if (at < entry->end && walk->ends[at] == entry->node)
		at++;
	for (uint32_t child = entry->node + 1; child < end; child += nodes[child].size) {
		struct entry next = {.node = child,
				     .first = at,
				     .weight = call_node_total(&nodes[child]),
				     .samples = samples_of(walk, child)};

		for (; at < entry->end && walk->ends[at] < child + nodes[child].size; at++) {
			next.weight -= call_node_self(&nodes[walk->ends[at]]);
			next.samples -= samples_in(walk, walk->ends[at]);
		}
		next.end = at & ENDS_MASK;
		if ((next.weight || next.first == next.end) && take(walk, &next))
			return -ENOMEM;
	}
	return 0;
}

static int take_next(struct walk *walk, const struct entry *entry)
{
	uint32_t parent = walk->nodes[entry->node].parent;

	if (!walk->up)
		return entry->path ? take_path(walk, entry) : take_below(walk, entry);
	if (is_context(walk, parent))
		return 0;
	return take(walk, &(struct entry){
			      .node = parent, .weight = entry->weight, .samples = entry->samples});
}

/* Two addresses of one function. */
static int compare_places(const struct walk *walk, uint32_t a, uint32_t b)
{
	struct tally_frame_place one, other;

	tally_session_frame_placed(walk->profile->session, a, &one);
	tally_session_frame_placed(walk->profile->session, b, &other);
	return (one.place > other.place) - (one.place < other.place);
}

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct walk *walk = context;
	const struct group *a = &walk->groups.at[*(const uint32_t *)left];
	const struct group *b = &walk->groups.at[*(const uint32_t *)right];
	struct tally_frame one, other;
	int result;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	/* Frame numbers depend on which thread came first; text does not. */
	one = tally_session_frame(walk->profile->session, a->frame);
	other = tally_session_frame(walk->profile->session, b->frame);
	if (one.symbol && other.symbol)
		result = strcmp(one.symbol, other.symbol);
	else
		result = !one.symbol - !other.symbol;
	if (!result)
		result = strcmp(one.image_name, other.image_name);
	if (!result && one.place != other.place)
		result = one.place < other.place ? -1 : 1;
	return result || !walk->profile->lines ? result : compare_places(walk, a->frame, b->frame);
}

/* The groups that are large enough become children of a node of the tree. */
static int make_children(struct walk *walk, uint32_t parent)
{
	uint32_t at = walk->entries.count, kept_entries = 0;

	walk->order.count = 0;
	for (uint32_t i = 0; i < walk->groups.count; i++) {
		walk->groups.at[i].at = UINT32_MAX;
		if (walk->groups.at[i].total < walk->least)
			continue;
		if (RESERVE(walk->order, 1))
			return -ENOMEM;
		walk->order.at[walk->order.count++] = i;
		kept_entries += walk->groups.at[i].count;
	}
	if (!walk->order.count)
		return 0;
	qsort_r(walk->order.at, walk->order.count, sizeof(*walk->order.at), compare_groups, walk);
	if (RESERVE(walk->tree, walk->order.count) || RESERVE(walk->waiting, walk->order.count) ||
	    RESERVE(walk->entries, kept_entries))
		return -ENOMEM;
	walk->tree.at[parent].first_child = walk->tree.count;
	walk->tree.at[parent].child_count = walk->order.count;
	for (uint32_t i = 0; i < walk->order.count; i++) {
		struct group *group = &walk->groups.at[walk->order.at[i]];

		group->at = at;
		walk->waiting.at[walk->waiting.count++] = (struct waiting){
		    .tree_node = walk->tree.count, .first = at, .end = at + group->count};
		at += group->count;
		walk->tree.at[walk->tree.count++] = (struct tally_tree_node){
		    .frame = tally_session_frame(walk->profile->session, group->frame),
		    .self = group->self,
		    .total = group->total,
		    .self_samples = group->own_samples,
		    .total_samples = group->samples,
		};
		if (walk->profile->lines)
			walk->tree.at[walk->tree.count - 1].line =
			    tally_tree_lines_text(walk->profile, group->frame);
		if (walk->profile->branch_history) {
			if (RESERVE(walk->tree_branches, 1))
				return -ENOMEM;
			walk->tree_branches.at[walk->tree_branches.count++] =
			    walk->branches.at[walk->order.at[i]];
		}
	}
	for (uint32_t i = 0; i < walk->raw.count; i++) {
		struct group *group = &walk->groups.at[walk->raw_group.at[i]];

		if (group->at != UINT32_MAX)
			walk->entries.at[group->at++] = walk->raw.at[i];
	}
	walk->entries.count = at;
	return 0;
}

static int open_all(struct walk *walk)
{
	while (walk->waiting.count) {
		struct waiting item = walk->waiting.at[--walk->waiting.count];

		walk->entries.count = item.end; /* what stood behind was opened already */
		clear_groups(walk);
		for (uint32_t i = item.first; i < item.end; i++) {
			struct entry entry = walk->entries.at[i];

			if (i + AHEAD < item.end)
				__builtin_prefetch(
				    &walk->nodes[walk->entries.at[i + AHEAD].node + !walk->up]);
			if (take_next(walk, &entry))
				return -ENOMEM;
		}
		walk->tree.at[item.tree_node].self += walk->unshown;
		walk->tree.at[item.tree_node].self_samples += walk->unshown_samples;
		walk->unshown = walk->unshown_samples = 0;
		if (make_children(walk, item.tree_node))
			return -ENOMEM;
	}
	return 0;
}

/* Groups of the nodes that trees start with.  Samples pass through `list`, the row's nodes. */
static int start_down(struct walk *walk, const uint32_t *list, uint32_t count)
{
	const struct tally_call_node *nodes = walk->nodes;
	struct entry whole = {.end = walk->end_count & ENDS_MASK, .path = true};
	uint32_t at = 0, open = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct entry entry = {.node = list[i], .first = at};

		fetch(walk, list, count, i);
		if (list[i] < open) /* below another one of the row */
			continue;
		entry.weight = call_node_total(&nodes[list[i]]);
		entry.samples = samples_of(walk, list[i]);
		open = list[i] + nodes[list[i]].size;
		for (; at < walk->end_count && walk->ends[at] < open; at++) {
			entry.weight -= call_node_self(&nodes[walk->ends[at]]);
			entry.samples -= samples_in(walk, walk->ends[at]);
		}
		entry.end = at & ENDS_MASK;
		if (entry.first < entry.end && !entry.weight)
			continue;
		if (take(walk, &entry))
			return -ENOMEM;
	}
	if (walk->end_count) {
		for (whole.node = walk->ends[0]; nodes[whole.node].parent;)
			whole.node = nodes[whole.node].parent;
		if (take_path(walk, &whole))
			return -ENOMEM;
	}
	return make_children(walk, 0);
}

/* Entries of what passed through each of the row's nodes and no further one of the row. */
static void make_innermost(struct walk *walk, const uint32_t *list, uint32_t count)
{
	const struct tally_call_node *nodes = walk->nodes;
	struct entry *entries = walk->entries.at;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t around = i; /* the next one outwards + 1, kept in `first`; 0: none */

		fetch(walk, list, count, i);
		while (around && list[i] >= list[around - 1] + nodes[list[around - 1]].size)
			around = entries[around - 1].first;
		entries[i] = (struct entry){.node = list[i],
					    .first = around,
					    .weight = call_node_total(&nodes[list[i]]),
					    .samples = samples_of(walk, list[i])};
		if (around) {
			entries[around - 1].weight -= entries[i].weight;
			entries[around - 1].samples -= entries[i].samples;
			entries[around - 1].path = true; /* something is taken further in */
		}
	}
	for (uint32_t i = 0; i < count; i++)
		if (!entries[i].path || entries[i].weight)
			entries[walk->entries.count++] = entries[i];
}

/* Entries of the nodes that trees of callers start with. */
static int start_entries(struct walk *walk, const uint32_t *list, uint32_t count)
{
	if (RESERVE(walk->entries, count))
		return -ENOMEM;
	if (walk->profile->children)
		make_innermost(walk, list, count);
	else
		for (uint32_t i = 0; i < count; i++)
			walk->entries.at[walk->entries.count++] =
			    (struct entry){.node = list[i],
					   .weight = call_node_self(&walk->nodes[list[i]]),
					   .samples = samples_in(walk, list[i])};
	return 0;
}

/* The same for trees of callers; when the row is a frame, it is what all of them start with. */
static int start_up(struct walk *walk, const uint32_t *list, uint32_t count, bool row_is_frame)
{
	if (start_entries(walk, list, count))
		return -ENOMEM;
	for (uint32_t i = 0; i < walk->entries.count; i++) {
		struct entry *entry = &walk->entries.at[i];

		if (walk->nodes[entry->node].unshown)
			entry->node = walk->nodes[entry->node].parent;
		if (is_context(walk, entry->node)) { /* there was no chain */
			walk->unshown += entry->weight;
			walk->unshown_samples += entry->samples;
		} else if (row_is_frame) {
			walk->tree.at[0].self += own_weight(walk, entry);
			walk->tree.at[0].self_samples += own_samples(walk, entry);
		} else if (take(walk, entry)) {
			return -ENOMEM;
		}
	}
	if (!row_is_frame) {
		walk->entries.count = 0;
		return make_children(walk, 0);
	}
	if (RESERVE(walk->waiting, 1))
		return -ENOMEM;
	walk->waiting.at[walk->waiting.count++] = (struct waiting){.end = walk->entries.count};
	return 0;
}

/* A row's nodes among those. */
static const uint32_t *row_nodes(const struct tally_row_nodes *nodes, const struct tally_row *row,
				 uint32_t *ret_count)
{
	uint32_t first = nodes->first[row->number];

	*ret_count = nodes->first[row->number + 1] - first;
	return nodes->list + first;
}

/* The nodes that trees of callers start with. */
static const uint32_t *upward_starts(const struct tally_profile *profile,
				     const struct tally_row *row, uint32_t *ret_count)
{
	return row_nodes(profile->children ? &profile->rows.all : &profile->rows.ends, row,
			 ret_count);
}

/* Whether all trees of callers start with the row's own frame: functions that were inlined there
 * come before it, and a sample's chain may lack its place. */
static bool starts_with_row(const struct tally_profile *profile, const struct tally_row *row)
{
	uint32_t count;
	const uint32_t *starts = upward_starts(profile, row, &count);

	for (uint32_t i = 0; i < count; i++)
		if (profile->tree.nodes[starts[i]].unshown)
			return false;
	return true;
}

static int start(struct walk *walk, const struct tally_row *row, bool row_is_frame)
{
	const struct tally_rows *rows = &walk->profile->rows;
	struct tally_tree_node top = {.total = row->children};
	const uint32_t *list = NULL;
	uint32_t count = 0;

	walk->ends = row_nodes(&rows->ends, row, &walk->end_count);
	if (RESERVE(walk->tree, 1))
		return -ENOMEM;
	if (walk->profile->keys.symbol)
		top.frame = tally_session_frame(walk->profile->session, row->key);
	walk->tree.at[walk->tree.count++] = top;
	if (walk->profile->branch_history) {
		if (RESERVE(walk->tree_branches, 1))
			return -ENOMEM;
		walk->tree_branches.at[walk->tree_branches.count++] =
		    (struct tally_branch_counts){0};
	}
	clear_groups(walk);
	if (walk->up) {
		list = upward_starts(walk->profile, row, &count);
		return start_up(walk, list, count, row_is_frame);
	}
	if (walk->profile->children)
		list = row_nodes(&rows->all, row, &count);
	return start_down(walk, list, count);
}

int tally_profile_tree(const struct tally_profile *profile, size_t event,
		       const struct tally_profile_row *row,
		       const struct tally_tree_options *options, struct tally_tree *ret)
{
	const struct tally_rows *rows = &profile->rows;
	struct walk walk = {.profile = profile, .nodes = profile->tree.nodes};
	struct tally_tree_options taken = {.size = sizeof(taken)};
	const struct tally_row *facts;
	bool row_is_frame;
	int result = tally_options_take(&taken, sizeof(taken), options);

	if (result)
		return result;
	if (!rows->ends.list || row->handle >= rows->count)
		return -EINVAL;
	facts = &rows->list[row->handle];
	if (profile->contexts.list[facts->context].event != event ||
	    profile_row_is_small(profile, event, facts))
		return -EINVAL;
	walk.up = taken.order == TALLY_CALLEE;
	walk.least = taken.least;
	row_is_frame =
	    profile->keys.symbol && walk.up && !profile->lines && starts_with_row(profile, facts);
	result = start(&walk, facts, row_is_frame);
	if (!result) {
		walk.tree.at[0].self += walk.unshown;
		walk.tree.at[0].self_samples += walk.unshown_samples;
		walk.unshown = walk.unshown_samples = 0;
		result = open_all(&walk);
	}
	free(walk.entries.at);
	free(walk.raw.at);
	free(walk.raw_group.at);
	free(walk.groups.at);
	free(walk.branches.at);
	free(walk.order.at);
	free(walk.waiting.at);
	free(walk.slots);
	if (result) {
		free(walk.tree.at);
		free(walk.tree_branches.at);
		return result;
	}
	*ret = (struct tally_tree){
	    .nodes = walk.tree.at,
	    .count = walk.tree.count,
	    .row_is_frame = row_is_frame,
	    .branches = walk.tree_branches.at,
	};
	return 0;
}

void tally_tree_done(struct tally_tree *tree)
{
	free(tree->nodes);
	free(tree->branches);
	*tree = (struct tally_tree){0};
}

int tally_profile_branches(const struct tally_profile *profile, const struct tally_profile_row *row,
			   struct tally_branch_counts *ret)
{
	const struct tally_rows *rows = &profile->rows;
	struct walk walk = {.profile = profile, .nodes = profile->tree.nodes, .up = true};
	struct tally_branch_counts counts = {0};
	const uint32_t *list;
	uint32_t count;
	int result;

	if (!profile->branch_history || !rows->ends.list || row->handle >= rows->count)
		return -EINVAL;
	list = upward_starts(profile, &rows->list[row->handle], &count);
	result = start_entries(&walk, list, count);
	for (uint32_t i = 0; i < walk.entries.count && !result; i++)
		for (uint32_t node = walk.entries.at[i].node; !is_context(&walk, node);
		     node = walk.nodes[node].parent)
			if (!walk.nodes[node].unshown)
				tally_tree_branches_add(profile, node, walk.entries.at[i].samples,
							&counts);
	free(walk.entries.at);
	if (!result)
		*ret = counts;
	return result;
}
