/* The tables of a fleet (tally/export.h, the format "parquet") as a source of samples.
 *
 * A folder of Parquet files, which tally_export_write() or a query of an engine wrote, becomes the
 * data of a session, and all that shows samples works: reports, trees, pages.  The files are named
 * samples*.parquet and stacks*.parquet, in the folder or below it.
 *
 * Samples need the column stack_id, and `period` or `count`; `event`, `time`, `pid`, `tid`, `comm`,
 * `cpu` and `weight` may be missing, and with them what would show them.  Stacks need stack_id and
 * `frames`, a list of structures with `image` and `symbol`, and maybe `offset`. */
#ifndef TALLY_FLEET_H
#define TALLY_FLEET_H

#include <stdbool.h>
#include <tally/data.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_fleet;

/* Whether a path is a folder with a table of samples in it or below it, and without a recording. */
bool tally_fleet_is_folder(const char *path);
/* Opens all tables of a folder, and reads which events there are.  0; -ENOENT: there is no table of
 * samples; -EBADMSG: a file is damaged; -ENOTSUP: a file has something that is not read; -ENOMEM;
 * -errno of reading; each with words. */
int tally_fleet_open(const char *folder, struct tally_fleet **ret, struct tally_error *error);
/* To be called when sessions on its data are gone; it closes the data.  NULL is fine. */
void tally_fleet_close(struct tally_fleet *fleet);
/* What a session is made of (tally_session_new()); it has the events, and no records.  Borrowed. */
struct tally_data *tally_fleet_data(const struct tally_fleet *fleet);
/* Reads the stacks, and makes the tables' samples those of the session, which is of the fleet's
 * data.  Sinks that want the order of time, and filters that are programs, are refused then.  Once.
 * Results as above. */
int tally_fleet_attach(struct tally_fleet *fleet, struct tally_session *session,
		       struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
