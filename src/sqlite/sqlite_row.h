/* A row as SQLite stores it: a type for each column, then the values. */
#ifndef TALLY_SQLITE_ROW_H
#define TALLY_SQLITE_ROW_H

#include "base/buf.h"

enum sqlite_kind { SQLITE_NONE, SQLITE_NUMBER, SQLITE_TEXT, SQLITE_BYTES };

struct sqlite_value {
	uint8_t kind;    /* enum sqlite_kind */
	uint64_t number; /* or the length; numbers from 2^63 up are stored as negative ones */
	const void *bytes;
};

/* Replaces what is in `to`.  0 or -ENOMEM. */
int tally_sqlite_row(struct tally_buf *to, const struct sqlite_value *values, unsigned count);

#endif
