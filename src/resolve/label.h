/* perf's name for the image of an address: the recorded path, with perf's names for the kernel's
 * binaries and for memory with code. */
#ifndef TALLY_RESOLVE_LABEL_H
#define TALLY_RESOLVE_LABEL_H

#include <tally/data.h>
#include "base/map.h"
#include "resolve/locate.h"

struct tally_labels {       /* all zero is empty and valid */
	const char *kernel; /* as the recording's list of build-ids has it; NULL: it does not */
	struct tally_map listed; /* hashes of the names in that list */
	bool kernel_path;        /* modules by their paths */
};

/* From the list of build-ids of the data, which is borrowed.  0 or -ENOMEM. */
int tally_labels_init(struct tally_labels *labels, const struct tally_data *data, bool kernel_path);
void tally_labels_done(struct tally_labels *labels);

#define TALLY_LABEL_ROOM 128

/* The name of a location's image, which is mapped.  `room` is for names that are made; borrowed
 * from it or from the session.  Untrusted. */
const char *tally_label_of(const struct tally_labels *labels, const struct tally_location *location,
			   char room[TALLY_LABEL_ROOM]);
/* The place of the address in its binary, as perf prints it: memory that perf takes for a file (a
 * memfd, [anon:v8]) has places there, though its symbols are found by addresses. */
uint64_t tally_label_place(const struct tally_location *location, uint64_t addr);

#endif
