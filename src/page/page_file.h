/* Where a page is written: a new file beside the one that it replaces at the end. */
#ifndef TALLY_PAGE_PAGE_FILE_H
#define TALLY_PAGE_PAGE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/error.h>
#include "base/buf.h"
#include "base/whole_file.h"

struct page_file {
	const char *path;
	struct whole_file file;
	FILE *to;
	bool borrowed; /* `to` is the caller's */
};

/* `to`, or if that is NULL the file.  0 or -errno with words. */
int tally_page_file_open(struct page_file *file, const char *path, FILE *to,
			 struct tally_error *error);
/* Replaces the file, or with `result` not 0 leaves it as it was.  Returns `result`, or -errno with
 * words. */
int tally_page_file_close(struct page_file *file, int result, uint64_t *ret_size,
			  struct tally_error *error);

/* JSON between the tags of a script element: no byte of it can end the element, or begin a comment
 * in it.  Source: the HTML standard, "Restrictions for contents of script elements". */
void tally_page_put_json(const struct tally_buf *json, FILE *to);
void tally_page_put_base64(const struct tally_buf *bytes, FILE *to);

#endif
