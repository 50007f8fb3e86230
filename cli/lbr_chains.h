/* --stitch-lbr: whether it can do anything. */
#ifndef TALLY_CLI_LBR_CHAINS_H
#define TALLY_CLI_LBR_CHAINS_H

#include <stdbool.h>

struct tally_data;

/* Whether the recording has what chains are stitched by; if not, a line on stderr says what it
 * lacks. */
bool cli_stitch_lbr(const char *command, const struct tally_data *data);

#endif
