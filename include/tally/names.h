/* The names that samples of a session have: what a filter can ask for.  Made to say, when a filter
 * matches nothing, which names are near to what it asked for. */
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
	TALLY_NAME_STACK,  /* functions of call chains too, as far as they were looked up before */
	TALLY_NAME_PID,    /* the number; in lists the number and the command's name */
	TALLY_NAME_TID,
};
#define TALLY_NAME_KINDS 6

struct tally_names;

/* Reads all samples once, whatever filters the session has.  0, -ENOMEM, or what reading gave.
 * What tally_names_list() gives is borrowed from the names, nothing from the session. */
int tally_names_new(struct tally_session *session, struct tally_names **ret,
		    struct tally_error *error);
void tally_names_free(struct tally_names *names);
/* Whether a sample has that name.  A binary has its short name and its whole path. */
bool tally_names_has(const struct tally_names *names, enum tally_name_kind kind, const char *name);
/* Up to `room` names: those near to `name`, the nearest first (the same but for upper and lower
 * case, beginning with it, few letters away, or containing it); `name` NULL: those with most
 * samples.  Borrowed until the names are freed.  How many. */
size_t tally_names_list(const struct tally_names *names, enum tally_name_kind kind,
			const char *name, const char **ret, size_t room);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
