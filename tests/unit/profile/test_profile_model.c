/* Rows and trees of random chains are what a plain model says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>
#include <tally/profile.h>
#include "made_profile.h"

#define RANDOM_SAMPLES 6000
#define RANDOM_FRAMES  40

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static bool in_chain(const struct fake_sample *sample, uint32_t frame)
{
	for (uint32_t i = 0; i < sample->depth; i++)
		if (sample->chain[i] == frame)
			return true;
	return false;
}

/* What the samples say of a path below the row of a frame: of samples that end in it the path
 * starts at the outermost frame, of others at the row's outermost frame. */
static uint64_t model_below(const struct fake_sample *samples, uint32_t row, const uint32_t *path,
			    uint32_t length)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < RANDOM_SAMPLES; i++) {
		const struct fake_sample *sample = &samples[i];
		uint32_t at = sample->depth, k = 0;

		if (sample->comm || !in_chain(sample, row))
			continue;
		while (sample->chain[0] != row && sample->chain[at - 1] != row)
			at--;
		for (; at && k < length && sample->chain[at - 1] == path[k]; at--)
			k++;
		sum += k == length ? sample->period : 0;
	}
	return sum;
}

/* The same of who called the row: all samples start at its innermost frame. */
static uint64_t model_above(const struct fake_sample *samples, uint32_t row, const uint32_t *path,
			    uint32_t length)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < RANDOM_SAMPLES; i++) {
		const struct fake_sample *sample = &samples[i];
		uint32_t at = 0, k = 0;

		if (sample->comm || !in_chain(sample, row))
			continue;
		while (sample->chain[at] != row)
			at++;
		while (k < length && ++at < sample->depth && sample->chain[at] == path[k])
			k++;
		sum += k == length ? sample->period : 0;
	}
	return sum;
}

typedef uint64_t model(const struct fake_sample *samples, uint32_t row, const uint32_t *path,
		       uint32_t length);

/* Node 0 is the row; the paths start with its children. */
static void tree_follows_model(model *sum, const struct tally_tree *tree, uint32_t at,
			       const struct fake_sample *samples, uint32_t row, uint32_t *path,
			       uint32_t length)
{
	const struct tally_tree_node *node = &tree->nodes[at];
	uint64_t below = node->self;

	assert_int_equal(node->total, sum(samples, row, path, length));
	for (uint32_t i = 0; i < node->child_count; i++) {
		const struct tally_tree_node *child = &tree->nodes[node->first_child + i];

		below += child->total;
		if (i)
			assert_true(child->total <= child[-1].total);
		path[length] = (uint32_t)child->frame.place;
		if (length < 4)
			tree_follows_model(sum, tree, node->first_child + i, samples, row, path,
					   length + 1);
	}
	assert_int_equal(below, node->total);
}

static void make_random(struct fake_sample *samples, struct tally_frame *all, char (*names)[8])
{
	uint32_t seed = 7;

	for (uint32_t i = 1; i < RANDOM_FRAMES; i++) {
		snprintf(names[i], sizeof(*names), "f%u", i);
		all[i] = (struct tally_frame){"app", "/app", names[i], i, '.', 0};
	}
	for (uint32_t i = 0; i < RANDOM_SAMPLES; i++) {
		struct fake_sample *sample = &samples[i];

		if (i && next_random(&seed) % 3 == 0) { /* repeats, and chains alike in part */
			*sample = samples[next_random(&seed) % i];
			if (next_random(&seed) % 2)
				sample->chain[0] = 1 + next_random(&seed) % (RANDOM_FRAMES - 1);
			continue;
		}
		sample->comm = next_random(&seed) % 4 == 0;
		sample->period = next_random(&seed) % 50;
		sample->depth = 1 + next_random(&seed) % 12;
		for (uint32_t k = 0; k < sample->depth; k++)
			sample->chain[k] = 1 + next_random(&seed) %
						   (k + 3 > sample->depth ? 4 : RANDOM_FRAMES - 1);
	}
}

