/* What a type is made of: its size, what it points to, its members, its name. */
#ifndef TALLY_TYPES_TYPE_SHAPE_H
#define TALLY_TYPES_TYPE_SHAPE_H

#include "base/buf.h"
#include "types/type_reader.h"

/* How many const, typedef and the like a type has in a row, and how deep records are looked into.
 */
#define TYPE_CHAIN_MOST 32
#define TYPE_DEPTH_MOST 16

/* The type without const, volatile, restrict and _Atomic, and without typedefs, but for one that
 * names a record which has no name of its own.  False: void, or unknown. */
bool tally_type_plain(struct type_reader *reader, type_ref type, struct type_entry *ret);
/* The same without any typedef: what says the members. */
bool tally_type_bare(struct type_reader *reader, type_ref type, struct type_entry *ret);

/* Whether an entry is a struct, union or class. */
bool tally_type_is_record(const struct type_entry *entry);
bool tally_type_is_pointer(const struct type_entry *entry);

/* Bytes; false: unknown. */
bool tally_type_size(struct type_reader *reader, type_ref type, uint64_t *ret);
/* The type of an array's elements, through all its dimensions, else the type itself; plain.  0:
 * unknown. */
type_ref tally_type_element(struct type_reader *reader, type_ref type);
/* What a pointer points to, plain; 0: unknown, void, or it is no pointer. */
type_ref tally_type_target(struct type_reader *reader, type_ref type);

/* A member that holds an offset of a record. */
struct type_member {
	struct type_entry entry;
	uint64_t start; /* of the member in the record */
	uint64_t size;
};
/* The member of a record at an offset, not looking into it; of a union the one that `pointers`
 * prefers: one that has a pointer exactly there.  False: none, or it is no record. */
bool tally_type_member(struct type_reader *reader, type_ref record, uint64_t offset, bool pointers,
		       struct type_member *ret);
/* Visits the members of a record and the records that it is derived from; true: a visit returned
 * true. */
typedef bool (*type_member_fn)(void *context, const struct type_member *member);
bool tally_type_members(struct type_reader *reader, type_ref record, type_member_fn visit,
			void *context);

/* Looks into an object at an offset: through records and arrays to what is not made of others.
 * Returns its plain type, and where in it the offset is; 0: a hole, or unknown. */
type_ref tally_type_leaf(struct type_reader *reader, type_ref type, uint64_t offset, bool pointers,
			 uint64_t *ret_offset);

/* "struct list_node", "int", "char*"; as perf names types. */
void tally_type_text(struct type_reader *reader, type_ref type, struct tally_buf *to);
/* "se.load.weight": the members at an offset, those without names left out; nothing where there is
 * no member. */
void tally_type_path(struct type_reader *reader, type_ref record, uint64_t offset,
		     struct tally_buf *to);

#endif
