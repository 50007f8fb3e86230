/* Every string of perf61.tsv becomes what perf 6.1 put into its perf_event_attr.
 *
 * The file and the made-up machines beside it are in the first folder of TALLY_EVENTS; without it
 * nothing is tested.  Its further folders are where vendor tables are (the kernel's
 * tools/perf/pmu-events/arch); where there is none for a CPU, names that only a table has are
 * counted apart.  So are strings in which we do better on purpose (doc/COMPATIBILITY.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <tally/event.h>
#include "made_sysfs.h"
#include "made_tracefs.h"

#define EVENTS_MOST 512

struct wanted {
	char text[200]; /* the fields that the encoder owns, as text */
	long leader;
};

struct tally {
	unsigned same, vendor, better, wrong;
};

static struct made_tracefs tracefs;
static struct made_sysfs here; /* the machine "-": no cpu PMU */

static const struct {
	const char *name;
	uint32_t type;
} here_types[] = {{"msr", 10}, {"power", 41}, {"uprobe", 42}, {"kprobe", 43}};

static uint64_t field(const char *line, const char *name)
{
	char key[40];
	const char *at;

	snprintf(key, sizeof(key), " %s=", name);
	at = strstr(line, key);
	return at ? strtoull(at + strlen(key), NULL, 0) : 0;
}

static uint64_t tracepoint_id(const char *at)
{
	char system[64], name[64];

	assert_int_equal(sscanf(at, "%63[^:]:%63[^ |\n]", system, name), 2);
	return (uint64_t)made_tracefs_id(&tracefs, system, name);
}

/* `record`: also how often it samples, where the event says so itself. */
static void describe(const struct tally_attr *attr, bool inherit, bool record, char *to,
		     size_t room)
{
	int length = snprintf(
	    to, room, "%u:%#llx,%#llx,%#llx bp%u u%uk%uh%ui%uH%uG%u p%u D%ue%u i%d", attr->type,
	    (unsigned long long)attr->config, (unsigned long long)attr->config1,
	    (unsigned long long)attr->config2, attr->bp_type, attr->exclude_user,
	    attr->exclude_kernel, attr->exclude_hv, attr->exclude_idle, attr->exclude_host,
	    attr->exclude_guest, attr->precise_ip, attr->pinned, attr->exclusive, inherit);

	if (record)
		snprintf(to + length, room - (size_t)length, " %s%llu",
			 attr->freq ? "freq" : "period", (unsigned long long)attr->sample_period);
}

/* One event of the table. */
static void want(const char *line, bool record, struct wanted *to)
{
	const char *at = strstr(line, " type=pmu:");
	struct tally_attr attr = {.type = (uint32_t)field(line, "type")};

	for (size_t i = 0; at && i < sizeof(here_types) / sizeof(here_types[0]); i++)
		if (!strncmp(at + 10, here_types[i].name, strlen(here_types[i].name)))
			attr.type = here_types[i].type;
	at = strstr(line, "config=tp:");
	attr.config = at ? tracepoint_id(at + 10) : field(line, "config");
	attr.config1 = field(line, "config1");
	attr.config2 = field(line, "config2");
	attr.bp_type = (uint32_t)field(line, "bp_type");
	attr.exclude_user = field(line, "exclude_user") & 1;
	attr.exclude_kernel = field(line, "exclude_kernel") & 1;
	attr.exclude_hv = field(line, "exclude_hv") & 1;
	attr.exclude_idle = field(line, "exclude_idle") & 1;
	attr.exclude_host = field(line, "exclude_host") & 1;
	attr.exclude_guest = field(line, "exclude_guest") & 1;
	attr.precise_ip = field(line, "precise_ip") & 3;
	attr.pinned = field(line, "pinned") & 1;
	attr.exclusive = field(line, "exclusive") & 1;
	attr.sample_period = field(line, "sample_period");
	attr.freq = field(line, "freq") & 1;
	describe(&attr, field(line, "inherit"), record, to->text, sizeof(to->text));
	to->leader = strtol(strstr(line, "group=") + 6, NULL, 10);
}

static size_t read_wanted(char *result, bool record, struct wanted *to)
{
	size_t count = 0;

	for (char *at = result; at && count < EVENTS_MOST;) {
		char *end = strstr(at, " | ");

		if (end)
			*end = 0;
		/* The side-band of perf record is no event of the string. */
		if (!(count && strstr(at, " task=1") && strstr(at, " type=1 ") &&
		      strstr(at, "config=0x9 ")))
			want(at, record, &to[count++]);
		at = end ? end + 3 : NULL;
	}
	return count;
}

static int in_order(const void *a, const void *b)
{
	return strcmp(((const struct wanted *)a)->text, ((const struct wanted *)b)->text);
}

