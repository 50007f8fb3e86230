/* How to get vendor tables: shell commands, to be read or piped to sh.  They put the tables into
 * the folder that tally searches first. */
#include "list.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"

static void put_quoted(const char *text, size_t length)
{
	putchar('\'');
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\'')
			fputs("'\\''", stdout);
		else
			putchar(text[i]);
	putchar('\'');
}

/* The first folder that is searched; tally-list(1) lists all. */
static void put_folder(void)
{
	const char *own = getenv("TALLY_EVENTS"), *cache = getenv("XDG_CACHE_HOME");

	fputs("tables=", stdout);
	if (own && *own) {
		put_quoted(own, strcspn(own, ":"));
	} else if (cache && *cache) {
		put_quoted(cache, strlen(cache));
		fputs("/pmu-events", stdout);
	} else {
		fputs("\"$HOME/.cache/pmu-events\"", stdout);
	}
	putchar('\n');
}

/* From the kernel's own repository; each line begins with `comment`. */
static void put_from_git(const char *comment)
{
	static const char *const lines[] = {
	    "kernel=https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git",
	    "source=$(mktemp -d)",
	    "git clone -q --depth 1 --filter=blob:none --sparse \"$kernel\" \"$source\"",
	    "git -C \"$source\" sparse-checkout set tools/perf/pmu-events/arch",
	    "cp -r \"$source\"/tools/perf/pmu-events/arch/. \"$tables\"",
	    "rm -rf \"$source\"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		printf("%s%s\n", comment, lines[i]);
}

int list_get_tables(void)
{
	bool debian = !access("/usr/bin/apt-get", X_OK);

	puts("# The event tables of all CPUs are in the kernel's source, "
	     "tools/perf/pmu-events/arch.\n"
	     "# Read these commands, or pipe them to sh.");
	put_folder();
	puts("mkdir -p \"$tables\"");
	if (debian) {
		puts(
		    "# From the package of the kernel's source:\n"
		    "sudo apt-get install -y linux-source\n"
		    "tar -xf \"$(ls /usr/src/linux-source-*.tar.xz | tail -n 1)\" -C \"$tables\" "
		    "--strip-components=5 --wildcards 'linux-source-*/tools/perf/pmu-events/arch'\n"
		    "# A CPU that is newer than that kernel: from the kernel's own repository");
		put_from_git("# ");
	} else {
		put_from_git("");
	}
	puts("# Tables of Intel's CPUs alone: git clone https://github.com/intel/perfmon "
	     "\"$tables\"");
	return CLI_OK;
}
