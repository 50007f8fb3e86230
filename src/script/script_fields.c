#include "script/script_fields.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"

/* Events that tools make of traces.  Source: perf's PERF_TYPE_SYNTH, INT_MAX + 1. */
#define TYPE_SYNTHETIC (INT32_MAX + 1U)

static const char names[SCRIPT_FIELD_COUNT][16] = {
    [SCRIPT_COMM] = "comm",
    [SCRIPT_TID] = "tid",
    [SCRIPT_PID] = "pid",
    [SCRIPT_TIME] = "time",
    [SCRIPT_CPU] = "cpu",
    [SCRIPT_EVENT] = "event",
    [SCRIPT_TRACE] = "trace",
    [SCRIPT_IP] = "ip",
    [SCRIPT_SYM] = "sym",
    [SCRIPT_DSO] = "dso",
    [SCRIPT_DSOFF] = "dsoff",
    [SCRIPT_ADDR] = "addr",
    [SCRIPT_SYMOFF] = "symoff",
    [SCRIPT_SRCLINE] = "srcline",
    [SCRIPT_PERIOD] = "period",
    [SCRIPT_IREGS] = "iregs",
    [SCRIPT_UREGS] = "uregs",
    [SCRIPT_BRSTACK] = "brstack",
    [SCRIPT_BRSTACKSYM] = "brstacksym",
    [SCRIPT_DATA_SRC] = "data_src",
    [SCRIPT_WEIGHT] = "weight",
    [SCRIPT_BPF_OUTPUT] = "bpf-output",
    [SCRIPT_CALLINDENT] = "callindent",
    [SCRIPT_INSN] = "insn",
    [SCRIPT_INSNLEN] = "insnlen",
    [SCRIPT_BRSTACKINSN] = "brstackinsn",
    [SCRIPT_BRSTACKOFF] = "brstackoff",
    [SCRIPT_SYNTH] = "synth",
    [SCRIPT_PHYS_ADDR] = "phys_addr",
    [SCRIPT_METRIC] = "metric",
    [SCRIPT_MISC] = "misc",
    [SCRIPT_SRCCODE] = "srccode",
    [SCRIPT_IPC] = "ipc",
    [SCRIPT_TOD] = "tod",
    [SCRIPT_DATA_PAGE_SIZE] = "data_page_size",
    [SCRIPT_CODE_PAGE_SIZE] = "code_page_size",
    [SCRIPT_INS_LAT] = "ins_lat",
    [SCRIPT_BRSTACKINSNLEN] = "brstackinsnlen",
    [SCRIPT_MACHINE_PID] = "machine_pid",
    [SCRIPT_VCPU] = "vcpu",
    [SCRIPT_CGROUP] = "cgroup",
    [SCRIPT_RETIRE_LAT] = "retire_lat",
    [SCRIPT_FLAGS] = "flags",
};

/* Fields for decoded traces, which tally does not print. */
#define MISSING \
	(SCRIPT_FIELD(CALLINDENT) | SCRIPT_FIELD(SYNTH) | SCRIPT_FIELD(METRIC) | SCRIPT_FIELD(IPC))

#define HEAD                                                                               \
	(SCRIPT_FIELD(COMM) | SCRIPT_FIELD(TID) | SCRIPT_FIELD(CPU) | SCRIPT_FIELD(TIME) | \
	 SCRIPT_FIELD(EVENT))
#define PLACE (SCRIPT_FIELD(IP) | SCRIPT_FIELD(SYM) | SCRIPT_FIELD(SYMOFF) | SCRIPT_FIELD(DSO))
#define USUAL (HEAD | PLACE | SCRIPT_FIELD(PERIOD))
#define MEMORY                                                                                   \
	(SCRIPT_FIELD(ADDR) | SCRIPT_FIELD(DATA_SRC) | SCRIPT_FIELD(WEIGHT) |                    \
	 SCRIPT_FIELD(PHYS_ADDR) | SCRIPT_FIELD(DATA_PAGE_SIZE) | SCRIPT_FIELD(CODE_PAGE_SIZE) | \
	 SCRIPT_FIELD(INS_LAT))
