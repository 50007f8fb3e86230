/* What a reader of Thrift's compact protocol does not know, left out. */
#include "parquet/thrift_read.h"

#define THRIFT_NESTED 16U /* structs within each other, at most */

void tally_thrift_skip(struct thrift_from *from, unsigned type, unsigned depth)
{
	unsigned of;
	uint32_t count;
	size_t size;

	if (depth > THRIFT_NESTED) {
		from->failed = true;
		return;
	}
	switch (type) {
	case THRIFT_TRUE:
	case THRIFT_FALSE:
		break;
	case THRIFT_I8:
		thrift_byte(from);
		break;
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		thrift_read_varint(from);
		break;
	case THRIFT_DOUBLE:
		for (unsigned i = 0; i < 8; i++)
			thrift_byte(from);
		break;
	case THRIFT_BINARY:
		thrift_read_bytes(from, &size);
		break;
	case THRIFT_LIST:
	case THRIFT_SET:
		count = thrift_read_list(from, &of);
		for (uint32_t i = 0; i < count && !from->failed; i++)
			/* A truth value is a byte in a list. */
			tally_thrift_skip(from, of <= THRIFT_FALSE ? THRIFT_I8 : of, depth + 1);
		break;
	case THRIFT_STRUCT:
		for (struct thrift_place place = {0}; thrift_next(from, &place);)
			tally_thrift_skip(from, place.type, depth + 1);
		break;
	default:
		from->failed = true;
	}
}
