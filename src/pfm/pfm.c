#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "pfm/pfm_encode.h"

#define PLM_ALL 0x1f

const char *tally_pfm_strerror(int code)
{
	static const char *const texts[] = {
	    "success",
	    "not supported",
	    "invalid parameters",
	    "libpfm4 is not installed: apt install libpfm4",
	    "event not found",
	    "invalid combination of model specific features",
	    "invalid or missing unit mask",
	    "out of memory",
	    "invalid event attribute",
	    "invalid event attribute value",
	    "attribute value already set",
	    "too many parameters",
	    "parameter is too small",
	};

	if (code > 0 || code <= -(int)(sizeof(texts) / sizeof(texts[0])))
		return "unknown error code";
	return texts[-code];
}

const char *tally_pfm_code_name(int code)
{
	static const char names[][24] = {
	    "PFM_SUCCESS",      "PFM_ERR_NOTSUPP",  "PFM_ERR_INVAL",    "PFM_ERR_NOINIT",
	    "PFM_ERR_NOTFOUND", "PFM_ERR_FEATCOMB", "PFM_ERR_UMASK",    "PFM_ERR_NOMEM",
	    "PFM_ERR_ATTR",     "PFM_ERR_ATTR_VAL", "PFM_ERR_ATTR_SET", "PFM_ERR_TOOMANY",
	    "PFM_ERR_TOOSMALL",
	};

	if (code > 0 || code <= -(int)(sizeof(names) / sizeof(names[0])))
		return "unknown error code";
	return names[-code];
}

int tally_pfm_open(const struct tally_pfm_options *options, struct tally_pfm **ret,
		   struct tally_error *error)
{
	struct tally_pfm_options given = {0};
	struct tally_pfm *pfm;
	int code;

	if (tally_options_take(&given, sizeof(given), options)) {
		tally_fail(error, -EINVAL, -1, "the options are of a newer version");
		return TALLY_PFM_INVAL;
	}
	pfm = calloc(1, sizeof(*pfm));
	if (!pfm) {
		tally_fail(error, -ENOMEM, -1, "no memory");
		return TALLY_PFM_NOMEM;
	}
	code = tally_pfm_library_open(&pfm->library, true, error);
	if (code) {
		free(pfm);
		return code;
	}
	pfm->sysfs = strdup(given.sysfs ? given.sysfs : "/sys");
	pfm->pmu = given.pmu ? strdup(given.pmu) : NULL;
	pfm->no_hypervisor = given.cpuid && !strncmp(given.cpuid, "GenuineIntel-", 13);
	if (!pfm->sysfs || (given.pmu && !pfm->pmu)) {
		tally_pfm_close(pfm);
		tally_fail(error, -ENOMEM, -1, "no memory");
		return TALLY_PFM_NOMEM;
	}
	*ret = pfm;
	return TALLY_PFM_SUCCESS;
}

void tally_pfm_close(struct tally_pfm *pfm)
{
	if (!pfm)
		return;
	tally_pfm_library_close(&pfm->library);
	free(pfm->sysfs);
	free(pfm->pmu);
	free(pfm);
}

void tally_pfm_event_done(struct tally_pfm_event *event)
{
	free(event->name);
	event->name = NULL;
}

/* The event of `pmu::NAME` or NAME, without its attributes; its index or a negative code. */
static int find_event(const struct pfm_request *request)
{
	struct tally_buf name = {0};
	const struct pfm_text *words = &request->words;
	const char *text;
	int idx = TALLY_PFM_NOMEM;

	if (words->pmu.text)
		tally_buf_printf(&name, "%s::", request->pmu.name);
	tally_buf_add(&name, words->event.text, words->event.length);
	text = tally_buf_str(&name);
	if (text && !name.failed)
		idx = request->pfm->library.find_event(text);
	tally_buf_done(&name);
	return idx;
}

/* Which PMU, and which event of it. */
static int resolve(struct pfm_request *request)
{
	const struct pfm_library *library = &request->pfm->library;
	const struct pfm_word *pmu = &request->words.pmu;
	struct tally_pfm_event_info event;

	if (pmu->text) {
		if (tally_pfm_pmu_named(library, pmu->text, pmu->length, &request->pmu))
			return TALLY_PFM_NOTFOUND;
		request->pmu_known = true;
	}
	request->idx = find_event(request);
	if (request->idx < 0)
		return request->idx;
	if (!request->pmu_known && !tally_pfm_event_of(library, request->idx, request->os, &event))
		request->pmu_known = !tally_pfm_pmu(library, event.pmu, &request->pmu);
	return TALLY_PFM_SUCCESS;
}

static char *take_name(char *name)
{
	return name ? name : strdup("");
}

