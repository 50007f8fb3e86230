/* What expressions may ask of a sample. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "plugin/choice.h"

#define SECOND 1000000000ULL

static const struct {
	const char *name;
	enum choice_field field;
	enum choice_type type;
	/* Samples that are counted together have one address, but not one time or period
	 * (session.h). */
	uint64_t want;
} fields[] = {
    {"comm", CHOICE_COMM, CHOICE_TEXT, PERF_SAMPLE_TID},
    {"pid", CHOICE_PID, CHOICE_SIGNED, PERF_SAMPLE_TID},
    {"tid", CHOICE_TID, CHOICE_SIGNED, PERF_SAMPLE_TID},
    {"cpu", CHOICE_CPU, CHOICE_SIGNED, PERF_SAMPLE_CPU},
    {"time", CHOICE_TIME, CHOICE_SECONDS, PERF_SAMPLE_TIME},
    {"event", CHOICE_EVENT, CHOICE_TEXT, 0},
    {"period", CHOICE_PERIOD, CHOICE_NUMBER, PERF_SAMPLE_PERIOD | PERF_SAMPLE_TIME},
    {"ip", CHOICE_IP, CHOICE_NUMBER, PERF_SAMPLE_IP},
    {"addr", CHOICE_ADDR, CHOICE_NUMBER, PERF_SAMPLE_ADDR},
    {"sym", CHOICE_SYM, CHOICE_TEXT, PERF_SAMPLE_IP},
    {"symbol", CHOICE_SYM, CHOICE_TEXT, PERF_SAMPLE_IP},
    {"dso", CHOICE_DSO, CHOICE_TEXT, PERF_SAMPLE_IP},
    {"weight", CHOICE_WEIGHT, CHOICE_NUMBER, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT},
    {"stack", CHOICE_STACK, CHOICE_TEXT, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN},
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

bool tally_choice_field(const char *name, enum choice_field *ret, enum choice_type *ret_type)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].name, name)) {
			*ret = fields[i].field;
			*ret_type = fields[i].type;
			return true;
		}
	return false;
}

uint64_t tally_choice_want(enum choice_field field)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].field == field)
			return fields[i].want;
	return PERF_SAMPLE_RAW;
}

const char *tally_choice_name(size_t index)
{
	return index < FIELDS ? fields[index].name : NULL;
}

/* Digits of a fraction as ns. */
static void take_fraction(const char **text, uint64_t *ns)
{
	uint64_t unit = SECOND / 10;

	if (**text != '.')
		return;
	for (++*text; isdigit((unsigned char)**text); ++*text, unit /= 10)
		*ns += unit * (uint64_t)(**text - '0');
}

/* "12.5", as script prints times, in seconds. */
static int take_seconds(const char *text, uint64_t *ret)
{
	char *end;
	uint64_t seconds, ns = 0;
	const char *at;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	seconds = strtoull(text, &end, 10);
	at = end;
	if (errno || seconds > UINT64_MAX / SECOND - 1)
		return -EINVAL;
	take_fraction(&at, &ns);
	if (*at)
		return -EINVAL;
	*ret = seconds * SECOND + ns;
	return 0;
}

int tally_choice_value(enum choice_type type, const char *text, uint64_t *ret)
{
	bool minus = *text == '-';
	uint64_t number;
	int result;

	switch (type) {
	case CHOICE_NUMBER:
		return tally_text_u64(text, ret) ? -EINVAL : 0;
	case CHOICE_SECONDS:
		return take_seconds(text, ret);
	case CHOICE_SIGNED:
	case CHOICE_UNKNOWN:
		result = tally_text_u64(text + minus, &number);
		if (result || (minus && number > (uint64_t)INT64_MAX + 1))
			return -EINVAL;
		if (type == CHOICE_SIGNED && number > (uint64_t)INT32_MAX + minus)
			return -EINVAL;
		*ret = minus ? 0 - number : number;
		return 0;
	case CHOICE_TEXT:
		return 0;
	}
	return -EINVAL;
}