#define NOT_HARDWARE (SCRIPT_FIELD(TRACE) | SCRIPT_FIELD(BPF_OUTPUT))

/* Source: what perf 6.1 shows. */
static const struct script_type_row {
	const char *word, *name; /* before the colon in -F; in messages */
	uint64_t usual, invalid;
} types[SCRIPT_TYPE_COUNT] = {
    [SCRIPT_HARDWARE] = {"hw", "hardware", USUAL, NOT_HARDWARE},
    [SCRIPT_SOFTWARE] = {"sw", "software", USUAL | SCRIPT_FIELD(BPF_OUTPUT), SCRIPT_FIELD(TRACE)},
    [SCRIPT_TRACEPOINT] = {"trace", "tracepoint", HEAD | SCRIPT_FIELD(TRACE), 0},
    [SCRIPT_HW_CACHE] = {NULL, "hardware-cache", USUAL, NOT_HARDWARE},
    [SCRIPT_RAW] = {"raw", "raw", USUAL | MEMORY, NOT_HARDWARE},
    [SCRIPT_BREAKPOINT] = {"break", "breakpoint", USUAL, NOT_HARDWARE},
    [SCRIPT_SYNTHETIC] = {"synth", "synthesised", HEAD | PLACE | SCRIPT_FIELD(SYNTH), NOT_HARDWARE},
    [SCRIPT_OTHER] = {NULL, "other", USUAL, NOT_HARDWARE},
};

const char *tally_script_field_name(size_t index)
{
	return index < SCRIPT_FIELD_COUNT ? names[index] : NULL;
}

void tally_script_notice(const struct tally_script_options *options, const char *format, ...)
{
	char text[TALLY_ERROR_TEXT];
	va_list args;

	if (!options->notice)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	options->notice(options->notice_context, text);
}

enum script_type tally_script_type(const struct tally_attr *attr)
{
	if (attr->type == TYPE_SYNTHETIC)
		return SCRIPT_SYNTHETIC;
	return attr->type <= PERF_TYPE_BREAKPOINT ? (enum script_type)attr->type : SCRIPT_OTHER;
}

void tally_script_fields_init(struct script_fields *fields)
{
	*fields = (struct script_fields){.callchains = true};
	for (size_t i = 0; i < SCRIPT_TYPE_COUNT; i++)
		fields->types[i].fields = types[i].usual;
}

/* --- -F --- */

enum change { CHANGE_NONE, CHANGE_SET, CHANGE_ADD, CHANGE_REMOVE };

struct parser {
	struct script_fields *fields;
	const struct tally_script_options *options;
	struct tally_error *error;
	const char *text; /* of the whole argument */
	int type;         /* below 0: all */
	enum change change;
};

static int find_type(const struct parser *parser, const char *word, size_t length)
{
	for (int i = 0; i < SCRIPT_TYPE_COUNT; i++)
		if (types[i].word && strlen(types[i].word) == length &&
		    !memcmp(types[i].word, word, length))
			return i;
	return tally_fail(parser->error, -EINVAL, 0,
			  "-F '%s': '%.*s' is not a type of events; there are hw, sw, trace, raw, "
			  "break, synth",
			  parser->text, (int)length, word);
}

static int find_field(const struct parser *parser, const char *word, size_t length)
{
	char name[32];
	const char *nearest, *all[SCRIPT_FIELD_COUNT];

	for (int i = 0; i < SCRIPT_FIELD_COUNT; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], word, length))
			return i;
	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	for (int i = 0; i < SCRIPT_FIELD_COUNT; i++)
		all[i] = names[i];
	nearest = tally_text_nearest(name, all, SCRIPT_FIELD_COUNT);
	if (nearest)
		return tally_fail(parser->error, -EINVAL, word - parser->text,
				  "-F: no field '%.*s'; did you mean '%s'?", (int)length, word,
				  nearest);
	return tally_fail(parser->error, -EINVAL, word - parser->text,
			  "-F: no field '%.*s'; --fields help lists them", (int)length, word);
}

