/* The table of lines of one unit: the names of its files, and rows of address, file and line. */
#ifndef TALLY_DWARF_LINE_TABLE_H
#define TALLY_DWARF_LINE_TABLE_H

#include "dwarf/dwarf_file.h"

struct line_row {
	uint64_t address;
	uint32_t file : 31;   /* as the table counts them */
	uint32_t goes_on : 1; /* the code does; else it ends here */
	uint32_t line;
};
#define LINE_FILE_MOST ((1U << 31) - 1)

struct line_file {
	const char *name; /* borrowed from the file */
	uint64_t folder;
};

struct line_table { /* all zero is empty and valid */
	uint16_t version;
	const char *unit_folder; /* DW_AT_comp_dir, or NULL */
	const char **folders;
	struct line_file *files;
	size_t folder_count, folder_room, file_count, file_room;
	struct line_row *rows; /* in the order of the table */
	size_t row_count, row_room;
	uint64_t *order; /* after sorting: the lower 32 bits are numbers of rows, by address */
	size_t order_count;
};

/* Whether the code at an address is part of the program.  Linkers set rows of what they left out
 * to addresses that are not. */
typedef bool (*line_code_fn)(const void *context, uint64_t address);

struct line_reading {
	const struct dwarf_file *file;
	uint64_t offset; /* in .debug_line */
	unsigned address_size;
	const char *unit_folder;
	uint64_t allowed; /* bytes of memory */
	line_code_fn is_code;
	const void *context;
	bool without_rows; /* names of files are enough */
};

/* 0; -EBADMSG: it is invalid; -EFBIG: more than is allowed; -ENOMEM.  `ret` is to be done at any
 * result. */
int tally_line_table_read(const struct line_reading *reading, struct line_table *ret);
void tally_line_table_done(struct line_table *table);
/* Makes `order`: by address, of each the row that counts, and none that repeats the one before.  0
 * or -ENOMEM. */
int tally_line_table_sort(struct line_table *table);

/* Writes the path of a file as addr2line prints it, "<unknown>" when there is none; at most `size`
 * bytes.  Returns its length. */
size_t tally_line_table_path(const struct line_table *table, uint64_t file, char *ret, size_t size);

#endif
