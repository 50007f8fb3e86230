/* Whether a mapping of an event was refused by something else than the limits of locked memory. */
#ifndef TALLY_KERNEL_MAP_POLICY_H
#define TALLY_KERNEL_MAP_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>
#include <tally/limits.h>

/* EACCES, or EPERM although this program may lock as much memory as it likes. */
bool tally_map_policy_refused(int errnum, const struct tally_limits *limits);
/* `what`: "a ring".  Returns -errnum. */
int tally_map_policy_explain(int errnum, const char *what, size_t kb, struct tally_error *error);

#endif
