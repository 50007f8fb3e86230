#include "report/shorten.h"

#include <string.h>
#include "base/cell.h"

#define DOTS       "..."
#define INLINED    "(inlined)" /* behind a name: no arguments */
#define DOTS_SIZE  3
#define DEPTH_MOST 64   /* brackets within each other */
#define NAMES_MOST 4096 /* a longer name is only cut */

/* Bytes of the longest end of the text that needs at most `columns`. */
static size_t tail_of(const char *text, size_t length, size_t columns)
{
	size_t start = length;

	while (start && columns) {
		start--;
		/* Characters stay whole. */
		columns -= ((unsigned char)text[start] & 0xc0) != 0x80;
	}
	return length - start;
}

/* The start, dots, the end. */
static void put_ends(struct tally_buf *to, const char *text, size_t length, size_t columns)
{
	size_t room = columns > DOTS_SIZE ? columns - DOTS_SIZE : 0, head = room / 3;
	size_t tail = tail_of(text, length, room - head);

	tally_buf_add(to, text, tally_cell_cut(text, length, head));
	tally_buf_add(to, DOTS, columns < DOTS_SIZE ? columns : DOTS_SIZE);
	tally_buf_add(to, text + length - tail, tail);
}

/* Whether a bracket at this place opens arguments: "operator<", "<<" and "->" do not, nor does the
 * "<" that a name of Rust starts with ("<T as U>::f"). */
static bool opens(const char *text, size_t at)
{
	if (text[at] == '(')
		return at != 0 && strncmp(text + at, INLINED, sizeof(INLINED) - 1) != 0;
	if (text[at] != '<' || !at)
		return false;
	return !(at >= 8 && !memcmp(text + at - 8, "operator", 8)) && text[at - 1] != '<' &&
	       text[at + 1] != '<' && text[at + 1] != '=';
}

/* The longest of the innermost pairs of brackets with more than dots between them; false: there is
 * none. */
static bool find_pair(const char *text, size_t length, char open, size_t *ret_from, size_t *ret_to)
{
	struct {
		size_t from;
		bool outer; /* such a pair is within it */
	} pairs[DEPTH_MOST];
	char close = open == '(' ? ')' : '>';
	size_t depth = 0, best = 0;

	for (size_t i = 0; i < length; i++) {
		size_t size;
		bool wanted;

		if (text[i] == open && opens(text, i)) {
			if (depth == DEPTH_MOST)
				return false;
			pairs[depth].from = i + 1;
			pairs[depth++].outer = false;
			continue;
		}
		if (text[i] != close || !depth || (i && text[i - 1] == '-'))
			continue;
		size = i - pairs[--depth].from;
		wanted = size > DOTS_SIZE;
		if (wanted && !pairs[depth].outer && size > best) {
			best = size;
			*ret_from = pairs[depth].from;
			*ret_to = i;
		}
		if (depth)
			pairs[depth - 1].outer |= wanted || pairs[depth].outer;
	}
	return best != 0;
}

static void drop_arguments(char *text, size_t *length, size_t columns, char open)
{
	size_t from = 0, until = 0;

	while (tally_cell_columns(text, *length) > columns &&
	       find_pair(text, *length, open, &from, &until)) {
		memmove(text + from + DOTS_SIZE, text + until, *length - until);
		for (size_t i = 0; i < DOTS_SIZE; i++)
			text[from + i] = DOTS[i];
		*length -= until - from - DOTS_SIZE;
	}
}

void tally_shorten(struct tally_buf *to, const char *text, size_t length, size_t columns)
{
	char room[NAMES_MOST + 1];

	if (tally_cell_columns(text, length) <= columns) {
		tally_buf_add(to, text, length);
		return;
	}
	if (length <= NAMES_MOST) {
		memcpy(room, text, length);
		room[length] = 0;
		drop_arguments(room, &length, columns, '(');
		drop_arguments(room, &length, columns, '<');
		text = room;
	}
	if (tally_cell_columns(text, length) <= columns)
		tally_buf_add(to, text, length);
	else
		put_ends(to, text, length, columns);
}

void tally_shorten_around(struct tally_buf *to, const char *text, size_t length, size_t columns,
			  size_t at)
{
	size_t room = columns > 2 * DOTS_SIZE ? columns - 2 * DOTS_SIZE : columns;
	size_t head = room / 3, middle = room / 3, from, tail;

	if (tally_cell_columns(text, length) <= columns || at >= length || at <= head ||
	    columns < 4 * DOTS_SIZE) {
		put_ends(to, text, length, columns);
		return;
	}
	from = at > middle / 4 ? at - middle / 4 : 0;
	while (from < length && ((unsigned char)text[from] & 0xc0) == 0x80)
		from++;
	if (length - from <= room - head + DOTS_SIZE) {
		put_ends(to, text, length, columns);
		return;
	}
	tally_buf_add(to, text, tally_cell_cut(text, length, head));
	tally_buf_add(to, DOTS, DOTS_SIZE);
	tally_buf_add(to, text + from, tally_cell_cut(text + from, length - from, middle));
	tally_buf_add(to, DOTS, DOTS_SIZE);
	tail = tail_of(text, length, room - head - middle);
	tally_buf_add(to, text + length - tail, tail);
}
