/* libpfm4's language in a string: "skl::INST_RETIRED:ANY_P:c=1:u", "pfm:NAME", and names unknown to
 * perf's grammar.
 *
 * Two kinds of tables are searched. A name without "pmu::" is first searched in the CPU's vendor
 * table, "INST_RETIRED:ANY_P" as inst_retired.any_p, when the machine has a PMU for it; then in
 * libpfm4's, which is the only one with pfm_strict. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/pfm.h>
#include "base/buf.h"
#include "base/fail.h"
#include "event/parse.h"
#include "pfm/pfm_encode.h"
#include "vendor/vendor_table.h"

/* The default privilege is that of perf's --pfm-events. */
#define PLM_DEFAULT (TALLY_PFM_PLM0 | TALLY_PFM_PLM3)

/* --- over a vendor table --- */

/* libpfm4's modifiers of x86 PMUs and the fields of their format/ in sysfs. */
static const char *field_of(const struct pfm_word *word)
{
	static const struct {
		const char *modifier, *field;
	} fields[] = {
	    {"c", "cmask"},    {"e", "edge"},          {"i", "inv"},       {"t", "any"},
	    {"intx", "in_tx"}, {"intxcp", "in_tx_cp"}, {"ldlat", "ldlat"},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (tally_pfm_word_is(word, fields[i].modifier))
			return fields[i].field;
	return NULL;
}

static const char *known(const struct pfm_word *word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tally_pfm_word_is(word, names[i]))
			return names[i];
	return NULL;
}

/* Modifiers of perf_event itself with a value, and those that are on or off. */
static const char *number_of(const struct pfm_word *word)
{
	static const char *const names[] = {"period", "freq", "precise", "cpu"};

	return known(word, names, sizeof(names) / sizeof(names[0]));
}

static const char *bool_of(const struct pfm_word *word)
{
	static const char *const names[] = {"u", "k", "h", "mg", "mh", "excl", "pinned", "hw_smpl"};

	return known(word, names, sizeof(names) / sizeof(names[0]));
}

static bool is_modifier(const struct pfm_word *word)
{
	return field_of(word) || number_of(word) || bool_of(word);
}

/* The meaning of the words, for an event of a vendor table. */
struct vendor {
	char name[256]; /* "inst_retired.any_p" */
	struct event_terms terms;
	struct tally_attr attr; /* of perf_event's own modifiers */
	int cpu;                /* -1 */
	bool privilege, user, kernel, hypervisor, guests, mg, mh;
};

static bool take_bool(struct vendor *vendor, const char *name, uint64_t on)
{
	if (!strcmp(name, "mg") || !strcmp(name, "mh")) {
		vendor->guests = true;
		*(name[1] == 'g' ? &vendor->mg : &vendor->mh) = on;
	} else if (!name[1]) {
		vendor->privilege = true;
		*(*name == 'u'   ? &vendor->user
		  : *name == 'k' ? &vendor->kernel
				 : &vendor->hypervisor) = on;
	} else {
		return !tally_pfm_modifier_apply(name, on, &vendor->attr, &vendor->cpu);
	}
	return true;
}

static bool take_modifier(struct vendor *vendor, const struct pfm_word *word, size_t position)
{
	const char *field = field_of(word), *number = number_of(word);
	uint64_t value;

	if (number)
		return tally_pfm_word_integer(word, &value) &&
		       !tally_pfm_modifier_apply(number, value, &vendor->attr, &vendor->cpu);
	if (!field)
		return tally_pfm_word_bool(word, &value) && take_bool(vendor, bool_of(word), value);
	if (!(word->value && word->value_length > 1
		  ? tally_pfm_word_integer(word, &value)
		  : tally_pfm_word_integer(word, &value) || tally_pfm_word_bool(word, &value)))
		return false;
	vendor->terms.terms[vendor->terms.count++] = (struct event_term){
	    .kind = TERM_FORMAT,
	    .value = VALUE_NUMBER,
	    .name = {field, strlen(field), position + word->position},
	    .number = value,
	};
	return true;
}

static bool add_name(struct vendor *vendor, const struct pfm_word *word)
{
	size_t at = strlen(vendor->name);

	return snprintf(vendor->name + at, sizeof(vendor->name) - at, "%s%.*s", at ? "." : "",
			(int)(word->length < 200 ? word->length : 200),
			word->text) < (int)(sizeof(vendor->name) - at);
}

/* False: these words are left to libpfm4. */
static bool read_vendor(const struct pfm_text *words, size_t position, struct vendor *ret)
{
	*ret = (struct vendor){.cpu = -1};
	if (words->pmu.text || !words->event.length || !add_name(ret, &words->event))
		return false;
	for (size_t i = 0; i < words->count; i++) {
		const struct pfm_word *word = &words->words[i];

		if (!word->length || (is_modifier(word) ? !take_modifier(ret, word, position)
							: word->value || !add_name(ret, word)))
			return false;
	}
	return true;
}

/* Of libpfm4's CPUs only AMD's can exclude the hypervisor; PMUs outside of cores can exclude
 * nothing. */
