/* Names for the tables of a fleet (tally/export.h, the format "parquet") that were written without
 * symbols: each binary is looked up once, by its build-id, and the tables of stacks are written
 * anew with functions, files and lines.  Numbers of stacks do not change.
 *
 * First the tables are read; then a session on what they name reads the binaries, wherever its
 * options say that these are; then the tables get the names. */
#ifndef TALLY_SYMBOLIZE_H
#define TALLY_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/data.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_symbolizer;

/* What was done. */
struct tally_symbolizer_result {
	size_t size; /* sizeof of this struct, set by the caller */
	/* Tables of stacks, and those of them that were written anew. */
	uint64_t tables, written;
	/* Frames of the tables that had no name, and those of them that got one. */
	uint64_t nameless, named;
};

/* A binary that frames without a name are in. */
struct tally_symbolizer_build {
	size_t size;          /* sizeof of this struct, set by the caller */
	const char *build_id; /* hexadecimal */
	const char *path;     /* as recorded; untrusted */
	uint64_t frames;      /* of the tables, that had no name */
	uint64_t named;       /* of them: that got one */
	const char *why;      /* why names are missing, in one line; NULL: unknown */
};

/* Reads all tables of stacks in a folder and below it.  Nothing is written, also if one of them is
 * damaged.  0; -ENOENT: there is no table of stacks; -EBADMSG: a file is damaged; -ENOTSUP: a file
 * has something that is not read, or columns that would be lost; -E2BIG: too many places lack
 * names; -ENOMEM; -errno of reading; each with words. */
int tally_symbolizer_open(const char *folder, struct tally_symbolizer **ret,
			  struct tally_error *error);
/* To be called when sessions on its data are gone; it closes the data.  NULL is fine. */
void tally_symbolizer_close(struct tally_symbolizer *symbolizer);
/* What a session is made of (tally_session_new()): a sample for each place without a name.
 * Borrowed; NULL: there is none. */
struct tally_data *tally_symbolizer_data(const struct tally_symbolizer *symbolizer);
/* Sets the members of a session's options that are needed; the others stay unchanged. */
void tally_symbolizer_session_options(struct tally_session_options *to);
/* Looks the places up in the session, which is of the symbolizer's data, and writes the tables that
 * get names.  Each is replaced when its successor is complete; others stay unchanged.  With
 * `no_lines` source lines are not looked up.  Once.  0; -ECANCELED, -ENOMEM, -errno of writing with
 * words.  `ret` may be NULL. */
int tally_symbolizer_write(struct tally_symbolizer *symbolizer, struct tally_session *session,
			   bool no_lines, struct tally_symbolizer_result *ret,
			   struct tally_error *error);
/* The binary of that number, from 0, that with most frames first.  Texts are borrowed until the
 * symbolizer is closed.  0; -ENOENT: there are no more; -EINVAL: the size is not set. */
int tally_symbolizer_build(const struct tally_symbolizer *symbolizer, size_t index,
			   struct tally_symbolizer_build *ret);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
