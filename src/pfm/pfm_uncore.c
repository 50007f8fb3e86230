/* Uncore PMUs: the library encodes them only where this machine's /sys has them. Its registers need
 * no machine; the rest is done here by its rules: which register goes to which field of the attr,
 * the PMU's name in sysfs, and what perf_event's own modifiers do. Uncore PMUs have no levels of
 * privilege, so nothing is ever excluded. Source: behaviour of libpfm4 4.13;
 * sysfs-bus-event_source-devices of the kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fs.h"
#include "pfm/pfm_encode.h"

/* The last part of a PMU's name, without digits, and the kernel's spelling where it differs. */
static const struct {
	const char *pfm, *perf;
} boxes[] = {
    {"cbo", "cbox"},
    {"sbo", "sbox"},
    {"ubo", "ubox"},
    {"imc_uclk", "mc_uclk"},
};

static const struct {
	const char *pfm, *perf;
} whole_names[] = {
    {"nhm_unc", "uncore"},   {"wsm_unc", "uncore"},         {"rapl", "power"},
    {"amd64_rapl", "power"}, {"amd64_fam15h_nb", "amd_nb"}, {"amd64_fam19h_zen3_l3", "amd_l3"},
};

int tally_pfm_perf_name(const char *pmu, char *to, size_t room)
{
	const char *box = strstr(pmu, "_unc_");
	size_t length, stem;

	for (size_t i = 0; i < sizeof(whole_names) / sizeof(whole_names[0]); i++)
		if (!strcmp(pmu, whole_names[i].pfm))
			return snprintf(to, room, "%s", whole_names[i].perf) < (int)room ? 0 : -1;
	if (!box)
		return -1;
	box += strlen("_unc_");
	length = stem = strlen(box);
	while (stem && box[stem - 1] >= '0' && box[stem - 1] <= '9')
		stem--;
	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		if (strlen(boxes[i].pfm) != stem || memcmp(box, boxes[i].pfm, stem) != 0)
			continue;
		return snprintf(to, room, "uncore_%s%s%s", boxes[i].perf, stem < length ? "_" : "",
				box + stem) < (int)room
			   ? 0
			   : -1;
	}
	return snprintf(to, room, "uncore_%.*s%s%s", (int)stem, box, stem < length ? "_" : "",
			box + stem) < (int)room
		   ? 0
		   : -1;
}

bool tally_pfm_is_uncore(const struct tally_pfm_pmu_info *pmu)
{
	char name[64];

	return pmu->type == PFM_TYPE_UNCORE && !tally_pfm_perf_name(pmu->name, name, sizeof(name));
}

static int pmu_type(const struct pfm_request *request, uint32_t *ret)
{
	char name[64], *text;
	size_t size;
	char *end;
	unsigned long type;

	if (tally_pfm_perf_name(request->pmu.name, name, sizeof(name)))
		return TALLY_PFM_NOTSUPP;
	if (tally_fs_readf(64, &text, &size, "%s/bus/event_source/devices/%s/type",
			   request->pfm->sysfs, name) < 0)
		return TALLY_PFM_NOTSUPP;
	errno = 0;
	type = strtoul(text, &end, 10);
	if (errno || end == text || type > UINT32_MAX) {
		free(text);
		return TALLY_PFM_NOTSUPP;
	}
	free(text);
	*ret = (uint32_t)type;
	return TALLY_PFM_SUCCESS;
}

/* Bits of a register that belong to the kernel: enable, interrupt, privilege. */
#define SELECT_CLIENT (UINT64_C(1) << 20 | UINT64_C(1) << 22)
#define SELECT_CORE   (UINT64_C(0x53) << 16)
#define SELECT_AMD    (SELECT_CORE | UINT64_C(3) << 40)

static bool begins_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Whether the second and third register are one filter of 64 bits: events that look transactions up
 * by opcode (0x34 LLC_LOOKUP, 0x35 and 0x36 TOR_*), of C-boxes from Ivy Bridge EP to Broadwell and
 * of Skylake's CHAs; not on Knights Landing, Ice Lake and Sapphire Rapids. */
