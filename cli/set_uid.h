/* Programs that run with other rights than who starts them. */
#ifndef CLI_SET_UID_H
#define CLI_SET_UID_H

#include <stdbool.h>

/* Whether `name`, looked up as execvp(3) does, is a set-uid or set-gid program that gives this user
 * other rights. The kernel ends all events of a thread that execs it: begin_new_exec() of
 * fs/exec.c.
 */
bool cli_gains_rights(const char *name);

#endif
