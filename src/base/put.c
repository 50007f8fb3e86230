#include "base/put.h"

#include <errno.h>
#include "base/text.h"

int tally_buf_put(struct tally_buf *text, FILE *out)
{
	int code = text->failed;

	errno = 0;
	if (!code && text->size && fwrite(text->data, 1, text->size, out) != text->size)
		code = errno ? -errno : -EIO;
	tally_buf_done(text);
	return code;
}

int tally_buf_put_escaped(struct tally_buf *text, FILE *out)
{
	const char *at = text->size ? (const char *)text->data : "", *end = at + text->size;
	struct tally_buf escaped = {.failed = text->failed};

	while (at < end) {
		const char *run = at;

		while (at < end && *at != '\n' && *at != '\t')
			at++;
		tally_text_add_escaped(&escaped, run, (size_t)(at - run));
		if (at < end)
			tally_buf_byte(&escaped, (uint8_t)*at++);
	}
	tally_buf_done(text);
	return tally_buf_put(&escaped, out);
}
