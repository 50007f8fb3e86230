/* The machine's PMUs as sysfs describes them, each read at its first use.
 *
 * Folder: SYSFS/bus/event_source/devices/PMU with type, format/, events/, cpumask or cpus, alias,
 * caps/. Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-* of Linux. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/pfm.h>
#include <unistd.h>
#include "base/fs.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "event/pmu.h"
#include "vendor/vendor_table.h"

#define PMUS_MOST  4096
#define FILES_MOST 16384 /* in a PMU's folder */
#define FILE_MOST  4096  /* bytes of one; sysfs gives a page */

static int keep(struct tally_event_context *context, const char *text, const char **to)
{
	*to = text ? tally_arena_strndup(&context->arena, text, strlen(text)) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

int tally_event_context_new(const struct tally_event_options *options,
			    struct tally_event_context **ret)
{
	struct tally_event_options use = {.size = sizeof(use)};
	struct tally_event_context *context;
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return result;
	context = calloc(1, sizeof(*context));
	if (!context)
		return -ENOMEM;
	if (snprintf(context->sysfs, sizeof(context->sysfs), "%s",
		     use.sysfs ? use.sysfs : "/sys") >= (int)sizeof(context->sysfs)) {
		free(context);
		return -ENAMETOOLONG;
	}
	context->table_result = context->pfm_code = 1;
	if (keep(context, use.events, &context->events) ||
	    keep(context, use.cpuid, &context->cpuid) ||
	    keep(context, use.pmu, &context->pfm_pmu)) {
		tally_event_context_free(context);
		return -ENOMEM;
	}
	*ret = context;
	return 0;
}

void tally_event_context_free(struct tally_event_context *context)
{
	if (!context)
		return;
	for (size_t i = 0; i < context->count; i++) {
		free(context->pmus[i].formats);
		free(context->pmus[i].aliases);
	}
	free(context->pmus);
	tally_table_close(context->table);
	tally_pfm_close(context->pfm);
	tally_arena_done(&context->arena);
	free(context);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct event_pmu *)a)->name, ((const struct event_pmu *)b)->name);
}

static int add_pmu(struct tally_event_context *context, const char *name)
{
	const char *kept = tally_arena_strndup(&context->arena, name, strlen(name));

	if (!kept ||
	    !array_next(&context->pmus, &context->room, context->count, 16, sizeof(*context->pmus)))
		return -ENOMEM;
	context->pmus[context->count++] = (struct event_pmu){.name = kept};
	return 0;
}

/* Core PMUs of hybrid machines. Source: Documentation/arch/x86 of Linux names cpu_core and
 * cpu_atom; each has a file `cpus`. */
static void find_hybrid(const struct tally_event_context *context, struct event_pmu *pmu)
{
	char path[PATH_MAX];

	if (strncmp(pmu->name, "cpu_", 4))
		return;
	pmu->hybrid = snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/cpus",
			       context->sysfs, pmu->name) < (int)sizeof(path) &&
		      !access(path, R_OK);
}

