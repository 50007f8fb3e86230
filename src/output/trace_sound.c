/* Formats are checked before libtraceevent sees them: on text that is no format its parser frees
 * twice, reads what it freed, or recurses without end.  What passes has the lines and fields that
 * the kernel writes (f_show() in kernel/trace/trace_events.c), quotes that close, brackets that
 * match, and no expression that is deeper or longer than any real one by far. */
#include <ctype.h>
#include <string.h>
#include "output/trace_program.h"

enum {
	TEXT_MOST = 1 << 20,
	NUMBER_MOST = UINT16_MAX,
	DEPTH_MOST = 128,
	OPERATORS_MOST = 2000,
	FIELDS_MOST = 1000,
};

struct scan {
	const char *at, *end;
};

static bool take(struct scan *scan, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length))
		return false;
	scan->at += length;
	return true;
}

static bool take_number(struct scan *scan)
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

static bool take_name(struct scan *scan)
{
	const char *start = scan->at;

	while (scan->at < scan->end &&
	       (isalnum((unsigned char)*scan->at) || strchr("_-.", *scan->at)))
		scan->at++;
	return scan->at > start;
}

/* TYPE NAME, with at most one array behind it: a word at least, and letters that types are made of.
 */
static bool take_declaration(struct scan *scan)
{
	const char *start = scan->at;
	unsigned letters = 0, open = 0, arrays = 0;

	for (; scan->at < scan->end && *scan->at != ';'; scan->at++) {
		char c = *scan->at;

		letters += isalpha((unsigned char)c) != 0;
		if (c == '[' && (open || arrays++))
			return false;
		if (c == '[' || c == '(')
			open++;
		else if ((c == ']' || c == ')') && !open--)
			return false;
		else if (!isalnum((unsigned char)c) && !strchr("_ *[]().,:+-/&", c))
			return false;
	}
	return scan->at > start + 2 && letters && !open && scan->at < scan->end;
}

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;\n"; old kernels have no "signed". */
static bool take_field(struct scan *scan)
{
	if ((!take(scan, "\tfield:") && !take(scan, "\tfield special:")) ||
	    !take_declaration(scan) || !take(scan, ";\toffset:") || !take_number(scan) ||
	    !take(scan, ";\tsize:") || !take_number(scan) || !take(scan, ";"))
		return false;
	if (take(scan, "\tsigned:") && (!take_number(scan) || !take(scan, ";")))
		return false;
	return take(scan, "\n");
}

static bool take_fields(struct scan *scan)
{
	unsigned count = 0;

	while (count <= FIELDS_MOST) {
		if (take(scan, "\n"))
			continue;
		if (scan->at == scan->end || *scan->at != '\t')
			return count;
		if (!take_field(scan))
			return false;
		count++;
	}
	return false;
}

/* To behind the quote that ends what starts here. */
static bool take_quoted(struct scan *scan)
{
	char quote = *scan->at++;

	for (; scan->at < scan->end && *scan->at != quote; scan->at++)
		if (*scan->at == '\\' && ++scan->at == scan->end)
			return false;
	return scan->at++ < scan->end;
}

struct brackets {
	char closing[DEPTH_MOST];
	unsigned depth, operators;
};

static bool bracket(struct brackets *brackets, char c)
{
	if (c == '(' || c == '[' || c == '{') {
		if (brackets->depth == DEPTH_MOST)
			return false;
		brackets->closing[brackets->depth++] = (char)(c == '('   ? ')'
							      : c == '[' ? ']'
									 : '}');
		return true;
	}
	return brackets->depth && brackets->closing[--brackets->depth] == c;
}

static bool take_arguments(struct scan *scan)
{
	struct brackets brackets = {.depth = 0};

	while (scan->at < scan->end) {
		char c = *scan->at;

		if (c == '"' || c == '\'') {
			if (!take_quoted(scan))
				return false;
			continue;
		}
		if (strchr("()[]{}", c) && !bracket(&brackets, c))
			return false;
		if (strchr(",;{}", c))
			brackets.operators = 0;
		else if (strchr("+-*/%&|^!~<>=?:(", c) && ++brackets.operators > OPERATORS_MOST)
			return false;
		scan->at++;
	}
	return !brackets.depth;
}

static bool is_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') ||
		    (unsigned char)text[i] > '~')
			return false;
	return true;
}

bool tally_trace_format_sound(const char *text, size_t size)
{
	struct scan scan = {text, text + size};

	if (size > TEXT_MOST || !is_text(text, size))
		return false;
	if (!take(&scan, "name: ") || !take_name(&scan) || !take(&scan, "\nID: ") ||
	    !take_number(&scan) || !take(&scan, "\nformat:\n"))
		return false;
	if (!take_fields(&scan) || !take(&scan, "print fmt: ") || scan.at == scan.end ||
	    *scan.at != '"')
		return false;
	return take_arguments(&scan);
}
