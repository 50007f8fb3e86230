/* Messages of Protocol Buffers, appended to a buffer.
 *
 * Source: the encoding as protobuf.dev describes it: a field is a key (its number, and a wire type
 * in the low three bits) and a value; fields whose value is 0 are left out. */
#ifndef TALLY_BASE_PROTOBUF_H
#define TALLY_BASE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/buf.h"

enum protobuf_wire { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2 };

void tally_protobuf_varint(struct tally_buf *to, uint64_t value);
/* int64 and int32, too: a number below 0 as its 64 bits. */
void tally_protobuf_u64(struct tally_buf *to, unsigned field, uint64_t value);
void tally_protobuf_fixed64(struct tally_buf *to, unsigned field, uint64_t value);
void tally_protobuf_bytes(struct tally_buf *to, unsigned field, const void *bytes, size_t size);
/* Text from outside: bytes that are not UTF-8 become U+FFFD, as strings must be UTF-8.  An empty
 * one is there, too. */
void tally_protobuf_text(struct tally_buf *to, unsigned field, const char *text, size_t length);
/* A repeated field of numbers in one. */
void tally_protobuf_packed(struct tally_buf *to, unsigned field, const uint64_t *values,
			   size_t count);
/* What is added between the two is a message in a field.  Begin gives its place. */
size_t tally_protobuf_begin(struct tally_buf *to, unsigned field);
void tally_protobuf_end(struct tally_buf *to, size_t place);

#endif