int tally_pmus_list(struct tally_event_context *context)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int result = 0;
	DIR *folder;

	if (context->listed)
		return 0;
	if (snprintf(path, sizeof(path), "%s/bus/event_source/devices", context->sysfs) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	folder = opendir(path);
	while (folder && !result && context->count < PMUS_MOST && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			result = add_pmu(context, entry->d_name);
	if (folder)
		closedir(folder);
	if (result)
		return result;
	if (context->count)
		qsort(context->pmus, context->count, sizeof(*context->pmus), by_name);
	for (size_t i = 0; i < context->count; i++)
		find_hybrid(context, &context->pmus[i]);
	context->listed = true;
	return 0;
}

/* One line of a file of the PMU, in the arena; NULL: there is none. */
static const char *read_line(struct tally_event_context *context, const struct event_pmu *pmu,
			     const char *file)
{
	const char *kept;
	char *text;
	size_t size;

	if (tally_fs_readf(FILE_MOST, &text, &size, "%s/bus/event_source/devices/%s/%s",
			   context->sysfs, pmu->name, file))
		return NULL;
	size = strcspn(text, "\n");
	kept = size ? tally_arena_strndup(&context->arena, text, size) : NULL;
	free(text);
	return kept;
}

static int add_format(struct tally_event_context *context, struct event_pmu *pmu, const char *name)
{
	struct pmu_format format;
	char path[300];
	const char *text;

	snprintf(path, sizeof(path), "format/%s", name);
	text = read_line(context, pmu, path);
	/* A file of unknown content does not make the PMU unusable. */
	if (!text || tally_pmu_format_parse(text, &format.which, &format.mask))
		return 0;
	format.name = tally_arena_strndup(&context->arena, name, strlen(name));
	if (!format.name || !array_next(&pmu->formats, &pmu->format_room, pmu->format_count, 16,
					sizeof(*pmu->formats)))
		return -ENOMEM;
	pmu->formats[pmu->format_count++] = format;
	return 0;
}

static bool is_side_file(const char *name)
{
	static const char *const ends[] = {".scale", ".unit", ".per-pkg", ".snapshot"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (length > end && !strcmp(name + length - end, ends[i]))
			return true;
	}
	return false;
}

static int add_alias(struct tally_event_context *context, struct event_pmu *pmu, const char *name)
{
	const char *kept;

	if (is_side_file(name))
		return 0;
	kept = tally_arena_strndup(&context->arena, name, strlen(name));
	if (!kept || !array_next(&pmu->aliases, &pmu->alias_room, pmu->alias_count, 16,
				 sizeof(*pmu->aliases)))
		return -ENOMEM;
	pmu->aliases[pmu->alias_count++] = (struct pmu_alias){.name = kept};
	return 0;
}

static int alias_order(const void *a, const void *b)
{
	return strcmp(((const struct pmu_alias *)a)->name, ((const struct pmu_alias *)b)->name);
}

static int format_order(const void *a, const void *b)
{
	return strcmp(((const struct pmu_format *)a)->name, ((const struct pmu_format *)b)->name);
}

static int read_folder(struct tally_event_context *context, struct event_pmu *pmu, const char *name,
		       int (*add)(struct tally_event_context *, struct event_pmu *, const char *))
{
	char path[PATH_MAX];
	struct dirent *entry;
	int count = 0, result = 0;
	DIR *folder;

	if (snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s", context->sysfs,
		     pmu->name, name) >= (int)sizeof(path))
		return 0;
	folder = opendir(path);
	while (folder && !result && count++ < FILES_MOST && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			result = add(context, pmu, entry->d_name);
	if (folder)
		closedir(folder);
	return result;
}

/* The highest bit of a mask up to `target`, or the lowest. */
static unsigned pick_bit(uint64_t mask, unsigned target)
{
	uint64_t up_to = mask & ((2ull << target) - 1);

	return up_to ? 63u - (unsigned)__builtin_clzll(up_to) : (unsigned)__builtin_ctzll(mask);
}

static bool read_cap(struct tally_event_context *context, const struct event_pmu *pmu,
		     const char *file, int base, uint64_t *ret)
{
	const char *text = read_line(context, pmu, file);
	char *end;

	if (!text)
		return false;
	*ret = strtoull(text, &end, base);
	return end != text;
}

static void set_default(struct event_pmu *pmu, const char *name, uint64_t value)
{
	struct event_word word = {.text = name, .length = strlen(name)};
	const struct pmu_format *format = tally_pmu_format_find(pmu, &word);

	if (format && !format->which)
		pmu->default_config |= tally_pmu_spread(value, format->mask);
}

/* The defaults of Processor Trace: perf-intel-pt(1), "config terms". */
static void default_intel_pt(struct tally_event_context *context, struct event_pmu *pmu)
{
	uint64_t mtc = 1, periods = 0, psb = 1, psb_periods = 0;

	pmu->has_default = true;
	set_default(pmu, "tsc", 1);
	read_cap(context, pmu, "caps/mtc", 10, &mtc);
	if (mtc && read_cap(context, pmu, "caps/mtc_periods", 16, &periods) && periods) {
		set_default(pmu, "mtc", 1);
		set_default(pmu, "mtc_period", pick_bit(periods, 3));
	}
	read_cap(context, pmu, "caps/psb_cyc", 10, &psb);
	if (psb && periods && read_cap(context, pmu, "caps/psb_periods", 16, &psb_periods) &&
	    psb_periods)
		set_default(pmu, "psb_period", pick_bit(psb_periods, 3));
	if (tally_pmu_format_find(pmu, &(struct event_word){.text = "pt", .length = 2}) &&
	    tally_pmu_format_find(pmu, &(struct event_word){.text = "branch", .length = 6})) {
		set_default(pmu, "pt", 1);
		set_default(pmu, "branch", 1);
	}
}

int tally_pmu_type(struct tally_event_context *context, struct event_pmu *pmu)
{
	uint64_t type;

	if (!pmu->type_read)
		pmu->usable = read_cap(context, pmu, "type", 10, &type) && type <= UINT32_MAX;
	if (!pmu->type_read && pmu->usable)
		pmu->type = (uint32_t)type;
	pmu->type_read = true;
	return pmu->usable ? 0 : -ENOENT;
}

int tally_pmu_load(struct tally_event_context *context, struct event_pmu *pmu)
{
	int result = tally_pmu_type(context, pmu);

	if (pmu->loaded || result)
		return result;
	result = read_folder(context, pmu, "format", add_format);
	if (!result)
		result = read_folder(context, pmu, "events", add_alias);
	if (result)
		return result;
	if (pmu->alias_count)
		qsort(pmu->aliases, pmu->alias_count, sizeof(*pmu->aliases), alias_order);
	if (pmu->format_count)
		qsort(pmu->formats, pmu->format_count, sizeof(*pmu->formats), format_order);
	pmu->other_name = read_line(context, pmu, "alias");
	pmu->identifier = read_line(context, pmu, "identifier");
	pmu->cpus = read_line(context, pmu, "cpumask");
	if (!pmu->cpus) {
		pmu->cpus = read_line(context, pmu, "cpus");
		/* Arm's core PMUs have other names, and a file `cpus`. */
		pmu->is_the_cpu = pmu->cpus && !pmu->hybrid;
	}
	pmu->is_the_cpu |= !strcmp(pmu->name, "cpu");
	pmu->core = pmu->hybrid || !strcmp(pmu->name, "cpu") || pmu->type == 4;
	if (!strcmp(pmu->name, "intel_pt"))
		default_intel_pt(context, pmu);
	pmu->loaded = true;
	return 0;
}

struct event_pmu *tally_pmu_find(struct tally_event_context *context, const struct event_word *name)
{
	for (size_t i = 0; i < context->count; i++)
		if (tally_word_is(name, context->pmus[i].name))
			return &context->pmus[i];
	return NULL;
}

/* "_3", "3" or nothing. */
static bool is_number_end(const char *text)
{
	if (!*text)
		return true;
	text += *text == '_';
	return isdigit((unsigned char)*text) && !text[strspn(text, "0123456789")];
}

static bool name_matches(const char *name, const struct event_word *word, bool glob,
			 const char *pattern)
{
	size_t length = word->length;

	if (glob)
		return !fnmatch(pattern, name, 0);
	return !strncmp(name, word->text, length) && is_number_end(name + length);
}

bool tally_pmu_matches(const struct event_pmu *pmu, const struct event_word *word)
{
	bool uncore = word->length >= 7 && !memcmp(word->text, "uncore_", 7), glob;
	const char *name = pmu->name;
	char pattern[256];

	if (!word->length || word->length >= sizeof(pattern))
		return false;
	memcpy(pattern, word->text, word->length);
	pattern[word->length] = 0;
	glob = strpbrk(pattern, "*?[");
	if (name_matches(name, word, glob, pattern))
		return true;
	if (!uncore && !strncmp(name, "uncore_", 7) && name_matches(name + 7, word, glob, pattern))
		return true;
	return pmu->other_name && name_matches(pmu->other_name, word, glob, pattern);
}

bool tally_pmu_knows_guests(const struct event_pmu *pmu)
{
	return pmu->core || pmu->is_the_cpu || pmu->type < PERF_TYPE_MAX;
}

struct event_pmu *tally_pmu_next_hybrid(struct tally_event_context *context, size_t *at)
{
	while (*at < context->count) {
		struct event_pmu *pmu = &context->pmus[(*at)++];

		if (pmu->hybrid && !tally_pmu_load(context, pmu))
			return pmu;
	}
	return NULL;
}
