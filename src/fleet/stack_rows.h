/* A group of rows of a table of stacks that is read: numbers, and the places of their frames. */
#ifndef TALLY_FLEET_STACK_ROWS_H
#define TALLY_FLEET_STACK_ROWS_H

#include "parquet/parquet_read.h"

/* In the order of the columns that parquet_stacks.c writes. */
enum stack_field {
	STACK_BUILD_ID,
	STACK_IMAGE,
	STACK_OFFSET,
	STACK_SYMBOL,
	STACK_FILE,
	STACK_LINE,
	STACK_START, /* tables of older editions lack it */
	STACK_FIELDS,
};

/* Places are numbered over all rows: each frame is one, and each empty list. */
struct stack_rows {
	struct parquet_values ids, of[STACK_FIELDS];
	uint8_t definition_most[STACK_FIELDS];
	uint32_t rows, places;
};

/* Reads the fields of a set (bits by enum stack_field); those of `optional` may be missing and are
 * empty then.  0; -ENOMEM, -EBADMSG or -ENOTSUP with a reason in *ret_why; to be released in any
 * case. */
int tally_stack_rows_read(const struct parquet_reader *reader, uint32_t group, unsigned wanted,
			  unsigned optional, struct stack_rows *ret, const char **ret_why);
void tally_stack_rows_done(struct stack_rows *rows);

static inline bool stack_rows_text_field(enum stack_field field)
{
	return field != STACK_OFFSET && field != STACK_LINE && field != STACK_START;
}

/* Whether a place has a value of a field. */
static inline bool stack_rows_has(const struct stack_rows *rows, enum stack_field field,
				  uint32_t place)
{
	const struct parquet_values *values = &rows->of[field];

	return values->count &&
	       (!values->definition || values->definition[place] >= rows->definition_most[field]);
}

/* The number of a field; where there is none, 0.  Of a text its index in the field's texts, and
 * UINT64_MAX for none. */
static inline uint64_t stack_rows_value(const struct stack_rows *rows, enum stack_field field,
					uint32_t place)
{
	if (stack_rows_has(rows, field, place))
		return rows->of[field].values[place];
	return stack_rows_text_field(field) ? UINT64_MAX : 0;
}

/* Whether a place is a frame, and not an empty list. */
bool tally_stack_rows_is_frame(const struct stack_rows *rows, uint32_t place);
/* The place behind the last one of a row that begins at `place`. */
uint32_t tally_stack_rows_end(const struct stack_rows *rows, uint32_t place);

#endif
