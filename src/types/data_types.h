/* The types of the objects that a program's instructions access, by address.
 *
 * A function is looked at when one of its addresses is asked for, and all its answers are kept.
 * Everything is bounded: memory by the size of the file (elf_allowed()), time by the entries of
 * debug information and the instructions that are looked at for one function. */
#ifndef TALLY_TYPES_DATA_TYPES_H
#define TALLY_TYPES_DATA_TYPES_H

#include "base/buf.h"
#include "code/disassembler.h"
#include "types/access_types.h"

struct data_types;
struct line_index;

struct data_types_options {
	struct line_index *index; /* borrowed; of the program's units */
	struct tally_code_machine machine;
	bool relocated; /* addresses in the code are not those of debug information */
	/* Copies the code at a place; bytes, or below 0. */
	int64_t (*read)(void *context, uint64_t place, void *to, size_t size);
	void *context;
};

/* NULL: out of memory. */
struct data_types *tally_data_types_new(const struct data_types_options *options);
void tally_data_types_free(struct data_types *types); /* NULL is fine */

struct data_access {
	uint8_t outcome; /* enum access_outcome */
	uint32_t type;   /* number of its name; equal names have one number */
	int64_t offset;
};

/* What the instruction at an address of debug information accesses, whose code is at a place; in a
 * function both are as far from each other.  Callable by several threads.  0 or -ENOMEM. */
int tally_data_types_find(struct data_types *types, uint64_t address, uint64_t place,
			  struct data_access *ret);

/* The name of a type, "struct list_node"; it lives as long as the types, and is untrusted. */
const char *tally_data_type_name(struct data_types *types, uint32_t type);
/* Bytes of it. */
uint64_t tally_data_type_size(struct data_types *types, uint32_t type);
/* The members at an offset, "head.next"; "" where there is none, or nothing is known.  Kept, and
 * made once; lives as long as the types. */
const char *tally_data_type_path(struct data_types *types, uint32_t type, int64_t offset);

/* A line of a type's layout: the type itself first, at depth 0, then its members. */
struct data_member {
	unsigned depth;
	uint64_t offset, size; /* from the start of the whole type; bytes */
	const char *type;      /* borrowed until the visit returns */
	const char *name;      /* NULL: it has none */
	bool has_members;
};
typedef int (*data_member_fn)(void *context, const struct data_member *member);
/* Visits the layout; 0, -ENOMEM, or what a visit returned that was not 0.  Of a record with very
 * many members the first are visited. */
int tally_data_type_layout(struct data_types *types, uint32_t type, data_member_fn visit,
			   void *context);

#endif
