/* The cgroups of this machine, by patterns of their names. */
#ifndef TALLY_CGROUP_H
#define TALLY_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Whether a name of cgroups is a pattern: it has one of {}[]()|*+?^$. */
bool tally_cgroup_is_pattern(const char *name);

/* Gives the names, "system.slice/cron.service", of the cgroups that a regular expression (POSIX's
 * basic ones, as perf's --for-each-cgroup has them) matches anywhere, in alphabetical order,
 * without the top.  They are in the hierarchy that perf events use.  *ret and each name are the
 * caller's to free().  `root` is the folder that holds proc and sys; NULL: "/".  0; -EINVAL: no
 * valid expression; -ENOENT: it matches none; -ENODEV: no such hierarchy is mounted; or -errno,
 * with words. Sources: regex(7), cgroups(7). */
int tally_cgroups_match(const char *root, const char *pattern, char ***ret, size_t *ret_count,
			struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
