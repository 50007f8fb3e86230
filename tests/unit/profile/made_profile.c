#include "made_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>

struct tally_profile_event event_at(const struct tally_profile *profile, size_t index)
{
	struct tally_profile_event event = {.size = sizeof(event)};

	tally_profile_event(profile, index, &event);
	return event;
}

struct tally_profile_row row_at(const struct tally_profile *profile, size_t event, uint64_t index)
{
	struct tally_profile_row row = {.size = sizeof(row)};

	tally_profile_row(profile, event, index, &row);
	return row;
}

const struct tally_frame made_frames[FRAMES] = {
    [MAIN] = {"app", "/usr/bin/app", "main", 0x100, '.', 0},
    [A] = {"app", "/usr/bin/app", "a", 0x200, '.', 0},
    [B] = {"app", "/usr/bin/app", "b", 0x300, '.', 0},
    [C] = {"libc.so.6", "/lib/libc.so.6", "c", 0x400, '.', 1},
    [KERNEL] = {"[kernel.kallsyms]", "[kernel.kallsyms]", "k", 0x500, 'k', 2},
    [NOWHERE] = {"[unknown]", "[unknown]", NULL, 0x1234, '.', UINT32_MAX},
    /* The same symbol of a binary with the same short name, elsewhere. */
    [A_AGAIN] = {"app", "/container/app", "a", 0x200, '.', 3},
    [LEAF] = {"app", "/usr/bin/app", "leaf", 0x600, '.', 0},
};
const char *const made_strings[] = {"app", "other"};
const char *const usual_keys[3] = {"comm", "dso", "symbol"};

struct tally_session session_of(const struct fake_sample *samples, size_t count)
{
	static struct tally_session session;

	fake_session_init(&session);
	session.frames = made_frames;
	session.frame_count = FRAMES;
	session.strings = made_strings;
	session.samples = samples;
	session.sample_count = count;
	return session;
}

struct tally_profile *profile_of(struct tally_session *session, const char *const *keys,
				 size_t key_count, bool callchains, bool children)
{
	struct tally_profile_options options = {.size = sizeof(options),
						.keys = keys,
						.key_count = key_count,
						.callchains = callchains,
						.children = children};
	struct tally_profile *profile = NULL;
	struct tally_error error = {0};

	assert_int_equal(tally_profile_new(session, &options, &profile, &error), 0);
	return profile;
}

struct tally_profile_row row_of(const struct tally_profile *profile, const char *comm,
				const char *symbol)
{
	struct tally_profile_event event = event_at(profile, 0);

	for (uint64_t i = 0; i < event.row_count; i++) {
		struct tally_profile_row row = row_at(profile, 0, i);

		if ((!comm || !strcmp(row.comm, comm)) && row.frame.symbol &&
		    !strcmp(row.frame.symbol, symbol))
			return row;
	}
	fail_msg("no row %s", symbol);
	return (struct tally_profile_row){0};
}

struct tally_tree tree_of(const struct tally_profile *profile, struct tally_profile_row row,
			  enum tally_call_order order, uint64_t least)
{
	struct tally_tree_options options = {
	    .size = sizeof(options), .order = order, .least = least};
	struct tally_tree tree;

	assert_int_equal(tally_profile_tree(profile, 0, &row, &options, &tree), 0);
	return tree;
}

void spell(const struct tally_tree *tree, uint32_t at, char *to, size_t room)
{
	const struct tally_tree_node *node = &tree->nodes[at];
	size_t used = strlen(to);

	snprintf(to + used, room - used, "%s(%llu,%llu)",
		 node->frame.symbol ? node->frame.symbol : "-", (unsigned long long)node->total,
		 (unsigned long long)node->self);
	for (uint32_t i = 0; i < node->child_count; i++) {
		used = strlen(to);
		snprintf(to + used, room - used, i ? " " : "{");
		spell(tree, node->first_child + i, to, room);
	}
	used = strlen(to);
	if (node->child_count)
		snprintf(to + used, room - used, "}");
}

struct tally_profile *large_rows_of(struct tally_session *session, double least)
{
	struct tally_profile_options options = {.size = sizeof(options),
						.keys = usual_keys,
						.key_count = 3,
						.callchains = true,
						.tree_least = least};
	struct tally_profile *profile = NULL;

	assert_int_equal(tally_profile_new(session, &options, &profile, NULL), 0);
	return profile;
}
