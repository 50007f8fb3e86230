#include "sqlite/sqlite_row.h"

#include <errno.h>
#include "base/bytes.h"
#include "sqlite/sqlite_tree.h"

/* Types of numbers.  Source: the record format of fileformat2.html. */
#define TYPE_NULL 0U
#define TYPE_ZERO 8U
#define TYPE_ONE  9U
#define TYPE_DATA 12U /* and twice the length; texts one more */

#define VARINT_MOST 9U

static unsigned width_of_type(uint64_t type)
{
	static const uint8_t widths[TYPE_DATA] = {[1] = 1, 2, 3, 4, 6, 8};

	return type < TYPE_DATA ? widths[type] : 0;
}

static uint64_t type_of_number(uint64_t number)
{
	static const uint8_t types[] = {1, 1, 2, 3, 4, 5, 5, 6, 6}; /* by bytes */
	uint64_t bits = number >> 63 ? ~number : number;

	if (number <= 1)
		return number ? TYPE_ONE : TYPE_ZERO;
	/* One more is the sign's. */
	return types[bits ? (64 - (unsigned)__builtin_clzll(bits) + 8) / 8 : 1];
}

static uint64_t type_of(const struct sqlite_value *value)
{
	switch ((enum sqlite_kind)value->kind) {
	case SQLITE_NUMBER:
		return type_of_number(value->number);
	case SQLITE_TEXT:
		return TYPE_DATA + 1 + 2 * value->number;
	case SQLITE_BYTES:
		return TYPE_DATA + 2 * value->number;
	case SQLITE_NONE:
		break;
	}
	return TYPE_NULL;
}

int tally_sqlite_row(struct tally_buf *to, const struct sqlite_value *values, unsigned count)
{
	size_t most = 2 * VARINT_MOST, head = 1;
	uint8_t *at;

	tally_buf_clear(to);
	for (unsigned i = 0; i < count; i++)
		most += VARINT_MOST + sizeof(uint64_t) +
			(values[i].kind > SQLITE_NUMBER ? values[i].number : 0);
	if (tally_buf_reserve(to, most))
		return -ENOMEM;
	/* The size of the head, with itself, is one byte, or two where there are many columns. */
	for (unsigned i = 0; i < count; i++) {
		uint64_t type = type_of(&values[i]);

		if (type < 0x80)
			to->data[head++] = (uint8_t)type;
		else
			head += tally_sqlite_varint(to->data + head, type);
	}
	if (head < 0x80) {
		to->data[0] = (uint8_t)head;
	} else {
		memmove(to->data + 2, to->data + 1, head - 1);
		tally_sqlite_varint(to->data, ++head);
	}
	at = to->data + head;
	for (unsigned i = 0; i < count; i++) {
		uint64_t number = values[i].number;

		if (values[i].kind == SQLITE_NUMBER) {
			unsigned width = width_of_type(type_of_number(number));

			/* Its lowest bytes, the highest of them first. */
			if (width)
				store_u64(at, __builtin_bswap64(number << (64 - 8 * width)));
			at += width;
		} else if (values[i].kind > SQLITE_NUMBER && number) {
			memcpy(at, values[i].bytes, number);
			at += number;
		}
	}
	to->size = (size_t)(at - to->data);
	return 0;
}
