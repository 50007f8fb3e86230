/* `tally list`: the events and metrics of this machine. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/catalog.h>
#include <tally/text.h>
#include <unistd.h>
#include "command.h"
#include "list.h"
#include "markers.h"
#include "options.h"
#include "pager.h"
#include "say.h"
#include "terminal.h"

#define NAME_WIDTH 50

struct list {
	struct tally_catalog_options from;
	bool json, details, quiet, brief, deprecated, groups, names, raw_dump;
	const char *cpu_type;
	const char **patterns; /* of argv */
	size_t pattern_count;
	const char **programs; /* of argv, for markers */
	size_t program_count;
	bool markers;
	struct cli_markers found;
	size_t catalog_count;
	bool terminal; /* standard output is one */
	bool get_tables;
	int width; /* of the terminal, columns; 0: no limit */
};

/* The words that choose by kind: perf's, and ours for kinds that perf does not have. */
static const struct {
	const char *word;
	unsigned kinds;
} choices[] = {
    {"hw", 1u << TALLY_CATALOG_HARDWARE},
    {"hardware", 1u << TALLY_CATALOG_HARDWARE},
    {"sw", 1u << TALLY_CATALOG_SOFTWARE | 1u << TALLY_CATALOG_TOOL},
    {"software", 1u << TALLY_CATALOG_SOFTWARE | 1u << TALLY_CATALOG_TOOL},
    {"cache", 1u << TALLY_CATALOG_CACHE},
    {"hwcache", 1u << TALLY_CATALOG_CACHE},
    {"tool", 1u << TALLY_CATALOG_TOOL},
    {"tracepoint", 1u << TALLY_CATALOG_TRACEPOINT},
    {"pmu", 1u << TALLY_CATALOG_PMU | 1u << TALLY_CATALOG_VENDOR},
    {"vendor", 1u << TALLY_CATALOG_VENDOR},
    {"metric", 1u << TALLY_CATALOG_METRIC},
    {"metrics", 1u << TALLY_CATALOG_METRIC},
    {"metricgroup", 1u << TALLY_CATALOG_METRIC},
    {"metricgroups", 1u << TALLY_CATALOG_METRIC},
    {"raw", 1u << TALLY_CATALOG_RAW},
};

/* Markers are not part of a machine's catalogue: they come after it, if requested. */
static const struct tally_catalog_entry *entry_at(const struct list *list,
						  const struct tally_catalog *catalog, size_t at)
{
	const struct tally_catalog_entry *entry = catalog ? tally_catalog_at(catalog, at) : NULL;

	if (entry)
		return entry;
	return at - list->catalog_count < list->found.count
		   ? &list->found.entries[at - list->catalog_count]
		   : NULL;
}

/* Some words choose kinds; other words are patterns, or with a slash and for markers, programs. */
static void take_arguments(struct list *list, char **argv, int from, int argc)
{
	for (int i = from; i < argc; i++)
		list->markers |= !strcmp(argv[i], "sdt");
	for (int i = from; i < argc; i++) {
		size_t at = 0, count = sizeof(choices) / sizeof(choices[0]);

		while (at < count && strcmp(choices[at].word, argv[i]) != 0)
			at++;
		if (!strcmp(argv[i], "sdt"))
			continue;
		if (list->markers && strchr(argv[i], '/'))
			list->programs[list->program_count++] = argv[i];
		else if (at == count)
			list->patterns[list->pattern_count++] = argv[i];
		else
			list->from.kinds |= choices[at].kinds;
		list->groups |= at < count && !strncmp(argv[i], "metricgroup", 11);
	}
}

static bool text_matches(const char *pattern, const char *text)
{
	char *wide;
	bool yes;

	if (!text)
		return false;
	if (!strpbrk(pattern, "*?["))
		return strcasestr(text, pattern);
	if (asprintf(&wide, "*%s*", pattern) < 0)
		return false;
	yes = !fnmatch(wide, text, FNM_CASEFOLD);
	free(wide);
	return yes;
}

