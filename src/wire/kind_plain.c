/* Kinds of fields that any record may have: numbers, bytes, text, words. */
#include "wire/kind.h"

static int walk_number(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	return tally_wire_scalar(walk, row->kind->least, wire_member(row, base));
}

static void show_number(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	show->number(show->to, row->name,
		     load_uint((const uint8_t *)base + row->member, row->kind->least));
}

const struct wire_kind tally_wire_u8 = {walk_number, show_number, 1, .fixed = true};
const struct wire_kind tally_wire_u16 = {walk_number, show_number, 2, .fixed = true};
const struct wire_kind tally_wire_u32 = {walk_number, show_number, 4, .fixed = true};
const struct wire_kind tally_wire_u64 = {walk_number, show_number, 8, .fixed = true};

static int walk_pad(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	(void)base;
	return tally_wire_skip(walk, row->size);
}

const struct wire_kind tally_wire_pad = {walk_pad, .row_size = true, .fixed = true};

static int walk_bytes(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	uint8_t *member = wire_member(row, base);
	const uint8_t *at = member;
	int error = tally_wire_take(walk, row->size, &at);

	if (!error && at != member)
		memcpy(member, at, row->size);
	return error;
}

static void show_bytes(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	show->bytes(show->to, row->name, (const uint8_t *)base + row->member, row->size);
}

const struct wire_kind tally_wire_bytes = {walk_bytes, show_bytes, .row_size = true, .fixed = true};

int tally_wire_take_text(struct wire_walk *walk, size_t size, const char **member)
{
	size_t length;
	int error;

	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP) {
		error = tally_wire_take(walk, size, (const uint8_t **)member);
		return error ? error : memchr(*member, 0, size) ? 0 : -EBADMSG;
	}
	if (!*member)
		return -EINVAL;
	length = strlen(*member);
	if (length >= size)
		return -EOVERFLOW;
	error = tally_wire_take(walk, length, (const uint8_t **)member);
	return error ? error : tally_wire_skip(walk, size - length);
}

static int walk_text(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	return tally_wire_take_text(walk, row->size, wire_member(row, base));
}

void tally_wire_show_text(const struct wire_show *show, const struct wire_row *row,
			  const void *base)
{
	const char *text = wire_pointer(row, base);

	show->text(show->to, row->name, text, text ? strlen(text) : 0);
}

const struct wire_kind tally_wire_text = {walk_text, tally_wire_show_text, .row_size = true};

int tally_wire_take_string(struct wire_walk *walk, size_t alignment, const char **member)
{
	size_t room = walk->end - walk->at, length;
	int error;

	if (walk->mode == WIRE_DECODE || walk->mode == WIRE_SWAP) {
		const uint8_t *at = walk->bytes + walk->at;

		if (!room || !memchr(at, 0, room))
			return -EBADMSG;
		*member = (const char *)at;
		walk->at = walk->end;
		return 0;
	}
	if (!*member)
		return -EINVAL;
	length = strlen(*member) + 1;
	if (length > UINT16_MAX)
		return -EOVERFLOW;
	error = tally_wire_take(walk, length, (const uint8_t **)member);
	return error ? error : tally_wire_skip(walk, align_up(length, alignment) - length);
}

static int walk_string(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	return tally_wire_take_string(walk, row->size, wire_member(row, base));
}

const struct wire_kind tally_wire_string = {walk_string, tally_wire_show_text, 1};

static int walk_words(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	return tally_wire_elements(walk, *wire_count(row, base), row->size, row->size / 8,
				   wire_member(row, base));
}

static void show_words(const struct wire_show *show, const struct wire_row *row, const void *base)
{
	show->words(show->to, row->name, wire_pointer(row, base), wire_counted(row, base),
		    row->size / 8);
}

const struct wire_kind tally_wire_words = {walk_words, show_words};

static int walk_ids(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	if (wire_reads(walk))
		*wire_count(row, base) = (walk->end - walk->at) / 8;
	return walk_words(walk, row, base);
}

const struct wire_kind tally_wire_ids = {walk_ids, show_words};

static int walk_sized(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	uint64_t size = *wire_count(row, base);
	int error = tally_wire_scalar(walk, 8, &size);

	if (!error)
		error = tally_wire_take(walk, size, wire_member(row, base));
	if (error)
		return error;
	*wire_count(row, base) = size;
	return tally_wire_skip(walk, align_up(size, 8) - size);
}

void tally_wire_show_rest(const struct wire_show *show, const struct wire_row *row,
			  const void *base)
{
	show->bytes(show->to, row->name, wire_pointer(row, base), wire_counted(row, base));
}

const struct wire_kind tally_wire_sized = {walk_sized, tally_wire_show_rest, 8};

static int walk_rest(struct wire_walk *walk, const struct wire_row *row, void *base)
{
	return tally_wire_take_rest(walk, wire_member(row, base), wire_count(row, base));
}

const struct wire_kind tally_wire_rest = {walk_rest, tally_wire_show_rest};