static void exclude(const struct parser *parser, const struct vendor *vendor,
		    const struct event_pmu *pmu, struct tally_attr *attr)
{
	const char *cpuid = tally_table_cpuid(parser->context->table);

	attr->exclude_guest = !vendor->mg;
	attr->exclude_host = vendor->guests && !vendor->mh;
	if (!pmu->core && !pmu->is_the_cpu) {
		attr->exclude_guest = attr->exclude_host = 0;
		return;
	}
	if (vendor->privilege) {
		attr->exclude_user = !vendor->user;
		attr->exclude_kernel = !vendor->kernel;
	}
	attr->exclude_hv = !strncmp(cpuid, "AuthenticAMD-", 13) && !vendor->hypervisor;
}

static int set_cpu(struct tally_event *event, int cpu)
{
	char text[16];

	if (cpu < 0)
		return 0;
	snprintf(text, sizeof(text), "%d", cpu);
	free(event->cpus);
	event->cpus = strdup(text);
	return event->cpus ? 0 : -ENOMEM;
}

static int add_of_pmu(struct parser *parser, struct vendor *vendor, struct event_pmu *pmu,
		      const struct event_word *name)
{
	struct tally_event event = {.attr = vendor->attr};
	int result;

	event.terms.given = vendor->attr.sample_period ? TALLY_TERM_PERIOD : 0;
	if (vendor->attr.freq)
		event.terms.given = TALLY_TERM_FREQ;
	result = tally_pmu_encode(parser->context, pmu, &vendor->terms, parser->options->command,
				  &event, parser->error);
	if (vendor->attr.sample_period) { /* instead of the table's */
		event.attr.sample_period = vendor->attr.sample_period;
		event.attr.freq = vendor->attr.freq;
		event.terms.given &= ~TALLY_TERM_WEAK;
	}
	exclude(parser, vendor, pmu, &event.attr);
	event.privilege_given = vendor->privilege;
	event.origin = TALLY_ORIGIN_PFM_TABLE;
	if (!result &&
	    (set_cpu(&event, vendor->cpu) || !(event.name = strndup(name->text, name->length))))
		result = tally_parser_fail_memory(parser);
	return tally_parser_put(parser, &event, result);
}

/* -ENOENT: not in the table, or not on the machine. */
static int add_vendor(struct parser *parser, const struct pfm_text *words,
		      const struct event_word *text, const struct event_word *name)
{
	struct vendor vendor;
	struct event_word word;
	struct pmu_alias alias;
	int result = -ENOENT;

	if (parser->context->pfm_pmu || !read_vendor(words, text->position, &vendor))
		return -ENOENT;
	word = (struct event_word){vendor.name, strlen(vendor.name), text->position};
	if (vendor.terms.count == TERMS_MOST)
		return -ENOENT;
	vendor.terms.terms[vendor.terms.count++] =
	    (struct event_term){.kind = TERM_FORMAT, .name = word, .number = 1};
	for (size_t i = 0; i < parser->context->count; i++) {
		struct event_pmu *pmu = &parser->context->pmus[i];

		if (tally_pmu_load(parser->context, pmu) ||
		    !tally_pmu_table_find(parser->context, pmu, &word, &alias))
			continue;
		result = add_of_pmu(parser, &vendor, pmu, name);
		if (result)
			return result;
	}
	return result;
}

/* --- over libpfm4's own --- */

/* Its PMUs of "this machine" are those of the running CPU. */
static bool is_here(const struct tally_event_context *context)
{
	const char *cpuid = context->cpuid ? context->cpuid : getenv("PERF_CPUID");
	char here[256];

	return !cpuid || (!tally_table_cpuid_here(context->sysfs, here, sizeof(here)) &&
			  !strcmp(cpuid, here));
}

static int open_library(struct tally_event_context *context, struct tally_error *error)
{
	struct tally_pfm_options options = {
	    .size = sizeof(options),
	    .sysfs = context->sysfs,
	    .pmu = context->pfm_pmu,
	    .cpuid = context->cpuid,
	};

	if (context->pfm_code == 1)
		context->pfm_code = tally_pfm_open(&options, &context->pfm, error);
	else if (context->pfm_code)
		tally_fail(error, -ENOENT, -1, "%s", tally_pfm_strerror(context->pfm_code));
	return context->pfm_code;
}

static bool has_privilege(const struct pfm_text *words)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *name = bool_of(&words->words[i]);

		if (name && !name[1])
			return true;
	}
	return false;
}

/* The machine's PMU with the type, so that it is opened on its CPUs. */
static int set_pmu(struct parser *parser, struct tally_event *event)
{
	for (size_t i = 0; i < parser->context->count; i++) {
		struct event_pmu *pmu = &parser->context->pmus[i];

		if (tally_pmu_type(parser->context, pmu) || pmu->type != event->attr.type ||
		    tally_pmu_load(parser->context, pmu))
			continue;
		event->pmu = strdup(pmu->name);
		event->cpus = pmu->cpus ? strdup(pmu->cpus) : NULL;
		return !event->pmu || (pmu->cpus && !event->cpus) ? -ENOMEM : 0;
	}
	return 0;
}