static bool is_chosen(const struct list *list, const struct tally_catalog_entry *entry)
{
	if (entry->deprecated && !list->deprecated)
		return false;
	if (list->cpu_type && entry->pmu && !strncmp(entry->pmu, "cpu_", 4) &&
	    strcmp(entry->pmu + 4, list->cpu_type) != 0)
		return false;
	if (list->raw_dump && !entry->supported)
		return false;
	for (size_t i = 0; i < list->pattern_count; i++) {
		const char *pattern = list->patterns[i];

		if (text_matches(pattern, entry->name) || text_matches(pattern, entry->also) ||
		    text_matches(pattern, entry->groups) || text_matches(pattern, entry->pmu) ||
		    (entry->kind != TALLY_CATALOG_TRACEPOINT &&
		     text_matches(pattern, entry->topic)))
			return true;
	}
	return !list->pattern_count;
}

/* --- text --- */

static void put(const struct list *list, const char *text)
{
	char few[512], *many;
	size_t length;

	if (!list->terminal) {
		fputs(text, stdout);
		return;
	}
	length = tally_text_escape(text, few, sizeof(few));
	if (length < sizeof(few)) {
		fputs(few, stdout);
		return;
	}
	many = malloc(length + 1);
	if (!many)
		return;
	tally_text_escape(text, many, length + 1);
	fputs(many, stdout);
	free(many);
}

/* Words in lines of 80 columns, indented. */
static void put_paragraph(const struct list *list, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t length;
		char word[256];

		text += strspn(text, " \n\t");
		length = strcspn(text, " \n\t");
		if (!length)
			break;
		if (!column || column + 1 + length > 80) {
			fputs(column ? "\n        " : "        ", stdout);
			column = 8;
		} else {
			putchar(' ');
			column++;
		}
		column += length;
		do { /* a word may be longer than one write */
			size_t part = length < sizeof(word) ? length : sizeof(word) - 1;

			memcpy(word, text, part);
			word[part] = '\0';
			put(list, word);
			text += part;
			length -= part;
		} while (length);
	}
	putchar('\n');
}

static void put_heading(const struct list *list, const struct tally_catalog_entry *entry,
			const struct tally_catalog_entry *last)
{
	bool same_kind = last && last->kind == entry->kind;
	const char *now = entry->topic ? entry->topic : "",
		   *then = last && last->topic ? last->topic : "";

	if (entry->kind == TALLY_CATALOG_TRACEPOINT || entry->kind == TALLY_CATALOG_METRIC)
		now = then = "";
	if (same_kind && !strcmp(now, then))
		return;
	if (last)
		putchar('\n');
	printf("%ss", tally_catalog_kind_name(entry->kind));
	if (*now) {
		fputs(", ", stdout);
		put(list, now);
	}
	fputs(":\n", stdout);
}

/* After a name of `width` columns; below it when the terminal is too narrow. */
static void put_kind(const struct list *list, const struct tally_catalog_entry *entry, int width)
{
	char kind[128];
	int length = snprintf(kind, sizeof(kind), "[%s%s%s]", tally_catalog_kind_name(entry->kind),
			      entry->deprecated ? ", deprecated" : "",
			      entry->supported ? "" : ", not on this machine");
	int room = list->width ? list->width - length - 3 : INT_MAX;
	int column = room < NAME_WIDTH ? room : NAME_WIDTH;

	if (width > room)
		printf("\n        %s\n", kind);
	else
		printf("%*s %s\n", width < column ? column - width : 0, "", kind);
}

