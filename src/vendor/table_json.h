/* The JSON of event tables: objects of scalars, read in one pass over the bytes of the file.
 *
 * This reader exists because a CPU's tables are up to 4 MB and delay the first count (jansson takes
 * 30 ms for 2 MB, this 3 ms), and because they have no nested values. Grammar: RFC 8259; nested
 * values of a field are checked and skipped. */
#ifndef TALLY_VENDOR_TABLE_JSON_H
#define TALLY_VENDOR_TABLE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>

#define TABLE_JSON_FIELDS 64 /* of one object; the largest known has 30 */

/* Strings decoded; numbers, true and false as written. Never contains a NUL byte. null, "" and
 * nested values are not fields. */
struct table_field {
	const char *name, *value;
	size_t name_length, value_length;
};

/* Called for each object, in order; fields are borrowed for the call. 0, or -errno to stop. */
typedef int (*table_json_call)(void *to, const struct table_field *fields, size_t count);

/* Reads a list of objects, or an object with such a list under "Events"; `*ret_native` is true for
 * the second, and set before the first call. 0, what `call` returned, -EINVAL with the offset,
 * -E2BIG (over 32 levels, or over TABLE_JSON_FIELDS), -ENOMEM. */
int tally_table_json_read(const char *text, size_t size, table_json_call call, void *to,
			  bool *ret_native, struct tally_error *error);

#endif
