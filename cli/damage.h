/* What was wrong with a recording though it could be read. */
#ifndef TALLY_CLI_DAMAGE_H
#define TALLY_CLI_DAMAGE_H

#include <tally/data.h>

/* Says it, a line each; the exit status that it makes: CLI_FAILED when records were lost to damage,
 * CLI_OK else, also when only the end is missing. */
int cli_tell_damage(const char *command, const struct tally_data *data);

#endif
