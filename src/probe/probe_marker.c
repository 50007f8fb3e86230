/* Places that authors marked for tracing: sdt_PROVIDER:NAME, with their arguments. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tally/probe.h>
#include <tally/text.h>
#include "base/fail.h"
#include "base/name_filter.h"
#include "probe/probe_set.h"

/* --- arguments: "-4@%eax", "8@-24(%rbp)", "4@$3", "8@counter(%rip)" ---
 *
 * Source: <sys/sdt.h>: a size in bytes, negative for signed numbers, then the operand as the
 * assembler writes it. */

/* The kernel's names are the 16-bit ones, and those of r8 to r15 without a suffix. */
static bool take_register(const char *name, size_t length, char to[8])
{
	static const char *const old[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
	char plain[8];

	if (length < 3 || length >= sizeof(plain) || *name != '%')
		return false;
	memcpy(plain, name + 1, length - 1);
	plain[length - 1] = '\0';
	if (plain[0] == 'r' && plain[1] >= '0' && plain[1] <= '9') {
		plain[strcspn(plain, "dwb")] = '\0';
		snprintf(to, 8, "%%%.6s", plain);
		return true;
	}
	for (size_t i = 0; i < sizeof(old) / sizeof(*old); i++) {
		const char *bare = plain + (*plain == 'r' || *plain == 'e');
		char low[4] = {old[i][0], old[i][1] == 'x' ? 'l' : old[i][1], 0, 0};

		if (old[i][1] != 'x')
			low[2] = 'l';
		if (!strcmp(bare, old[i]) || !strcmp(plain, low)) {
			snprintf(to, 8, "%%%s", old[i]);
			return true;
		}
	}
	return false;
}

static bool take_operand(const char *operand, bool constants, struct tally_buf *to)
{
	const char *open = strchr(operand, '(');
	size_t length = strlen(operand);
	char name[8], *end;
	long long number;

	if (*operand == '$') {
		number = strtoll(operand + 1, &end, 0);
		if (*end || end == operand + 1 || !constants)
			return false;
		tally_buf_printf(to, "\\%lld", number);
		return true;
	}
	if (!open) {
		if (!take_register(operand, length, name))
			return false;
		tally_buf_text(to, name);
		return true;
	}
	number = strtoll(operand, &end, 0);
	if (end != open || operand[length - 1] != ')' ||
	    !take_register(open + 1, (size_t)(operand + length - open - 2), name))
		return false;
	tally_buf_printf(to, "%+lld(%s)", number, name);
	return true;
}

static bool take_size(const char *text, size_t length, const char **ret)
{
	static const struct {
		const char *size, *type;
	} sizes[] = {{"1", ":u8"},  {"-1", ":s8"},  {"2", ":u16"}, {"-2", ":s16"},
		     {"4", ":u32"}, {"-4", ":s32"}, {"8", ":u64"}, {"-8", ":s64"}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (!strncmp(sizes[i].size, text, length) && !sizes[i].size[length]) {
			*ret = sizes[i].type;
			return true;
		}
	return false;
}

/* Those that the kernel cannot read are left out; numbers count all of them. */
static int take_arguments(struct tally_probe_set *set, const char *at, struct probe_site *site)
{
	const char **arguments =
	    tally_arena_alloc(&set->arena, PROBE_ARGUMENTS_MOST * sizeof(*arguments));
	struct tally_buf text = {0};

	if (!arguments)
		return -ENOMEM;
	site->arguments = arguments;
	for (unsigned number = 1; *(at += strspn(at, " ")); number++) {
		size_t length = strcspn(at, " "), size = 0;
		char *word = tally_arena_strndup(&set->arena, at, length);
		const char *type = "", *sign = word ? strchr(word, '@') : NULL;

		at += length;
		if (!word)
			break;
		size = sign ? (size_t)(sign - word) : 0;
		if (sign && !take_size(word, size, &type))
			continue;
		tally_buf_clear(&text);
		tally_buf_printf(&text, "arg%u=", number);
		if (!take_operand(sign ? sign + 1 : word, set->features.constants, &text) ||
		    site->argument_count == PROBE_ARGUMENTS_MOST)
			continue;
		tally_buf_text(&text, type);
		arguments[site->argument_count] =
		    tally_arena_strndup(&set->arena, (char *)text.data, text.size);
		if (!arguments[site->argument_count++])
			break;
	}
	tally_buf_done(&text);
	for (size_t i = 0; i < site->argument_count; i++)
		if (!arguments[i])
			return -ENOMEM;
	return 0;
}

/* --- places --- */

static int add_marker(struct tally_probe_set *set, const struct tally_sdt_marker *marker,
		      struct tally_error *error)
{
	struct probe_site site = {.name = marker->name};
	struct tally_buf place = {0};
	int result;

	if (marker->counter && !set->features.counter)
		return tally_fail(
		    error, -ENOTSUP, -1,
		    "%s:%s counts its listeners, and this kernel cannot increase that "
		    "counter",
		    marker->provider, marker->name);
	result = take_arguments(set, marker->arguments ? marker->arguments : "", &site);
	tally_buf_printf(&place, "%s:0x%" PRIx64, set->program, marker->offset);
	if (marker->counter)
		tally_buf_printf(&place, "(0x%" PRIx64 ")", marker->counter);
	site.place = place.failed ? NULL : tally_buf_str(&place);
	if (result || !site.place)
		result = tally_fail(error, -ENOMEM, -1, "out of memory");
	else
		result = tally_probe_set_append(set, &site, error);
	tally_buf_done(&place);
	return result;
}

static int fail_absent(const struct tally_probe_set *set, const struct tally_sdt *sdt,
		       struct tally_error *error)
{
	const struct tally_sdt_marker *marker;
	const char *names[512], *similar;
	size_t count = 0;

	for (size_t i = 0; (marker = tally_sdt_at(sdt, i)) && count < 512; i++)
		names[count++] = marker->name;
	similar = count ? tally_text_nearest(set->spec.event, names, count) : NULL;
	return tally_fail(error, -ENOENT, -1,
			  count ? "%s has no marker %s%s%s%s; `tally list sdt %s` lists them"
				: "%s has no markers, so not %s%s%s%s either",
			  set->program, set->spec.event, similar ? "; did you mean " : "",
			  similar ? similar : "", similar ? "?" : "", set->program);
}

int tally_probe_set_find_marker(struct tally_probe_set *set, struct tally_error *error)
{
	const char *group = set->spec.group, *provider = NULL;
	const struct tally_sdt_marker *marker;
	struct tally_sdt *sdt;
	int result;

	if (!set->program)
		return tally_fail(error, -EINVAL, -1,
				  "say which program has the marker: -x PROGRAM, or "
				  "sdt_PROVIDER:NAME@PROGRAM");
	result = tally_sdt_open(set->program, &sdt, error);
	if (result)
		return result;
	for (size_t i = 0; (marker = tally_sdt_at(sdt, i)) && !result; i++) {
		const char *own = marker->provider;
		bool fits =
		    !group || (!strncmp(group, "sdt_", 4) && tally_name_matches(own, group + 4));

		if (!fits || !tally_name_matches(marker->name, set->spec.event))
			continue;
		if (provider && strcmp(provider, own))
			result = tally_fail(error, -EINVAL, -1,
					    "%s and %s both have such a marker: name one, "
					    "sdt_PROVIDER:NAME",
					    provider, own);
		provider = own;
		if (!result)
			result = add_marker(set, marker, error);
	}
	if (!result && !set->site_count)
		result = fail_absent(set, sdt, error);
	if (!result) { /* the name is the marker's own, also where a glob found it */
		struct tally_buf name = {0};

		tally_buf_printf(&name, "sdt_%s", provider);
		set->spec.group =
		    name.failed ? NULL
				: tally_arena_strndup(&set->arena, (char *)name.data, name.size);
		tally_buf_done(&name);
		if (!set->spec.group)
			result = tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	tally_sdt_close(sdt);
	return result;
}
