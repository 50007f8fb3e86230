/* perf's configuration files: /etc/perfconfig and ~/.perfconfig, or the one file that $PERF_CONFIG
 * names.
 *
 * [section] and [section "part"] begin a section; name = value lines follow; # and ; begin a
 * comment; a value may stand in double quotes, with \" \\ \n \t \b in it; a backslash at the end of
 * a line joins the next.  A name without "=" is true.  Source: perf-config(1).  A file of another
 * user (not root's) is left out, as perf does. */
#ifndef TALLY_CLI_CONFIG_H
#define TALLY_CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>

struct cli_config_entry {
	char *key;   /* "section.name", in lower case */
	char *value; /* "true" when the file gives none */
	char *file;
	unsigned line;
};

struct cli_config {
	struct cli_config_entry
	    *entries; /* in the order of the files; the last one of a key wins */
	size_t count;
	char *left_out; /* a file that was not read because of its owner, or NULL */
};

/* 0 or -errno: -EINVAL with FILE:LINE in the error's text.  Files that do not exist are no error.
 * Release with cli_config_done(). */
int cli_config_read(struct cli_config *ret, struct tally_error *error);
void cli_config_done(struct cli_config *config);

/* The last entry of that key, or NULL.  Borrowed. */
const struct cli_config_entry *cli_config_find(const struct cli_config *config, const char *key);

/* 0 or -EINVAL.  true, yes, on and a number are true; false, no, off, 0 and nothing are false. */
int cli_config_bool(const char *value, bool *ret);

#endif
