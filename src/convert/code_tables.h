/* Strings, functions and mappings of an export's code, by number, as pprof and OpenTelemetry have
 * them.  Number 0 of each is none; the string is "". */
#ifndef TALLY_CONVERT_CODE_TABLES_H
#define TALLY_CONVERT_CODE_TABLES_H

#include <stdint.h>
#include "convert/code_places.h"

struct code_function {
	uint32_t name, file; /* strings */
};

/* A range of addresses of a binary that has places. */
struct code_mapping {
	uint64_t start, limit, offset; /* whole pages; offset: in the file, of the start */
	uint32_t image;                /* of the session */
	uint32_t file;                 /* string */
	uint32_t build_id;             /* string of hexadecimal digits; 0: unknown */
	bool has_functions, has_lines, has_inlines;
};

struct code_tables {
	struct code_places places;
	struct tally_strings strings;
	struct code_function *functions;
	struct code_mapping *mappings;
	uint32_t function_count, function_room, mapping_count;
	uint32_t *function_of; /* by line of the places; 0: it has no name */
	uint32_t *mapping_of;  /* by image of the session; 0: it has none */
	struct tally_map known;
	struct tally_buf text;
};

/* As tally_code_places_init().  0 or -ENOMEM; to be released in any case. */
int tally_code_tables_init(struct code_tables *tables, struct convert *convert,
			   const struct stack_table *stacks);
void tally_code_tables_done(struct code_tables *tables);
/* The number of a string; -ENOMEM. */
int64_t tally_code_tables_string(struct code_tables *tables, const char *text);
/* Once all places were walked: their addresses and lines, functions and mappings.  0, -ECANCELED or
 * -ENOMEM. */
int tally_code_tables_make(struct code_tables *tables);

#endif
