/* Source: elf(5), "Notes"; <sys/sdt.h> of systemtap: owner "stapsdt", type 3, three addresses (of
 * the marker, of .stapsdt.base, of the counter), three texts. */
#include "probe/sdt_notes.h"

#include <errno.h>
#include <string.h>

#define OWNER "stapsdt"
#define TYPE  3

static uint64_t number(const struct tally_sdt_notes *notes, const char *at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++) {
		size_t place = notes->big_endian ? i : size - 1 - i;

		value = value << 8 | (unsigned char)at[place];
	}
	return value;
}

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* A text that ends within what is left; NULL: it does not. */
static const char *take_text(const char **at, size_t *left)
{
	const char *text = *at;
	size_t length = strnlen(text, *left);

	if (length == *left)
		return NULL;
	*at += length + 1;
	*left -= length + 1;
	return text;
}

static int read_marker(const struct tally_sdt_notes *notes, const char *at, size_t left,
		       struct tally_sdt_note *ret)
{
	size_t width = notes->wide ? 8 : 4;
	struct tally_sdt_note note;

	if (left < 3 * width)
		return -EBADMSG;
	note.address = number(notes, at, width);
	note.base = number(notes, at + width, width);
	note.counter = number(notes, at + 2 * width, width);
	at += 3 * width;
	left -= 3 * width;
	note.provider = take_text(&at, &left);
	note.name = note.provider ? take_text(&at, &left) : NULL;
	note.arguments = note.name ? take_text(&at, &left) : NULL;
	if (!note.arguments || !*note.provider || !*note.name)
		return -EBADMSG;
	*ret = note;
	return 1;
}

int tally_sdt_notes_next(struct tally_sdt_notes *notes, struct tally_sdt_note *ret)
{
	while (notes->size - notes->at >= 12) {
		const char *header = notes->bytes + notes->at;
		size_t left = notes->size - notes->at - 12;
		uint64_t owner = number(notes, header, 4), size = number(notes, header + 4, 4);
		uint64_t type = number(notes, header + 8, 4);

		if (padded(owner) > left || size > left - padded(owner))
			return -EBADMSG;
		left -= padded(owner);
		/* The last one may lack its padding. */
		notes->at += 12 + padded(owner) + (padded(size) > left ? left : padded(size));
		if (type == TYPE && owner == sizeof(OWNER) &&
		    !memcmp(header + 12, OWNER, sizeof(OWNER)))
			return read_marker(notes, header + 12 + padded(owner), size, ret);
	}
	return 0;
}
