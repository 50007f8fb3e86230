/* The notes of a section .note.stapsdt. */
#ifndef TALLY_PROBE_SDT_NOTES_H
#define TALLY_PROBE_SDT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_sdt_note {
	uint64_t address, base, counter; /* as linked */
	const char *provider, *name, *arguments;
};

struct tally_sdt_notes {
	const char *bytes; /* of the section */
	size_t size, at;
	bool wide;       /* 64-bit addresses */
	bool big_endian; /* the file's numbers */
};

/* The next marker's note, with text in the section's bytes: 1, 0 at the end, -EBADMSG damaged. */
int tally_sdt_notes_next(struct tally_sdt_notes *notes, struct tally_sdt_note *ret);

#endif
