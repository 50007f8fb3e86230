/* Where vendor tables are searched for, and which CPU they are for. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/fs.h"
#include "vendor/vendor_table.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define PATTERN_LONGEST 512

int tally_table_path(char *to, size_t room)
{
	const char *own = getenv("TALLY_EVENTS"), *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int length;

	if (own && *own)
		length = snprintf(to, room, "%s", own);
	else if (cache && *cache)
		length = snprintf(to, room, "%s/pmu-events:/usr/share/tally/events", cache);
	else if (home && *home)
		length = snprintf(to, room, "%s/.cache/pmu-events:/usr/share/tally/events", home);
	else
		length = snprintf(to, room, "/usr/share/tally/events");
	return length < 0 || (size_t)length >= room ? -ENAMETOOLONG : 0;
}

#if defined(__x86_64__) || defined(__i386__)
/* Source: Intel SDM vol. 2A, CPUID; the name: tools/perf/arch/x86/util/header.c. */
static int cpuid_here(const char *sysfs, char *to, size_t room)
{
	unsigned a, b, c, d, family, model;
	char vendor[13] = "";

	(void)sysfs;
	if (!__get_cpuid(0, &a, &b, &c, &d))
		return -ENOTSUP;
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return -ENOTSUP;
	family = a >> 8 & 0xf;
	model = a >> 4 & 0xf;
	if (family == 0xf)
		family += a >> 20 & 0xff;
	if (family >= 6)
		model += (a >> 16 & 0xf) << 4;
	return snprintf(to, room, "%s-%u-%X-%X", vendor, family, model, a & 0xf) < (int)room
		   ? 0
		   : -ENAMETOOLONG;
}
#else
/* arm64: MIDR_EL1 with variant (bits 20-23) and revision (0-3) cleared, as in mapfile.csv.
 * Source: Documentation/ABI/testing/sysfs-devices-system-cpu; tools/perf/arch/arm64/util/header.c.
 */
static int cpuid_here(const char *sysfs, char *to, size_t room)
{
	for (int cpu = 0; cpu < 1024; cpu++) {
		size_t size;
		char *text;
		unsigned long long midr;

		if (tally_fs_readf(64, &text, &size,
				   "%s/devices/system/cpu/cpu%d/regs/identification/midr_el1",
				   sysfs, cpu))
			continue;
		midr = strtoull(text, NULL, 16) & ~0xf0000fULL;
		free(text);
		if (midr)
			return snprintf(to, room, "0x%016llx", midr) < (int)room ? 0
										 : -ENAMETOOLONG;
	}
	return -ENOTSUP;
}
#endif

int tally_table_cpuid_here(const char *sysfs, char *to, size_t room)
{
	return cpuid_here(sysfs ? sysfs : "/sys", to, room);
}

static size_t count_dashes(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '-';
	return count;
}

/* Whether a pattern is as simple as those of tables: others could take all memory or time. */
static bool is_simple_pattern(const char *pattern)
{
	size_t length = strnlen(pattern, PATTERN_LONGEST + 1), repeats = 0;

	for (size_t i = 0; i < length; i++) {
		/* "[[:xdigit:]]{4}": a count of one digit, of one byte of the text. */
		if (pattern[i] == '{' && (!i || pattern[i - 1] == ')' || !pattern[i + 1] ||
					  pattern[i + 2] != '}' || ++repeats > 8))
			return false;
		if (pattern[i] == '\\' && pattern[i + 1] >= '0' && pattern[i + 1] <= '9')
			return false;
	}
	return length <= PATTERN_LONGEST;
}

/* Source: tools/perf/arch/x86/util/header.c, strcmp_cpuid_str(): three dashes make it full; a
 * pattern without the fourth part is compared with a cpuid without it. */
bool tally_table_cpuid_matches(const char *pattern, const char *cpuid)
{
	bool full_pattern = count_dashes(pattern) == 3, full = count_dashes(cpuid) == 3;
	size_t length = strlen(cpuid);
	regmatch_t match;
	regex_t compiled;
	bool yes;

	if (full_pattern && !full)
		return false;
	if (!full_pattern && full)
		length = (size_t)(strrchr(cpuid, '-') - cpuid);
	if (!is_simple_pattern(pattern) || regcomp(&compiled, pattern, REG_EXTENDED))
		return false;
	yes = !regexec(&compiled, cpuid, 1, &match, 0) && match.rm_so == 0 &&
	      (size_t)match.rm_eo == length;
	regfree(&compiled);
	return yes;
}
