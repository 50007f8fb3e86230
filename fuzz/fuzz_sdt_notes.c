/* Any bytes as .note.stapsdt; the first says how wide addresses are, and in which order bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "probe/sdt_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_sdt_notes notes = {0};
	struct tally_sdt_note note;
	size_t count = 0;
	char *bytes;

	if (!size)
		return 0;
	notes.wide = data[0] & 1;
	notes.big_endian = data[0] & 2;
	notes.size = size - 1;
	bytes = malloc(size);
	if (!bytes)
		return 0;
	memcpy(bytes, data + 1, size - 1);
	notes.bytes = bytes;
	while (tally_sdt_notes_next(&notes, &note) > 0) {
		if (!*note.provider || !*note.name || strlen(note.arguments) >= size ||
		    notes.at > notes.size || ++count > size)
			abort();
	}
	free(bytes);
	return 0;
}
