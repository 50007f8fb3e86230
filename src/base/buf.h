/* A growing array of bytes; also used to build text. */
#ifndef TALLY_BASE_BUF_H
#define TALLY_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All zero is empty and valid.  After a failed allocation `failed` stays set, further additions do
 * nothing, and the writer checks once at the end. */
struct tally_buf {
	uint8_t *data; /* text builders keep a NUL behind the last byte */
	size_t size, room;
	int failed; /* 0 or -ENOMEM */
};

void tally_buf_done(struct tally_buf *buf);
void tally_buf_clear(struct tally_buf *buf); /* keeps the memory */
int tally_buf_grow(struct tally_buf *buf, size_t more);
/* Always keeps one byte beyond what was asked, for the NUL of text. */
static inline int tally_buf_reserve(struct tally_buf *buf, size_t more)
{
	return !buf->failed && more < buf->room - buf->size ? 0 : tally_buf_grow(buf, more);
}
static inline void tally_buf_add(struct tally_buf *buf, const void *bytes, size_t size)
{
	if (!size || tally_buf_reserve(buf, size))
		return;
	memcpy(buf->data + buf->size, bytes, size);
	buf->size += size;
}
void tally_buf_zero(struct tally_buf *buf, size_t size);
void tally_buf_byte(struct tally_buf *buf, uint8_t byte);
void tally_buf_u32(struct tally_buf *buf, uint32_t value);
void tally_buf_u64(struct tally_buf *buf, uint64_t value);
void tally_buf_text(struct tally_buf *buf, const char *text); /* without its NUL */
void tally_buf_printf(struct tally_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *tally_buf_str(struct tally_buf *buf); /* NUL-terminated; borrowed until the next add */

#endif
