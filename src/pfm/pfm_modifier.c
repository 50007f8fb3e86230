#include <limits.h>
#include <string.h>
#include "pfm/pfm_encode.h"

int tally_pfm_find_attr(const struct pfm_library *library, int idx, enum tally_pfm_os os,
			const struct pfm_word *word, struct tally_pfm_attr_info *ret)
{
	struct tally_pfm_event_info event;

	if (tally_pfm_event_of(library, idx, os, &event))
		return TALLY_PFM_NOTFOUND;
	for (int at = 0; at < event.attr_count; at++) {
		struct tally_pfm_attr_info attr;

		if (tally_pfm_attr(library, idx, at, os, &attr))
			continue;
		if (word->value && attr.type == PFM_ATTR_IS_UMASK)
			continue;
		if (tally_pfm_word_is(word, attr.name)) {
			*ret = attr;
			return TALLY_PFM_SUCCESS;
		}
	}
	return TALLY_PFM_ATTR;
}

int tally_pfm_modifier_value(const struct pfm_word *word, const struct tally_pfm_attr_info *attr,
			     uint64_t *ret)
{
	bool good;

	if (attr->type == PFM_ATTR_IS_BOOL)
		good = tally_pfm_word_bool(word, ret);
	else
		good = tally_pfm_word_integer(word, ret);
	return good ? TALLY_PFM_SUCCESS : TALLY_PFM_ATTR_VAL;
}

static int take_period(uint64_t value, bool freq, struct tally_attr *attr)
{
	if (!value || (freq ? attr->sample_period != 0 : attr->freq))
		return TALLY_PFM_ATTR_VAL;
	attr->sample_period = value; /* or sample_freq, which is the same field */
	attr->freq = freq;
	return TALLY_PFM_SUCCESS;
}

/* Other names are privileges, which uncore PMUs do not have. */
int tally_pfm_modifier_apply(const char *name, uint64_t value, struct tally_attr *attr, int *cpu)
{
	if (!strcmp(name, "period"))
		return take_period(value, false, attr);
	if (!strcmp(name, "freq"))
		return take_period(value, true, attr);
	if (!strcmp(name, "precise")) {
		if (value > 3)
			return TALLY_PFM_ATTR_VAL;
		attr->precise_ip = value & 3;
	} else if (!strcmp(name, "cpu")) {
		if (value >= INT_MAX)
			return TALLY_PFM_ATTR_VAL;
		*cpu = (int)value;
	} else if (!strcmp(name, "excl")) {
		attr->exclusive |= value & 1;
	} else if (!strcmp(name, "pinned")) {
		attr->pinned = value & 1;
	} else if (!strcmp(name, "hw_smpl")) {
		attr->precise_ip = value & 1;
	}
	return TALLY_PFM_SUCCESS;
}
