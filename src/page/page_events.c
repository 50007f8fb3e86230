/* The table of events: their names, and what their weights are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/page.h>
#include "base/table.h"
#include "page/page_tables.h"

/* As the recorder and perf call it; its attr is that of a BPF program's output. */
#define OFF_CPU "offcpu-time"

struct facts {
	const char *unit;
	enum page_event_kind kind;
};

/* Source of types and numbers: include/uapi/linux/perf_event.h. */
static struct facts facts_of(const struct tally_data_event *event)
{
	const struct tally_attr *attr = &event->attr;
	uint64_t config =
	    attr->type == PERF_TYPE_HARDWARE ? attr->config & 0xffffffff : attr->config;

	if (!strncmp(event->name, OFF_CPU, strlen(OFF_CPU)))
		return (struct facts){"ns", PAGE_EVENT_OFF_CPU};
	if (attr->type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_DUMMY)
		return (struct facts){"events", PAGE_EVENT_DUMMY};
	if (attr->type == PERF_TYPE_SOFTWARE &&
	    (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK))
		return (struct facts){"ns", PAGE_EVENT_ON_CPU};
	if (attr->type == PERF_TYPE_HARDWARE &&
	    (config == PERF_COUNT_HW_CPU_CYCLES || config == PERF_COUNT_HW_REF_CPU_CYCLES))
		return (struct facts){"cycles", PAGE_EVENT_ON_CPU};
	if (attr->type == PERF_TYPE_HARDWARE && config == PERF_COUNT_HW_INSTRUCTIONS)
		return (struct facts){"instructions", PAGE_EVENT_ON_CPU};
	/* PMUs of hybrid machines, and names such as cycles:ppp of raw codes. */
	if (attr->type != PERF_TYPE_SOFTWARE && strstr(event->name, "cycles"))
		return (struct facts){"cycles", PAGE_EVENT_ON_CPU};
	return (struct facts){"events", PAGE_EVENT_OTHER};
}

bool tally_page_event_is_time(const struct tally_data_event *event)
{
	return !strcmp(facts_of(event).unit, "ns");
}

/* As in a difference's rows: events of one name, or the only ones of their recordings. */
static uint32_t known_event(const struct page_tables *tables, uint32_t earlier, uint32_t name,
			    size_t count)
{
	for (uint32_t i = 0; i < earlier; i++)
		if (tables->events[i].name == name)
			return i;
	return earlier == 1 && count == 1 ? 0 : PAGE_NONE;
}

void tally_page_put_amount(struct tally_buf *to, double value, bool time)
{
	static const struct {
		double scale;
		const char *unit;
	} large[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}},
	  times[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}, {1, " ns"}};
	size_t at = 0;

	while (at < 4 && value < (time ? times : large)[at].scale)
		at++;
	value /= (time ? times : large)[at].scale;
	tally_buf_printf(to, value < 999.5 ? "%.3g%s" : "%.0f%s", value,
			 (time ? times : large)[at].unit);
}

size_t tally_page_amount(const struct tally_data_event *event, uint64_t weight, char *to,
			 size_t room)
{
	struct tally_buf text = {0};
	size_t length;

	tally_page_put_amount(&text, (double)weight, tally_page_event_is_time(event));
	length = (size_t)snprintf(to, room, "%s", tally_buf_str(&text));
	tally_buf_done(&text);
	return length;
}

int tally_page_events_make(struct page_tables *tables, struct page_source *source)
{
	const struct tally_data *data = tally_session_data(source->session);
	size_t count = tally_data_event_count(data);
	uint32_t earlier = tables->event_count;

	source->events = calloc(count + 1, sizeof(*source->events));
	if (!source->events ||
	    !array_resize(&tables->events, earlier + count + 1, sizeof(*tables->events)))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct tally_data_event *event = tally_data_event(data, i);
		struct facts facts = facts_of(event);
		int64_t name = tally_page_string(tables, event->name);
		int64_t unit = tally_page_string(tables, facts.unit);

		if (name < 0 || unit < 0)
			return -ENOMEM;
		source->events[i] = known_event(tables, earlier, (uint32_t)name, count);
		if (source->events[i] != PAGE_NONE)
			continue;
		source->events[i] = tables->event_count;
		tables->events[tables->event_count++] =
		    (struct page_event){.name = (uint32_t)name,
					.unit = (uint32_t)unit,
					.kind = (uint8_t)facts.kind,
					.rate = event->attr.freq ? event->attr.sample_freq : 0};
	}
	return 0;
}
