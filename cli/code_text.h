/* A function's listing as lines of a screen, with the samples and the jumps of its instructions. */
#ifndef TALLY_CLI_CODE_TEXT_H
#define TALLY_CLI_CODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/annotate.h>

struct code_line {
	const char *text;    /* escaped; of struct code_text */
	bool is_instruction; /* else source text, or a heading */
	uint64_t address;    /* of an instruction */
	double share;        /* % of the function's samples; the largest of its events */
};

struct code_text {
	char *text;
	struct code_line *lines;
	size_t count;
	struct tally_listing *listing;
};

struct code_options {
	unsigned width; /* columns */
	bool intel, no_source, utf8;
};

/* Makes the lines of the annotation's first function.  0 or -errno with words. */
int code_text_make(const struct tally_annotation *annotation, const struct code_options *options,
		   struct code_text *ret, struct tally_error *error);
void code_text_done(struct code_text *text);
/* The number of the line with the instruction at an address; `count` of the text: it has none. */
size_t code_text_find(const struct code_text *text, uint64_t address);
/* The instruction at an address; false: there is none. */
bool code_text_instruction(const struct code_text *text, uint64_t address,
			   struct tally_instruction *ret);
/* The line of the next instruction with fewer samples than that one has, or with more; `count`:
 * there is none. */
size_t code_text_next_hot(const struct code_text *text, size_t line, bool fewer);

#endif
