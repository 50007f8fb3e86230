#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tally/text.h>
#include "base/buf.h"
#include "base/fail.h"
#include "pfm/pfm_encode.h"

#define MOST_NAMES 8192
#define MOST_SHOWN 12 /* of the valid names */

struct names {
	const char **names;
	size_t count;
};

static void add_name(struct names *names, const char *name)
{
	if (!names->names)
		names->names = malloc(MOST_NAMES * sizeof(*names->names));
	if (names->names && names->count < MOST_NAMES)
		names->names[names->count++] = name;
}

static int shown_length(const struct pfm_word *word)
{
	return word->length > 64 ? 64 : (int)word->length;
}

static int64_t column(const struct pfm_request *request, const struct pfm_word *word)
{
	return word->position < request->shift ? -1 : (int64_t)(word->position - request->shift);
}

/* " (did you mean X?)" or "". */
static void suggest(const struct pfm_word *word, struct names *names, struct tally_buf *to)
{
	char *text = strndup(word->text, word->length);
	const char *similar =
	    text && names->count ? tally_text_nearest(text, names->names, names->count) : NULL;

	tally_buf_text(to, "");
	if (similar)
		tally_buf_printf(to, " (did you mean %s?)", similar);
	free(text);
	free(names->names);
}

static const char *str(struct tally_buf *buf)
{
	const char *text = tally_buf_str(buf);

	return text && !buf->failed ? text : "";
}

static void add_events(const struct pfm_library *library, const struct tally_pfm_pmu_info *pmu,
		       struct names *names)
{
	for (int idx = pmu->first_event; idx >= 0; idx = library->event_next(idx)) {
		struct tally_pfm_event_info event;

		if (tally_pfm_event_of(library, idx, TALLY_PFM_OS_PERF_EVENT_EXT, &event))
			break;
		add_name(names, event.name);
	}
}

static void fail_not_found(const struct pfm_request *request, struct tally_error *error)
{
	const struct pfm_library *library = &request->pfm->library;
	bool no_pmu = request->words.pmu.text && !request->pmu_known;
	const struct pfm_word *word = no_pmu ? &request->words.pmu : &request->words.event;
	struct names names = {0};
	struct tally_buf similar = {0};

	for (unsigned id = 0; id < PFM_PMU_IDS; id++) {
		struct tally_pfm_pmu_info pmu;

		if (tally_pfm_pmu(library, id, &pmu))
			continue;
		if (no_pmu)
			add_name(&names, pmu.name);
		else if (request->pmu_known ? pmu.id == request->pmu.id : pmu.is_present)
			add_events(library, &pmu, &names);
	}
	suggest(word, &names, &similar);
	if (no_pmu)
		tally_fail(error, -ENOENT, column(request, word), "unknown PMU %.*s of libpfm4%s",
			   shown_length(word), word->text, str(&similar));
	else if (request->pmu_known)
		tally_fail(error, -ENOENT, column(request, word),
			   "PMU %s has no event %.*s in libpfm4's tables%s", request->pmu.name,
			   shown_length(word), word->text, str(&similar));
	else
		tally_fail(error, -ENOENT, column(request, word),
			   "no PMU of this machine has an event %.*s in libpfm4's tables%s; write "
			   "`pmu::` in front for another machine's",
			   shown_length(word), word->text, str(&similar));
	tally_buf_done(&similar);
}

static bool is_raw(const struct pfm_word *word)
{
	return word->length > 1 && word->text[0] == '0' && (word->text[1] | 0x20) == 'x';
}

static void fail_no_attr(const struct pfm_request *request, const struct pfm_word *word,
			 struct tally_error *error)
{
	const struct pfm_library *library = &request->pfm->library;
	struct names names = {0};
	struct tally_buf similar = {0};
	struct tally_pfm_event_info event;
	struct tally_pfm_attr_info attr;

	if (tally_pfm_event_of(library, request->idx, request->os, &event))
		event.attr_count = 0;
	for (int at = 0; at < event.attr_count; at++)
		if (!tally_pfm_attr(library, request->idx, at, request->os, &attr))
			add_name(&names, attr.name);
	suggest(word, &names, &similar);
	if (!word->length)
		tally_fail(error, -EINVAL, column(request, word),
			   "expected a unit mask or a modifier");
	else
		tally_fail(error, -EINVAL, column(request, word),
			   "%.*s is not a unit mask or modifier of %.*s%s", shown_length(word),
			   word->text, shown_length(&request->words.event),
			   request->words.event.text, str(&similar));
	tally_buf_done(&similar);
}

/* Whether the event does not have the word, whatever the library says for this machine. */
static bool is_unknown(const struct pfm_request *request, const struct pfm_word *word)
{
	struct tally_pfm_attr_info attr;

	if (is_raw(word))
		return false;
	if (request->pfm->no_hypervisor && tally_pfm_word_is(word, "h"))
		return true;
	return tally_pfm_find_attr(&request->pfm->library, request->idx, request->os, word,
				   &attr) != 0;
}

static void fail_attr(const struct pfm_request *request, struct tally_error *error)
{
	const struct pfm_text *words = &request->words;

	for (size_t i = 0; i < words->count; i++) {
		if (!is_unknown(request, &words->words[i]))
			continue;
		fail_no_attr(request, &words->words[i], error);
		return;
	}
	for (size_t i = 0; i < words->count; i++) {
		if (!is_raw(&words->words[i]))
			continue;
		tally_fail(error, -EINVAL, column(request, &words->words[i]),
			   "a unit mask as a number is not allowed here: not with named ones, and "
			   "not for every PMU");
		return;
	}
	for (size_t i = 0; i < words->count; i++) {
		if (!tally_pfm_word_is(&words->words[i], "e"))
			continue;
		tally_fail(error, -EINVAL, column(request, &words->words[i]),
			   "e counts how often a counter mask is reached, and needs one: add c=1");
		return;
	}
	tally_fail(error, -EINVAL, -1, "%s", tally_pfm_strerror(TALLY_PFM_ATTR));
}

