/* Damage in a recording that could be read in part. */
#ifndef TALLY_CLI_DAMAGE_NOTICE_H
#define TALLY_CLI_DAMAGE_NOTICE_H

#include <stdbool.h>
#include <tally/data.h>

/* Prints a line about it; returns CLI_FAILED when records were lost, else CLI_OK, also when only
 * the end is missing. */
int cli_report_damage(const char *command, const struct tally_data *data);

/* For --strict, after all records were read and before any output: true when there is damage, also
 * when only the end is missing; then a line about it was printed. */
bool cli_refuse_damage(const char *command, const struct tally_data *data);

#endif