static void random_chains_follow_the_model(void **state)
{
	static struct fake_sample samples[RANDOM_SAMPLES];
	static struct tally_frame all[RANDOM_FRAMES];
	static char names[RANDOM_FRAMES][8];
	struct tally_session session = session_of(samples, RANDOM_SAMPLES);

	(void)state;
	make_random(samples, all, names);
	session.frames = all;
	session.frame_count = RANDOM_FRAMES;
	for (session.threads = 1; session.threads <= 5; session.threads++) {
		struct tally_profile *profile = profile_of(&session, usual_keys, 3, true, true);
		struct tally_profile_event event = event_at(profile, 0);
		uint64_t selves = 0;

		assert_int_equal(event.samples, RANDOM_SAMPLES);
		for (uint64_t i = 0; i < event.row_count; i++) {
			struct tally_profile_row row = row_at(profile, 0, i);
			uint32_t frame = (uint32_t)row.frame.place;
			uint64_t self = 0, children = 0, count = 0;

			for (uint32_t k = 0; k < RANDOM_SAMPLES; k++) {
				if (strcmp(made_strings[samples[k].comm], row.comm) != 0)
					continue;
				if (samples[k].chain[0] == frame) {
					self += samples[k].period;
					count++;
				}
				if (in_chain(&samples[k], frame))
					children += samples[k].period;
			}
			assert_int_equal(row.self, self);
			assert_int_equal(row.samples, count);
			assert_int_equal(row.children, children);
			selves += self;
			if (i % 7 == 0 && !strcmp(row.comm, "app")) {
				struct tally_tree tree = tree_of(profile, row, TALLY_CALLER, 0);
				uint32_t path[8];

				tree_follows_model(model_below, &tree, 0, samples, frame, path, 0);
				tally_tree_done(&tree);
				tree = tree_of(profile, row, TALLY_CALLEE, 0);
				if (session.threads == 2)
					tree_follows_model(model_above, &tree, 0, samples, frame,
							   path, 0);
				tally_tree_done(&tree);
			}
		}
		assert_int_equal(selves, event.total);
		tally_profile_free(profile);
		/* Whole paths down to a row hold what the row holds. */
		profile = profile_of(&session, usual_keys, 3, true, false);
		for (uint64_t i = 0; i < event_at(profile, 0).row_count; i += 5) {
			struct tally_profile_row row = row_at(profile, 0, i);
			struct tally_tree tree = tree_of(profile, row, TALLY_CALLER, 0);
			uint64_t ends = 0, sum = 0;

			for (uint32_t k = 1; k < tree.count; k++)
				ends += tree.nodes[k].self;
			for (uint32_t k = 0; k < tree.nodes[0].child_count; k++)
				sum += tree.nodes[tree.nodes[0].first_child + k].total;
			assert_int_equal(ends, row.self);
			assert_int_equal(sum, row.self);
			tally_tree_done(&tree);
		}
		tally_profile_free(profile);
	}
}

/* Chains of large rows alone lead to the trees that all chains lead to. */
static void few_chains_are_enough(void **state)
{
	static struct fake_sample samples[RANDOM_SAMPLES];
	static struct tally_frame all[RANDOM_FRAMES];
	static char names[RANDOM_FRAMES][8], whole[1 << 20], part[1 << 20];
	struct tally_session session = session_of(samples, RANDOM_SAMPLES);

	(void)state;
	make_random(samples, all, names);
	session.frames = all;
	session.frame_count = RANDOM_FRAMES;
	for (session.threads = 1; session.threads <= 5; session.threads += 2) {
		struct tally_profile *profile = profile_of(&session, usual_keys, 3, true, false),
				     *lean;
		struct tally_profile_event event = event_at(profile, 0);
		unsigned large = 0;

		session.sums_early = true;
		lean = large_rows_of(&session, 2);
		session.sums_early = false;
		assert_int_equal(event_at(lean, 0).row_count, event.row_count);
		for (uint64_t i = 0; i < event.row_count; i++) {
			struct tally_profile_row row = row_at(profile, 0, i);
			struct tally_profile_row same = row_at(lean, 0, i);

			assert_string_equal(row.comm, same.comm);
			assert_int_equal(row.frame.place, same.frame.place);
			assert_int_equal(row.self, same.self);
			assert_int_equal(row.samples, same.samples);
			if (100 * row.self < 2 * event.total)
				continue;
			large++;
			for (unsigned order = TALLY_CALLER; order <= TALLY_CALLEE; order++) {
				struct tally_tree one = tree_of(profile, row, order, 7);
				struct tally_tree other = tree_of(lean, same, order, 7);

				*whole = *part = 0;
				spell(&one, 0, whole, sizeof(whole));
				spell(&other, 0, part, sizeof(part));
				assert_string_equal(whole, part);
				tally_tree_done(&one);
				tally_tree_done(&other);
			}
		}
		assert_true(large > 3 && large < event.row_count);
		tally_profile_free(profile);
		tally_profile_free(lean);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_chains_follow_the_model),
	    cmocka_unit_test(few_chains_are_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