static bool has_wide_filter(const char *pmu, uint64_t config)
{
	uint64_t code = config & 0xff;
	bool lookup = code >= 0x34 && code <= 0x36;

	if (begins_with(pmu, "skx_unc_cha"))
		return lookup;
	if (begins_with(pmu, "ivbep_unc_cbo") || begins_with(pmu, "hswep_unc_cbo") ||
	    begins_with(pmu, "bdx_unc_cbo"))
		return lookup && config & 0x100;
	return false;
}

static void fill_configs(const char *pmu, const uint64_t *codes, int count, struct tally_attr *attr)
{
	uint64_t drop = 0;

	if (begins_with(pmu, "amd64_"))
		drop = SELECT_AMD;
	else if (begins_with(pmu, "nhm_") || begins_with(pmu, "wsm_") || begins_with(pmu, "snb_") ||
		 begins_with(pmu, "ivb_"))
		drop = SELECT_CLIENT;
	else if (begins_with(pmu, "rapl"))
		drop = SELECT_CORE;
	attr->config = codes[0] & ~drop;
	if (count > 1)
		attr->config1 = codes[1];
	if (count > 2 && has_wide_filter(pmu, codes[0]))
		attr->config1 |= codes[2] << 32;
	else if (count > 2)
		attr->config2 = codes[2];
}

/* A written modifier of perf_event. */
struct modifier {
	const char *name; /* as the library names it */
	uint64_t value;
};

struct split {
	struct tally_buf rest; /* the string without these modifiers */
	struct modifier modifiers[PFM_WORDS];
	size_t count;
	int code; /* their error; the library may find an earlier one */
	bool set_twice;
};

static void keep_word(struct split *split, const struct pfm_word *word)
{
	tally_buf_byte(&split->rest, ':');
	tally_buf_add(&split->rest, word->text, word->length);
	if (word->value) {
		tally_buf_byte(&split->rest, '=');
		tally_buf_add(&split->rest, word->value, word->value_length);
	}
}

static void take_modifier(struct split *split, const char *name, uint64_t value)
{
	for (size_t i = 0; i < split->count; i++) {
		if (strcmp(split->modifiers[i].name, name) != 0)
			continue;
		if (split->modifiers[i].value != value)
			split->set_twice = true;
		return;
	}
	split->modifiers[split->count++] = (struct modifier){name, value};
}

/* Stops at the first invalid word: the library, too, parses in the order of the string. */
static void split_words(const struct pfm_request *request, struct split *split)
{
	const struct pfm_text *words = &request->words;

	tally_buf_printf(&split->rest, "%s::", request->pmu.name);
	tally_buf_add(&split->rest, words->event.text, words->event.length);
	for (size_t i = 0; i < words->count && !split->code; i++) {
		const struct pfm_word *word = &words->words[i];
		struct tally_pfm_attr_info attr;
		uint64_t value = 0;

		if (word->length > 1 && word->text[0] == '0' && (word->text[1] | 0x20) == 'x') {
			keep_word(split, word);
			continue;
		}
		split->code = tally_pfm_find_attr(&request->pfm->library, request->idx, request->os,
						  word, &attr);
		if (split->code)
			break;
		if (attr.type != PFM_ATTR_IS_UMASK)
			split->code = tally_pfm_modifier_value(word, &attr, &value);
		if (split->code)
			break;
		if (attr.ctrl == PFM_CTRL_PERF_EVENT)
			take_modifier(split, attr.name, value);
		else
			keep_word(split, word);
	}
}

/* The library's registers and string for the rest. */
static int encode_rest(const struct pfm_request *request, struct split *split, uint64_t *codes,
		       struct tally_pfm_pmu_encode_arg *arg, char **name)
{
	const char *rest = tally_buf_str(&split->rest);

	if (split->rest.failed || !rest)
		return TALLY_PFM_NOMEM;
	*arg = (struct tally_pfm_pmu_encode_arg){
	    .codes = codes, .count = TALLY_PFM_CODES, .fstr = name, .size = sizeof(*arg)};
	return request->pfm->library.encode(rest, request->plm, TALLY_PFM_OS_NONE, arg);
}

/* The library's order of errors: words, contradictions, unit masks, the machine, values. */
static int first_mistake(const struct split *split, int library)
{
	if (library == TALLY_PFM_ATTR)
		return library;
	if (split->code)
		return split->code;
	return split->set_twice ? TALLY_PFM_ATTR_SET : library;
}

