#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tally_buf_done(struct tally_buf *buf)
{
	free(buf->data);
	*buf = (struct tally_buf){0};
}

void tally_buf_clear(struct tally_buf *buf)
{
	buf->size = 0;
	buf->failed = 0;
}

int tally_buf_grow(struct tally_buf *buf, size_t more)
{
	size_t need, room = buf->room ? buf->room : 256;
	uint8_t *data;

	if (buf->failed)
		return buf->failed;
	if (__builtin_add_overflow(buf->size, more, &need) || need >= SIZE_MAX / 2)
		return buf->failed = -ENOMEM;
	if (need < buf->room)
		return 0;
	while (room <= need)
		room *= 2;
	data = realloc(buf->data, room);
	if (!data)
		return buf->failed = -ENOMEM;
	buf->data = data;
	buf->room = room;
	return 0;
}

void tally_buf_zero(struct tally_buf *buf, size_t size)
{
	if (!size || tally_buf_reserve(buf, size))
		return;
	memset(buf->data + buf->size, 0, size);
	buf->size += size;
}

void tally_buf_byte(struct tally_buf *buf, uint8_t byte)
{
	tally_buf_add(buf, &byte, 1);
}

void tally_buf_u32(struct tally_buf *buf, uint32_t value)
{
	tally_buf_add(buf, &value, sizeof(value));
}

void tally_buf_u64(struct tally_buf *buf, uint64_t value)
{
	tally_buf_add(buf, &value, sizeof(value));
}

void tally_buf_text(struct tally_buf *buf, const char *text)
{
	tally_buf_add(buf, text, strlen(text));
}

void tally_buf_printf(struct tally_buf *buf, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || tally_buf_reserve(buf, (size_t)length))
		return;
	va_start(args, format);
	vsnprintf((char *)buf->data + buf->size, buf->room - buf->size, format, args);
	va_end(args);
	buf->size += (size_t)length;
}

const char *tally_buf_str(struct tally_buf *buf)
{
	if (tally_buf_reserve(buf, 1))
		return "";
	buf->data[buf->size] = 0;
	return (const char *)buf->data;
}
