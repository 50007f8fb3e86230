/* Expressions that choose samples: "comm == make and not (sym =~ ^sys_ or period < 1000)".
 *
 *	FIELD OP VALUE          == != < <= > >= of numbers, == != =~ !~ of text
 *	stack has NAME          a function of that name in the call chain, or where the sample fell
 *	and or not ( )          also && || !
 *
 * Fields: comm pid tid cpu time event period ip addr sym dso weight.  The fields of tracepoints
 * have their own names, or trace.NAME.  A field that a sample does not have matches nothing.  See
 * tally-script(1). */
#ifndef TALLY_CHOICE_H
#define TALLY_CHOICE_H

#include <tally/data.h>
#include <tally/error.h>
#include <tally/names.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_choice;

/* 0; -EINVAL with the column of what is wrong and what was expected there; -ENOMEM. */
int tally_choice_parse(const char *text, struct tally_choice **ret, struct tally_error *error);
/* Before the data's events are known to have them, fields are words: looks each up.  0; -EINVAL as
 * above: no event has the field, or the value is none for it; -ENOMEM. */
int tally_choice_fit(struct tally_choice *choice, struct tally_data *data,
		     struct tally_error *error);
/* Only samples that it holds for are seen of the session from now on; it was fitted to the
 * session's data, and both outlive what is done with the session.  0 or -ENOMEM. */
int tally_choice_use(struct tally_choice *choice, struct tally_session *session);
/* The names of commands, binaries and functions that the expression asks for by == or `has`: NAME
 * of `comm == NAME`, in order, each with the kind of the field.  Not those under =~. */
typedef void (*tally_choice_name_fn)(void *context, enum tally_name_kind kind, const char *name);
void tally_choice_each_name(const struct tally_choice *choice, tally_choice_name_fn visit,
			    void *context);
/* After the session is freed, or instead of using it.  NULL is allowed. */
void tally_choice_free(struct tally_choice *choice);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
