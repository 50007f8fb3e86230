/* Differences as text and as JSON. */
#ifndef TALLY_DIFF_DIFF_OUTPUT_H
#define TALLY_DIFF_DIFF_OUTPUT_H

#include "diff/diff_state.h"

/* A row's numbers in a recording (from 1). */
struct tally_diff_cell tally_diff_cell_of(const struct tally_diff *diff, size_t event, size_t row,
					  size_t recording);
/* Whether it changed in any recording, by more than chance. */
bool tally_diff_is_changed(const struct tally_diff *diff, size_t event, size_t row);
/* "more", "less", "within the noise", "renamed to beta, within the noise", ... */
void tally_diff_verdict(const struct tally_diff_cell *cell, double of_all, struct tally_buf *to);

int tally_diff_write_text(const struct tally_diff *diff, const struct tally_diff_text *options,
			  FILE *to);
int tally_diff_write_json(const struct tally_diff *diff, const struct tally_diff_text *options,
			  FILE *to);

#endif
