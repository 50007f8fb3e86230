/* `tally probe`: events at places in programs and the kernel, defined until they are removed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/probe_event.h>
#include <tally/text.h>
#include "array.h"
#include "command.h"
#include "options.h"
#include "pager.h"
#include "say.h"
#include "terminal.h"

enum action {
	ACTION_NONE,
	ACTION_ADD,
	ACTION_DEFINE,
	ACTION_REMOVE,
	ACTION_LIST,
	ACTION_FUNCTIONS,
	ACTION_LINES,
	ACTION_VARIABLES,
};

struct probe {
	struct tally_probe_event_options options;
	enum action action;
	const char **places; /* what the action applies to; from argv */
	size_t place_count, place_room;
	char *joined; /* of the arguments */
	const char *filter;
	uint64_t places_most;
	bool quiet;
	unsigned verbose;
};

/* An option that chooses the action. */
struct choice {
	struct probe *probe;
	enum action action;
};

static int take_place(struct probe *probe, const char *place)
{
	if (!cli_array_next(&probe->places, &probe->place_room, probe->place_count,
			    sizeof(*probe->places)))
		return -ENOMEM;
	probe->places[probe->place_count++] = place;
	return 0;
}

static int choose(void *to, const char *value, bool on, struct tally_error *error)
{
	const struct choice *choice = to;
	struct probe *probe = choice->probe;

	if (!on)
		return cli_refuse(error, "--no- is not possible for an action");
	probe->action = choice->action;
	return value ? take_place(probe, value) : 0;
}

static void notice(void *context, const char *text)
{
	const struct probe *probe = context;

	if (!probe->quiet)
		cli_say("probe", "%s", text);
}

/* Points at the mistake below the text. */
static int say_failure(const char *text, const struct tally_error *error)
{
	return text && error->position >= 0 ? cli_say_wrong("probe", text, error)
					    : cli_say_error("probe", error);
}

/* --- adding --- */

static void say_event(const struct tally_probe_event *event)
{
	char name[160], place[4096];

	snprintf(name, sizeof(name), "%s:%s", event->group, event->event);
	tally_text_escape(event->place, place, sizeof(place));
	fprintf(stderr, "  %-20s (on %s)\n", name, place);
}

static void say_added(struct probe *probe, struct tally_probe_set *const *sets)
{
	const struct tally_probe_event *event, *last = NULL;
	size_t count = 0;

	for (size_t i = 0; i < probe->place_count; i++)
		for (size_t k = 0; tally_probe_set_at(sets[i], k); k++)
			count++;
	fprintf(stderr, "%s%s\n", probe->options.dry_run ? "Would add event" : "Added new event",
		count == 1 ? ":" : "s:");
	for (size_t i = 0; i < probe->place_count; i++)
		for (size_t k = 0; (event = tally_probe_set_at(sets[i], k)); k++) {
			say_event(event);
			last = event;
		}
	if (last && !probe->options.dry_run)
		fprintf(stderr,
			"\nIt can be used until it is removed:\n\n"
			"\ttally record -e %s:%s -a sleep 1\n\ttally probe -d %s:%s\n\n",
			last->group, last->event, last->group, last->event);
}

static void print_definitions(const struct tally_probe_set *set)
{
	const struct tally_probe_event *event;

	for (size_t i = 0; (event = tally_probe_set_at(set, i)); i++)
		printf("%s\n", event->definition);
}

