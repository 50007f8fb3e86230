/* What the parts of tally/symbolize.h share. */
#ifndef TALLY_FLEET_SYMBOLIZER_H
#define TALLY_FLEET_SYMBOLIZER_H

#include <tally/symbolize.h>
#include "base/map.h"
#include "fleet/fleet_read.h"
#include "fleet/stack_rows.h"

/* A place is the number of a build and an offset in its file: one word. */
#define SYMBOLIZER_OFFSET_BITS 40
#define SYMBOLIZER_BUILDS_MOST (1U << 20)
#define SYMBOLIZER_PLACES_MOST (1U << 23) /* of 64 bytes each, while they are looked up */

struct symbolizer_build {
	const char *id, *path; /* hexadecimal; as the first frame has it */
	uint8_t bytes[20], size;
	uint64_t frames, named;
	const char *why;
};

/* A function at a place; those of one place are beside each other, innermost first. */
struct symbolizer_line {
	const char *symbol, *file; /* not NULL */
	uint64_t start;
	uint32_t line;
	bool last; /* of its place */
};

struct tally_symbolizer {
	char *folder;
	char **files; /* tables of stacks with frames that lack names */
	uint32_t file_count, file_room;
	struct fleet_claim claim;
	struct tally_strings texts; /* build-ids, paths, names: as long as the symbolizer */
	struct tally_map builds;    /* number of the id's text -> number of the build */
	struct symbolizer_build *list;
	uint32_t build_count, build_room;
	struct symbolizer_build **order; /* of those with frames that lack names */
	size_t order_count;
	struct tally_map places; /* place -> its first line + 1; 0: no name is known */
	struct symbolizer_line *lines;
	uint32_t line_count, line_room;
	struct tally_data *data; /* NULL: no frame lacks a name */
	struct tally_symbolizer_result result;
};

/* The table may be written anew.  0, or -errno with words; to be closed in any case. */
int tally_symbolizer_open_table(const char *path, struct fleet_table *ret,
				struct tally_error *error);
/* Reads a group of its rows.  0, or -errno with words; to be released in any case. */
int tally_symbolizer_read(const struct fleet_table *table, const char *path, uint32_t group,
			  struct stack_rows *ret, struct tally_error *error);

/* The builds of a group's texts: + 1, 0 for what is no build-id; `add` adds those that are not
 * known.  For free().  NULL: out of memory, or there are too many. */
uint32_t *tally_symbolizer_builds(struct tally_symbolizer *symbolizer,
				  const struct stack_rows *rows, bool add);
/* The place of a frame without a name; false: it has one, or cannot get one. */
bool tally_symbolizer_place(const struct stack_rows *rows, const uint32_t *builds, uint32_t place,
			    uint64_t *ret);

/* Makes the recording that has a sample at each place.  0, or -errno with words. */
int tally_symbolizer_make_data(struct tally_symbolizer *symbolizer, struct tally_error *error);
/* Fills `lines`, and the values of `places`.  0, -ECANCELED or -ENOMEM, or with words. */
int tally_symbolizer_look_up(struct tally_symbolizer *symbolizer, struct tally_session *session,
			     bool no_lines, struct tally_error *error);
/* Writes the tables.  0, or -errno with words. */
int tally_symbolizer_rewrite(struct tally_symbolizer *symbolizer, struct tally_session *session,
			     struct tally_error *error);

#endif
