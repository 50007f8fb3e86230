/* Processes that see other files than this one, or have another number there, and make code at run
 * time: their roots are held open while recording, so that what they say of that code (perf maps,
 * dumps) is found when they have ended. */
#ifndef TALLY_SYNTH_HELD_ROOTS_H
#define TALLY_SYNTH_HELD_ROOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct held_root;

struct tally_held_roots { /* all zero is empty and valid; used by one thread at a time */
	struct held_root *list;
	size_t count;
	pid_t last; /* that was looked at last: compilers map memory again and again */
};

void tally_held_roots_done(struct tally_held_roots *roots);

/* Holds the root of a process that maps memory for code.  `other`: it is in another mount
 * namespace. A process of our own namespaces, and one that has ended, are passed over. */
void tally_held_roots_see(struct tally_held_roots *roots, pid_t pid, bool other);

/* Opens the file of that name in a recording's table of build-ids, of a process that is held: as
 * tally_jit_open_named(). */
int tally_held_roots_open(const struct tally_held_roots *roots, const char *name, struct stat *ret);

#endif
