/* Where the symbols of a recording's binaries come from: the options of all commands that show
 * symbols. */
#ifndef TALLY_CLI_BINARIES_H
#define TALLY_CLI_BINARIES_H

#include <stdbool.h>
#include <tally/data.h>
#include <tally/session.h>
#include "debuginfod.h"
#include "options.h"

#define CLI_BUILD_ID_DIR 4096 /* bytes of a path in a configuration file */

enum cli_inline {
	CLI_INLINE_NONE,
	CLI_INLINE_ALL,
	CLI_INLINE_USUAL, /* of unwound chains only */
};

struct cli_binaries {
	const char *symfs, *kallsyms, *vmlinux, *build_id_dir;
	char usual_dir[CLI_BUILD_ID_DIR]; /* buildid.dir of a configuration file */
	struct cli_list debug_dirs; /* borrowed by the session's options: for cli_binaries_done() */
	bool ignore_vmlinux;        /* --vmlinux is as if it were not there */
	bool no_demangle;
	bool recorded_symbols;
	enum cli_debuginfod debuginfod;
	enum cli_inline inlines;
};

/* Rows of an option table. */
#define CLI_BINARIES_FOLDERS(to_binaries)                                        \
	{CLI_STRING,                                                             \
	 0,                                                                      \
	 "symfs",                                                                \
	 "DIR",                                                                  \
	 "look for binaries below this folder",                                  \
	 .to = &(to_binaries).symfs},                                            \
	    {CLI_STRING,                                                         \
	     0,                                                                  \
	     "buildid-dir",                                                      \
	     "DIR",                                                              \
	     "copies of binaries by build-id; default: ~/.debug",                \
	     .to = &(to_binaries).build_id_dir},                                 \
	    {CLI_LIST,                                                           \
	     0,                                                                  \
	     "debug-dir",                                                        \
	     "DIR",                                                              \
	     "look for binaries and debug files in this folder or archive, too", \
	     .to = &(to_binaries).debug_dirs,                                    \
	     .flags = CLI_WHOLE},                                                \
	    CLI_DEBUGINFOD((to_binaries).debuginfod)

#define CLI_BINARIES_FILES(to_binaries)                                \
	CLI_BINARIES_FOLDERS(to_binaries),                             \
	{                                                              \
		CLI_STRING, 0, "kallsyms", "FILE",                     \
		    "the kernel's symbols, instead of /proc/kallsyms", \
		    .to = &(to_binaries).kallsyms                      \
	}

#define CLI_BINARIES(to_binaries)                                                        \
	CLI_BINARIES_FILES(to_binaries),                                                 \
	    {CLI_STRING,                                                                 \
	     'k',                                                                        \
	     "vmlinux",                                                                  \
	     "FILE",                                                                     \
	     "the kernel's image, for its symbols",                                      \
	     .to = &(to_binaries).vmlinux},                                              \
	{                                                                                \
		CLI_FLAG, 0, "recorded-symbols", NULL,                                   \
		    "names that the recording has itself, made by simpleperf or hiperf", \
		    .to = &(to_binaries).recorded_symbols                                \
	}

#define CLI_NO_DEMANGLE(to_binaries)                                         \
	{                                                                    \
		CLI_FLAG, 0, "no-demangle", NULL, "do not demangle symbols", \
		    .to = &(to_binaries).no_demangle                         \
	}

#define CLI_INLINE(to_binaries)                                                       \
	{                                                                             \
		CLI_SET, 0, "inline", NULL,                                           \
		    "show functions that were inlined, in recorded call chains, too", \
		    .to = &(to_binaries).inlines, .number = CLI_INLINE_ALL            \
	}

/* Puts them into the options of a session.  0, or CLI_FAILED after having said which of the files
 * cannot be read. */
int cli_binaries_apply(const char *command, const struct cli_binaries *binaries,
		       struct tally_session_options *to);
/* Once the recording is open: chains that were unwound while recording show inlined functions as
 * chains that are unwound for the report do, unless an option says otherwise. */
void cli_binaries_fit(const struct cli_binaries *binaries, const struct tally_data *data,
		      struct tally_session_options *to);
void cli_binaries_done(struct cli_binaries *binaries);

#endif
