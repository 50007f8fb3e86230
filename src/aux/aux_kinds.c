#include "aux/aux_kind.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/fs.h"
#include "event/pmu.h"

#define FILE_MOST 4096 /* bytes of a file of sysfs */

static const struct tally_aux_kind *const kinds[] = {
    &tally_aux_intel_pt, &tally_aux_intel_bts, &tally_aux_cs_etm,
    &tally_aux_arm_spe,  &tally_aux_s390_sf,   &tally_aux_hisi_ptt,
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static bool is_of(const struct tally_aux_kind *kind, const char *pmu)
{
	size_t length = strcspn(kind->pmu, "*");

	if (!kind->pmu[length])
		return !strcmp(kind->pmu, pmu);
	return !strncmp(kind->pmu, pmu, length) && isdigit((unsigned char)pmu[length]);
}

const struct tally_aux_kind *tally_aux_kind_find(const char *pmu, const struct tally_attr *attr)
{
	for (size_t i = 0; pmu && i < KINDS; i++)
		if (is_of(kinds[i], pmu) && (!kinds[i]->traces || kinds[i]->traces(attr)))
			return kinds[i];
	return NULL;
}

const char *tally_aux_kinds_here(const char *root, char *to, size_t room)
{
	char path[PATH_MAX];
	struct dirent *entry;
	size_t length = 0;
	DIR *folder = NULL;

	*to = 0;
	if (snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices", root) <
	    (int)sizeof(path))
		folder = opendir(path);
	while (folder && (entry = readdir(folder)) && length < room)
		for (size_t i = 0; i < KINDS && length < room; i++)
			if (is_of(kinds[i], entry->d_name))
				length += (size_t)snprintf(to + length, room - length, "%s%s",
							   length ? ", " : "", entry->d_name);
	if (folder)
		closedir(folder);
	return to;
}

static char *read_file(const struct tally_aux_plan *plan, const char *file)
{
	char *text;

	return tally_fs_readf(FILE_MOST, &text, NULL, "%s/sys/bus/event_source/devices/%s/%s",
			      plan->root, plan->pmu, file)
		   ? NULL
		   : text;
}

bool tally_aux_read(const struct tally_aux_plan *plan, const char *file, int base, uint64_t *ret)
{
	char *text = read_file(plan, file), *end;
	uint64_t value;

	if (!text)
		return false;
	value = strtoull(text, &end, base);
	if (end != text)
		*ret = value;
	free(text);
	return end != text;
}

uint64_t tally_aux_field(const struct tally_aux_plan *plan, const char *name)
{
	char file[64], *text;
	unsigned which = 0;
	uint64_t mask = 0;

	snprintf(file, sizeof(file), "format/%s", name);
	text = read_file(plan, file);
	if (!text || tally_pmu_format_parse(text, &which, &mask) || which)
		mask = 0;
	free(text);
	return mask;
}

uint64_t tally_aux_field_of(uint64_t config, uint64_t field)
{
	return tally_pmu_extract(config, field);
}
