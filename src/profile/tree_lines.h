/* Trees whose nodes are addresses or source lines: which frame stands for a node, its line, and
 * what the branches were that end in it. */
#ifndef TALLY_PROFILE_TREE_LINES_H
#define TALLY_PROFILE_TREE_LINES_H

#include <stdint.h>
#include <tally/profile.h>

struct tree_lines;

/* Of the frames of a profile's call tree, whose places are known.  0 or -ENOMEM. */
int tally_tree_lines_new(struct tally_profile *profile, struct tree_lines **ret);
void tally_tree_lines_free(struct tree_lines *lines);

/* The frame that stands for a node of the call tree. */
uint32_t tally_tree_lines_frame(const struct tally_profile *profile, uint32_t node);
/* The line of such a frame. */
const char *tally_tree_lines_text(const struct tally_profile *profile, uint32_t frame);
/* Adds what a node is to so many samples; nothing if it is no end of a branch. */
void tally_tree_branches_add(const struct tally_profile *profile, uint32_t node, uint64_t samples,
			     struct tally_branch_counts *counts);

/* Of all call chains of a row, made with branch_history.  0; -EINVAL: it was made without, or there
 * is no such row; -ENOMEM. */
int tally_profile_branches(const struct tally_profile *profile, const struct tally_profile_row *row,
			   struct tally_branch_counts *ret);

#endif
