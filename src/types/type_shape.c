#include "types/type_shape.h"

#include <dwarf.h>

static bool is_qualifier(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
		return true;
	default:
		return false;
	}
}

bool tally_type_is_record(const struct type_entry *entry)
{
	return entry->tag == DW_TAG_structure_type || entry->tag == DW_TAG_union_type ||
	       entry->tag == DW_TAG_class_type;
}

bool tally_type_is_pointer(const struct type_entry *entry)
{
	return entry->tag == DW_TAG_pointer_type || entry->tag == DW_TAG_reference_type ||
	       entry->tag == DW_TAG_rvalue_reference_type;
}

bool tally_type_bare(struct type_reader *reader, type_ref type, struct type_entry *ret)
{
	for (int i = 0; i < TYPE_CHAIN_MOST && type; i++) {
		if (!tally_type_entry(reader, type, ret))
			return false;
		if (!is_qualifier(ret->tag) && ret->tag != DW_TAG_typedef)
			return true;
		type = ret->type;
	}
	return false;
}

bool tally_type_plain(struct type_reader *reader, type_ref type, struct type_entry *ret)
{
	struct type_entry at, name = {.self = 0};

	for (int i = 0; i < TYPE_CHAIN_MOST && type; i++) {
		if (!tally_type_entry(reader, type, &at))
			return false;
		if (at.tag == DW_TAG_typedef)
			name = at;
		else if (!is_qualifier(at.tag)) {
			bool nameless = !at.name && (tally_type_is_record(&at) ||
						     at.tag == DW_TAG_enumeration_type);

			*ret = nameless && name.self ? name : at;
			return true;
		}
		type = at.type;
	}
	return false;
}

/* --- sizes --- */

/* All elements of an array; false: of some dimension the count is unknown. */
static bool element_count(struct type_reader *reader, const struct type_entry *array, uint64_t *ret)
{
	struct type_entry dimension;
	uint64_t count = 1;
	bool known = true, more = tally_type_child(reader, array, &dimension);

	for (; more; more = tally_type_sibling(reader, &dimension, &dimension)) {
		if (dimension.tag != DW_TAG_subrange_type)
			continue;
		known = known && dimension.has_count;
		if (known && __builtin_mul_overflow(count, dimension.count, &count))
			return false;
	}
	*ret = count;
	return known;
}

bool tally_type_size(struct type_reader *reader, type_ref type, uint64_t *ret)
{
	uint64_t count = 1, of_dimensions;
	struct type_entry at;

	for (int i = 0; i < TYPE_CHAIN_MOST && tally_type_bare(reader, type, &at); i++) {
		if (at.has_size || tally_type_is_pointer(&at)) {
			uint64_t size = at.has_size ? at.size : at.unit->unit.address_size;

			return !__builtin_mul_overflow(size, count, ret);
		}
		if (at.tag != DW_TAG_array_type || !element_count(reader, &at, &of_dimensions) ||
		    __builtin_mul_overflow(count, of_dimensions, &count))
			return false;
		type = at.type;
	}
	return false;
}

type_ref tally_type_element(struct type_reader *reader, type_ref type)
{
	struct type_entry at, bare;

	for (int i = 0; i < TYPE_CHAIN_MOST; i++) {
		if (!tally_type_plain(reader, type, &at) || !tally_type_bare(reader, type, &bare))
			return 0;
		if (bare.tag != DW_TAG_array_type)
			return at.self;
		type = bare.type;
	}
	return 0;
}

type_ref tally_type_target(struct type_reader *reader, type_ref type)
{
	struct type_entry at, target;

	return tally_type_bare(reader, type, &at) && tally_type_is_pointer(&at) &&
		       tally_type_plain(reader, at.type, &target)
		   ? target.self
		   : 0;
}

/* --- members --- */

bool tally_type_members(struct type_reader *reader, type_ref record, type_member_fn visit,
			void *context)
{
	struct type_member member;
	struct type_entry bare;
	bool more;

	if (!tally_type_bare(reader, record, &bare) || !tally_type_is_record(&bare))
		return false;
	more = tally_type_child(reader, &bare, &member.entry);
	for (; more; more = tally_type_sibling(reader, &member.entry, &member.entry)) {
		if ((member.entry.tag != DW_TAG_member && member.entry.tag != DW_TAG_inheritance) ||
		    member.entry.declaration ||
		    (!member.entry.has_offset && bare.tag != DW_TAG_union_type))
			continue; /* a static member, or a virtual base */
		member.start = member.entry.has_offset ? member.entry.offset : 0;
		if (member.entry.has_bits)
			member.size = (member.entry.bit_offset + member.entry.bits + 7) / 8;
		else if (!tally_type_size(reader, member.entry.type, &member.size))
			member.size = 0;
		if (visit(context, &member))
			return true;
	}
	return false;
}

