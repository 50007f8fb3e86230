/* Markers of a binary, at their places in the file. */
#include <tally/probe.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/table.h"
#include "elf/elf_file.h"
#include "probe/sdt_notes.h"

struct tally_sdt {
	char *notes; /* the section, which the markers' text is in */
	struct tally_sdt_marker *markers;
	size_t count, room;
};

static int add(struct tally_sdt *sdt, const struct tally_sdt_marker *marker)
{
	if (!array_next(&sdt->markers, &sdt->room, sdt->count, 64, sizeof(*sdt->markers)))
		return -ENOMEM;
	sdt->markers[sdt->count++] = *marker;
	return 0;
}

/* Notes have addresses as linked. prelink moves sections but not the addresses in notes;
 * .stapsdt.base shows how far. */
static int add_note(struct tally_sdt *sdt, const struct tally_elf *elf,
		    const struct tally_elf_section *base, const struct tally_sdt_note *note)
{
	uint64_t moved = base ? base->header.sh_addr - note->base : 0;
	struct tally_sdt_marker marker = {
	    .provider = note->provider, .name = note->name, .arguments = note->arguments};

	if (tally_elf_offset(elf, note->address + moved, &marker.offset))
		return 0; /* its code was left out by the linker */
	if (note->counter && tally_elf_offset(elf, note->counter + moved, &marker.counter))
		return 0;
	return add(sdt, &marker);
}

static int in_order(const void *a, const void *b)
{
	const struct tally_sdt_marker *left = a, *right = b;
	int order = strcmp(left->provider, right->provider);

	if (!order)
		order = strcmp(left->name, right->name);
	return order ? order : (left->offset > right->offset) - (left->offset < right->offset);
}

static int read_notes(struct tally_sdt *sdt, const struct tally_elf *elf)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".note.stapsdt", SHT_NOTE);
	const struct tally_elf_section *base = tally_elf_find(elf, ".stapsdt.base", SHT_NULL);
	struct tally_sdt_notes notes = {
	    .wide = elf->header.e_ident[EI_CLASS] == ELFCLASS64,
	    .big_endian = elf->header.e_ident[EI_DATA] == ELFDATA2MSB,
	};
	struct tally_sdt_note note;
	int result;

	if (!section)
		return 0;
	result = tally_elf_read(elf, section, &sdt->notes, &notes.size);
	if (result)
		return result == -ENODATA ? 0 : result;
	notes.bytes = sdt->notes;
	while ((result = tally_sdt_notes_next(&notes, &note)) > 0) {
		result = add_note(sdt, elf, base, &note);
		if (result)
			return result;
	}
	if (sdt->count)
		qsort(sdt->markers, sdt->count, sizeof(*sdt->markers), in_order);
	return result;
}

int tally_sdt_open(const char *path, struct tally_sdt **ret, struct tally_error *error)
{
	struct tally_sdt *sdt = calloc(1, sizeof(*sdt));
	struct tally_elf elf;
	int result = sdt ? tally_elf_open(path, &elf) : -ENOMEM;

	if (!result) {
		result = read_notes(sdt, &elf);
		tally_elf_close(&elf);
	}
	if (!result) {
		*ret = sdt;
		return 0;
	}
	tally_sdt_close(sdt);
	if (result == -ENOEXEC)
		return tally_fail(error, result, -1, "%s is not an ELF binary", path);
	if (result == -ENODEV)
		return tally_fail(error, result, -1, "%s is not a regular file", path);
	if (result == -EBADMSG)
		return tally_fail(error, result, -1, "the markers of %s are damaged", path);
	return tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
}

void tally_sdt_close(struct tally_sdt *sdt)
{
	if (!sdt)
		return;
	free(sdt->notes);
	free(sdt->markers);
	free(sdt);
}

const struct tally_sdt_marker *tally_sdt_at(const struct tally_sdt *sdt, size_t at)
{
	return at < sdt->count ? &sdt->markers[at] : NULL;
}
