/* The kernel's files for events at places in code: uprobe_events and kprobe_events of tracefs.
 *
 * Source: Documentation/trace/uprobetracer.rst and kprobetrace.rst. */
#ifndef TALLY_PROBE_TRACE_FILES_H
#define TALLY_PROBE_TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>
#include "base/map.h"
#include "place/fetch_args.h"

/* `path` gets tracefs.  -ENOENT: it is not mounted; -EACCES. */
int tally_trace_folder(const char *tracefs, char *path, size_t room, struct tally_error *error);
/* Reads the README below `path`; if it cannot be read, the features of current kernels are
 * assumed. */
void tally_trace_features(const char *path, struct trace_features *ret);

/* The lines of uprobe_events, or of kprobe_events.  -ENOENT: the kernel has none such. */
int tally_trace_read(const char *path, bool uprobes, struct tally_strings *ret);

/* Writes one line to it.  The error has the kernel's own reason where it gives one. */
int tally_trace_write(const char *path, bool uprobes, const char *line, struct tally_error *error);

/* Fails with why uprobe_events or kprobe_events cannot be used. */
int tally_trace_fail(const char *path, bool uprobes, int result, struct tally_error *error);

/* A line of these files, cut into its parts; pointers are into the line, which is changed. */
struct trace_line {
	bool is_return;
	const char *group, *event;
	const char *place;          /* "/path:0x1234", "_text+5", "MODULE:symbol+0" */
	const char *arguments[128]; /* "name=..." */
	size_t argument_count;
};
bool tally_trace_line_cut(char *line, struct trace_line *ret);

#endif
