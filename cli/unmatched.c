#include "unmatched.h"

#include <stdio.h>
#include <string.h>
#include <tally/names.h>
#include "say.h"

#define SIMILAR_MOST 3
#define LINES_MOST   4

struct unmatched {
	const char *command;
	uint64_t samples;
	const struct tally_names *names;
	unsigned lines;
};

static void join(const char *const *names, size_t count, char *to, size_t room)
{
	size_t at = 0;

	to[0] = '\0';
	for (size_t i = 0; i < count && at < room; i++)
		at += (size_t)snprintf(to + at, room - at, "%s%.60s%s", i ? ", " : "", names[i],
				       strlen(names[i]) > 60 ? "..." : "");
}

/* A name that a filter asks for. */
static void look_at(void *context, enum tally_name_kind kind, const char *name)
{
	static const char *const kinds[TALLY_NAME_KINDS] = {
	    [TALLY_NAME_COMM] = "no command is named",
	    [TALLY_NAME_DSO] = "no sample is in a binary named",
	    [TALLY_NAME_SYMBOL] = "no sample is in a function named",
	    [TALLY_NAME_STACK] = "no call chain has a function named",
	    [TALLY_NAME_PID] = "no sample is of process",
	    [TALLY_NAME_TID] = "no sample is of thread",
	};
	struct unmatched *unmatched = context;
	const char *similar[SIMILAR_MOST], *how = "most similar: ";
	char list[256];
	size_t count;

	if (unmatched->lines == LINES_MOST || tally_names_has(unmatched->names, kind, name))
		return;
	unmatched->lines++;
	count = tally_names_list(unmatched->names, kind, name, similar, SIMILAR_MOST);
	if (!count) {
		how = "those with most samples: ";
		count = tally_names_list(unmatched->names, kind, NULL, similar, SIMILAR_MOST);
	}
	join(similar, count, list, sizeof(list));
	cli_say(unmatched->command, "0 of %llu samples match: %s '%.200s'%s%s%s",
		(unsigned long long)unmatched->samples, kinds[kind], name, count ? "; " : "",
		count ? how : "", list);
}

static void look_at_all(struct unmatched *unmatched, enum tally_name_kind kind,
			const struct cli_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		look_at(unmatched, kind, list->items[i]);
}

void cli_unmatched_say(const char *command, struct tally_session *session, uint64_t samples,
		       const struct cli_filter *filter, const struct cli_choice *choice,
		       const char *what)
{
	struct unmatched unmatched = {.command = command, .samples = samples};
	struct tally_names *names;
	struct tally_error error = {0};

	if (tally_names_new(session, &names, &error)) {
		cli_say(command, "0 of %llu samples match", (unsigned long long)samples);
		return;
	}
	unmatched.names = names;
	look_at_all(&unmatched, TALLY_NAME_COMM, &filter->comms);
	look_at_all(&unmatched, TALLY_NAME_DSO, &filter->dsos);
	look_at_all(&unmatched, TALLY_NAME_SYMBOL, &filter->symbols);
	look_at_all(&unmatched, TALLY_NAME_PID, &filter->pids);
	look_at_all(&unmatched, TALLY_NAME_TID, &filter->tids);
	if (choice->choice)
		tally_choice_each_name(choice->choice, look_at, &unmatched);
	if (!unmatched.lines)
		cli_say(command, "0 of %llu samples match %s", (unsigned long long)samples, what);
	tally_names_free(names);
}
