#include "debuginfod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/debuginfod.h>
#include <tally/text.h>
#include "progress.h"
#include "say.h"

#define LINE_MOST 80

struct fetching {
	struct cli_progress progress;
	const char *binary; /* that the line is about */
	char line[LINE_MOST];
};

/* The client of debuginfod takes the servers from the environment alone. */
int cli_debuginfod_take(void *to, const char *value, bool on, struct tally_error *error)
{
	enum cli_debuginfod *kind = to;

	/* What has no scheme is no server. */
	for (const char *at = on && value ? value + strspn(value, " ") : NULL; at && *at;) {
		size_t length = strcspn(at, " ");

		if (!memmem(at, length, "://", 3) && strncmp(at, "ima:", 4) != 0)
			return cli_refuse(error,
					  "'%.*s' is not a server: give its URL, as "
					  "https://debuginfod.debian.net",
					  (int)length, at);
		at += length;
		at += strspn(at, " ");
	}
	*kind = on ? CLI_DEBUGINFOD_ASKED : CLI_DEBUGINFOD_NEVER;
	if (on && value && setenv("DEBUGINFOD_URLS", value, 1))
		return cli_refuse(error, "out of memory");
	if (on && !tally_debuginfod_is_set())
		return cli_refuse(error, "no server is known: name one (--debuginfod=URL), or set "
					 "DEBUGINFOD_URLS");
	return 0;
}

static int update(void *context, const char *binary, uint64_t done, uint64_t total)
{
	struct fetching *fetching = context;

	if (fetching->binary != binary) {
		int length = snprintf(fetching->line, sizeof(fetching->line),
				      "Fetching debug files: %.50s", binary);

		/* control characters are not for the terminal */
		for (int i = 0; i < length && i < LINE_MOST - 1; i++)
			if ((unsigned char)fetching->line[i] < ' ' || fetching->line[i] == 127)
				fetching->line[i] = '?';
		fetching->binary = binary;
		fetching->progress.what = fetching->line;
	}
	return cli_progress_update(&fetching->progress, done, total);
}

static void fetch(const char *command, enum cli_debuginfod kind, struct tally_session *session,
		  bool lines, double least)
{
	struct fetching fetching = {.binary = NULL};
	const struct tally_debuginfod_options options = {.size = sizeof(options),
							 .least = least,
							 .lines = lines,
							 .progress = update,
							 .progress_context = &fetching};
	struct tally_debuginfod_result result = {.size = sizeof(result)};
	struct tally_error error = {0};
	int code;

	if (kind == CLI_DEBUGINFOD_NEVER || !tally_debuginfod_is_set() ||
	    (kind == CLI_DEBUGINFOD_IF_SET && !tally_debuginfod_is_built()))
		return;
	cli_progress_start(&fetching.progress, "Fetching debug files");
	code = tally_debuginfod_fetch(session, &options, &result, &error);
	cli_progress_done(&fetching.progress);
	if (code && code != -ECANCELED)
		cli_say(command, "%s; going on without the rest", error.text);
}

void cli_debuginfod_fetch(const char *command, enum cli_debuginfod kind,
			  struct tally_session *session, bool lines)
{
	fetch(command, kind, session, lines, 0);
}

void cli_debuginfod_fetch_all(const char *command, enum cli_debuginfod kind,
			      struct tally_session *session, bool lines)
{
	fetch(command, kind, session, lines, 1e-9);
}
