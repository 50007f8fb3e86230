/* Files are mapped and read in place. When another program truncates one meanwhile, the kernel
 * sends SIGBUS (mmap(2)): then the command prints a message and ends. */
#ifndef TALLY_CLI_MAPPED_H
#define TALLY_CLI_MAPPED_H

/* Until the program ends; `command` is borrowed. */
void cli_mapped_guard(const char *command);

#endif
