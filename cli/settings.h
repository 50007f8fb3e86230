/* Keys of perf's configuration files that a command obeys, as rows of a table:
 *
 *	const struct cli_setting cmd_report_settings[] = {
 *		{"report.children", "--children", CLI_SETTING_BOOL,
 *		 offsetof(struct report, children)},
 *		{.key = NULL},
 *	};
 *
 * The table is in the command's row of cli/commands.c, so `tally config` lists it.  A key sets the
 * default of an option: call cli_settings_apply() before cli_parse(). */
#ifndef TALLY_CLI_SETTINGS_H
#define TALLY_CLI_SETTINGS_H

#include <stddef.h>
#include "options.h"

enum cli_setting_kind {
	CLI_SETTING_BOOL,   /* bool */
	CLI_SETTING_DOUBLE, /* double */
	CLI_SETTING_TEXT,   /* char[room] */
	CLI_SETTING_CALL,   /* `call` is given what is at the offset, as by an option */
};

struct cli_setting {
	const char *key;    /* NULL ends the table */
	const char *option; /* whose default it sets */
	enum cli_setting_kind kind;
	size_t offset; /* in the command's object */
	size_t room;
	cli_call call;
};

/* CLI_OK, or CLI_USAGE after having printed which value of which file is invalid. */
int cli_settings_apply(const char *command, const struct cli_setting *settings, void *object);

/* pager.COMMAND: sets TALLY_PAGER unless it is set, where a terminal shows the output.  A file that
 * cannot be read is left to cli_settings_apply(). */
void cli_settings_pager(const char *command);

#endif
