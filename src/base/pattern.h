/* Regular expressions that a person or a program gives: regex(7), of the C library. */
#ifndef TALLY_BASE_PATTERN_H
#define TALLY_BASE_PATTERN_H

#include <regex.h>
#include <tally/error.h>

/* regcomp() with REG_NOSUB and `flags`, for regfree().  -EINVAL: it is invalid, or it repeats so
 * much that regcomp() could need gigabytes and hours. */
int tally_pattern_compile(const char *pattern, int flags, regex_t *ret, struct tally_error *error);

#endif
