/* Markers for tracing that a program's author put into it (SDT, "USDT"): DTRACE_PROBE() of
 * <sys/sdt.h>.
 *
 * Source: the notes of .note.stapsdt as systemtap's wiki page "UserSpaceProbeImplementation" and
 * <sys/sdt.h> describe them. */
#ifndef TALLY_SDT_H
#define TALLY_SDT_H

#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_sdt_marker {
	const char *provider, *name; /* untrusted */
	const char *arguments;       /* "8@%rax -4@$3": where its arguments are; untrusted */
	uint64_t offset;             /* in the file */
	uint64_t counter;            /* in the file: how many listen, 16 bits; 0: it has none */
};

struct tally_sdt;

/* Reads the markers of a program or library.  -ENOENT no such file, -ENOEXEC no ELF, -EBADMSG its
 * notes are damaged (those before the damage are not given), -errno, -ENOMEM.  A file without
 * markers has none of them and is no error.  Release with tally_sdt_close(). */
int tally_sdt_open(const char *path, struct tally_sdt **ret, struct tally_error *error);
void tally_sdt_close(struct tally_sdt *sdt); /* NULL is fine */

/* By provider, name and offset; NULL: no more.  Borrowed until tally_sdt_close(). */
const struct tally_sdt_marker *tally_sdt_at(const struct tally_sdt *sdt, size_t at);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
