/* Makes an event, in the terms of sysfs aliases, from an object of a table's file.
 *
 * Which field becomes which term, in which order, which names mean fixed counters, and which Unit
 * is which PMU: tools/perf/pmu-events/jevents.py of Linux 6.1 (EventidCode, NodeType and the terms
 * behind them: 6.12); of Intel's own layout: scripts/create_perf_json.py of intel/perfmon. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/buf.h"
#include "vendor/table_inner.h"

enum key {
	ANY_THREAD,
	ARCH_STD_EVENT,
	BRIEF,
	COMPAT,
	CONFIG_CODE,
	CONSTRAINT,
	COUNTER_MASK,
	DATA_LA,
	DEPRECATED,
	EDGE_DETECT,
	ENABLE_ALL_CORES,
	ENABLE_ALL_SLICES,
	ERRATA,
	EVENT_CODE,
	EVENT_ID_CODE,
	EVENT_NAME,
	EXT_SEL,
	FC_MASK,
	FILTER,
	INVERT,
	METRIC_EXPR,
	METRIC_GROUP,
	METRIC_NAME,
	METRIC_THRESHOLD,
	METRIC_NO_GROUP,
	MSR_INDEX,
	MSR_VALUE,
	NODE_TYPE,
	PEBS,
	PER_PACKAGE,
	PORT_MASK,
	DETAILS,
	READ_WRITE_MASK,
	SAMPLE_AFTER,
	SCALE_UNIT,
	SLICE_ID,
	THREAD_MASK,
	UMASK,
	UMASK_EXT,
	UNIT,
	KEYS,
};

static const char key_names[KEYS][24] = {
    [ANY_THREAD] = "AnyThread",
    [ARCH_STD_EVENT] = "ArchStdEvent",
    [BRIEF] = "BriefDescription",
    [COMPAT] = "Compat",
    [CONFIG_CODE] = "ConfigCode",
    [CONSTRAINT] = "MetricConstraint",
    [COUNTER_MASK] = "CounterMask",
    [DATA_LA] = "Data_LA",
    [DEPRECATED] = "Deprecated",
    [EDGE_DETECT] = "EdgeDetect",
    [ENABLE_ALL_CORES] = "EnAllCores",
    [ENABLE_ALL_SLICES] = "EnAllSlices",
    [ERRATA] = "Errata",
    [EVENT_CODE] = "EventCode",
    [EVENT_ID_CODE] = "EventidCode",
    [EVENT_NAME] = "EventName",
    [EXT_SEL] = "ExtSel",
    [FC_MASK] = "FCMask",
    [FILTER] = "Filter",
    [INVERT] = "Invert",
    [METRIC_EXPR] = "MetricExpr",
    [METRIC_GROUP] = "MetricGroup",
    [METRIC_NAME] = "MetricName",
    [METRIC_THRESHOLD] = "MetricThreshold",
    [METRIC_NO_GROUP] = "MetricgroupNoGroup",
    [MSR_INDEX] = "MSRIndex",
    [MSR_VALUE] = "MSRValue",
    [NODE_TYPE] = "NodeType",
    [PEBS] = "PEBS",
    [PER_PACKAGE] = "PerPkg",
    [PORT_MASK] = "PortMask",
    [DETAILS] = "PublicDescription",
    [READ_WRITE_MASK] = "RdWrMask",
    [SAMPLE_AFTER] = "SampleAfterValue",
    [SCALE_UNIT] = "ScaleUnit",
    [SLICE_ID] = "SliceId",
    [THREAD_MASK] = "ThreadMask",
    [UMASK] = "UMask",
    [UMASK_EXT] = "UMaskExt",
    [UNIT] = "Unit",
};

struct text {
	const char *at; /* NULL: no such field */
	size_t length;
};

struct object {
	const struct table_source *source;
	struct text of[KEYS];
};

static bool text_is(const struct text *text, const char *other)
{
	return text->at && strlen(other) == text->length &&
	       !strncasecmp(text->at, other, text->length);
}

