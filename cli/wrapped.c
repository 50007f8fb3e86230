#include "wrapped.h"

/* Bytes of the next word, with the blanks before it, and the columns of both. */
static size_t next_word(const char *text, size_t length, unsigned *ret_blanks, unsigned *ret_word)
{
	size_t at = 0;

	*ret_blanks = *ret_word = 0;
	for (; at < length && text[at] == ' '; at++)
		++*ret_blanks;
	for (; at < length && text[at] != ' '; at++)
		*ret_word += ((unsigned char)text[at] & 0xc0) != 0x80;
	return at;
}

void cli_put_wrapped(const char *text, size_t length, unsigned width, FILE *to)
{
	unsigned column = 0, blanks, word;

	while (length) {
		size_t size = next_word(text, length, &blanks, &word);

		if (width && column && column + blanks + word > width) {
			fputc('\n', to);
			text += blanks;
			length -= blanks;
			size -= blanks;
			column = blanks = 0;
		}
		fwrite(text, 1, size, to);
		column += blanks + word;
		text += size;
		length -= size;
	}
	fputc('\n', to);
}
