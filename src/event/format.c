/* ATTR -> NAME: the string that gives the attr. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/option_struct.h"
#include "event/aux_action.h"
#include "event/format.h"
#include "event/pmu.h"

/* snprintf()s the name without modifiers. */
static int format_name(const struct tally_attr *attr, const struct tally_event_options *options,
		       char *to, size_t room)
{
	static const struct event_family *const families[] = {EVENT_FAMILIES(EVENT_FAMILY_AT)};

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		int length =
		    families[i]->format ? families[i]->format(attr, options, to, room) : -1;

		if (length >= 0)
			return length;
	}
	/* The two numbers are a name, too. */
	return snprintf(to, room, "%u:0x%llx", attr->type, (unsigned long long)attr->config);
}

/* Whether these modifiers behind a name give what the attr excludes. */
static bool modifiers_give(const char *letters, const struct tally_attr *attr, bool guests_out)
{
	struct event_item item = {.event.attr.exclude_guest = guests_out};
	struct event_word word = {.text = letters, .length = strlen(letters)};
	const struct tally_attr *got = &item.event.attr;

	return !tally_modifier_apply(&item, &word, false, true, NULL) &&
	       got->exclude_guest == attr->exclude_guest && got->exclude_host == attr->exclude_host;
}

/* The letters, with G or H where the others do not imply what the attr says of guests. */
void tally_format_modifiers(const struct tally_attr *attr, bool guests_out, char to[24])
{
	static const char *const guests[] = {"", "H", "G", "GH"};
	struct tally_attr plain = *attr;
	char base[16], text[24];

	plain.exclude_host = plain.exclude_guest = 0;
	tally_modifier_format(&plain, base);
	for (size_t i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "%s%s", base, guests[i]);
		snprintf(to, 24, "%s", text);
		if (modifiers_give(text, attr, guests_out))
			return;
	}
	tally_modifier_format(attr,
			      base); /* no letters mean that both host and guest are excluded */
	snprintf(to, 24, "%s", base);
}

void tally_format_sampling(const struct tally_attr *attr, uint64_t own_period,
			   char to[FORMAT_SAMPLING])
{
	int length = 0;

	*to = 0;
	if (attr->freq)
		length = snprintf(to, FORMAT_SAMPLING, "freq=%llu",
				  (unsigned long long)attr->sample_freq);
	else if (attr->sample_period != own_period)
		length = snprintf(to, FORMAT_SAMPLING, "period=%llu",
				  (unsigned long long)attr->sample_period);
	if (attr->aux_sample_size)
		length +=
		    snprintf(to + length, FORMAT_SAMPLING - (size_t)length, "%saux-sample-size=%u",
			     length ? "," : "", attr->aux_sample_size);
	for (size_t i = 0; i < EVENT_AUX_ACTIONS; i++)
		if (attr->aux_action & event_aux_actions[i].bit)
			length += snprintf(to + length, FORMAT_SAMPLING - (size_t)length,
					   "%saux-action=%s", length ? "," : "",
					   event_aux_actions[i].word);
}

/* What the name does not contain, as terms: ",config1=0x3,period=1000". */
static void format_terms(const struct tally_attr *attr, struct tally_buf *to)
{
	const uint64_t configs[] = {attr->config1, attr->config2, attr->config3, attr->config4};
	char sampling[FORMAT_SAMPLING];

	for (size_t i = 0; i < 4; i++)
		if (configs[i])
			tally_buf_printf(to, ",config%zu=0x%llx", i + 1,
					 (unsigned long long)configs[i]);
	tally_format_sampling(attr, 0, sampling);
	if (*sampling)
		tally_buf_printf(to, ",%s", sampling);
}

/* Names that all kernels have, and numbers. Length, or -errno. */
static int format_plain(const struct tally_attr *attr, const struct tally_event_options *options,
			const char *modifiers, char *to, size_t room)
{
	struct tally_buf terms = {0};
	int length = -1, result;
	char name[1024];

	if (attr->type == PERF_TYPE_BREAKPOINT && !attr->sample_period && !attr->freq &&
	    !attr->config3 && !attr->config4 && !attr->aux_sample_size && !attr->aux_action)
		length = tally_breakpoint_format(attr, name, sizeof(name));
	if (length < 0) {
		length = format_name(attr, options, name, sizeof(name));
		format_terms(attr, &terms);
	}
	if (length < 0 || (size_t)length >= sizeof(name) || terms.failed) {
		tally_buf_done(&terms);
		return terms.failed ? terms.failed : -EOVERFLOW;
	}
	if (terms.size)
		result = snprintf(to, room, "%s/%s/%s", name, tally_buf_str(&terms) + 1, modifiers);
	else
		result = snprintf(to, room, "%s%s%s", name, *modifiers ? ":" : "", modifiers);
	tally_buf_done(&terms);
	return result;
}

/* Whether sysfs may have a better name than the kernel's headers. */
static bool may_be_of_pmu(const struct tally_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return false;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return attr->config >> 32;
	default:
		return true;
	}
}

int tally_event_format(const struct tally_attr *attr, const struct tally_event_options *options,
		       char *to, size_t room)
{
	struct tally_event_options use = {.size = sizeof(use)};
	struct tally_event_context *own = NULL;
	int result = tally_options_take(&use, sizeof(use), options);
	char modifiers[24], *named = NULL;

	if (result)
		return result;
	tally_format_modifiers(attr, attr->type < PERF_TYPE_MAX, modifiers);
	if (may_be_of_pmu(attr)) {
		if (!use.context) {
			result = tally_event_context_new(&use, &own);
			use.context = own;
		}
		use.size = sizeof(use);
		if (!result)
			result = tally_pmus_list(use.context);
		if (!result)
			named = tally_format_pmu(attr, &use);
	}
	if (!result)
		result = named ? snprintf(to, room, "%s", named)
			       : format_plain(attr, &use, modifiers, to, room);
	free(named);
	tally_event_context_free(own);
	return result;
}