/* A PMU that is opened on two CPUs is there twice in the table. */
static size_t unique(struct wanted *of, size_t count)
{
	size_t kept = 0;

	qsort(of, count, sizeof(*of), in_order);
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(of[kept - 1].text, of[i].text))
			of[kept++] = of[i];
	return kept;
}

/* What perf record adds of its own: 4000 samples a second, each tracepoint, breakpoint and output
 * of BPF programs. */
static void complete(struct tally_attr *attr)
{
	bool each = attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT ||
		    (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT);

	attr->freq = !each;
	attr->sample_period = each ? 1 : 4000;
}

/* Children are measured, too, but not where perf record reads a group with each sample. */
static bool inherits(const struct tally_event_list *list, size_t index, bool record)
{
	const struct tally_event *event = &list->events[index];

	if (event->sample_read && record && !tally_event_alone(list, index))
		return false;
	return !(event->terms.given & TALLY_TERM_INHERIT) || event->terms.inherit;
}

/* `guests`: events of PMUs outside the cores, which leave guests in unless that is written, are
 * taken as if they did not, as perf has them. */
static bool same(struct wanted *wanted, size_t count, const struct tally_event_list *list,
		 bool record, bool guests)
{
	struct wanted got[EVENTS_MOST];
	bool equal = count == list->count;

	for (size_t i = 0; i < list->count && i < EVENTS_MOST; i++) {
		struct tally_attr attr = list->events[i].attr;

		/* perf record opens P with 3 and goes down; perf stat leaves it. */
		if (list->events[i].precise_max && record)
			attr.precise_ip = 3;
		if (guests && attr.type >= PERF_TYPE_MAX && !attr.exclude_host)
			attr.exclude_guest = 1;
		/* members of a group that is read with its leader's samples take none */
		if (!attr.sample_period && !attr.freq &&
		    (!list->events[i].sample_read || list->events[i].leader == i))
			complete(&attr);
		describe(&attr, inherits(list, i, record), record, got[i].text,
			 sizeof(got[i].text));
		got[i].leader = list->events[i].leader == i ? -1 : (long)list->events[i].leader;
		equal = equal && !strcmp(got[i].text, wanted[i].text) &&
			got[i].leader == wanted[i].leader;
	}
	if (equal)
		return true;
	/* PMUs come in the order of their folder: as a set. */
	size_t unlike = unique(wanted, count), have = unique(got, list->count);

	equal = unlike == have;
	for (size_t i = 0; equal && i < have; i++)
		equal = !strcmp(got[i].text, wanted[i].text);
	return equal;
}

/* Where perf 6.1 errs and we do not, on purpose: doc/COMPATIBILITY.md says what and why. */
static bool better(const char *text, const char *result)
{
	return strpbrk(text, "*?[;") || !strncmp(text, "branches-", 9) ||
	       strstr(result, "not usable") || strstr(text, "config3") || strstr(text, "config4") ||
	       !strncmp(text, "big/", 4) || strstr(text, "cpu/cycles/") ||
	       strstr(text, "cpu/L1-dcache-loads/") || strstr(text, "cpu/stalled-cycles-frontend/");
}

/* perf 6.1 looks a single name of cpu_core up in the other PMU, too, and counts there. */
static bool of_other_core(const char *text, const char *result)
{
	return !strncmp(text, "cpu_core/", 9) && strstr(result, " type=70 ");
}

static char *take_column(char **line)
{
	char *column = *line;

	*line += strcspn(*line, "\t\n");
	if (**line)
		*(*line)++ = 0;
	return column;
}

/* What was read of one machine stays for the lines behind. */
static struct machine {
	char name[64], cpuid[64];
	struct tally_event_context *context;
} machine_now;

static void choose_machine(const char *name, const char *cpuid, struct tally_event_options *options)
{
	struct machine *now = &machine_now;

	if (!now->context || strcmp(now->name, name) || strcmp(now->cpuid, cpuid)) {
		tally_event_context_free(now->context);
		now->context = NULL;
		assert_int_equal(tally_event_context_new(options, &now->context), 0);
		snprintf(now->name, sizeof(now->name), "%s", name);
		snprintf(now->cpuid, sizeof(now->cpuid), "%s", cpuid);
	}
	options->context = now->context;
}

