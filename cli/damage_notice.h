/* What was wrong with a recording though it could be read. */
#ifndef TALLY_CLI_DAMAGE_NOTICE_H
#define TALLY_CLI_DAMAGE_NOTICE_H

#include <stdbool.h>
#include <tally/data.h>

/* Says it in a line; the exit status that it makes: CLI_FAILED when records were lost to damage,
 * CLI_OK else, also when only the end is missing. */
int cli_tell_damage(const char *command, const struct tally_data *data);

/* For --strict, once all records were looked at and before any output: whether there is damage,
 * also when only the end is missing; it was said then. */
bool cli_refuse_damage(const char *command, const struct tally_data *data);

#endif
