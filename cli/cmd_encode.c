/* `tally encode`: how an event's name is encoded for the kernel, as text or JSON. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/event.h>
#include <tally/text.h>
#include <unistd.h>
#include "command.h"
#include "options.h"
#include "say.h"

struct encode {
	const char *sysfs, *tracefs, *events, *cpuid, *pmu, *command;
	bool json, verbose, strict;
	struct tally_event_options options;
};

/* Words for where the event was found; in JSON. */
static const char *const origins[] = {
    [TALLY_ORIGIN_KERNEL] = "kernel",   [TALLY_ORIGIN_SYSFS] = "sysfs",
    [TALLY_ORIGIN_TRACEFS] = "tracefs", [TALLY_ORIGIN_TABLE] = "table",
    [TALLY_ORIGIN_PFM] = "libpfm4",     [TALLY_ORIGIN_PFM_TABLE] = "libpfm4 over a table",
    [TALLY_ORIGIN_TOOL] = "tool",
};

/* --- terms --- */

struct shown_term {
	const char *name; /* perf's */
	const char *text; /* NULL: a number */
	uint64_t number;
	bool hex;
};

#define TERMS 16

/* The given terms that no printed member of the attr contains. */
static size_t terms_of(const struct tally_event *event, struct shown_term *ret)
{
	const struct tally_event_terms *terms = &event->terms;
	const struct {
		uint32_t bit;
		struct shown_term term;
	} all[] = {
	    {TALLY_TERM_TIME, {"time", .number = terms->time}},
	    {TALLY_TERM_CALL_GRAPH, {"call-graph", .text = terms->call_graph}},
	    {TALLY_TERM_STACK_SIZE, {"stack-size", .number = terms->stack_size}},
	    {TALLY_TERM_MAX_STACK, {"max-stack", .number = terms->max_stack}},
	    {TALLY_TERM_BRANCH_TYPE,
	     {"branch_type", .number = event->attr.branch_sample_type, .hex = true}},
	    {TALLY_TERM_OVERWRITE, {"overwrite", .number = terms->overwrite}},
	    {TALLY_TERM_AUX_OUTPUT, {"aux-output", .number = terms->aux_output}},
	    {TALLY_TERM_AUX_SAMPLE_SIZE,
	     {"aux-sample-size", .number = event->attr.aux_sample_size}},
	    {TALLY_TERM_AUX_ACTION,
	     {"aux-action", .text = event->attr.aux_start_paused ? "start-paused"
				    : event->attr.aux_pause      ? "pause"
								 : "resume"}},
	    {TALLY_TERM_MAX_EVENTS, {"nr", .number = terms->max_events}},
	    {TALLY_TERM_PERCORE, {"percore", .number = terms->percore}},
	    {TALLY_TERM_METRIC_ID, {"metric-id", .text = terms->metric_id}},
	    {TALLY_TERM_DRIVER, {"driver", .text = terms->driver}},
	};
	size_t count = 0;

	_Static_assert(sizeof(all) / sizeof(all[0]) <= TERMS, "room for all terms");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (terms->given & all[i].bit)
			ret[count++] = all[i].term;
	return count;
}

/* --- JSON --- */

static void json_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			printf("\\%c", byte);
		else if (byte < ' ' || byte == 0x7f)
			printf("\\u%04x", byte);
		else
			putchar(byte);
	}
	putchar('"');
}

static void json_key(const char *key)
{
	printf(",\"%s\":", key);
}

static void json_text_or_null(const char *key, const char *text)
{
	json_key(key);
	if (text)
		json_text(text);
	else
		fputs("null", stdout);
}

static void json_number(const char *key, uint64_t value)
{
	printf(",\"%s\":%llu", key, (unsigned long long)value);
}

static void json_hex(const char *key, uint64_t value)
{
	printf(",\"%s\":\"0x%llx\"", key, (unsigned long long)value);
}

/* Children are measured, too, unless a term says otherwise, as in record and stat; but record
 * cannot read groups with samples of children. */
static bool inherits(const struct tally_event_list *list, size_t index, const char *command)
{
	const struct tally_event *event = &list->events[index];

	if (event->sample_read && command && !strcmp(command, "record") &&
	    !tally_event_alone(list, index))
		return false;
	return !(event->terms.given & TALLY_TERM_INHERIT) || event->terms.inherit;
}

static bool is_breakpoint(const struct tally_attr *attr)
{
	return attr->type == PERF_TYPE_BREAKPOINT;
}

/* The group's descriptor as for perf_event_open(2): the leader itself opens with -1. */
static long long leader_of(const struct tally_event *event, size_t index)
{
	return event->leader == index ? -1 : (long long)event->leader;
}