static void change_type(const struct parser *parser, int type, uint64_t bit)
{
	struct script_type_fields *to = &parser->fields->types[type];

	if (parser->change == CHANGE_REMOVE)
		to->fields &= ~bit;
	else
		to->fields |= bit;
	to->user_set = to->wildcard_set = true;
	if (parser->type >= 0)
		return;
	if (parser->change == CHANGE_REMOVE) {
		to->asked &= ~bit;
		to->unasked |= bit;
	} else {
		to->asked |= bit;
		to->unasked &= ~bit;
	}
}

static int take_field(struct parser *parser, int field)
{
	uint64_t bit = 1ULL << field;

	if (field == SCRIPT_FLAGS) {
		parser->fields->flags = parser->change != CHANGE_REMOVE;
		return 0;
	}
	if (parser->change != CHANGE_REMOVE && (bit & MISSING))
		return tally_fail(parser->error, -ENOTSUP, -1,
				  "-F: '%s' needs decoded traces, which tally does "
				  "not support; leave it out",
				  names[field]);
	if (parser->type >= 0) {
		if (types[parser->type].invalid & bit)
			return tally_fail(parser->error, -EINVAL, -1,
					  "-F: '%s' is not valid for %s events", names[field],
					  types[parser->type].name);
		change_type(parser, parser->type, bit);
		return 0;
	}
	for (int i = 0; i < SCRIPT_TYPE_COUNT; i++) {
		if (types[i].invalid & bit)
			continue; /* other types have it */
		change_type(parser, i, bit);
	}
	return 0;
}

/* A list without signs starts from nothing. */
static void start_anew(const struct parser *parser)
{
	for (int i = 0; i < SCRIPT_TYPE_COUNT; i++) {
		struct script_type_fields *to = &parser->fields->types[i];

		if (parser->type >= 0 && parser->type != i)
			continue;
		to->fields = 0;
		to->user_set = true;
		to->wildcard_set = parser->type < 0;
	}
}

static int take_word(struct parser *parser, const char *word, size_t length)
{
	enum change change = *word == '+' ? CHANGE_ADD : *word == '-' ? CHANGE_REMOVE : CHANGE_SET;
	bool is_sign = change != CHANGE_SET;
	int field;

	/* A sign is valid until the next one, but after a sign each list needs one. */
	if (parser->change != CHANGE_NONE && is_sign != (parser->change != CHANGE_SET))
		return tally_fail(parser->error, -EINVAL, word - parser->text,
				  "-F '%s': either every field has a + or -, or none has",
				  parser->text);
	parser->change = change;
	field = find_field(parser, word + is_sign, length - is_sign);
	return field < 0 ? field : take_field(parser, field);
}

int tally_script_fields_parse(struct script_fields *fields, const char *text,
			      const struct tally_script_options *options, struct tally_error *error)
{
	struct parser parser = {
	    .fields = fields, .options = options, .error = error, .text = text, .type = -1};
	const char *colon = strchr(text, ':'), *at = text;
	bool again = false;

	if (colon) {
		parser.type = find_type(&parser, text, (size_t)(colon - text));
		if (parser.type < 0)
			return parser.type;
		at = colon + 1;
		again = fields->types[parser.type].user_set;
	} else if (!*text) {
		return tally_fail(error, -EINVAL, 0,
				  "-F: no field is named; --fields help lists them");
	}
	for (int i = 0; !colon && i < SCRIPT_TYPE_COUNT; i++)
		again |= fields->types[i].user_set;
	/* The '-' of "bpf-output" counts as a sign here, in perf too. */
	if (!strpbrk(at, "+-")) {
		if (again)
			tally_script_notice(options, "-F '%s' replaces earlier -F options", text);
		start_anew(&parser);
	}
	while (*at) {
		size_t length = strcspn(at, ",");
		int result = length ? take_word(&parser, at, length) : 0;

		if (result)
			return result;
		at += length + (at[length] == ',');
	}
	return 0;
}

