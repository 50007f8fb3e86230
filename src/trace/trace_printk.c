/* Texts of the kernel's by their address: lines of tracefs' printk_formats, `0xADDRESS : "text"`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "trace/trace_program.h"

static int compare(const void *left, const void *right)
{
	const struct trace_printk_row *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Neither the quotes belong to it, nor a \n at its end, which is two characters here. */
static void add_line(struct trace_printk *printk, char *line, size_t length)
{
	struct trace_printk_row row = {0};
	char *colon = memchr(line, ':', length), *text, *end = line + length;

	if (!colon || colon + 2 > end)
		return;
	row.address = strtoull(line, NULL, 16);
	text = colon + 2;
	if (text < end && *text == '"')
		text++;
	if (end > text && end[-1] == '"')
		end--;
	if (end - text >= 2 && end[-2] == '\\' && end[-1] == 'n')
		end -= 2;
	row.text = text;
	row.length = (size_t)(end - text);
	printk->rows[printk->count++] = row;
}

int tally_trace_printk_init(struct trace_printk *printk, const char *text, size_t size)
{
	size_t lines = 1;

	*printk = (struct trace_printk){0};
	if (!size)
		return 0;
	printk->copy = malloc(size + 1);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	printk->rows = calloc(lines, sizeof(*printk->rows));
	if (!printk->copy || !printk->rows) {
		tally_trace_printk_done(printk);
		return -ENOMEM;
	}
	memcpy(printk->copy, text, size);
	printk->copy[size] = '\0';
	for (char *line = printk->copy, *end = line + size; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline ? newline : end) - line);

		add_line(printk, line, length);
		line += length + 1;
	}
	qsort(printk->rows, printk->count, sizeof(*printk->rows), compare);
	return 0;
}

void tally_trace_printk_done(struct trace_printk *printk)
{
	free(printk->rows);
	free(printk->copy);
	*printk = (struct trace_printk){0};
}

const struct trace_printk_row *tally_trace_printk_find(const struct trace_printk *printk,
						       uint64_t address)
{
	struct trace_printk_row key = {.address = address};

	if (!printk || !printk->count)
		return NULL;
	return bsearch(&key, printk->rows, printk->count, sizeof(key), compare);
}
