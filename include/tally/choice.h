/* Expressions that choose samples: "comm == make and not (sym =~ ^sys_ or period < 1000)".
 *
 *	FIELD OP VALUE          == != < <= > >= of numbers, == != =~ !~ of text
 *	stack has NAME          a function of that name in the call chain, or the sampled one
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

/* Parses an expression.  0; -EINVAL: the error has the column, and what was expected there;
 * -ENOMEM.  Release with tally_choice_free(). */
int tally_choice_parse(const char *text, struct tally_choice **ret, struct tally_error *error);
/* Looks up the expression's fields in the events of a recording.  0; -EINVAL as above: no event has
 * the field, or the value does not fit it; -ENOMEM. */
int tally_choice_fit(struct tally_choice *choice, struct tally_data *data,
		     struct tally_error *error);
/* From now on the session gives only samples for which the expression is true.  The expression must
 * have been fitted to the session's data (tally_choice_fit()), and must live as long as the session
 * is used.  0 or -ENOMEM. */
int tally_choice_use(struct tally_choice *choice, struct tally_session *session);
/* Called with a name that the expression asks for, and the kind of its field. */
typedef void (*tally_choice_name_fn)(void *context, enum tally_name_kind kind, const char *name);
/* Visits the names of commands, binaries and functions that the expression compares with == or
 * `has`, in their order: NAME of `comm == NAME`.  Patterns of =~ are left out. */
void tally_choice_each_name(const struct tally_choice *choice, tally_choice_name_fn visit,
			    void *context);
/* Call it after the session is freed.  NULL is fine. */
void tally_choice_free(struct tally_choice *choice);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
