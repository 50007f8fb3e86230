/* What registers and places of a function's own stack frame hold, as far as it leads to types. */
#ifndef TALLY_TYPES_HELD_H
#define TALLY_TYPES_HELD_H

#include "code/insn_access.h"
#include "types/type_reader.h"

enum held_kind {
	HELD_NOTHING,  /* unknown */
	HELD_POINTER,  /* the address of an object of `type`, + `offset` */
	HELD_FRAME,    /* the call frame address + `offset` */
	HELD_CONSTANT, /* the number `offset`, which may be an address */
};

struct held {
	uint8_t kind;  /* enum held_kind */
	bool moved;    /* it went on within an array: the offset counts from any element */
	bool record;   /* a struct, union or class */
	uint32_t size; /* of the object, where it is known and small enough; else 0 */
	int64_t offset;
	type_ref type;
};

/* Where values are kept for a while, by their offsets from the call frame address. */
#define HELD_SLOTS 16

struct held_slot {
	int64_t at;
	struct held held; /* HELD_NOTHING: it is free */
};

struct held_state {
	struct held registers[INSN_REGISTERS];
	struct held_slot slots[HELD_SLOTS];
};

/* What is known on two ways that meet: what both say.  Whether `to` changed. */
bool tally_held_merge(struct held_state *to, const struct held_state *from);

/* The sum with a number: an offset within an object, or on to other elements. */
struct held tally_held_add(const struct held *held, int64_t value);

struct held tally_held_slot(const struct held_state *state, int64_t at);
/* Nothing is kept there any more where `held` is unknown. */
void tally_held_store(struct held_state *state, int64_t at, const struct held *held);

#endif
