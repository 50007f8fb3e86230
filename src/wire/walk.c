#include "wire/walk.h"

#include "wire/kind.h"

int tally_wire_need(const struct wire_walk *walk, uint64_t size)
{
	if (walk->mode == WIRE_SIZE)
		return size > UINT16_MAX ? -EOVERFLOW : 0;
	if (size <= walk->end - walk->at)
		return 0;
	return walk->mode == WIRE_ENCODE ? -ENOSPC : -EBADMSG;
}

int tally_wire_scalar(struct wire_walk *walk, size_t size, void *member)
{
	int error = tally_wire_need(walk, size);
	uint8_t *at = walk->bytes ? walk->bytes + walk->at : NULL;
	uint64_t value;

	if (error)
		return error;
	switch (walk->mode) {
	case WIRE_DECODE:
		memcpy(member, at, size);
		break;
	case WIRE_ENCODE:
		memcpy(at, member, size);
		break;
	case WIRE_SIZE:
		break;
	case WIRE_SWAP:
		value = load_uint(at, size);
		wire_store(at, size, wire_swapped(value, size));
		wire_store(member, size, walk->to_native ? wire_swapped(value, size) : value);
		break;
	}
	walk->at += size;
	return 0;
}

int tally_wire_take(struct wire_walk *walk, uint64_t size, const uint8_t **member)
{
	int error = tally_wire_need(walk, size);

	if (error)
		return error;
	if (walk->mode == WIRE_ENCODE && size) {
		if (!*member)
			return -EINVAL;
		memcpy(walk->bytes + walk->at, *member, size);
	} else if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP) {
		*member = walk->bytes + walk->at;
	}
	walk->at += size;
	return 0;
}

int tally_wire_skip(struct wire_walk *walk, uint64_t size)
{
	int error = tally_wire_need(walk, size);

	if (error)
		return error;
	if (walk->mode == WIRE_ENCODE)
		memset(walk->bytes + walk->at, 0, size);
	walk->at += size;
	return 0;
}

int tally_wire_take_padded(struct wire_walk *walk, uint64_t size, const uint8_t **member)
{
	int error = tally_wire_take(walk, size, member);

	return error ? error : tally_wire_skip(walk, align_up(walk->at, 8) - walk->at);
}

int tally_wire_elements(struct wire_walk *walk, uint64_t count, size_t size, size_t words,
			const uint8_t **member)
{
	size_t start = walk->at;
	int error;

	if (walk->mode == WIRE_SIZE ? count > UINT16_MAX / size
				    : count > (walk->end - walk->at) / size)
		return walk->mode == WIRE_SIZE     ? -EOVERFLOW
		       : walk->mode == WIRE_ENCODE ? -ENOSPC
						   : -EBADMSG;
	error = tally_wire_take(walk, count * size, member);
	if (error || walk->mode != WIRE_SWAP)
		return error;
	for (uint64_t i = 0; i < count; i++)
		for (size_t k = 0; k < words; k++) {
			uint8_t *word = walk->bytes + start + i * size + k * 8;

			store_u64(word, __builtin_bswap64(load_u64(word)));
		}
	return 0;
}

int tally_wire_take_rest(struct wire_walk *walk, const uint8_t **member, uint64_t *size)
{
	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP)
		*size = walk->end - walk->at;
	return tally_wire_take(walk, *size, member);
}

int tally_wire_field(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	size_t start = walk->at;
	int error = row->kind->walk(walk, row, base);

	if (error)
		walk->at = start;
	return error;
}

/* What most fields are and most walks do, without calls: a number is decoded. */
static inline bool decodes_number(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	const struct wire_kind *kind = row->kind;
	const uint8_t *at;
	void *member;

	if (walk->mode != WIRE_DECODE || !kind->fixed || kind->row_size ||
	    kind->least > walk->end - walk->at)
		return false;
	at = walk->bytes + walk->at;
	member = wire_member(row, base);
	if (kind->least == 8)
		memcpy(member, at, 8);
	else if (kind->least == 4)
		memcpy(member, at, 4);
	else
		memcpy(member, at, kind->least);
	walk->at += kind->least;
	return true;
}

int tally_wire_walk(struct wire_walk *walk, struct wire_rows rows, uint64_t bits, void *base)
{
	int error = 0;

	for (size_t i = 0; i < rows.count && !error; i++) {
		const struct wire_row *row = &rows.rows[i];

		if ((!row->bit || (row->bit & bits)) && !decodes_number(walk, row, base))
			error = tally_wire_field(walk, row, base);
	}
	return error;
}

void tally_wire_show(const struct wire_show *show, struct wire_rows rows, uint64_t bits,
		     const void *base)
{
	for (size_t i = 0; i < rows.count; i++)
		if (rows.rows[i].kind->show && (!rows.rows[i].bit || (rows.rows[i].bit & bits)))
			rows.rows[i].kind->show(show, &rows.rows[i], base);
}
