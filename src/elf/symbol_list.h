/* The symbols of one image while they are collected: added in any order, then sorted and finished
 * by perf's rules, so that Tally and perf give a place the same name. */
#ifndef TALLY_ELF_SYMBOL_LIST_H
#define TALLY_ELF_SYMBOL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/fs.h"

/* All zero is empty and valid.  One array for each field, as in the table: a large library has a
 * hundred thousand symbols. */
struct tally_symbol_list {
	uint64_t *starts, *ends; /* an end equal to the start means: size unknown */
	uint32_t *names;         /* offsets in `text` */
	uint8_t *infos;          /* binding and type as st_info of ELF has them */
	uint16_t *groups;        /* kallsyms: 0 the kernel, else the module; NULL elsewhere */
	size_t count, room;
	/* The names, each with its NUL: first those of a mapped file, if any, then `text`. */
	struct tally_mapped mapped;
	const char *first;
	size_t first_size;
	struct tally_buf text;
};

void tally_symbol_list_done(struct tally_symbol_list *list);
int tally_symbol_list_reserve(struct tally_symbol_list *list, size_t more);
int tally_symbol_list_add(struct tally_symbol_list *list, uint64_t start, uint64_t end,
			  uint32_t name, uint8_t info);
const char *tally_symbol_list_name(const struct tally_symbol_list *list, size_t index);

/* Takes over a malloc'ed text, whose last byte is NUL, and gives the offset of its start; the first
 * one is not copied.  -ENOMEM, or -EOVERFLOW if offsets would be too large; then it is still the
 * caller's. */
int tally_symbol_list_take_text(struct tally_symbol_list *list, char *text, size_t size,
				uint32_t *ret);

/* The offset of the name that is added next. */
static inline size_t symbol_list_text_end(const struct tally_symbol_list *list)
{
	return list->first_size + list->text.size;
}

/* Sorts by start (equal ones stay in order of arrival). */
int tally_symbol_list_sort(struct tally_symbol_list *list);
/* On a sorted list: extends symbols without a size up to the next symbol, then keeps the best of
 * those with the same start.  `demangle_left`: names are compared demangled, as far as this budget
 * of tally_demangle() allows; NULL: unchanged. */
void tally_symbol_list_finish(struct tally_symbol_list *list, uint64_t *demangle_left);

#endif
