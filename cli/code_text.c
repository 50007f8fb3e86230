#include "code_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void code_text_done(struct code_text *text)
{
	tally_listing_free(text->listing);
	free(text->lines);
	free(text->text);
	*text = (struct code_text){0};
}

/* Takes a line of the listing apart: "   12.34    0.00 :   1149:  |   subl ..." is an instruction;
 * in lines of source text an address does not follow the first colon. */
static void take_line(struct code_line *line)
{
	char *end;
	const char *at = strchr(line->text, ':');
	uint64_t address;

	if (!at)
		return;
	at++;
	address = strtoull(at, &end, 16);
	if (end == at || *end != ':' || *at != ' ')
		return;
	line->is_instruction = true;
	line->address = address;
	for (at = line->text; *at && *at != ':';) {
		double share = strtod(at, &end);

		if (end == at)
			break;
		line->share = share > line->share ? share : line->share;
		at = end;
	}
}

static int split(struct code_text *text)
{
	size_t room = 1;

	for (const char *at = text->text; *at; at++)
		room += *at == '\n';
	text->lines = calloc(room, sizeof(*text->lines));
	if (!text->lines)
		return -ENOMEM;
	for (char *at = text->text, *end; *at; at = end) {
		struct code_line *line = &text->lines[text->count++];

		end = at + strcspn(at, "\n");
		if (*end)
			*end++ = 0;
		line->text = at;
		take_line(line);
	}
	return 0;
}

static int fail(struct tally_error *error, int code)
{
	error->code = code;
	snprintf(error->text, sizeof(error->text), "%s", strerror(-code));
	return code;
}

int code_text_make(const struct tally_annotation *annotation, const struct code_options *options,
		   struct code_text *ret, struct tally_error *error)
{
	const struct tally_annotation_text how = {
	    .size = sizeof(how),
	    .functions = 1,
	    .quiet = true,
	    .no_source = options->no_source,
	    .intel = options->intel,
	    .utf8 = options->utf8,
	    .width = options->width,
	};
	struct code_text made = {0};
	size_t size = 0;
	FILE *to = open_memstream(&made.text, &size);
	int result =
	    to ? tally_annotation_write(annotation, &how, to, error) : fail(error, -ENOMEM);

	if (to && fclose(to) && !result)
		result = fail(error, -ENOMEM);
	if (!result && split(&made))
		result = fail(error, -ENOMEM);
	if (!result)
		result = tally_listing_new(annotation, 0, options->intel, &made.listing, error);
	if (result)
		code_text_done(&made);
	else
		*ret = made;
	return result;
}

size_t code_text_find(const struct code_text *text, uint64_t address)
{
	size_t at = 0;

	while (at < text->count &&
	       !(text->lines[at].is_instruction && text->lines[at].address == address))
		at++;
	return at;
}

bool code_text_instruction(const struct code_text *text, uint64_t address,
			   struct tally_instruction *ret)
{
	for (size_t i = 0; i < tally_listing_count(text->listing); i++)
		if (!tally_listing_instruction(text->listing, i, ret) && ret->address == address)
			return true;
	return false;
}

/* Instructions by their shares, and equal ones by their lines. */
static bool is_before(const struct code_text *text, size_t one, size_t other)
{
	const struct code_line *a = &text->lines[one], *b = &text->lines[other];

	return a->share != b->share ? a->share > b->share : one < other;
}

size_t code_text_next_hot(const struct code_text *text, size_t line, bool fewer)
{
	size_t best = text->count;

	for (size_t i = 0; i < text->count; i++) {
		if (!text->lines[i].is_instruction || !(text->lines[i].share > 0) || i == line)
			continue;
		/* From where no instruction is chosen, the hottest one is next. */
		if (line < text->count && text->lines[line].is_instruction &&
		    is_before(text, i, line) == fewer)
			continue;
		if (best == text->count || is_before(text, i, best) == fewer)
			best = i;
	}
	return best;
}