/* The values that mean "nothing" in Intel's layout. */
static bool is_nothing(const struct text *value)
{
	return text_is(value, "null") || text_is(value, "na") || text_is(value, "n/a") ||
	       text_is(value, "0");
}

static void sort_fields(struct object *object, const struct table_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct table_field *field = &fields[i];
		struct text value = {field->value, field->value_length};

		for (int key = 0; key < KEYS; key++) {
			if (key_names[key][0] != field->name[0] ||
			    strlen(key_names[key]) != field->name_length ||
			    memcmp(key_names[key], field->name, field->name_length) != 0)
				continue;
			/* zero is a valid code or mask, but not an erratum */
			if (!object->source->native || key == EVENT_CODE || !is_nothing(&value))
				object->of[key] = value;
			break;
		}
	}
}

static size_t number_length(const struct text *text)
{
	size_t length = 0;

	while (length < text->length && text->at[length] != ',')
		length++;
	while (length && text->at[length - 1] == ' ')
		length--;
	return length;
}

/* The number in the text, up to its first comma: 0x, 0 for octal, or decimal, as Python's int(, 0)
 * without 0o and 0b. False: it is not a number. */
static bool number(const struct text *text, uint64_t *ret)
{
	size_t length = number_length(text);
	char copy[24], *end;

	if (!length || length >= sizeof(copy) || text->at[0] < '0' || text->at[0] > '9')
		return false;
	memcpy(copy, text->at, length);
	copy[length] = '\0';
	errno = 0;
	*ret = strtoull(copy, &end, copy[1] == 'x' || copy[1] == 'X' ? 16 : 10);
	return !errno && !*end;
}

static char *keep(const struct object *object, const struct text *text)
{
	return tally_arena_strndup(&object->source->table->arena, text->at, text->length);
}

static char *keep_lower(const struct object *object, const struct text *text)
{
	char *copy = keep(object, text);

	for (char *at = copy; at && *at; at++)
		if (*at >= 'A' && *at <= 'Z')
			*at |= 32;
	return copy;
}

/* --- the terms --- */

/* The events of fixed counters, for general counters. */
static const char *fixed_terms(const struct text *name)
{
	static const struct {
		const char *name, *terms;
	} fixed[] = {
	    {"inst_retired.any", "event=0xc0,period=2000003"},
	    {"inst_retired.any_p", "event=0xc0,period=2000003"},
	    {"cpu_clk_unhalted.ref", "event=0x0,umask=0x03,period=2000003"},
	    {"cpu_clk_unhalted.thread", "event=0x3c,period=2000003"},
	    {"cpu_clk_unhalted.core", "event=0x3c,period=2000003"},
	    {"cpu_clk_unhalted.thread_any", "event=0x3c,any=1,period=2000003"},
	};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (text_is(name, fixed[i].name))
			return fixed[i].terms;
	return NULL;
}

/* False: a field is not a number, but should be. */
static bool add_code(struct tally_buf *terms, const struct object *object)
{
	const struct text *of = object->of;
	uint64_t code = 0, more = 0;
	const char *name = "event";

	if (of[CONFIG_CODE].at || of[EVENT_ID_CODE].at) {
		const struct text *from =
		    of[CONFIG_CODE].at ? &of[CONFIG_CODE] : &of[EVENT_ID_CODE];

		name = of[CONFIG_CODE].at ? "config" : "eventid";
		if (!number(from, &code))
			return false;
	} else {
		if (of[EVENT_CODE].at && !number(&of[EVENT_CODE], &code))
			return false;
		if (of[EXT_SEL].at && !number(&of[EXT_SEL], &more))
			return false;
		code |= more << 8;
	}
	tally_buf_printf(terms, code ? "%s=0x%llx" : "%s=%llu", name, (unsigned long long)code);
	return true;
}

/* In Intel's layout the upper part of a mask has a field of its own. */
static bool add_wide_umask(struct tally_buf *terms, const struct object *object)
{
	uint64_t low = 0, high;

	if (object->of[UMASK].at && !number(&object->of[UMASK], &low))
		return false;
	if (!number(&object->of[UMASK_EXT], &high) || high >> 56)
		return false;
	low |= high << 8;
	if (low)
		tally_buf_printf(terms, ",umask=0x%llx", (unsigned long long)low);
	return true;
}

