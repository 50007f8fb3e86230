/* The insides of struct data_types, for the files that make its answers. */
#ifndef TALLY_TYPES_DATA_TYPES_STATE_H
#define TALLY_TYPES_DATA_TYPES_STATE_H

#include <pthread.h>
#include "types/data_types.h"
#include "types/global_symbols.h"
#include "types/type_table.h"
#include "types/unit_names.h"

/* Entries of debug information that are read for one function, and for one name or layout. */
#define FUNCTION_STEPS (1U << 22)
#define NAME_STEPS     (1U << 17)

/* A range of a function's code, with an answer for each instruction. */
struct function_part {
	uint64_t low, high;
	uint32_t count;
	uint8_t outcome;  /* of addresses without an answer */
	uint32_t *places; /* from `low` */
	struct data_access *found;
};

struct unit_known {
	struct unit_names names;
	uint64_t offset;
	struct unit_known *next;
};

struct data_types {
	struct data_types_options options;
	pthread_mutex_t lock;
	const struct line_program *program; /* NULL: not known yet */
	struct type_reader reader;
	struct type_table table;
	struct insn_reader *insns;       /* NULL: the machine is unknown */
	struct unit_known *units, *unit; /* all; that of the function that is looked at */
	uint64_t shift;                  /* from places to addresses, of the question */
	struct global_symbols globals;
	struct tally_arena arena;
	struct tally_map by_address; /* that was asked for -> struct function_part * */
	struct tally_map by_start;   /* where a part begins -> the same */
	struct tally_map paths;      /* number of a type and offset -> the members' names */
};

/* The part of a function around an address of `types->unit`, made at the first question; NULL: out
 * of memory, or more than is allowed. */
struct function_part *tally_function_part(struct data_types *types, uint64_t address);
/* One that has the same outcome everywhere. */
struct function_part *tally_function_part_new(struct data_types *types, uint64_t low, uint64_t high,
					      enum access_outcome outcome);

#endif