static void check_line(char *line, const char *folder, struct tally *tally)
{
	char *machine = take_column(&line), *cpuid = take_column(&line);
	char *tool = take_column(&line), *text = take_column(&line), *result = take_column(&line);
	char sysfs[PATH_MAX], kept[256];
	bool record = !strcmp(tool, "record");
	struct wanted wanted[EVENTS_MOST];
	struct tally_event_list list = {0};
	struct tally_error error = {0};
	struct tally_event_options options = {.size = sizeof(options),
					      .sysfs = here.root,
					      .tracefs = tracefs.root,
					      .command = tool,
					      .events = getenv("TALLY_EVENTS"),
					      .cpuid = strcmp(cpuid, "-") ? cpuid
									  : "GenuineIntel-6-55-7"};
	bool errs = !strncmp(result, "ERR ", 4), equal = false;
	unsigned wrong = tally->wrong;
	size_t count = 0;

	if (strcmp(machine, "-")) {
		snprintf(sysfs, sizeof(sysfs), "%s/sysfs/%s", folder, machine);
		options.sysfs = sysfs;
	}
	choose_machine(machine, cpuid, &options);
	snprintf(kept, sizeof(kept), "%s", result);
	if (!errs)
		count = read_wanted(result, record, wanted);
	if (tally_event_list_parse(text, &options, &list, &error))
		equal = errs;
	else
		equal = !errs && same(wanted, count, &list, record, false);
	if (equal)
		tally->same++;
	else if (!errs && list.count && same(wanted, count, &list, record, true))
		tally->better++;
	else if ((errs && better(text, kept)) || !strcmp(text, "cycles;u") ||
		 of_other_core(text, kept))
		tally->better++;
	else if (strcmp(cpuid, "-") && !errs && !list.count)
		tally->vendor++;
	else
		tally->wrong++;
	if (getenv("TALLY_EVENTS_SHOW") ? !equal : tally->wrong > wrong)
		print_message("%s %s %s\n  perf  %s\n  tally %s\n", machine, tool, text,
			      errs ? kept : wanted[0].text, list.count ? "takes it" : error.text);
	tally_event_list_done(&list);
}

static void every_string(void **state)
{
	const char *folders = getenv("TALLY_EVENTS");
	struct tally tally = {0};
	char folder[PATH_MAX], path[PATH_MAX + 16], *line = NULL;
	size_t room = 0;
	FILE *file;

	(void)state;
	if (!folders) {
		print_message("skipped: TALLY_EVENTS does not say where perf's answers are\n");
		skip();
	}
	snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(folders, ":"), folders);
	snprintf(path, sizeof(path), "%s/perf61.tsv", folder);
	file = fopen(path, "r");
	assert_non_null(file);
	/* Tracepoints first: globs must find them all. */
	while (getline(&line, &room, file) > 0)
		for (const char *at = line; (at = strstr(at, "config=tp:")); at++)
			tracepoint_id(at + 10);
	rewind(file);
	while (getline(&line, &room, file) > 0)
		/* An id that is the kernel's; and what perf record adds to Processor Trace. */
		if (line[0] != '#' && !strstr(line, "\ttracepoint/config=1/\t") &&
		    !strstr(line, "\trecord\tintel_pt/"))
			check_line(line, folder, &tally);
	fclose(file);
	free(line);
	tally_event_context_free(machine_now.context);
	machine_now.context = NULL;
	print_message("%u as perf 6.1, %u better on purpose, %u need a vendor table, %u wrong\n",
		      tally.same, tally.better, tally.vendor, tally.wrong);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.same > 1000);
}

static int set_up(void **state)
{
	char path[64], type[16];

	(void)state;
	if (made_tracefs_init(&tracefs) || made_sysfs_init(&here))
		return -1;
	for (size_t i = 0; i < sizeof(here_types) / sizeof(here_types[0]); i++) {
		snprintf(path, sizeof(path), "%s/type", here_types[i].name);
		snprintf(type, sizeof(type), "%u", here_types[i].type);
		if (made_sysfs_file(&here, path, type))
			return -1;
	}
	return made_sysfs_file(&here, "software/type", "1") ||
	       made_sysfs_file(&here, "tracepoint/type", "2") ||
	       made_sysfs_file(&here, "breakpoint/type", "5") ||
	       made_sysfs_file(&here, "msr/format/event", "config:0-63") ||
	       made_sysfs_file(&here, "msr/events/tsc", "event=0x00") ||
	       made_sysfs_file(&here, "msr/events/smi", "event=0x04") ||
	       made_sysfs_file(&here, "power/format/event", "config:0-7") ||
	       made_sysfs_file(&here, "uprobe/format/retprobe", "config:0") ||
	       made_sysfs_file(&here, "uprobe/format/ref_ctr_offset", "config:32-63") ||
	       made_sysfs_file(&here, "kprobe/format/retprobe", "config:0");
}

static int tear_down(void **state)
{
	(void)state;
	made_tracefs_done(&tracefs);
	made_sysfs_done(&here);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_string)};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