static void json_attr(const struct tally_attr *attr, bool inherited)
{
	json_number("type", attr->type);
	json_hex("config", attr->config);
	json_hex("config1", attr->config1);
	json_hex("config2", attr->config2);
	json_hex("config3", attr->config3);
	json_hex("config4", attr->config4);
	json_number("sample_period", attr->freq ? 0 : attr->sample_period);
	json_number("sample_freq", attr->freq ? attr->sample_freq : 0);
	json_number("exclude_user", attr->exclude_user);
	json_number("exclude_kernel", attr->exclude_kernel);
	json_number("exclude_hv", attr->exclude_hv);
	json_number("exclude_idle", attr->exclude_idle);
	json_number("exclude_host", attr->exclude_host);
	json_number("exclude_guest", attr->exclude_guest);
	json_number("precise_ip", attr->precise_ip);
	json_number("pinned", attr->pinned);
	json_number("exclusive", attr->exclusive);
	json_number("inherit", inherited);
	json_number("bp_type", attr->bp_type);
	json_hex("bp_addr", is_breakpoint(attr) ? attr->bp_addr : 0);
	json_number("bp_len", is_breakpoint(attr) ? attr->bp_len : 0);
}

/* The terms that say how the tool measures the event, without those that the attr above contains.
 */
static void json_terms(const struct tally_event *event)
{
	struct shown_term terms[TERMS];
	size_t count = terms_of(event, terms);

	json_key("terms");
	putchar('{');
	for (size_t i = 0; i < count; i++) {
		printf("%s\"%s\":", i ? "," : "", terms[i].name);
		if (terms[i].text)
			json_text(terms[i].text);
		else
			printf(terms[i].hex ? "\"0x%llx\"" : "%llu",
			       (unsigned long long)terms[i].number);
	}
	putchar('}');
}

static void json_event(const struct encode *encode, const char *text,
		       const struct tally_event_list *list, size_t index)
{
	const struct tally_event *event = &list->events[index];

	fputs("{\"event\":", stdout);
	json_text(text);
	json_text_or_null("name", event->name);
	json_text_or_null("pmu", event->pmu);
	json_attr(&event->attr, inherits(list, index, encode->command));
	printf(",\"leader\":%lld", leader_of(event, index));
	json_text_or_null("unit", event->unit);
	printf(",\"scale\":%.17g", event->scale);
	json_key("per_pkg");
	fputs(event->per_pkg ? "true" : "false", stdout);
	json_text_or_null("cpus", event->cpus);
	json_terms(event);
	json_text_or_null("origin", origins[event->origin]);
	json_text_or_null("source", event->source);
	json_text_or_null("warning", event->warning);
	fputs("}\n", stdout);
}

/* --- text --- */

static void show_text(const char *key, const char *text)
{
	char escaped[512];

	if (!text)
		return;
	tally_text_escape(text, escaped, sizeof(escaped));
	printf("  %-16s %s\n", key, escaped);
}

static void show_number(const char *key, uint64_t value)
{
	if (value)
		printf("  %-16s %llu\n", key, (unsigned long long)value);
}

static void show_hex(const char *key, uint64_t value)
{
	if (value)
		printf("  %-16s 0x%llx\n", key, (unsigned long long)value);
}

static void show_config(const struct tally_attr *attr)
{
	printf("  %-16s %u\n  %-16s 0x%llx\n", "type", attr->type, "config",
	       (unsigned long long)attr->config);
	if (is_breakpoint(attr)) {
		show_number("bp_type", attr->bp_type);
		printf("  %-16s 0x%llx\n", "bp_addr", (unsigned long long)attr->bp_addr);
		show_number("bp_len", attr->bp_len);
	} else {
		show_hex("config1", attr->config1);
		show_hex("config2", attr->config2);
	}
	show_hex("config3", attr->config3);
	show_hex("config4", attr->config4);
}

static void show_event(const struct encode *encode, const struct tally_event_list *list,
		       size_t index)
{
	const struct tally_event *event = &list->events[index];
	const struct tally_attr *attr = &event->attr;
	struct shown_term terms[TERMS];
	char escaped[512];
	size_t count;

	tally_text_escape(event->name, escaped, sizeof(escaped));
	printf("%s\n", escaped);
	show_text("pmu", event->pmu);
	show_config(attr);
	show_number(attr->freq ? "sample_freq" : "sample_period", attr->sample_period);
	show_number("exclude_user", attr->exclude_user);
	show_number("exclude_kernel", attr->exclude_kernel);
	show_number("exclude_hv", attr->exclude_hv);
	show_number("exclude_idle", attr->exclude_idle);
	show_number("exclude_host", attr->exclude_host);
	show_number("exclude_guest", attr->exclude_guest);
	show_number("precise_ip", attr->precise_ip);
	show_number("pinned", attr->pinned);
	show_number("exclusive", attr->exclusive);
	show_number("inherit", inherits(list, index, encode->command));
	if (event->leader != index)
		printf("  %-16s %u\n", "leader", event->leader);
	show_text("unit", event->unit);
	if (event->scale != 1)
		printf("  %-16s %.17g\n", "scale", event->scale);
	show_number("per_pkg", event->per_pkg);
	show_text("cpus", event->cpus);
	count = terms_of(event, terms);
	for (size_t i = 0; i < count; i++)
		if (terms[i].text)
			show_text(terms[i].name, terms[i].text);
		else
			printf(terms[i].hex ? "  %-16s 0x%llx\n" : "  %-16s %llu\n", terms[i].name,
			       (unsigned long long)terms[i].number);
}

