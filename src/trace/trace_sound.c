/* Formats are checked before libtraceevent sees them: on invalid text its parser frees memory
 * twice, uses missing fields, or recurses without end.  A format that passes has the lines that the
 * kernel writes (f_show() in kernel/trace/trace_events.c). */
#include "trace/trace_sound.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT_MOST = 1 << 20,
	NUMBER_MOST = UINT16_MAX,
};

static bool take(struct trace_scan *scan, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length))
		return false;
	scan->at += length;
	return true;
}

static bool take_number(struct trace_scan *scan)
{
	const char *start = scan->at;
	unsigned value = 0;

	for (; scan->at < scan->end && isdigit((unsigned char)*scan->at); scan->at++) {
		value = value * 10 + (unsigned)(*scan->at - '0');
		if (value > NUMBER_MOST)
			return false;
	}
	return scan->at > start;
}

static bool take_name(struct trace_scan *scan)
{
	const char *start = scan->at;

	while (scan->at < scan->end &&
	       (isalnum((unsigned char)*scan->at) || strchr("_-.", *scan->at)))
		scan->at++;
	return scan->at > start;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The last word of a declaration, before the array's brackets, is the field's name. */
static bool add_name(struct trace_names *names, const char *start, const char *end)
{
	const char *bracket = memchr(start, '[', (size_t)(end - start)), *first;

	if (bracket)
		end = bracket;
	for (first = end; first > start && is_word(first[-1]); first--)
		;
	if (first == end || first == start || isdigit((unsigned char)*first) ||
	    names->count == TRACE_FIELDS_MOST)
		return false;
	names->at[names->count++] = (struct trace_name_at){first, (size_t)(end - first)};
	return true;
}

/* TYPE NAME, with at most one array behind it.  __data_loc and __rel_loc have the array with the
 * type: `__data_loc char[] name`. */
static bool take_declaration(struct trace_scan *scan, struct trace_names *names)
{
	const char *start = scan->at, *name = scan->at;
	unsigned open = 0, arrays = 0;

	for (; scan->at < scan->end && *scan->at != ';'; scan->at++) {
		char c = *scan->at;

		if (c == '[' && (open || arrays++))
			return false;
		if (c == '[' || c == '(')
			open++;
		else if ((c == ']' || c == ')') && !open--)
			return false;
		else if (!is_word(c) && !strchr(" *[]().,:+-/&", c))
			return false;
		if (c == ']')
			name = scan->at + 1;
	}
	if (scan->at == scan->end || open || !is_word(*start))
		return false;
	if (name == scan->at)
		name = start;
	return add_name(names, name, scan->at);
}

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;\n"; old kernels have no "signed". */
static bool take_field(struct trace_scan *scan, struct trace_names *names)
{
	if ((!take(scan, "\tfield:") && !take(scan, "\tfield special:")) ||
	    !take_declaration(scan, names) || !take(scan, ";\toffset:") || !take_number(scan) ||
	    !take(scan, ";\tsize:") || !take_number(scan) || !take(scan, ";"))
		return false;
	if (take(scan, "\tsigned:") && (!take_number(scan) || !take(scan, ";")))
		return false;
	return take(scan, "\n");
}

static bool take_fields(struct trace_scan *scan, struct trace_names *names)
{
	while (scan->at < scan->end) {
		if (take(scan, "\n"))
			continue;
		if (*scan->at != '\t')
			return names->count;
		if (!take_field(scan, names))
			return false;
	}
	return false;
}

bool tally_trace_take_quoted(struct trace_scan *scan)
{
	char quote = *scan->at++;

	for (; scan->at < scan->end && *scan->at != quote; scan->at++)
		if (*scan->at == '\\' && ++scan->at == scan->end)
			return false;
	return scan->at++ < scan->end;
}

static bool is_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') ||
		    (unsigned char)text[i] > '~')
			return false;
	return true;
}

void tally_trace_sound(const char *text, size_t size, struct trace_soundness *ret)
{
	struct trace_scan scan = {text, text + size};
	struct trace_names *names;

	*ret = (struct trace_soundness){false};
	if (size > TEXT_MOST || !is_text(text, size) || !take(&scan, "name: ") ||
	    !take_name(&scan) || !take(&scan, "\nID: ") || !take_number(&scan) ||
	    !take(&scan, "\nformat:\n"))
		return;
	names = calloc(1, sizeof(*names));
	if (!names)
		return;
	if (take_fields(&scan, names)) {
		ret->fields = true;
		ret->print_offset = (size_t)(scan.at - text);
		ret->print = take(&scan, "print fmt: ") && tally_trace_print_sound(&scan, names);
	}
	free(names);
}