static void put_entry(const struct list *list, const struct tally_catalog_entry *entry)
{
	const char *text = list->details && entry->details ? entry->details : entry->brief;
	int width = (int)strlen(entry->name);

	fputs("  ", stdout);
	put(list, entry->name);
	if (entry->also) {
		fputs(" OR ", stdout);
		put(list, entry->also);
		width += 4 + (int)strlen(entry->also);
	}
	put_kind(list, entry, width);
	if (text && list->brief && !list->quiet)
		put_paragraph(list, text);
	if (!list->details)
		return;
	if (entry->pmu && entry->kind == TALLY_CATALOG_VENDOR) {
		fputs("        PMU: ", stdout);
		put(list, entry->pmu);
		putchar('\n');
	}
	if (entry->terms || entry->expression) {
		fputs("        = ", stdout);
		put(list, entry->terms ? entry->terms : entry->expression);
		putchar('\n');
	}
	if (entry->groups) {
		fputs("        groups: ", stdout);
		put(list, entry->groups);
		putchar('\n');
	}
}

static size_t put_text(const struct list *list, const struct tally_catalog *catalog)
{
	const struct tally_catalog_entry *entry, *last = NULL;
	size_t shown = 0;

	for (size_t i = 0; (entry = entry_at(list, catalog, i)); i++) {
		if (!is_chosen(list, entry))
			continue;
		shown++;
		if (list->names || list->raw_dump) {
			put(list, entry->name);
			putchar(list->names ? '\n' : ' ');
			continue;
		}
		if (list->terminal) /* a person reads it; through a pipe each line is an event */
			put_heading(list, entry, last);
		put_entry(list, entry);
		last = entry;
	}
	return shown;
}

static size_t put_json(const struct list *list, const struct tally_catalog *catalog)
{
	const struct tally_catalog_entry *entry;
	size_t shown = 0;

	fputs("[", stdout);
	for (size_t i = 0; (entry = entry_at(list, catalog, i)); i++) {
		if (!is_chosen(list, entry))
			continue;
		fputs(shown++ ? ",\n" : "\n", stdout);
		tally_catalog_entry_json(entry, stdout); /* a failed write is reported at the end */
	}
	fputs("\n]\n", stdout);
	return shown;
}

/* --- groups of metrics --- */

static int in_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each group's name once; a metric's groups are separated by ';'. */
static size_t put_groups(const struct list *list, const struct tally_catalog *catalog)
{
	const struct tally_catalog_entry *entry;
	char **names = NULL;
	size_t count = 0, shown = 0;

	for (size_t i = 0; (entry = entry_at(list, catalog, i)); i++) {
		const char *at = is_chosen(list, entry) && entry->groups ? entry->groups : "";

		while (*at) {
			size_t length = strcspn(at, ";");
			char **grown = reallocarray(names, count + 1, sizeof(*names));

			if (!grown)
				break;
			names = grown;
			names[count] = strndup(at, length);
			count += names[count] && length;
			at += length + (at[length] == ';');
		}
	}
	if (count)
		qsort(names, count, sizeof(*names), in_order);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 == count || strcmp(names[i], names[i + 1]) != 0) {
			put(list, names[i]);
			putchar('\n');
			shown++;
		}
		free(names[i]);
	}
	free(names);
	return shown;
}

static int show(struct list *list, const struct tally_catalog *catalog)
{
	struct cli_pager pager;
	const char *note;
	size_t shown;

	if (!list->quiet)
		for (size_t i = 0; catalog && (note = tally_catalog_note(catalog, i)); i++)
			cli_say("list", "%s", note);
	list->terminal = isatty(STDOUT_FILENO);
	list->width = list->terminal ? (int)cli_term_width_of(STDOUT_FILENO) : 0;
	cli_pager_start(&pager);
	while (catalog && tally_catalog_at(catalog, list->catalog_count))
		list->catalog_count++;
	if (list->json)
		shown = put_json(list, catalog);
	else if (list->groups)
		shown = put_groups(list, catalog);
	else
		shown = put_text(list, catalog);
	cli_pager_finish(&pager);
	if (shown || list->json || !list->pattern_count)
		return CLI_OK;
	cli_say("list", "no event or metric name contains '%s'", list->patterns[0]);
	return CLI_FAILED;
}

