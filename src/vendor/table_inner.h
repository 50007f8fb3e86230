/* For the files of a vendor table; vendor_table.h is for others. */
#ifndef TALLY_VENDOR_TABLE_INNER_H
#define TALLY_VENDOR_TABLE_INNER_H

#include "base/arena.h"
#include "vendor/vendor_table.h"
#include "vendor/table_json.h"

/* Index of events or metrics by name: open addressing, a power of two, at most half full. */
struct table_slot {
	struct tally_table_event *first, *last; /* of one name; NULL: a free slot */
};
struct table_index {
	struct table_slot *slots;
	size_t room, count;
};

struct tally_table { /* all zero is empty and valid */
	struct tally_arena arena;
	struct tally_table_event **events;
	size_t count, room, refused;
	struct table_index names, metrics;
	char *folder, *cpuid; /* in the arena */
	/* Events that others refer to by ArchStdEvent; not in the table itself. */
	struct tally_table *standard;
};

/* Where objects come from. */
struct table_source {
	struct tally_table *table;
	const char *topic; /* NULL: none */
	const char
	    *pmu; /* default for events without a Unit, in tables of hybrid CPUs; NULL: the CPU's */
	bool native; /* Intel's layout: UMaskExt is a field, "0" and "null" mean nothing */
};

/* --- table_entry.c --- */
/* Makes an event from an object's fields. 1: `ret` is set, its text is the table's arena's or
 * constant; 0: it is not an event; -ENOMEM. */
int tally_table_entry_make(const struct table_source *source, const struct table_field *fields,
			   size_t count, struct tally_table_event *ret);

/* --- vendor_table.c --- */
int tally_table_add(struct tally_table *table, const struct tally_table_event *event);
void tally_table_done(struct tally_table *table);

/* --- table_load.c --- */
/* Adds a file's events. 0 or -errno; the error's text names the file. */
int tally_table_load_file(const struct table_source *source, const char *path,
			  struct tally_error *error);
/* Adds the CPU's files of one folder of the search path. -ENOENT: it has none. */
int tally_table_load_folder(struct tally_table *table, const char *folder,
			    struct tally_error *error);

#endif
