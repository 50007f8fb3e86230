/* Numbers for pairs of numbers. */
#ifndef TALLY_EXPORT_SQL_KEYS_H
#define TALLY_EXPORT_SQL_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_sql_key {
	uint64_t a;
	uint32_t b, number; /* 0: free */
};

struct tally_sql_keys { /* all zero is empty and valid */
	struct tally_sql_key *slots;
	size_t room, count; /* room is a power of two */
};

void tally_sql_keys_done(struct tally_sql_keys *keys);
/* Where the pair's number is: 0 of a new one, to be set before the next call.  NULL: out of memory,
 * or of numbers. */
uint32_t *tally_sql_keys_put(struct tally_sql_keys *keys, uint64_t a, uint32_t b);
/* The pair's number, from 1 in order of arrival; *ret_added says whether it is new.  0: as NULL
 * above. */
uint32_t tally_sql_keys_number(struct tally_sql_keys *keys, uint64_t a, uint32_t b,
			       bool *ret_added);

#endif
