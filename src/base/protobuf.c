#include "base/protobuf.h"

#include "base/text.h"

#define VARINT_MOST 10

static size_t put_varint(uint8_t *to, uint64_t value)
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		to[size++] = (uint8_t)(value | 0x80);
	to[size++] = (uint8_t)value;
	return size;
}

void tally_protobuf_varint(struct tally_buf *to, uint64_t value)
{
	if (!tally_buf_reserve(to, VARINT_MOST))
		to->size += put_varint(to->data + to->size, value);
}

static void put_key(struct tally_buf *to, unsigned field, enum protobuf_wire wire)
{
	tally_protobuf_varint(to, (uint64_t)field << 3 | wire);
}

void tally_protobuf_u64(struct tally_buf *to, unsigned field, uint64_t value)
{
	if (!value)
		return;
	put_key(to, field, PROTOBUF_VARINT);
	tally_protobuf_varint(to, value);
}

void tally_protobuf_fixed64(struct tally_buf *to, unsigned field, uint64_t value)
{
	if (!value)
		return;
	put_key(to, field, PROTOBUF_FIXED64);
	for (unsigned i = 0; i < 64; i += 8)
		tally_buf_byte(to, (uint8_t)(value >> i));
}

void tally_protobuf_bytes(struct tally_buf *to, unsigned field, const void *bytes, size_t size)
{
	put_key(to, field, PROTOBUF_BYTES);
	tally_protobuf_varint(to, size);
	tally_buf_add(to, bytes, size);
}

void tally_protobuf_text(struct tally_buf *to, unsigned field, const char *text, size_t length)
{
	size_t place = tally_protobuf_begin(to, field);

	for (size_t at = 0; at < length;) {
		size_t step = tally_text_utf8((const uint8_t *)text + at, length - at);

		tally_buf_add(to, step ? text + at : "\xef\xbf\xbd", step ? step : 3);
		at += step ? step : 1;
	}
	tally_protobuf_end(to, place);
}

void tally_protobuf_packed(struct tally_buf *to, unsigned field, const uint64_t *values,
			   size_t count)
{
	size_t place;

	if (!count)
		return;
	place = tally_protobuf_begin(to, field);
	for (size_t i = 0; i < count; i++)
		tally_protobuf_varint(to, values[i]);
	tally_protobuf_end(to, place);
}

size_t tally_protobuf_begin(struct tally_buf *to, unsigned field)
{
	put_key(to, field, PROTOBUF_BYTES);
	return to->size;
}

void tally_protobuf_end(struct tally_buf *to, size_t place)
{
	uint8_t length[VARINT_MOST];
	size_t size, body;

	if (to->failed)
		return;
	body = to->size - place;
	size = put_varint(length, body);
	if (tally_buf_reserve(to, size))
		return;
	memmove(to->data + place + size, to->data + place, body);
	memcpy(to->data + place, length, size);
	to->size += size;
}
