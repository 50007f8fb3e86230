#include "keep_binaries.h"

#include <errno.h>
#include <tally/build_id_cache.h>
#include "debuginfod.h"
#include "say.h"

static void say_kept(const struct cli_keep *keep, const char *folder,
		     const struct tally_build_id_cache_result *result)
{
	if (keep->no_copies)
		return;
	if (keep->verbose)
		cli_say(NULL,
			"binaries in %s: %u new, %u already there, %u changed or deleted, %u too "
			"large, "
			"%u that could not be read or written",
			folder, result->kept, result->there, result->changed, result->too_large,
			result->failed);
	else if (result->too_large && !keep->quiet)
		cli_say(NULL,
			"%u binar%s not kept in %s: the limit is 256 MiB for each and 4 GiB for "
			"all; `tally "
			"buildid-cache -P` empties the cache, -N keeps no binaries",
			result->too_large, result->too_large == 1 ? "y was" : "ies were", folder);
}

void cli_keep_binaries(const char *recording, const struct cli_keep *keep)
{
	const struct tally_session_options options = {.size = sizeof(options),
						      .columns = TALLY_COLUMN_COUNT};
	const struct tally_build_id_cache_options how = {.size = sizeof(how),
							 .folder = keep->folder,
							 .all = keep->all,
							 .held = keep->held,
							 .held_count = keep->held_count};
	struct tally_build_id_cache_result result = {.size = sizeof(result)};
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error;

	int code = tally_data_open(recording, NULL, &data, &error);

	if (!code)
		code = tally_session_new(data, &options, &session, &error);
	if (!code && keep->fetch)
		cli_debuginfod_fetch("record", CLI_DEBUGINFOD_ASKED, session, true);
	if (!code && !keep->no_copies)
		code = tally_build_id_cache_keep(session, &how, &result, &error);
	if (!code)
		say_kept(keep, keep->folder ? keep->folder : "~/.debug", &result);
	/* A home that cannot be written is common (services, nobody), one of another user is not.
	 */
	else if (keep->verbose || (!keep->quiet && (keep->folder || error.code == -EPERM)))
		cli_say(NULL, "%s; -N records without copies", error.text);
	tally_session_free(session);
	tally_data_close(data);
}
