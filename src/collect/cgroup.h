/* cgroups whose tasks are measured. */
#ifndef TALLY_COLLECT_CGROUP_H
#define TALLY_COLLECT_CGROUP_H

#include <stddef.h>
#include <tally/error.h>

/* Opens the folder of a cgroup, "name/below" or with a leading /, in the hierarchy of perf_event:
 * version 1 when it is mounted, else version 2. `root` is the folder that holds proc and sys. The
 * descriptor is the caller's; -ENOENT, -ENODEV when no such hierarchy is mounted, or -errno, with
 * words. Source: cgroups(7), perf_event_open(2), PERF_FLAG_PID_CGROUP. */
int tally_cgroup_open(const char *root, const char *name, struct tally_error *error);
/* The folder where the hierarchy that perf events use is mounted; -ENODEV: none is. */
int tally_cgroup_mount(const char *root, char *to, size_t room);

#endif
