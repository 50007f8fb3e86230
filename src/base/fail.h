/* Filling a struct tally_error. */
#ifndef TALLY_BASE_FAIL_H
#define TALLY_BASE_FAIL_H

#include <tally/error.h>

/* Stores code, position and text (printf) when `error` is not NULL; returns `code`, so that a
 * failure is one statement: `return tally_fail(error, -EINVAL, at, "...")`. */
int tally_fail(struct tally_error *error, int code, int64_t position, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