static int apply_modifiers(const struct split *split, struct tally_pfm_event *event)
{
	for (size_t i = 0; i < split->count; i++) {
		int code = tally_pfm_modifier_apply(
		    split->modifiers[i].name, split->modifiers[i].value, &event->attr, &event->cpu);

		if (code)
			return code;
	}
	return TALLY_PFM_SUCCESS;
}

/* The library's string contains modifiers that it does not accept beside perf_event's (4.13: nc of
 * C-boxes); those are left out. */
static void add_known(const struct pfm_request *request, const char *name, struct tally_buf *to)
{
	const char *at = strstr(name, "::");

	at = at ? at + 2 : name;
	tally_buf_add(to, name, (size_t)(at - name));
	for (size_t length; *at; at += length) {
		struct pfm_word word = {.text = at + (*at == ':')};
		const char *equals;
		struct tally_pfm_attr_info attr;

		length = 1 + strcspn(at + 1, ":");
		equals = memchr(at, '=', length);
		if (equals) {
			word.length = (size_t)(equals - word.text);
			word.value = equals + 1;
			if (tally_pfm_find_attr(&request->pfm->library, request->idx, request->os,
						&word, &attr))
				continue;
		}
		tally_buf_add(to, at, length);
	}
}

/* Adds perf_event's modifiers to the library's string. 4.13 writes the period for freq as well, and
 * both when there is one. */
static char *full_name(const struct pfm_request *request, const char *begin,
		       const struct tally_attr *attr)
{
	struct tally_buf name = {0};
	struct tally_pfm_attr_info info;
	struct tally_pfm_event_info event;

	add_known(request, begin, &name);
	if (tally_pfm_event_of(&request->pfm->library, request->idx, request->os, &event))
		event.attr_count = 0;
	for (int at = 0; at < event.attr_count; at++) {
		if (tally_pfm_attr(&request->pfm->library, request->idx, at, request->os, &info) ||
		    info.ctrl != PFM_CTRL_PERF_EVENT)
			continue;
		if (!strcmp(info.name, "cpu") || !strcmp(info.name, "pinned"))
			continue;
		if (!strcmp(info.name, "period") || !strcmp(info.name, "freq")) {
			if (attr->sample_period)
				tally_buf_printf(&name, ":%s=%" PRIu64, info.name,
						 attr->sample_period);
			continue;
		}
		tally_buf_printf(&name, ":%s=%u", info.name,
				 !strcmp(info.name, "excl")      ? (unsigned)attr->exclusive
				 : !strcmp(info.name, "precise") ? (unsigned)attr->precise_ip
				 : !strcmp(info.name, "hw_smpl") ? (unsigned)attr->precise_ip
								 : 1U);
	}
	if (!tally_buf_str(&name) || name.failed) {
		tally_buf_done(&name);
		return NULL;
	}
	return (char *)name.data;
}

static int fill_event(const struct pfm_request *request, const struct split *split,
		      const uint64_t *codes, const struct tally_pfm_pmu_encode_arg *arg,
		      struct tally_pfm_event *event)
{
	int code;

	event->attr.size = sizeof(event->attr);
	code = pmu_type(request, &event->attr.type);
	if (code)
		return code;
	fill_configs(request->pmu.name, codes, arg->count, &event->attr);
	event->idx = arg->idx;
	event->cpu = -1;
	return apply_modifiers(split, event);
}

int tally_pfm_uncore_encode(const struct pfm_request *request, struct tally_pfm_event *ret)
{
	struct split split = {0};
	uint64_t codes[TALLY_PFM_CODES] = {0};
	struct tally_pfm_pmu_encode_arg arg;
	struct tally_pfm_event event = {0};
	char *begin = NULL;
	int code;

	split_words(request, &split);
	code = first_mistake(&split, encode_rest(request, &split, codes, &arg, &begin));
	if (!code)
		code = fill_event(request, &split, codes, &arg, &event);
	if (!code) {
		event.name = full_name(request, begin ? begin : "", &event.attr);
		code = event.name ? TALLY_PFM_SUCCESS : TALLY_PFM_NOMEM;
	}
	if (!code)
		*ret = event;
	free(begin);
	tally_buf_done(&split.rest);
	return code;
}