static const char *what_value(const struct pfm_word *word, const struct tally_pfm_attr_info *attr)
{
	uint64_t value;

	if (attr->type == PFM_ATTR_IS_UMASK)
		return word->value ? "a unit mask has no value" : NULL;
	if (attr->type == PFM_ATTR_IS_BOOL)
		return tally_pfm_word_bool(word, &value) ? NULL : "expected y, t, 1, n, f or 0";
	if (!word->value || !word->value_length)
		return "expected a number: =N";
	if (!tally_pfm_word_integer(word, &value))
		return "expected a number, decimal, 0x or octal with a leading 0";
	if (attr->ctrl != PFM_CTRL_PERF_EVENT)
		return NULL;
	if (!strcmp(attr->name, "precise") && value > 3)
		return "expected 0 to 3";
	if ((!strcmp(attr->name, "period") || !strcmp(attr->name, "freq")) && !value)
		return "expected more than 0";
	return NULL;
}

static void fail_value(const struct pfm_request *request, struct tally_error *error)
{
	const struct pfm_text *words = &request->words;
	const struct pfm_word *last = NULL;
	struct tally_pfm_attr_info attr;

	for (size_t i = 0; i < words->count; i++) {
		const struct pfm_word *word = &words->words[i];
		const char *what = NULL;

		if (!tally_pfm_find_attr(&request->pfm->library, request->idx, request->os, word,
					 &attr))
			what = what_value(word, &attr);
		if (what) {
			tally_fail(error, -EINVAL, column(request, word), "%.*s: %s",
				   shown_length(word), word->text, what);
			return;
		}
		last = word->value ? word : last;
	}
	tally_fail(error, -EINVAL, last ? column(request, last) : -1,
		   "a value is out of range, or two modifiers exclude each other");
}

static void fail_unit_mask(const struct pfm_request *request, struct tally_error *error)
{
	const struct pfm_library *library = &request->pfm->library;
	struct tally_buf list = {0};
	struct tally_pfm_event_info event;
	struct tally_pfm_attr_info attr;
	size_t count = 0;

	if (tally_pfm_event_of(library, request->idx, request->os, &event))
		event.attr_count = 0;
	for (int at = 0; at < event.attr_count; at++) {
		if (tally_pfm_attr(library, request->idx, at, request->os, &attr) ||
		    attr.type != PFM_ATTR_IS_UMASK)
			continue;
		if (count < MOST_SHOWN)
			tally_buf_printf(&list, "%s%s", count ? ", " : "", attr.name);
		count++;
	}
	if (count > MOST_SHOWN)
		tally_buf_printf(&list, " and %zu more", count - MOST_SHOWN);
	tally_fail(error, -EINVAL, column(request, &request->words.event),
		   "the unit masks of %.*s exclude each other, or one is missing; it has %s",
		   shown_length(&request->words.event), request->words.event.text, str(&list));
	tally_buf_done(&list);
}

static void fail_set(const struct pfm_request *request, struct tally_error *error)
{
	const struct pfm_text *words = &request->words;

	for (size_t i = 1; i < words->count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct pfm_word *a = &words->words[j], *b = &words->words[i];

			if (a->length != b->length || strncasecmp(a->text, b->text, a->length))
				continue;
			tally_fail(error, -EINVAL, column(request, b),
				   "%.*s is given twice, with different values", shown_length(b),
				   b->text);
			return;
		}
	tally_fail(error, -EINVAL, -1, "%s", tally_pfm_strerror(TALLY_PFM_ATTR_SET));
}

static void fail_not_supported(const struct pfm_request *request, struct tally_error *error)
{
	char name[64];

	if (request->pmu_known && !tally_pfm_perf_name(request->pmu.name, name, sizeof(name)))
		tally_fail(error, -ENOTSUP, -1,
			   "%s/bus/event_source/devices/%s does not exist: the PMU %s of another "
			   "machine needs that machine's sysfs",
			   request->pfm->sysfs, name, request->pmu.name);
	else
		tally_fail(error, -ENOTSUP, -1, "libpfm4 does not encode this: %s",
			   tally_pfm_strerror(TALLY_PFM_NOTSUPP));
}

void tally_pfm_explain(const struct pfm_request *request, int code, struct tally_error *error)
{
	if (!error)
		return;
	switch (code) {
	case TALLY_PFM_NOTFOUND:
		fail_not_found(request, error);
		break;
	case TALLY_PFM_ATTR:
		fail_attr(request, error);
		break;
	case TALLY_PFM_ATTR_VAL:
		fail_value(request, error);
		break;
	case TALLY_PFM_ATTR_SET:
		fail_set(request, error);
		break;
	case TALLY_PFM_UMASK:
		fail_unit_mask(request, error);
		break;
	case TALLY_PFM_FEATCOMB:
		tally_fail(error, -EINVAL, column(request, &request->words.event),
			   "these unit masks of %.*s exclude each other",
			   shown_length(&request->words.event), request->words.event.text);
		break;
	case TALLY_PFM_NOTSUPP:
		fail_not_supported(request, error);
		break;
	default:
		tally_fail(error, code == TALLY_PFM_NOMEM ? -ENOMEM : -EINVAL, -1, "%s",
			   tally_pfm_strerror(code));
		break;
	}
}
