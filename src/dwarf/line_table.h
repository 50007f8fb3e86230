/* The table of lines of one unit: the names of its files, and rows of address, file and line. */
#ifndef TALLY_DWARF_LINE_TABLE_H
#define TALLY_DWARF_LINE_TABLE_H

#include "dwarf/dwarf_file.h"

struct line_row {
	uint64_t address;
	uint32_t file; /* as the table counts them */
	uint32_t line;
	uint32_t order; /* as the table has them; with LINE_ROW_CODE: the code goes on here */
};
#define LINE_ROW_CODE 0x80000000U

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
/* Sorts rows by address and leaves one for each, and none that repeats the one before. */
void tally_line_table_sort(struct line_table *table);

/* Writes the path of a file as addr2line prints it, "<unknown>" when there is none; at most `size`
 * bytes.  Returns its length. */
size_t tally_line_table_path(const struct line_table *table, uint64_t file, char *ret, size_t size);

#endif