static bool add_numbers(struct tally_buf *terms, const struct object *object)
{
	static const struct {
		enum key key;
		const char *term;
	} fields[] = {
	    {ANY_THREAD, "any"},
	    {PORT_MASK, "ch_mask"},
	    {COUNTER_MASK, "cmask"},
	    {EDGE_DETECT, "edge"},
	    {FC_MASK, "fc_mask"},
	    {INVERT, "inv"},
	    {SAMPLE_AFTER, "period"},
	    {UMASK, "umask"},
	    {NODE_TYPE, "type"},
	    {READ_WRITE_MASK, "rdwrmask"},
	    {ENABLE_ALL_CORES, "enallcores"},
	    {ENABLE_ALL_SLICES, "enallslices"},
	    {SLICE_ID, "sliceid"},
	    {THREAD_MASK, "threadmask"},
	};
	const struct text *of = object->of;
	bool wide =
	    object->source->native && of[UMASK_EXT].at && !of[PORT_MASK].at && !of[FC_MASK].at;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct text *value = &of[fields[i].key];
		uint64_t is;

		if (fields[i].key == UMASK && wide) {
			if (!add_wide_umask(terms, object))
				return false;
			continue;
		}
		if (!value->at)
			continue;
		if (!number(value, &is))
			return false;
		if (is) /* as written, in the vendor's form */
			tally_buf_printf(terms, ",%s=%.*s", fields[i].term,
					 (int)number_length(value), value->at);
	}
	return true;
}

/* Terms as written: letters, digits, and the signs between them. */
static bool add_filter(struct tally_buf *terms, const struct object *object)
{
	const struct text *filter = &object->of[FILTER];

	if (!filter->at)
		return true;
	for (size_t i = 0; i < filter->length; i++)
		if (!memchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=,.-",
			    filter->at[i], 66))
			/* "CBoFilter0[23:17]": the person gives the value */
			return object->source->native;
	if (object->source->native && !memchr(filter->at, '=', filter->length))
		return true;
	tally_buf_byte(terms, ',');
	tally_buf_add(terms, filter->at, filter->length);
	return true;
}

/* The register that an event uses beside its counter. Source: jevents.py; the numbers: Intel SDM
 * vol. 4. */
static bool add_msr(struct tally_buf *terms, const struct object *object)
{
	uint64_t index, value = 0;
	const char *term;

	if (!object->of[MSR_INDEX].at)
		return true;
	if (!number(&object->of[MSR_INDEX], &index))
		return false;
	if (object->of[MSR_VALUE].at && !number(&object->of[MSR_VALUE], &value))
		return false;
	if (index == 0x3f6)
		term = "ldlat";
	else if (index == 0x1a6 || index == 0x1a7)
		term = "offcore_rsp";
	else if (index == 0x3f7)
		term = "frontend";
	else
		return !index; /* 0: none; an event with another, unknown one would count wrongly */
	if (value)
		tally_buf_printf(terms, ",%s=0x%llx", term, (unsigned long long)value);
	return true;
}

/* 1, 0: the fields are not an event, -ENOMEM. */
static int make_terms(const struct object *object, struct tally_table_event *ret)
{
	const char *fixed = fixed_terms(&object->of[EVENT_NAME]);
	struct tally_buf terms = {0};
	bool fine;

	if (fixed) {
		ret->terms = fixed;
		return 1;
	}
	fine = add_code(&terms, object) && add_numbers(&terms, object) &&
	       add_filter(&terms, object) && add_msr(&terms, object);
	if (fine && !terms.failed)
		ret->terms = tally_arena_strndup(&object->source->table->arena,
						 (const char *)terms.data, terms.size);
	fine = fine && (ret->terms || terms.failed);
	tally_buf_done(&terms);
	return !fine ? 0 : ret->terms ? 1 : -ENOMEM;
}

/* --- the rest --- */

