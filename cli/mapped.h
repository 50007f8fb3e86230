/* Files are read where they are mapped.  When somebody cuts one off meanwhile, the kernel has no
 * page to give and sends SIGBUS (mmap(2)): then the command ends with a line that says so. */
#ifndef TALLY_CLI_MAPPED_H
#define TALLY_CLI_MAPPED_H

/* For the rest of the program; `command` stays. */
void cli_mapped_guard(const char *command);

#endif
