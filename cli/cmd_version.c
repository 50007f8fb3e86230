/* `tally version`. */
#include <stdio.h>
#include <tally/version.h>
#include "command.h"

int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("tally %s\n", tally_version());
	return CLI_OK;
}
