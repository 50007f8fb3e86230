/* A filter of names: globs, joined with & and |, negated with !, grouped by parentheses.
 *
 * Source: perf-probe(1), "FILTER PATTERN" and "LAZY MATCHING". */
#ifndef TALLY_BASE_NAME_FILTER_H
#define TALLY_BASE_NAME_FILTER_H

#include <stdbool.h>
#include <tally/error.h>

struct name_filter;

/* -EINVAL with the column, -E2BIG, -ENOMEM. */
int tally_name_filter_new(const char *text, struct name_filter **ret, struct tally_error *error);
void tally_name_filter_free(struct name_filter *filter); /* NULL is fine */
bool tally_name_filter_takes(const struct name_filter *filter, const char *name);

bool tally_name_is_glob(const char *text);
/* Whether the whole name matches a glob; a pattern without special characters must be equal. */
bool tally_name_matches(const char *name, const char *glob);
/* The same for a line of source; blanks have no meaning on either side. */
bool tally_line_matches(const char *line, const char *glob);

#endif
