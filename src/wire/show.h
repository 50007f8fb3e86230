/* Gives a decoded record's fields, one by one, to the functions that print them. */
#ifndef TALLY_WIRE_SHOW_H
#define TALLY_WIRE_SHOW_H

#include <tally/record.h>
#include "wire/walk.h"

struct wire_show {
	void (*number)(void *to, const char *name, uint64_t value);
	/* NULL: no text; it is untrusted. */
	void (*text)(void *to, const char *name, const char *text, size_t length);
	void (*bytes)(void *to, const char *name, const uint8_t *bytes, uint64_t size);
	/* `count` elements of `each` u64 words, at any address */
	void (*words)(void *to, const char *name, const void *words, uint64_t count, size_t each);
	void (*attr)(void *to, const char *name, const struct tally_attr *attr);
	/* Begins a group of fields or elements, which ends with close(). name NULL: an element,
	 * made of fields, of the list that was opened last. */
	void (*open)(void *to, const char *name, bool list);
	void (*close)(void *to, bool list);
	/* A number as an element of that list. */
	void (*element)(void *to, int64_t value);
	void *to;
	uint16_t misc; /* the record's */
};

/* Shows the rows whose bit is in `bits` (or 0), of a struct that they were decoded to. */
void tally_wire_show(const struct wire_show *show, struct wire_rows rows, uint64_t bits,
		     const void *base);

#endif