static const char *pmu_of(const struct object *object)
{
	static const struct {
		const char *unit, *pmu;
	} known[] = {
	    {"CBO", "uncore_cbox"},
	    {"QPI LL", "uncore_qpi"},
	    {"SBO", "uncore_sbox"},
	    {"iMPH-U", "uncore_arb"},
	    {"CPU-M-CF", "cpum_cf"},
	    {"CPU-M-SF", "cpum_sf"},
	    {"PAI-CRYPTO", "pai_crypto"},
	    {"PAI-EXT", "pai_ext"},
	    {"UPI LL", "uncore_upi"},
	    {"hisi_sicl,cpa", "hisi_sicl,cpa"},
	    {"hisi_sccl,ddrc", "hisi_sccl,ddrc"},
	    {"hisi_sccl,hha", "hisi_sccl,hha"},
	    {"hisi_sccl,l3c", "hisi_sccl,l3c"},
	    {"imx8_ddr", "imx8_ddr"},
	    {"imx9_ddr", "imx9_ddr"},
	    {"L3PMC", "amd_l3"},
	    {"DFPMC", "amd_df"},
	    {"UMCPMC", "amd_umc"},
	    {"cpu_core", "cpu_core"},
	    {"cpu_atom", "cpu_atom"},
	    {"ali_drw", "ali_drw"},
	    {"arm_cmn", "arm_cmn"},
	    {"default_core", NULL},
	};
	const struct text *unit = &object->of[UNIT];
	struct tally_arena *arena = &object->source->table->arena;
	char *made;

	if (!unit->at)
		return object->source->pmu;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (text_is(unit, known[i].unit))
			return known[i].pmu;
	made = tally_arena_alloc(arena, unit->length + sizeof("uncore_"));
	if (!made)
		return NULL;
	memcpy(made, "uncore_", sizeof("uncore_"));
	for (size_t i = 0; i < unit->length; i++) {
		char byte = unit->at[i];

		made[7 + i] = byte >= 'A' && byte <= 'Z' ? (char)(byte | 32) : byte;
	}
	return made;
}

/* "64Bytes" is 64 and "Bytes". The decimal point is '.', in any locale. */
static bool split_scale(const struct object *object, struct tally_table_event *ret)
{
	const char *text;
	char *end;
	locale_t plain;

	ret->scale = 1;
	if (!object->of[SCALE_UNIT].at)
		return true;
	text = keep(object, &object->of[SCALE_UNIT]);
	plain = text ? newlocale(LC_ALL_MASK, "C", (locale_t)0) : (locale_t)0;
	if (!plain)
		return false;
	ret->scale = strtod_l(text, &end, plain);
	freelocale(plain);
	if (end == text)
		ret->scale = 1;
	ret->unit = *end ? end : NULL;
	return true;
}

/* Descriptions have no full stop at the end; other fields add notes. */
static const char *description(const struct object *object, const struct text *from, bool precise)
{
	const struct text *of = object->of;
	struct tally_buf text = {0};
	size_t length = from->length;
	const char *kept;

	if (!from->at)
		return NULL;
	while (length && from->at[length - 1] == ' ')
		length--;
	if (length && from->at[length - 1] == '.')
		length--;
	tally_buf_add(&text, from->at, length);
	if (of[DATA_LA].at)
		tally_buf_text(&text, "  Supports address when precise");
	if (of[ERRATA].at) {
		tally_buf_text(&text, of[DATA_LA].at ? ".  Spec update: " : "  Spec update: ");
		tally_buf_add(&text, of[ERRATA].at, of[ERRATA].length);
	}
	if (precise)
		tally_buf_text(&text,
			       text_is(&of[PEBS], "2") ? " (Must be precise)" : " (Precise event)");
	kept = text.failed ? NULL
			   : tally_arena_strndup(&object->source->table->arena,
						 (const char *)text.data, text.size);
	tally_buf_done(&text);
	return kept;
}

static bool says_precise(const struct text *text)
{
	return text->at && memmem(text->at, text->length, "(Precise Event)", 15);
}