struct member_search {
	struct type_reader *reader;
	uint64_t offset;
	bool pointers, found;
	struct type_member *ret;
};

static bool has_pointer_at(struct type_reader *reader, type_ref type, uint64_t offset)
{
	struct type_entry bare;
	uint64_t within;
	type_ref leaf = tally_type_leaf(reader, type, offset, false, &within);

	return leaf && !within && tally_type_bare(reader, leaf, &bare) &&
	       tally_type_is_pointer(&bare);
}

/* A flexible array has no size, and is behind all others. */
static bool match_member(void *context, const struct type_member *member)
{
	struct member_search *search = context;
	bool holds = search->offset >= member->start &&
		     (!member->size || search->offset - member->start < member->size);
	struct type_entry bare;

	if (!holds)
		return false;
	if (!member->size && (!tally_type_bare(search->reader, member->entry.type, &bare) ||
			      bare.tag != DW_TAG_array_type))
		return false;
	if (!search->found || member->size) {
		if (!search->found || (search->ret->size == 0 && member->size))
			*search->ret = *member;
		search->found = true;
	}
	if (!search->pointers)
		return member->size != 0;
	if (!has_pointer_at(search->reader, member->entry.type, search->offset - member->start))
		return false;
	*search->ret = *member;
	return true;
}

bool tally_type_member(struct type_reader *reader, type_ref record, uint64_t offset, bool pointers,
		       struct type_member *ret)
{
	struct member_search search = {
	    .reader = reader, .offset = offset, .pointers = pointers, .ret = ret};

	tally_type_members(reader, record, match_member, &search);
	return search.found;
}

type_ref tally_type_leaf(struct type_reader *reader, type_ref type, uint64_t offset, bool pointers,
			 uint64_t *ret_offset)
{
	for (int i = 0; i < TYPE_DEPTH_MOST; i++) {
		type_ref element = tally_type_element(reader, type);
		struct type_member member;
		struct type_entry bare;
		uint64_t size;

		if (!element || !tally_type_bare(reader, element, &bare))
			return 0;
		if (element != type && tally_type_size(reader, element, &size) && size)
			offset %= size;
		if (!tally_type_is_record(&bare)) {
			*ret_offset = offset;
			return element;
		}
		if (!tally_type_member(reader, element, offset, pointers, &member))
			return 0;
		offset -= member.start;
		type = member.entry.type;
	}
	return 0;
}

/* --- names --- */

/* What stands behind the name of the type that another one is made of; NULL: it is not made so. */
static const char *behind_name(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_pointer_type:
		return "*";
	case DW_TAG_reference_type:
		return "&";
	case DW_TAG_rvalue_reference_type:
		return "&&";
	case DW_TAG_array_type:
		return "[]";
	default:
		return NULL;
	}
}

static const char *before_name(uint16_t tag)
{
	return tag == DW_TAG_structure_type     ? "struct "
	       : tag == DW_TAG_union_type       ? "union "
	       : tag == DW_TAG_enumeration_type ? "enum "
						: "";
}

static void put_text(struct type_reader *reader, type_ref type, unsigned depth,
		     struct tally_buf *to)
{
	struct type_entry at;

	if (depth > TYPE_DEPTH_MOST || (type && !tally_type_plain(reader, type, &at))) {
		tally_buf_text(to, depth ? "void" : "(unknown type)");
	} else if (!type) {
		tally_buf_text(to, "void");
	} else if (behind_name(at.tag)) {
		put_text(reader, at.type, depth + 1, to);
		tally_buf_text(to, behind_name(at.tag));
	} else if (at.tag == DW_TAG_subroutine_type) {
		tally_buf_text(to, "(function_type)");
	} else {
		tally_buf_text(to, before_name(at.tag));
		if (at.name)
			tally_buf_add(to, at.name, strnlen(at.name, TALLY_NAME_MOST));
		else
			tally_buf_text(to, "(no name)");
	}
}

void tally_type_text(struct type_reader *reader, type_ref type, struct tally_buf *to)
{
	put_text(reader, type, 0, to);
}

void tally_type_path(struct type_reader *reader, type_ref record, uint64_t offset,
		     struct tally_buf *to)
{
	size_t start = to->size;

	for (int i = 0; i < TYPE_DEPTH_MOST; i++) {
		type_ref element = tally_type_element(reader, record);
		struct type_member member;
		uint64_t size;

		if (element && element != record && tally_type_size(reader, element, &size) && size)
			offset %= size;
		if (!element || !tally_type_member(reader, element, offset, false, &member))
			return;
		if (member.entry.name) {
			if (to->size > start)
				tally_buf_byte(to, '.');
			tally_buf_add(to, member.entry.name,
				      strnlen(member.entry.name, TALLY_NAME_MOST));
		}
		offset -= member.start;
		record = member.entry.type;
	}
}