/* --- what the events have --- */

struct need {
	enum script_field field;
	uint64_t sample_type;
	bool traced; /* may be asked for in a file with AUX traces, whose decoding would give it */
};

static bool has(const struct script_fields *fields, int type, uint64_t bits)
{
	return (fields->types[type].fields & bits) != 0;
}

static int drop_or_fail(struct script_fields *fields, int type,
			const struct tally_data_event *event, uint64_t bits, const char *name,
			bool traced, struct tally_error *error)
{
	struct script_type_fields *of = &fields->types[type];

	if (of->asked & bits) {
		if (traced)
			return 0;
		return tally_fail(error, -EINVAL, -1,
				  "samples of '%s' do not have the field '%s'; leave it out (-F "
				  "-%s), or record it",
				  event->name, name, name);
	}
	of->fields &= ~bits;
	return 0;
}

static int fit_event(struct script_fields *fields, int type, const struct tally_data *data,
		     const struct tally_data_event *event, struct tally_error *error)
{
	static const struct need needs[] = {
	    {SCRIPT_IP, PERF_SAMPLE_IP, false},
	    {SCRIPT_ADDR, PERF_SAMPLE_ADDR, true},
	    {SCRIPT_DATA_SRC, PERF_SAMPLE_DATA_SRC, true},
	    {SCRIPT_WEIGHT, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, true},
	    {SCRIPT_TIME, PERF_SAMPLE_TIME, false},
	    {SCRIPT_CPU, PERF_SAMPLE_CPU, true},
	    {SCRIPT_IREGS, PERF_SAMPLE_REGS_INTR, true},
	    {SCRIPT_UREGS, PERF_SAMPLE_REGS_USER, false},
	    {SCRIPT_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR, true},
	    {SCRIPT_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE, false},
	    {SCRIPT_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, false},
	    {SCRIPT_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT, false},
	    {SCRIPT_RETIRE_LAT, PERF_SAMPLE_WEIGHT_STRUCT, false},
	    {SCRIPT_CGROUP, PERF_SAMPLE_CGROUP, false},
	};
	/* Feature 18 is the index of AUX traces, 19 says that all are counts.  Source: the
	 * perf.data format. */
	uint64_t features = tally_data_info(data)->features[0];
	bool traced = features >> 18 & 1;
	uint64_t sample_type = event->attr.sample_type;
	bool places = sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR);
	int result = 0;

	if (features >> 19 & 1)
		return 0;
	for (size_t i = 0; !result && i < sizeof(needs) / sizeof(*needs); i++) {
		uint64_t bit = 1ULL << needs[i].field;

		if (has(fields, type, bit) && !(sample_type & needs[i].sample_type))
			result = drop_or_fail(fields, type, event, bit, names[needs[i].field],
					      traced && needs[i].traced, error);
	}
	if (!result && has(fields, type, SCRIPT_FIELD(PID) | SCRIPT_FIELD(TID)) &&
	    !(sample_type & PERF_SAMPLE_TID))
		result = drop_or_fail(fields, type, event, SCRIPT_FIELD(PID) | SCRIPT_FIELD(TID),
				      "tid", false, error);
	if (result)
		return result;
	if (has(fields, type, SCRIPT_FIELD(SYM) | SCRIPT_FIELD(DSO)) && !places)
		return tally_fail(
		    error, -EINVAL, -1,
		    "symbols and binaries were asked for, but samples of '%s' have no "
		    "address; use -F -sym,-symoff,-dso",
		    event->name);
	if (has(fields, type, SCRIPT_FIELD(SYMOFF)) && !has(fields, type, SCRIPT_FIELD(SYM)))
		return tally_fail(error, -EINVAL, -1,
				  "field 'symoff' is an offset from 'sym'; add sym to -F");
	if (has(fields, type, SCRIPT_FIELD(SRCLINE)) && !has(fields, type, SCRIPT_FIELD(IP)))
		return tally_fail(error, -EINVAL, -1,
				  "field 'srcline' is the line of 'ip'; add ip to -F");
	if (has(fields, type, SCRIPT_FIELD(SRCCODE)) && !has(fields, type, SCRIPT_FIELD(IP)))
		return tally_fail(error, -EINVAL, -1,
				  "field 'srccode' is the source of 'ip'; add ip to -F");
	return 0;
}