static int encode_codes(const struct pfm_request *request, struct tally_pfm_event *ret)
{
	struct tally_pfm_event event = {.cpu = -1};
	struct tally_pfm_pmu_encode_arg arg = {.codes = event.codes,
					       .count = TALLY_PFM_CODES,
					       .fstr = &event.name,
					       .size = sizeof(arg)};
	int code = request->pfm->library.encode(request->text, request->plm, request->os, &arg);

	if (code)
		return code;
	event.code_count = arg.count < 0 ? 0 : (size_t)arg.count;
	event.idx = arg.idx;
	event.name = take_name(event.name);
	*ret = event;
	return event.name ? TALLY_PFM_SUCCESS : TALLY_PFM_NOMEM;
}

static int encode_attr(const struct pfm_request *request, struct tally_pfm_event *ret)
{
	struct tally_pfm_event event = {.attr.size = sizeof(event.attr)};
	struct tally_pfm_perf_encode_arg arg = {.attr = (struct perf_event_attr *)&event.attr,
						.fstr = &event.name,
						.size = sizeof(arg)};
	int code = request->pfm->library.encode(request->text, request->plm, request->os, &arg);

	if (code)
		return code;
	event.idx = arg.idx;
	event.cpu = arg.cpu;
	event.name = take_name(event.name);
	*ret = event;
	return event.name ? TALLY_PFM_SUCCESS : TALLY_PFM_NOMEM;
}

/* The library gives the PMU `perf` the levels of this machine's CPU. AMD's has one more than
 * Intel's: leaves that out. */
static int encode_without_hypervisor(const struct pfm_request *request, struct tally_pfm_event *ret)
{
	char *at;
	int code;

	for (size_t i = 0; i < request->words.count; i++)
		if (tally_pfm_word_is(&request->words.words[i], "h"))
			return TALLY_PFM_ATTR;
	code = encode_attr(request, ret);
	if (code)
		return code;
	ret->attr.exclude_hv = 0;
	at = strstr(ret->name, ":h=");
	if (at && at[3])
		memmove(at, at + 4, strlen(at + 4) + 1);
	return TALLY_PFM_SUCCESS;
}

static int encode(struct pfm_request *request, struct tally_pfm_event *ret)
{
	int code = resolve(request);

	if (code)
		return code;
	if (request->os == TALLY_PFM_OS_NONE)
		return encode_codes(request, ret);
	if (request->pmu_known && tally_pfm_is_uncore(&request->pmu))
		return tally_pfm_uncore_encode(request, ret);
	if (request->pfm->no_hypervisor && request->pmu_known && !strcmp(request->pmu.name, "perf"))
		return encode_without_hypervisor(request, ret);
	return encode_attr(request, ret);
}

/* Splits the string and encodes it; reports invalid bytes. */
static int split_and_encode(struct pfm_request *request, struct tally_pfm_event *ret,
			    struct tally_error *error)
{
	size_t at;
	int code = tally_pfm_text_parse(request->text, &request->words, &at);

	if (code) {
		int64_t column = at < request->shift ? -1 : (int64_t)(at - request->shift);

		tally_fail(error, -EINVAL, column,
			   code == TALLY_PFM_INVAL
			       ? "give one event: `,`, spaces and line ends are not allowed"
			       : "too many unit masks and modifiers");
		return code;
	}
	code = encode(request, ret);
	if (code)
		tally_pfm_explain(request, code, error);
	return code;
}

int tally_pfm_encode(const struct tally_pfm *pfm, const char *text, int plm, enum tally_pfm_os os,
		     struct tally_pfm_event *ret, struct tally_error *error)
{
	struct pfm_request request = {.pfm = pfm, .text = text, .plm = plm, .os = os};
	struct tally_pfm_event own = {.size = sizeof(own)};
	char *with_pmu = NULL;
	int code;

	if (!pfm || !text || !ret || ret->size < sizeof(*ret) || plm & ~PLM_ALL ||
	    os > TALLY_PFM_OS_PERF_EVENT_EXT) {
		tally_fail(error, -EINVAL, -1, "%s", tally_pfm_strerror(TALLY_PFM_INVAL));
		return TALLY_PFM_INVAL;
	}
	if (pfm->pmu && !strstr(text, "::")) {
		struct tally_buf joined = {0};

		tally_buf_printf(&joined, "%s::%s", pfm->pmu, text);
		if (!tally_buf_str(&joined) || joined.failed) {
			tally_buf_done(&joined);
			tally_fail(error, -ENOMEM, -1, "no memory");
			return TALLY_PFM_NOMEM;
		}
		request.text = with_pmu = (char *)joined.data;
		request.shift = strlen(pfm->pmu) + 2;
	}
	code = split_and_encode(&request, &own, error);
	free(with_pmu);
	if (code == TALLY_PFM_SUCCESS) {
		tally_result_copy(ret, sizeof(own), &own);
		ret->name = own.name;
	}
	return code;
}
