/* Places in code: events for them (uprobe:, usdt:, sdt_, kprobe:) from names to what the kernel
 * takes, and the markers for tracing that programs have. */
#ifndef TALLY_PROBE_H
#define TALLY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_event_list; /* <tally/event.h> */

/* The programs in which a marker is looked for when the event names none. */
struct tally_probe_options {
	size_t size; /* sizeof of this struct; the tail beyond what is known must be zero */
	char *const *command; /* argv: its program, and the libraries that it is linked to */
	const pid_t *pids;    /* what these processes have mapped */
	size_t pid_count;
	bool system_wide; /* what any process has mapped */
};

/* Finds the programs, functions and markers of the list's events, and puts their places into the
 * attrs.  A marker or function that is at several places becomes as many events, one behind the
 * other, "NAME", "NAME_1"; the indices of the events behind them change.  A list without such
 * events stays unchanged.
 *
 * attr.config1 of such an event points to text of its `probe`, so that the list must live until the
 * event was opened; tally_event_list_done() ends both.
 *
 * -ENOENT no such program, function or marker, with the nearest name; -ENOEXEC, -ENOTSUP, -errno,
 * -ENOMEM.  The list stays valid on failure. */
int tally_probe_resolve(struct tally_event_list *list, const struct tally_probe_options *options,
			struct tally_error *error);

/* Gives the paths of all binaries that the targets run, as an array of strings in one block, which
 * is the caller's to free().  Processes that cannot be read are left out.  0; -ENOMEM; -E2BIG: an
 * option is unknown. */
int tally_probe_programs(const struct tally_probe_options *options, char ***ret, size_t *ret_count);

/* --- markers --- */

/* A marker for tracing that a program's author put into it (SDT, "USDT"): DTRACE_PROBE() of
 * <sys/sdt.h>.  Source: the notes of .note.stapsdt as systemtap's wiki page
 * "UserSpaceProbeImplementation" and <sys/sdt.h> describe them. */
struct tally_sdt_marker {
	const char *provider, *name; /* untrusted */
	const char *arguments;       /* "8@%rax -4@$3": where its arguments are; untrusted */
	uint64_t offset;             /* in the file */
	uint64_t counter;            /* in the file: of listeners, 16 bits; 0: it has none */
};

struct tally_sdt;

/* Reads the markers of a program or library.  -ENOENT no such file, -ENOEXEC no ELF, -EBADMSG its
 * notes are damaged (those before the damage are not given), -errno, -ENOMEM.  A file without
 * markers has none of them and is no error.  Release with tally_sdt_close(). */
int tally_sdt_open(const char *path, struct tally_sdt **ret, struct tally_error *error);
void tally_sdt_close(struct tally_sdt *sdt); /* NULL is fine */

/* The marker number `at`, sorted by provider, name and offset; NULL: there are no more.  Borrowed
 * until tally_sdt_close(). */
const struct tally_sdt_marker *tally_sdt_at(const struct tally_sdt *sdt, size_t at);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