static int put(struct parser *parser, struct tally_pfm_event *found, const struct pfm_text *words,
	       const struct event_word *name)
{
	struct tally_event event = {
	    .attr = found->attr,
	    .scale = 1,
	    .origin = TALLY_ORIGIN_PFM,
	    .source = found->name,
	    .privilege_given = has_privilege(words),
	};
	int result = 0;

	found->name = NULL;
	event.attr.size = 0;
	if (event.attr.freq)
		event.terms.given = TALLY_TERM_FREQ;
	else if (event.attr.sample_period)
		event.terms.given = TALLY_TERM_PERIOD;
	event.name = strndup(name->text, name->length);
	if (!event.name || set_pmu(parser, &event) || set_cpu(&event, found->cpu))
		result = tally_parser_fail_memory(parser);
	return tally_parser_put(parser, &event, result);
}

/* "INST_RETIRED:..." of the PMU `perf` is another spelling of an event of the kernel. */
static bool is_kernel_event(const char *qualified)
{
	return !strncmp(qualified, "perf::", 6) || !strncmp(qualified, "perf_raw::", 10);
}

/* -ENOENT: libpfm4 is not installed, or has no such event. */
static int add_pfm(struct parser *parser, const char *text, const struct pfm_text *words,
		   const struct event_word *name, size_t position, bool asked)
{
	struct tally_error inner = {.position = -1};
	struct tally_pfm_event found = {.size = sizeof(found)};
	int code;

	if (!words->pmu.text && !parser->context->pfm_pmu && !is_here(parser->context))
		return tally_fail(parser->error, -ENOENT, (int64_t)position,
				  "libpfm4 supports the PMUs of this machine only; for another CPU "
				  "give the PMU, as in skl::INST_RETIRED");
	code = open_library(parser->context, &inner);
	if (!code)
		code = tally_pfm_encode(parser->context->pfm, text, PLM_DEFAULT,
					TALLY_PFM_OS_PERF_EVENT_EXT, &found, asked ? &inner : NULL);
	/* It is an event of libpfm4: only now report what is wrong with it, and suggest a name. */
	if (code && !asked && code != TALLY_PFM_NOTFOUND && code != TALLY_PFM_NOINIT)
		code = tally_pfm_encode(parser->context->pfm, text, PLM_DEFAULT,
					TALLY_PFM_OS_PERF_EVENT_EXT, &found, &inner);
	if (!code && !asked && is_kernel_event(found.name)) {
		tally_pfm_event_done(&found);
		return -ENOENT;
	}
	if (!code) {
		code = put(parser, &found, words, name);
		tally_pfm_event_done(&found);
		return code;
	}
	if (inner.position >= 0)
		inner.position += (int64_t)position;
	else
		inner.position = (int64_t)position;
	return tally_fail(parser->error,
			  code == TALLY_PFM_NOINIT || code == TALLY_PFM_NOTFOUND ? -ENOENT
										 : -EINVAL,
			  inner.position, "%s (%s)", inner.text, tally_pfm_code_name(code));
}

/* "INST_RETIRED:ANY" is not a tracepoint, as their systems have small letters; "CYCELS:u" is more
 * likely a misspelling. */
static bool is_only_pfm(const struct pfm_text *words)
{
	struct event_word first;

	if (!words->event.length || !words->count)
		return false;
	for (size_t i = 0; i < words->event.length; i++)
		if (islower((unsigned char)words->event.text[i]))
			return false;
	first = (struct event_word){words->words[0].text, words->words[0].length, 0};
	return !tally_modifier_looks_like(&first);
}

/* Up to the end of the event in a list or group. */
static struct event_word take_text(struct parser *parser)
{
	struct event_word word = {.text = parser->text + parser->at, .position = parser->at};

	while (parser->text[parser->at] && !strchr(",{}", parser->text[parser->at]) &&
	       !isspace((unsigned char)parser->text[parser->at]))
		parser->at++;
	word.length = parser->at - word.position;
	return word;
}

int tally_parse_pfm_event(struct parser *parser, size_t name_start, bool asked)
{
	struct event_word text = take_text(parser), name;
	struct pfm_text words;
	char *copy;
	size_t at;
	int result = tally_parser_need_pmus(parser);

	name = (struct event_word){parser->text + name_start, parser->at - name_start, name_start};
	copy = result ? NULL : strndup(text.text, text.length);
	if (!copy)
		return result ? result : tally_parser_fail_memory(parser);
	result = -ENOENT;
	if (tally_pfm_text_parse(copy, &words, &at))
		result = tally_fail(parser->error, -EINVAL, (int64_t)(text.position + at),
				    "too many unit masks and modifiers");
	else if (!parser->options->pfm_strict)
		result = add_vendor(parser, &words, &text, &name);
	if (result == -ENOENT)
		result = add_pfm(parser, copy, &words, &name, text.position, asked);
	if (result == -ENOENT && !asked && is_only_pfm(&words)) {
		result = add_pfm(parser, copy, &words, &name, text.position, true);
		if (result == -ENOENT) /* libpfm4's error */
			result = parser->error->code = -EINVAL;
	}
	free(copy);
	return result;
}