static void describe(const struct object *object, struct tally_table_event *ret)
{
	const struct text *brief = &object->of[BRIEF], *details = &object->of[DETAILS];
	bool precise = object->of[PEBS].at && brief->at && !says_precise(brief);

	ret->brief = description(object, brief, precise);
	if (details->at && brief->at && details->length == brief->length &&
	    !memcmp(details->at, brief->at, brief->length))
		ret->details = ret->brief; /* often the same words, which are kept once */
	else
		ret->details = description(object, details, precise);
}

static const char *keep_if(const struct object *object, enum key key)
{
	return object->of[key].at ? keep(object, &object->of[key]) : NULL;
}

static void make_metric(const struct object *object, struct tally_table_event *ret)
{
	if (!object->of[METRIC_EXPR].at)
		return;
	ret->expression = keep_if(object, METRIC_EXPR);
	ret->metric = object->of[METRIC_NAME].at ? keep_if(object, METRIC_NAME) : ret->name;
	ret->groups = keep_if(object, METRIC_GROUP);
	ret->alone_in = keep_if(object, METRIC_NO_GROUP);
	ret->constraint = keep_if(object, CONSTRAINT);
	ret->threshold = keep_if(object, METRIC_THRESHOLD);
}

/* A missing field has the value of the architecture's event. */
static void take_standard(const struct tally_table_event *from, struct tally_table_event *to)
{
	to->terms = from->terms;
	if (!to->name)
		to->name = from->name;
	if (!to->pmu)
		to->pmu = from->pmu;
	if (!to->brief)
		to->brief = from->brief;
	if (!to->details)
		to->details = from->details;
	if (!to->compat)
		to->compat = from->compat;
	if (!to->unit && to->scale == 1) {
		to->unit = from->unit;
		to->scale = from->scale;
	}
	to->per_package |= from->per_package;
	to->deprecated |= from->deprecated;
	if (!to->expression)
		to->expression = from->expression;
	if (!to->metric)
		to->metric = from->metric;
	if (!to->groups)
		to->groups = from->groups;
	if (!to->alone_in)
		to->alone_in = from->alone_in;
	if (!to->constraint)
		to->constraint = from->constraint;
	if (!to->threshold)
		to->threshold = from->threshold;
}

/* Events and metrics that name a missing standard event are left out. */
static int standard_terms(const struct object *object, struct tally_table_event *ret)
{
	const struct text *name = &object->of[ARCH_STD_EVENT];
	const struct tally_table *standard = object->source->table->standard;
	const struct tally_table_event *from =
	    standard ? tally_table_find(standard, name->at, name->length) : NULL;

	if (!from && standard)
		from = tally_table_metric(standard, name->at, name->length);
	if (from)
		take_standard(from, ret);
	return from && (from->terms || from->metric);
}

int tally_table_entry_make(const struct table_source *source, const struct table_field *fields,
			   size_t count, struct tally_table_event *ret)
{
	struct object object = {.source = source};
	struct tally_table_event event = {.topic = source->topic, .scale = 1};
	int result = 1;

	sort_fields(&object, fields, count);
	if (object.of[EVENT_NAME].at)
		event.name = keep_lower(&object, &object.of[EVENT_NAME]);
	event.pmu = pmu_of(&object);
	if (!split_scale(&object, &event))
		return -ENOMEM;
	describe(&object, &event);
	event.compat = keep_if(&object, COMPAT);
	event.per_package = text_is(&object.of[PER_PACKAGE], "1") ||
			    (source->native && event.pmu && !strncmp(event.pmu, "uncore_", 7));
	event.deprecated = object.of[DEPRECATED].at && !text_is(&object.of[DEPRECATED], "0") &&
			   !text_is(&object.of[DEPRECATED], "false");
	make_metric(&object, &event);
	if (object.of[ARCH_STD_EVENT].at)
		result = standard_terms(&object, &event);
	else if (event.name)
		result = make_terms(&object, &event);
	else
		result = event.metric != NULL;
	if (result > 0)
		*ret = event;
	return result;
}