static bool is_dummy(const struct tally_data_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_DUMMY;
}

/* The event of a type that stands for all of it; NULL: there is none. */
static const struct tally_data_event *first_of(const struct tally_data *data, int type)
{
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		if (!is_dummy(event) && (int)tally_script_type(&event->attr) == type)
			return event;
	}
	return NULL;
}

/* Tracepoints show where they were hit when a chain shows how it came there. */
static void fit_tracepoints(struct script_fields *fields, const struct tally_data *data)
{
	struct script_type_fields *of = &fields->types[SCRIPT_TRACEPOINT];

	if (!fields->callchains || of->user_set)
		return;
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_attr *attr = &tally_data_event(data, i)->attr;

		if (attr->type == PERF_TYPE_TRACEPOINT &&
		    (attr->sample_type & PERF_SAMPLE_CALLCHAIN))
			of->fields |= PLACE;
	}
}

/* Events of a stream are met one by one, and the first of a type decides for it.  Where they have
 * chains, addresses and symbols are shown though -F did not name them.  So does perf. */
static int fit_stream(struct script_fields *fields, const struct tally_data *data,
		      struct tally_error *error)
{
	uint64_t together = 0;
	unsigned seen = 0;

	fields->types[SCRIPT_OTHER].no_place = true;
	for (size_t i = 0; i < tally_data_event_count(data); i++) {
		const struct tally_data_event *event = tally_data_event(data, i);
		enum script_type type = tally_script_type(&event->attr);
		struct script_type_fields *of = &fields->types[type];
		bool chains;
		int result = 0;

		together |= event->attr.sample_type;
		if (type == SCRIPT_OTHER || seen >> type & 1)
			continue;
		seen |= 1U << type;
		if (event->attr.sample_type && !is_dummy(event))
			result = fit_event(fields, (int)type, data, event, error);
		if (result)
			return result;
		chains =
		    (together & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK)) ||
		    ((together & PERF_SAMPLE_REGS_USER) && (together & PERF_SAMPLE_STACK_USER));
		if (fields->callchains && chains)
			of->fields |= (SCRIPT_FIELD(IP) | SCRIPT_FIELD(SYM)) & ~of->unasked;
	}
	return 0;
}

int tally_script_fields_fit(struct script_fields *fields, const struct tally_data *data,
			    struct tally_error *error)
{
	bool chains = false;

	if (tally_data_kind(data) == TALLY_DATA_PIPE)
		return fit_stream(fields, data, error);
	for (int type = 0; type < SCRIPT_TYPE_COUNT; type++) {
		const struct tally_data_event *event = first_of(data, type);
		struct script_type_fields *of = &fields->types[type];
		int result;

		if (!event && of->user_set && !of->wildcard_set && type != SCRIPT_SYNTHETIC)
			return tally_fail(error, -EINVAL, -1,
					  "the recording has no %s events; remove their -F",
					  types[type].name);
		if (!event || !of->fields)
			continue;
		result = fit_event(fields, type, data, event, error);
		if (result)
			return result;
	}
	for (int type = 0; type < SCRIPT_TYPE_COUNT; type++)
		if (first_of(data, type) && has(fields, type, SCRIPT_FIELD(TOD)) &&
		    !tally_data_info(data)->has_clock_data)
			return tally_fail(
			    error, -EINVAL, -1,
			    "field 'tod' needs to know when the clock was read; record with "
			    "--clockid");
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		chains |=
		    (tally_data_event(data, i)->attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
	fields->callchains &= chains;
	fit_tracepoints(fields, data);
	return 0;
}
