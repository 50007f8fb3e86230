/* A recording in the formats of other programs: flame graphs, profilers, trace viewers, compilers.
 */
#ifndef TALLY_EXPORT_H
#define TALLY_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The name of format number `index` (from 0), and in *ret_help what it is; NULL after the last one.
 * ret_help may be NULL. */
const char *tally_export_format_name(size_t index, const char **ret_help);
/* Whether the format has bytes that a terminal cannot show.  False, too, if there is no such
 * format. */
bool tally_export_format_is_binary(const char *name);
/* Whether the format is files in a folder, instead of one file. */
bool tally_export_format_is_folder(const char *name);

struct tally_export_options {
	size_t size;        /* sizeof of this struct */
	const char *format; /* a name of tally_export_format_name() */
	/* Only samples that match these lists of exact names or numbers.  NULL, or a count of 0:
	 * all. */
	const char *const *events, *const *comms, *const *dsos, *const *symbols;
	size_t event_count, comm_count, dso_count, symbol_count;
	const uint32_t *pids, *tids;
	size_t pid_count, tid_count;
	/* Spans of time, as tally_script_options has them, and numbers of CPUs. */
	const char *time;
	const uint32_t *cpus;
	size_t cpu_count;
	uint32_t max_stack; /* frames kept of a chain, the innermost; 0: all */
	/* Source lines are not looked up. */
	bool no_lines;
	/* folded: names of processes get their pid, or pid and tid; names of the kernel's functions
	 * get "_[k]", those of code made at run time "_[j]". */
	bool with_pid, with_tid, mark_kernel, mark_jit;
	/* speedscope: each sample at its time, instead of sums. */
	bool evented;
	/* A format that is files in a folder: the folder, which is made if it does not exist. */
	const char *folder;
	/* parquet: what was recorded; NULL: "unknown" and, for the host, the recording's.  These
	 * are columns, and service and version are folders, too. */
	const char *service, *version, *host;
	/* parquet: functions and lines of binaries that have a build-id are left out, for
	 * tally/symbolize.h.  The kernel's, and those of code without a file, are there: nobody
	 * finds them later. */
	bool no_symbols;
	/* A format that is one file, instead of a stream: the file.  It gets its name when it is
	 * complete; if it exists, only with `replace`.  Devices, pipes and the file of standard
	 * output are written to as they are. */
	const char *path;
	bool replace;
};

struct tally_export_result {
	size_t size;      /* sizeof of this struct, set by the caller */
	uint64_t samples; /* that the options chose */
	/* The path of the binary that the export is about, for formats that are about one; else
	 * NULL.  Untrusted; borrowed until the session is freed. */
	const char *image;
	uint64_t lost; /* samples that the kernel lost, where the format has no place for that */
};

/* Sets the members of a session's options that the format needs; the others stay unchanged.  0;
 * -EINVAL: there is no such format. */
int tally_export_session_options(const char *format, struct tally_session_options *to);
/* Writes the samples of the session, which was made with the options above, in a format.  The
 * caller flushes and closes the stream, which is NULL with `folder` or `path`.  Text from
 * outside is escaped by the rules of the format.
 * 0; -EINVAL with words: an option is invalid, or the recording lacks what the format needs;
 * -EEXIST: the file exists, and must not be replaced; -ENOTSUP: built without a library that the
 * format needs; -E2BIG, -ECANCELED, -ENOMEM, -errno of reading or writing.  `ret` may be NULL. */
int tally_export_write(struct tally_session *session, const struct tally_export_options *options,
		       FILE *to, struct tally_export_result *ret, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
