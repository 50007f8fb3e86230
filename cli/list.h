/* The parts of `tally list`. */
#ifndef TALLY_CLI_LIST_H
#define TALLY_CLI_LIST_H

/* Prints the commands that fetch vendor tables; an exit status. */
int list_get_tables(void);

#endif
