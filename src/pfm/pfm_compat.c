/* libpfm4's two functions under our name. The library answers, with checks where it would crash or
 * where our use of it (pfm.c starts it with the PMUs of all machines) would change its answer. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "pfm/pfm_encode.h"

#define PLM_ALL    0x1f
#define PMU_ABI0   32 /* bytes of pfm_pmu_encode_arg_t as first published; LP64 */
#define MOST_CODES 16

/* Whether a PMU of another machine was asked for without LIBPFM_ENCODE_INACTIVE=1. */
static bool is_foreign(const struct pfm_library *library, const char *text)
{
	const char *set = getenv("LIBPFM_ENCODE_INACTIVE");
	const char *behind = strstr(text, "::");
	struct tally_pfm_pmu_info pmu;

	if (!behind || text[strcspn(text, ", \t\n")])
		return false;
	if (set && isdigit((unsigned char)*set) && *set != '0')
		return false;
	return !tally_pfm_pmu_named(library, text, (size_t)(behind - text), &pmu) &&
	       !pmu.is_present;
}

/* 0: the size is wrong, or bytes beyond the struct are not 0. */
static bool is_size_good(const void *arg, size_t given, size_t first, size_t known)
{
	const unsigned char *bytes = arg;

	if (given && given < first)
		return false;
	for (size_t i = known; i < given; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Without room the library frees memory that it does not own; so it gets room. */
static int encode_codes(const struct pfm_library *library, const char *text, int plm,
			struct tally_pfm_pmu_encode_arg *arg)
{
	uint64_t codes[MOST_CODES];
	char *name = NULL;
	struct tally_pfm_pmu_encode_arg ours = {
	    .codes = codes, .count = MOST_CODES, .fstr = &name, .size = sizeof(ours)};
	int code;

	if (!is_size_good(arg, arg->size, PMU_ABI0, sizeof(*arg)))
		return TALLY_PFM_INVAL;
	code = library->encode(text, plm, TALLY_PFM_OS_NONE, &ours);
	if (code)
		return code;
	if (arg->codes && arg->count < ours.count)
		code = TALLY_PFM_TOOSMALL;
	if (!code && !arg->codes) {
		arg->codes = calloc((size_t)ours.count, sizeof(*arg->codes));
		code = arg->codes ? TALLY_PFM_SUCCESS : TALLY_PFM_NOMEM;
	}
	if (code || !arg->fstr) {
		free(name);
		name = NULL;
	}
	if (code)
		return code;
	memcpy(arg->codes, codes, (size_t)ours.count * sizeof(*codes));
	arg->count = ours.count;
	arg->idx = ours.idx;
	if (arg->fstr)
		*arg->fstr = name;
	return TALLY_PFM_SUCCESS;
}

int tally_pfm_get_os_event_encoding(const char *text, int plm, int os, void *arg)
{
	struct pfm_library library;
	int code = tally_pfm_library_open(&library, false, NULL);

	if (code)
		return code;
	if (!text || !arg || plm & ~PLM_ALL)
		code = TALLY_PFM_INVAL;
	else if (os < TALLY_PFM_OS_NONE || os > TALLY_PFM_OS_PERF_EVENT_EXT)
		code = TALLY_PFM_NOTSUPP;
	else if (is_foreign(&library, text))
		code = TALLY_PFM_NOTFOUND;
	else if (os == TALLY_PFM_OS_NONE)
		code = encode_codes(&library, text, plm, arg);
	else
		code = library.encode(text, plm, (unsigned)os, arg);
	tally_pfm_library_close(&library);
	return code;
}

int tally_pfm_get_event_encoding(const char *text, int plm, char **fstr, int *idx, uint64_t **codes,
				 int *count)
{
	struct tally_pfm_pmu_encode_arg arg = {.fstr = fstr, .size = sizeof(arg)};
	int code;

	if (!codes || !count)
		return TALLY_PFM_INVAL;
	arg.codes = *codes;
	arg.count = *count;
	code = tally_pfm_get_os_event_encoding(text, plm, TALLY_PFM_OS_NONE, &arg);
	if (code)
		return code;
	*codes = arg.codes;
	*count = arg.count;
	if (idx)
		*idx = arg.idx;
	return TALLY_PFM_SUCCESS;
}

int tally_pfm_get_perf_event_encoding(const char *text, int plm, struct perf_event_attr *attr,
				      char **fstr, int *idx)
{
	struct tally_pfm_perf_encode_arg arg = {.attr = attr, .fstr = fstr, .size = sizeof(arg)};
	int code;

	if (!attr)
		return TALLY_PFM_INVAL;
	code = tally_pfm_get_os_event_encoding(text, plm, TALLY_PFM_OS_PERF_EVENT_EXT, &arg);
	if (!code && idx)
		*idx = arg.idx;
	return code;
}
