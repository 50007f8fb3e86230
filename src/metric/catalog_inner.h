/* For the files that fill a catalogue; <tally/catalog.h> is for others. */
#ifndef TALLY_METRIC_CATALOG_INNER_H
#define TALLY_METRIC_CATALOG_INNER_H

#include <tally/catalog.h>
#include "base/arena.h"
#include "vendor/vendor_table.h"

struct tally_catalog { /* all zero is empty and valid */
	struct tally_arena arena;
	struct tally_catalog_entry *entries;
	size_t count, room;
	char *notes[8]; /* in the arena */
	size_t note_count;
	struct tally_table *table; /* NULL: none for this CPU */
	char **pmus;               /* of the machine, in the arena */
	size_t pmu_count, pmu_room;
	bool core;         /* one of them has the CPU's own events */
	bool other_cpu;    /* the table is of another machine's CPU */
	const char *sysfs; /* the caller's; valid only while it is opened */
};

int tally_catalog_add(struct tally_catalog *catalog, const struct tally_catalog_entry *entry);
char *tally_catalog_keep(struct tally_catalog *catalog, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tally_catalog_note_add(struct tally_catalog *catalog, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- catalog_machine.c; 0 or -ENOMEM --- */
/* Lists the machine's PMUs; with `list` also adds their events. */
int tally_catalog_read_pmus(struct tally_catalog *catalog, const char *sysfs, bool list);
int tally_catalog_read_tracepoints(struct tally_catalog *catalog, const char *tracefs);

#endif
