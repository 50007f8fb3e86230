/* The JSON of event tables: objects of scalars, read in one pass over the file's own bytes.
 *
 * A reader of its own, for two reasons: a CPU's tables are up to 4 MB that stand between a person
 * and the first count (a tree of jansson's takes 30 ms for 2 MB, this 3), and nothing is nested in
 * them. Grammar: RFC 8259; what a field nests is checked and passed over. */
#ifndef TALLY_VENDOR_TABLE_JSON_H
#define TALLY_VENDOR_TABLE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/error.h>

#define TABLE_JSON_FIELDS 64 /* of one object; the widest known has 30 */

/* Strings decoded; numbers, true and false as written.  Never holds a NUL byte.  null, "" and what
 * is nested are no fields. */
struct table_field {
	const char *name, *value;
	size_t name_length, value_length;
};

/* Called for each object, in order; fields are borrowed for the call.  0, or -errno to stop. */
typedef int (*table_json_call)(void *to, const struct table_field *fields, size_t count);

/* A list of objects, or an object with such a list under "Events"; `*ret_native` says that it was
 * the second, and is set before the first call.  0, what `call` returned, -EINVAL with the offset,
 * -E2BIG (over 32 levels, or over TABLE_JSON_FIELDS), -ENOMEM. */
int tally_table_json_read(const char *text, size_t size, table_json_call call, void *to,
			  bool *ret_native, struct tally_error *error);

#endif
