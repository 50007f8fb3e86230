/* The names in a session's samples: commands, binaries, functions, processes.
 *
 * With them a program can say which names are similar when a filter matches nothing. */
#ifndef TALLY_NAMES_H
#define TALLY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum tally_name_kind {
	TALLY_NAME_COMM,
	TALLY_NAME_DSO,
	TALLY_NAME_SYMBOL, /* functions that samples fell into */
	TALLY_NAME_STACK,  /* functions of call chains too, as far as they are already resolved */
	TALLY_NAME_PID,    /* the number; in lists the number and the command's name */
	TALLY_NAME_TID,
};
#define TALLY_NAME_KINDS 6

struct tally_names;

/* Reads all samples once, without the session's filters.  0, -ENOMEM, or an error of reading.  The
 * names do not borrow from the session.  Release with tally_names_free(). */
int tally_names_new(struct tally_session *session, struct tally_names **ret,
		    struct tally_error *error);
void tally_names_free(struct tally_names *names);
/* Whether a sample has that name.  A binary has two: its short name and its whole path. */
bool tally_names_has(const struct tally_names *names, enum tally_name_kind kind, const char *name);
/* Gives up to `room` names that are similar to `name`, the most similar first: those that differ in
 * case only, begin with it, differ in a few letters, or contain it.  `name` NULL: those with most
 * samples.  Borrowed until the names are freed.  Returns how many. */
size_t tally_names_list(const struct tally_names *names, enum tally_name_kind kind,
			const char *name, const char **ret, size_t room);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