static int run(struct list *list)
{
	bool machine = !list->markers || list->from.kinds;
	struct tally_catalog *catalog = NULL;
	struct tally_error error;
	int status;

	if (machine && tally_catalog_open(&list->from, &catalog, &error))
		return cli_say_error("list", &error);
	status = list->markers ? cli_markers_read(&list->found, list->programs, list->program_count,
						  list->from.sysfs)
			       : CLI_OK;
	if (status == CLI_OK)
		status = show(list, catalog);
	tally_catalog_close(catalog);
	cli_markers_done(&list->found);
	return status;
}

static const struct cli_rule rules[] = {
    {"-j,--names,--raw-dump", CLI_ONE_OF, NULL, "each is a format of the whole output"},
    {NULL},
};

int cmd_list(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] [KIND|PATTERN]...", NULL};
	const struct cli_usage usage = {
	    .command = "list",
	    .forms = forms,
	    .about = "Lists the events for -e and the metrics for -M: all, or those of a KIND (hw, "
		     "sw, cache, tool, pmu, vendor, metric, metricgroup, raw, "
		     "tracepoint, sdt), or those whose name, PMU or topic contains PATTERN.",
	    .mixed = true,
	    .rules = rules,
	};
	struct list list = {.from = {.size = sizeof(list.from)}, .brief = true};
	const struct cli_option options[] = {
	    {CLI_FLAG, 'l', "long", NULL, "long descriptions, and how each event is encoded",
	     .to = &list.details},
	    {CLI_FLAG, 'v', "long-desc", NULL, "", .to = &list.details, .flags = CLI_HIDDEN},
	    {CLI_FLAG, 0, "details", NULL, "", .to = &list.details, .flags = CLI_HIDDEN},
	    {CLI_FLAG, 'd', "desc", NULL, "descriptions (default; --no-desc: none)",
	     .to = &list.brief},
	    {CLI_FLAG, 'q', "quiet", NULL,
	     "no descriptions, and no messages about what could not be read", .to = &list.quiet},
	    {CLI_FLAG, 0, "names", NULL, "names only, one per line", .to = &list.names},
	    {CLI_FLAG, 0, "raw-dump", NULL, "names of this machine, all in one line",
	     .to = &list.raw_dump},
	    {CLI_STRING, 0, "cputype", "TYPE",
	     "on a machine with several kinds of cores, only this kind: core, atom",
	     .to = &list.cpu_type},
	    {CLI_FLAG, 0, "deprecated", NULL, "also events that have a newer name",
	     .to = &list.deprecated},
	    {CLI_FLAG, 'j', "json", NULL,
	     "a JSON array with an object for each, with everything that is known",
	     .to = &list.json},
	    {CLI_FLAG, 0, "get-tables", NULL,
	     "print shell commands that download the event tables of CPUs", .to = &list.get_tables},
	    {CLI_GROUP, .help = "Another machine"},
	    {CLI_STRING, 0, "events", "DIR", "folders with vendor tables, DIR:DIR",
	     .to = &list.from.events},
	    {CLI_STRING, 0, "cpuid", "ID", "the CPU, for example GenuineIntel-6-55-7",
	     .to = &list.from.cpuid},
	    {CLI_STRING, 0, "sysfs", "DIR", "instead of /sys", .to = &list.from.sysfs},
	    {CLI_STRING, 0, "tracefs", "DIR", "instead of /sys/kernel/tracing",
	     .to = &list.from.tracefs},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	if (list.get_tables)
		return list_get_tables();
	list.patterns = calloc((size_t)argc + 1, sizeof(*list.patterns));
	list.programs = calloc((size_t)argc + 1, sizeof(*list.programs));
	if (!list.patterns || !list.programs) {
		free(list.patterns);
		free(list.programs);
		cli_say("list", "out of memory");
		return CLI_FAILED;
	}
	take_arguments(&list, argv, at, argc);
	status = run(&list);
	free(list.patterns);
	free(list.programs);
	return status;
}
