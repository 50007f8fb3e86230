/* Binaries of processes that see other files than this one (containers): held open while recording,
 * so that they can be copied at the end, whatever has become of them. */
#ifndef TALLY_RECORD_HELD_BINARIES_H
#define TALLY_RECORD_HELD_BINARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/data.h>
#include "base/map.h"

struct tally_held_binaries { /* all zero is empty and valid; used by one thread at a time */
	struct tally_held_binary *list;
	size_t count;
	struct tally_map seen; /* by build-id, or by path and mount namespace */
	/* Files that processes of our own mount namespace mapped, by path and number: to ask for
	 * a process's namespace costs more than all else that is done for a mapping. */
	struct tally_map ours;
	uint64_t own; /* number of our mount namespace; 0: not read yet */
	pid_t last;   /* whose namespace was read last */
	uint64_t last_space;
};

void tally_held_binaries_done(struct tally_held_binaries *held);

/* Takes notice of a file that a process maps.  One that is seen for the first time, by a process in
 * another mount namespace, is opened; *id_size 0: its build-id is filled in.  A process that has
 * ended, and a file that cannot be opened, are passed over.  `file`: a number of the file, made of
 * its device and inode; 0: its build-id is one. */
void tally_held_binaries_see(struct tally_held_binaries *held, pid_t pid, const char *path,
			     uint64_t file, uint8_t id[20], uint8_t *id_size);

/* Whether a process is in another mount namespace, and still runs. */
bool tally_held_binaries_elsewhere(struct tally_held_binaries *held, pid_t pid);

/* The descriptor of a binary of that build; -ENOENT. */
int tally_held_binaries_find(const struct tally_held_binaries *held, const uint8_t *id,
			     uint8_t id_size);

/* Takes over an open file with the number that is recorded for it.  -ENFILE: there are too many;
 * it is closed then. */
int tally_held_binaries_add(struct tally_held_binaries *held, int fd, const uint8_t id[20],
			    uint8_t id_size);

#endif
