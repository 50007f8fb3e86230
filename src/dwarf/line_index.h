/* The index of a program's source lines and inlined functions: units by address, and of each unit
 * that was asked for a block that is searched in place (unit_lines.h).
 *
 * Blocks come from a file of the cache, or are made from debug information at the first question,
 * several at once when several threads ask.  What was made is written back when it took long, with
 * the names that were made for showing them.
 * Functions and lines are chosen as binutils 2.40 does for addr2line -f -i. */
#ifndef TALLY_DWARF_LINE_INDEX_H
#define TALLY_DWARF_LINE_INDEX_H

#include <pthread.h>
#include "base/fs.h"
#include "dwarf/line_names.h"
#include "dwarf/line_program.h"
#include "dwarf/lines_spans.h"
#include "dwarf/unit_lines.h"
#include "elf/budget.h"

/* An index is written when making its blocks took so many ns of a processor, or when so many names
 * were made, which take about as long. */
#define LINE_INDEX_LEAST 5000000U
#define LINE_INDEX_NAMES 500U

struct line_index_options {
	const char *folder; /* of the cache; NULL: nothing is read or written */
	const char *path;   /* of the program, for lists */
	uint8_t id_size, id[20];
	uint64_t least; /* LINE_INDEX_LEAST */
	/* Opens the program and the file with its debug information, either may be missing (its
	 * elf is NULL).  0; -ENOENT: there is neither. */
	int (*open)(void *context, struct tally_elf *ret_binary, struct tally_elf *ret_debug);
	void *context;
};

enum line_unit_state {
	LINE_UNIT_UNREAD,
	LINE_UNIT_USELESS, /* it has no lines, or is damaged */
	LINE_UNIT_READY,
	LINE_UNIT_BUSY, /* a thread makes its block */
};

struct line_unit {
	uint64_t offset; /* of its head in .debug_info */
	uint32_t state;  /* enum line_unit_state */
	bool unplaced;   /* it does not say where its code is */
	bool checked;    /* the block was */
	const void *block;
	size_t size;
	uint64_t hash; /* of the block in the file */
	void *made;    /* the block, when it is not in the file */
	struct unit_lines lines;
};

struct line_range { /* a section in memory */
	uint64_t low, high;
};

struct line_index {
	struct line_index_options options; /* strings are borrowed */
	pthread_mutex_t lock;              /* of all below */
	pthread_cond_t ready;              /* a unit is no longer busy */
	struct tally_mapped file;          /* of the cache */
	uint64_t base;                     /* addresses of blocks count from here */
	uint64_t shift;                    /* from places in the file to addresses: added */
	struct line_range *ranges;
	size_t range_count;
	struct line_unit *units;
	size_t unit_count;
	struct tally_spans spans; /* of units */
	struct line_program program;
	bool program_open;
	struct tally_budget budget;
	uint64_t allowed;
	uint64_t spent;          /* ns */
	bool changed;            /* there are blocks that the file lacks */
	struct line_names names; /* as shown; whoever shows names adds them */
};

/* 0; -ENOENT: the program cannot be opened; -ENOMEM. */
int tally_line_index_open(struct line_index *index, const struct line_index_options *options);
/* Writes the file if that is worth it. */
void tally_line_index_close(struct line_index *index);

struct line_found {
	const struct unit_lines *lines; /* NULL: no unit knows the address */
	struct unit_lines_found at;
};

/* Callable by several threads.  0; -ENOENT: it is no address of the program; -ENOMEM. */
int tally_line_index_find(struct line_index *index, uint64_t address, struct line_found *ret);

/* The unit with the code at an address, by its offset, for who reads its entries; what locations of
 * variables need is read.  *ret is borrowed until the index is closed, and nothing in it changes
 * any more.  0; -ENOENT: none is known; -ENOMEM. */
int tally_line_index_unit(struct line_index *index, uint64_t address,
			  const struct line_program **ret, uint64_t *ret_offset);

/* The symbol at an address; NULL: none. */
const struct tally_line_symbol *tally_line_index_symbol(struct line_index *index, uint64_t address);

/* Whether something of the program was left out, because it would take too much memory. */
bool tally_line_index_is_short(struct line_index *index);

#endif
