/* The list of a table: its elements by number, so that a value of an element is kept and looked up
 * once, however many lists have it. */
#ifndef TALLY_PARQUET_ELEMENT_LIST_H
#define TALLY_PARQUET_ELEMENT_LIST_H

#include <stdint.h>
#include "base/buf.h"

struct parquet_chunk;

struct element_list {
	uint32_t field_count;
	/* Different elements of all groups, with field_count values each.  Slots: the upper half of
	 * the values' hash, then the number + 1; 0: free. */
	uint64_t *values, *slots;
	uint32_t known, known_room, slot_room;
	/* Of the group: its lists, and how many elements each row has. */
	uint32_t *numbers, *lengths;
	uint32_t count, room, rows, row_room;
	/* Of a group that is being written: its levels, and by element its place in the chunks + 1;
	 * 0: the group has it not. */
	struct tally_buf levels;
	uint32_t level_count;
	uint32_t *places, place_room;
};

void tally_element_list_done(struct element_list *list);
/* The number of an element.  Below 0: -ENOMEM. */
int64_t tally_element_list_number(struct element_list *list, const uint64_t *values);
/* The same of one that is known to differ from all others: it is not looked up, and never found. */
int64_t tally_element_list_another(struct element_list *list, const uint64_t *values);
/* Adds the list of a row.  0 or -ENOMEM. */
int tally_element_list_add(struct element_list *list, const uint32_t *numbers, uint32_t count);
/* Makes the group's levels, adds each of its elements once to the chunks of the fields, and turns
 * its numbers into places in these.  0 or -ENOMEM. */
int tally_element_list_finish(struct element_list *list, struct parquet_chunk *fields);
/* Begins the next group. */
void tally_element_list_next(struct element_list *list);

#endif
