/* The events of a recording, a line each.  Source of the lines: the output of perf 6.1's evlist. */
#include <tally/evlist.h>

#include <errno.h>
#include <string.h>
#include "base/digits.h"
#include "base/sorted.h"
#include "base/text.h"
#include "base/option_struct.h"
#include "info/attr_text.h"
#include "info/facts.h"
#include "trace/trace_text.h"

/* The text after a name begins with ":", and its parts are separated by ",". */
struct line {
	struct tally_buf *to;
	bool first;
};

static void go_on(struct line *line)
{
	tally_buf_byte(line->to, line->first ? ':' : ',');
	line->first = false;
}

struct tally_attr tally_facts_attr_of_perf(const struct tally_data_event *event)
{
	struct tally_attr attr = event->attr;

	/* perf always opens bpf-output events with these values, and prints them. */
	if (attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_BPF_OUTPUT) {
		attr.sample_type |=
		    PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
		attr.sample_period = 1;
	}
	return attr;
}

static void add_member(void *context, const char *name, const char *value)
{
	struct line *line = context;

	go_on(line);
	tally_buf_printf(line->to, " %s: %s", name, value);
}

/* Fields come one by one, the common ones first. */
struct fields {
	struct line *line;
	bool any;
};

static int add_field(void *context, const struct tally_trace_field *field)
{
	struct fields *fields = context;

	if (field->common)
		return 0;
	go_on(fields->line);
	if (!fields->any)
		tally_buf_text(fields->line->to, " trace_fields: ");
	fields->any = true;
	tally_buf_text(fields->line->to, field->name);
	return 0;
}

static void add_fields(struct line *line, const struct tally_attr *attr,
		       struct tally_trace_text *traces)
{
	struct fields fields = {.line = line};

	if (attr->type != PERF_TYPE_TRACEPOINT) {
		go_on(line);
		tally_buf_text(line->to, " (not a tracepoint)");
		return;
	}
	if (traces)
		tally_trace_text_each_field(traces, attr->config, (const uint8_t *)"", 0, add_field,
					    &fields);
	if (!fields.any) {
		go_on(line);
		tally_buf_text(line->to, " (no trace field)");
	}
}

static void add_event(struct tally_buf *to, const struct tally_data_event *event,
		      const struct tally_evlist_options *options, struct tally_trace_text *traces)
{
	struct tally_attr attr = tally_facts_attr_of_perf(event);
	struct line line = {.to = to, .first = true};

	tally_buf_text(to, event->name);
	if (options->verbose) {
		tally_attr_each(&attr, add_member, &line);
	} else if (options->freq) {
		go_on(&line);
		tally_buf_printf(to, " %s=", attr.freq ? "sample_freq" : "sample_period");
		buf_dec(to, attr.sample_freq);
	}
	if (options->trace_fields)
		add_fields(&line, &attr, traces);
	tally_buf_byte(to, '\n');
}

/* Groups are in the order of their leaders. */
static const struct tally_data_group *find_group(const struct tally_data_info *info, size_t leader)
{
	size_t low = SORTED_BOUND(at, 0, info->group_count, info->groups[at].leader < leader);

	return low < info->group_count && info->groups[low].leader == leader ? &info->groups[low]
									     : NULL;
}

/* A line for a leader and all that follow it. */
static void add_group(struct tally_buf *to, const struct tally_data *data, size_t leader)
{
	const struct tally_data_group *group = find_group(tally_data_info(data), leader);
	bool braces = group && group->members > 1;
	size_t count = tally_data_event_count(data);

	if (braces) {
		if (strcmp(group->name, "{anon_group}") != 0)
			tally_buf_text(to, group->name);
		tally_buf_byte(to, '{');
	}
	tally_buf_text(to, tally_data_event(data, leader)->name);
	for (size_t i = leader + 1; i < count; i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		if (event->leader != leader)
			break;
		tally_buf_byte(to, ',');
		tally_buf_text(to, event->name);
	}
	tally_buf_text(to, braces ? "}\n" : "\n");
}

static int trace_formats(const struct tally_data *data, struct tally_trace_text **ret)
{
	struct tally_block formats = tally_data_feature(data, TALLY_FEATURE_TRACING_DATA);

	if (!formats.bytes ||
	    tally_trace_text_new(formats.bytes, formats.size, ret, NULL) != -ENOMEM)
		return 0;
	return -ENOMEM;
}

int tally_evlist_text(const struct tally_data *data, const struct tally_evlist_options *options,
		      FILE *out)
{
	struct tally_evlist_options own = {.size = sizeof(own)};
	struct tally_trace_text *traces = NULL;
	struct tally_buf text = {0};
	bool tracepoints = false;
	int code = tally_options_take(&own, sizeof(own), options);

	if (!code && own.trace_fields)
		code = trace_formats(data, &traces);
	if (code)
		return code;
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		tracepoints |= event->attr.type == PERF_TYPE_TRACEPOINT;
		if (!own.group)
			add_event(&text, event, &own, traces);
		else if (event->leader == i)
			add_group(&text, data, i);
	}
	if (tracepoints && !own.trace_fields)
		tally_buf_text(&text, "# Tip: use 'perf evlist --trace-fields' to show fields for "
				      "tracepoint events\n");
	tally_trace_text_free(traces);
	return own.raw_text ? tally_buf_put(&text, out) : tally_buf_put_escaped(&text, out);
}