/* All places are found before the first is added. */
static int add(struct probe *probe)
{
	struct tally_probe_set **sets =
	    calloc(probe->place_count, sizeof(struct tally_probe_set *));
	struct tally_error error = {0};
	int status = CLI_OK;

	if (!sets) {
		cli_say("probe", "out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < probe->place_count && !status; i++)
		if (tally_probe_set_open(probe->places[i], &probe->options, &sets[i], &error))
			status = say_failure(probe->places[i], &error);
	for (size_t i = 0; i < probe->place_count && !status; i++) {
		if (probe->action == ACTION_ADD &&
		    tally_probe_set_add(sets[i], &probe->options, &error))
			status = say_failure(NULL, &error);
		else if (probe->action == ACTION_DEFINE || probe->verbose)
			print_definitions(sets[i]);
	}
	if (!status && probe->action == ACTION_ADD && !probe->quiet)
		say_added(probe, sets);
	for (size_t i = 0; i < probe->place_count; i++)
		tally_probe_set_close(sets[i]);
	free(sets);
	return status;
}

/* --- removing, listing, showing --- */

static int remove_events(struct probe *probe)
{
	struct tally_error error = {0};
	int status = CLI_OK;

	for (size_t i = 0; i < probe->place_count && !status; i++) {
		int64_t count = tally_probe_event_remove(probe->places[i], &probe->options,
							 probe->quiet ? NULL : stderr, &error);

		if (count < 0) {
			status = say_failure(NULL, &error);
		} else if (!count) {
			cli_say("probe", "no event is called %s; `tally probe -l` lists them",
				probe->places[i]);
			status = CLI_FAILED;
		}
	}
	return status;
}

static int list(struct probe *probe, struct tally_error *error)
{
	const char *filter = probe->place_count ? probe->places[0] : probe->filter;
	int64_t count = tally_probe_event_list(filter, &probe->options, stdout, error);

	if (!count && filter && !probe->quiet)
		cli_say("probe", "no event is called %s", filter);
	return count < 0 ? (int)count : 0;
}

static int show(struct probe *probe)
{
	const char *first = probe->place_count ? probe->places[0] : NULL;
	struct tally_error error = {0};
	struct cli_pager pager;
	int result = 0;

	probe->options.colour = cli_term_colour();
	cli_pager_start(&pager);
	switch (probe->action) {
	case ACTION_LIST:
		result = list(probe, &error);
		break;
	case ACTION_FUNCTIONS:
		result = tally_probe_functions_print(first ? first : probe->filter, &probe->options,
						     stdout, &error);
		break;
	case ACTION_LINES:
		result = tally_probe_lines_print(first, &probe->options, stdout, &error);
		break;
	default:
		for (size_t i = 0; i < probe->place_count && !result; i++) {
			first = probe->places[i];
			result = tally_probe_variables_print(first, probe->filter, &probe->options,
							     stdout, &error);
		}
		break;
	}
	cli_pager_finish(&pager);
	if (!result)
		return CLI_OK;
	return say_failure(probe->filter || probe->action == ACTION_LIST ? NULL : first, &error);
}

static int run(struct probe *probe)
{
	switch (probe->action) {
	case ACTION_ADD:
	case ACTION_DEFINE:
		return add(probe);
	case ACTION_REMOVE:
		return remove_events(probe);
	default:
		return show(probe);
	}
}

/* --- options --- */

/* The arguments are one definition, "FUNC ARGUMENT ARGUMENT"; an absolute path before it is the
 * program. */
static int take_arguments(struct probe *probe, const struct cli_usage *usage, int count,
			  char *const *arguments)
{
	size_t size = 1;

	if (count && *arguments[0] == '/' && !probe->options.program && !probe->options.module) {
		probe->options.program = arguments[0];
		arguments++;
		count--;
	}
	if (!count)
		return CLI_OK;
	if (probe->action && probe->action != ACTION_ADD)
		return cli_usage_error(
		    usage, "unexpected argument '%s': to add an event, use --add", arguments[0]);
	probe->action = ACTION_ADD;
	for (int i = 0; i < count; i++)
		size += strlen(arguments[i]) + 1;
	probe->joined = malloc(size);
	if (!probe->joined || take_place(probe, probe->joined)) {
		cli_say("probe", "out of memory");
		return CLI_FAILED;
	}
	size = 0;
	for (int i = 0; i < count; i++) {
		size_t length = strlen(arguments[i]);

		if (i)
			probe->joined[size++] = ' ';
		memcpy(probe->joined + size, arguments[i], length);
		size += length;
	}
	probe->joined[size] = '\0';
	return CLI_OK;
}

static int check(const struct probe *probe, const struct cli_usage *usage)
{
	if (!probe->action)
		return cli_usage_error(usage,
				       "nothing to do: give a place to probe, or -l, -d, -F, -L, "
				       "-V or -D");
	if (probe->places_most > UINT32_MAX)
		return cli_usage_error(usage, "--max-probes is too large");
	return CLI_OK;
}

/* Options of perf that Tally lacks: the message says why and what to do, instead of suggesting a
 * similar name.  `to`: the message. */
static int refuse(void *to, const char *value, bool on, struct tally_error *error)
{
	(void)value;
	(void)on;
	return cli_refuse(error, "%s", (const char *)to);
}

static char no_cache[] = "tally keeps no cache of probes: it reads markers and functions from the "
			 "program, give -x PROGRAM";
static char no_symfs[] = "give the path of the program itself: -x DIR/PROGRAM";
static char no_namespace[] =
    "give the path of the program through its process: -x /proc/PID/root/PROGRAM";
static char no_bootconfig[] = "tally does not write bootconfig files; -D prints the definitions";

static const struct cli_rule rules[] = {
    {"-a,-d,-l,-F,-L,-V,-D", CLI_ONE_OF, NULL, "each is an action"},
    {"-x,-m,-k", CLI_ONE_OF, NULL, "a place is in a program, in a module or in the kernel itself"},
    {"-l", CLI_EXCLUDES, "-x,-m,-k", "it lists the events of all programs and of the kernel"},
    {"--range", CLI_NEEDS, "-V", "it is of the variables that -V lists"},
    {"-q,-v", CLI_ONE_OF, NULL, "-q prints errors only"},
    {NULL},
};

int cmd_probe(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] PLACE [ARGUMENT...]",
					    "[OPTIONS] --add 'PLACE [ARGUMENT...]'",
					    "--del [GROUP:]EVENT",
					    "--list [[GROUP:]EVENT]",
					    "-x PROGRAM --funcs|--line FUNC|--vars FUNC",
					    NULL};
	const struct cli_usage usage = {
	    .command = "probe",
	    .forms = forms,
	    .about = "Defines events at places in programs (-x) and the kernel: functions, lines, "
		     "markers, with variables as arguments. They exist until they are removed, and "
		     "any tool can count and record them by their names. PLACE is FUNC, FUNC:LINE, "
		     "FUNC+OFFSET, FUNC%return, 'FUNC;PATTERN', FILE:LINE, 0xOFFSET or "
		     "sdt_PROVIDER:NAME, with [GROUP:]EVENT= before it to name the event.",
	    .rules = rules,
	};
	struct probe probe = {.options = {.size = sizeof(probe.options)}};
	struct choice choices[] = {
	    {&probe, ACTION_NONE},   {&probe, ACTION_ADD},       {&probe, ACTION_DEFINE},
	    {&probe, ACTION_REMOVE}, {&probe, ACTION_LIST},      {&probe, ACTION_FUNCTIONS},
	    {&probe, ACTION_LINES},  {&probe, ACTION_VARIABLES},
	};
	const struct cli_option options[] = {
	    {.kind = CLI_GROUP, .help = "What to do"},
	    {CLI_CALL, 'a', "add", "PLACE", "add an event; several may be given",
	     &choices[ACTION_ADD], 0, choose},
	    {CLI_CALL, 'd', "del", "EVENT", "remove events; a name, GROUP:EVENT, or a pattern",
	     &choices[ACTION_REMOVE], 0, choose},
	    {CLI_CALL, 'l', "list", "EVENT", "list the defined events", &choices[ACTION_LIST],
	     CLI_OPTIONAL, choose},
	    {CLI_CALL, 'F', "funcs", "PATTERN", "list the functions that can be probed",
	     &choices[ACTION_FUNCTIONS], CLI_OPTIONAL, choose},
	    {CLI_CALL, 'L', "line", "LINES",
	     "show source lines; those with a number can be probed: FUNC[:LINE[+COUNT|-LAST]], "
	     "FILE:LINE[+COUNT|-LAST]",
	     &choices[ACTION_LINES], 0, choose},
	    {CLI_CALL, 'V', "vars", "PLACE", "list the variables that can be read at PLACE",
	     &choices[ACTION_VARIABLES], 0, choose},
	    {CLI_CALL, 'D', "definition", "PLACE",
	     "print the definition that --add would write to the kernel", &choices[ACTION_DEFINE],
	     0, choose},
	    {.kind = CLI_GROUP, .help = "Where"},
	    {CLI_STRING, 'x', "exec", "PROGRAM",
	     "in this program or library (default: in the kernel)", &probe.options.program},
	    {CLI_STRING, 'm', "module", "MODULE", "in this module of the kernel",
	     &probe.options.module},
	    {CLI_STRING, 'k', "vmlinux", "FILE",
	     "in the kernel whose debug information this file has (default: of the running kernel, "
	     "where its package puts it)",
	     &probe.options.vmlinux},
	    {CLI_STRING, 's', "source", "FOLDER",
	     "the folder that paths of source files are relative to", &probe.options.sources},
	    {.kind = CLI_GROUP, .help = "How"},
	    {CLI_FLAG, 'f', "force", NULL, "if the name exists, add a number: EVENT_1",
	     &probe.options.force},
	    {CLI_FLAG, 'n', "dry-run", NULL, "change nothing", &probe.options.dry_run},
	    {CLI_U64, 0, "max-probes", "N", "most places for one definition (default: 128)",
	     &probe.places_most},
	    {CLI_FLAG, 0, "no-inlines", NULL, "ignore places where a function was inlined",
	     &probe.options.no_inlines},
	    {CLI_STRING, 0, "filter", "PATTERN",
	     "--funcs, --vars: only names that match; patterns with &, |, ! and parentheses "
	     "(default: "
	     "'!_* & !*@plt' for --funcs)",
	     &probe.filter},
	    {CLI_FLAG, 0, "externs", NULL, "--vars: also variables of the whole file",
	     &probe.options.externs},
	    {CLI_FLAG, 0, "range", NULL,
	     "--vars: also the addresses of the function at which each variable can be read",
	     &probe.options.ranges},
	    {CLI_FLAG, 'q', "quiet", NULL, "print errors only", &probe.quiet},
	    {CLI_COUNT, 'v', "verbose", NULL, "--add: print what is written to the kernel",
	     &probe.verbose},
	    {CLI_CALL, 0, "cache", NULL, "", no_cache, CLI_BARE | CLI_HIDDEN, refuse},
	    {CLI_CALL, 0, "symfs", "DIR", "", no_symfs, CLI_HIDDEN, refuse},
	    {CLI_CALL, 0, "target-ns", "PID", "", no_namespace, CLI_HIDDEN, refuse},
	    {CLI_CALL, 0, "bootconfig", NULL, "", no_bootconfig, CLI_BARE | CLI_HIDDEN, refuse},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0) {
		free(probe.places);
		return status;
	}
	status = take_arguments(&probe, &usage, argc - at, argv + at);
	if (!status)
		status = check(&probe, &usage);
	if (!status) {
		probe.options.places_most = (unsigned)probe.places_most;
		probe.options.notice = notice;
		probe.options.notice_context = &probe;
		status = run(&probe);
	}
	free(probe.places);
	free(probe.joined);
	return status;
}