/* The language of the name, and where the event was found. */
static void show_source(const struct tally_event *event)
{
	const char *source = event->source ? event->source : "", *pmu = event->pmu;

	switch (event->origin) {
	case TALLY_ORIGIN_KERNEL:
		cli_say("encode", "%s is perf's grammar: a name of the kernel's", event->name);
		break;
	case TALLY_ORIGIN_SYSFS:
		cli_say("encode", "%s is perf's grammar: PMU %s of sysfs", event->name, pmu);
		break;
	case TALLY_ORIGIN_TRACEFS:
		cli_say("encode", "%s is perf's grammar: a tracepoint", event->name);
		break;
	case TALLY_ORIGIN_TABLE:
		cli_say("encode", "%s is perf's grammar: PMU %s, vendor table of %s", event->name,
			pmu, source);
		break;
	case TALLY_ORIGIN_PFM:
		cli_say("encode", "%s is libpfm4's language, and its table's %s", event->name,
			source);
		break;
	case TALLY_ORIGIN_PFM_TABLE:
		cli_say("encode", "%s is libpfm4's language: PMU %s, vendor table of %s",
			event->name, pmu, source);
		break;
	case TALLY_ORIGIN_TOOL:
		cli_say("encode", "%s is measured by the tool itself", event->name);
		break;
	}
}

static int encode_one(const struct encode *encode, const char *text)
{
	struct tally_event_list list = {0};
	struct tally_error error;

	if (tally_event_list_parse(text, &encode->options, &list, &error))
		return cli_say_wrong("encode", text, &error);
	for (size_t i = 0; i < list.count; i++) {
		const struct tally_event *event = &list.events[i];

		if (encode->verbose)
			show_source(event);
		if (event->warning)
			cli_say("encode", "%s: %s", event->name, event->warning);
		if (encode->json)
			json_event(encode, text, &list, i);
		else
			show_event(encode, &list, i);
	}
	tally_event_list_done(&list);
	return CLI_OK;
}

static int run(struct encode *encode, char **events)
{
	int status = CLI_OK, result;

	encode->options = (struct tally_event_options){
	    .size = sizeof(encode->options),
	    .sysfs = encode->sysfs,
	    .tracefs = encode->tracefs,
	    .command = encode->command,
	    .events = encode->events,
	    .cpuid = encode->cpuid,
	    .pmu = encode->pmu,
	    .pfm_strict = encode->strict,
	};
	result = tally_event_context_new(&encode->options, &encode->options.context);
	if (result) {
		cli_say("encode", "%s", strerror(-result));
		return CLI_FAILED;
	}
	for (; *events; events++) {
		int one = encode_one(encode, *events);

		if (one)
			status = one;
	}
	tally_event_context_free(encode->options.context);
	return status;
}

static int take_command(void *to, const char *value, bool on, struct tally_error *error)
{
	static const char *const words[] = {"stat", "record", NULL};
	int which = on ? cli_choose(error, value, "command", words) : 0;

	if (which >= 0)
		*(const char **)to = on ? words[which] : NULL;
	return which < 0 ? which : 0;
}

int cmd_encode(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] EVENT...", NULL};
	const struct cli_usage usage = {
	    .command = "encode",
	    .forms = forms,
	    .about = "Shows how each event's name is encoded: the fields of perf_event_attr that "
		     "are not 0. No event is opened.",
	    .mixed = true,
	};
	struct encode encode = {.json = false};
	const struct cli_option options[] = {
	    {CLI_FLAG, 0, "json", NULL, "a JSON object for each event, one per line",
	     .to = &encode.json},
	    {CLI_FLAG, 'v', "verbose", NULL, "print how each name was parsed",
	     .to = &encode.verbose},
	    {CLI_CALL, 0, "for", "COMMAND",
	     "refuse terms that this command does not use: stat or record", .to = &encode.command,
	     .call = take_command},
	    {CLI_FLAG, 0, "pfm-strict", NULL,
	     "libpfm4's encoding where a vendor table has a different one", .to = &encode.strict},
	    {CLI_GROUP, .help = "Another machine"},
	    {CLI_STRING, 0, "events", "DIR", "folders of vendor tables, DIR:DIR",
	     .to = &encode.events},
	    {CLI_STRING, 0, "cpuid", "ID", "the CPU, for example GenuineIntel-6-55-7",
	     .to = &encode.cpuid},
	    {CLI_STRING, 0, "pmu", "NAME", "the PMU of libpfm4's names, for example skl",
	     .to = &encode.pmu},
	    {CLI_STRING, 0, "sysfs", "DIR", "instead of /sys", .to = &encode.sysfs},
	    {CLI_STRING, 0, "tracefs", "DIR", "instead of /sys/kernel/tracing",
	     .to = &encode.tracefs},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	if (at == argc)
		return cli_usage_error(&usage,
				       "expected an event, such as cycles:u or cpu/event=0xc0/");
	return run(&encode, argv + at);
}
