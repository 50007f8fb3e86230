/* Events for places in code (uprobe:, usdt:, sdt_, kprobe:), from names to what the kernel takes.
 */
#ifndef TALLY_PROBE_H
#define TALLY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <tally/error.h>
#include <tally/event.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Where a marker without a program is looked for; else it is found in none. */
struct tally_probe_options {
	size_t size; /* sizeof of this struct; the tail beyond what is known must be zero */
	char *const *command; /* argv: its program, and the libraries that it is linked to */
	const pid_t *pids;    /* what these processes have mapped */
	size_t pid_count;
	bool system_wide; /* what any process has mapped */
};

/* Finds the programs, functions and markers that events of the list are for, and puts their places
 * into the attrs.  What is at several places (a marker, a static function) becomes as many events,
 * one behind the other, "NAME", "NAME_1": the indices of those behind change.  Lists without such
 * events are left as they are.
 *
 * attr.config1 of such an event points to text of its `probe`, so that the list must live until the
 * event was opened; tally_event_list_done() ends both.
 *
 * -ENOENT no such program, function or marker, with the nearest name; -ENOEXEC, -ENOTSUP, -errno,
 * -ENOMEM.  The list stays valid on failure. */
int tally_probe_resolve(struct tally_event_list *list, const struct tally_probe_options *options,
			struct tally_error *error);

/* The paths of all binaries that the targets run, in an array of strings: one block, the caller's
 * to free().  What cannot be read is left out.  -ENOMEM, -E2BIG of the options. */
int tally_probe_programs(const struct tally_probe_options *options, char ***ret, size_t *ret_count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
