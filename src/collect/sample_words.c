/* Words for what samples hold, to numbers. */
#include <tally/sample_words.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <tally/abi.h>
#include <tally/text.h>
#include "abi/branch_words.h"
#include "abi/register_names.h"
#include "base/fail.h"

#define WORDS_MOST 64

/* The line for a word that is not in the list. */
static int refuse(const char *what, const char *text, size_t length, const char *const *words,
		  size_t count, struct tally_error *error)
{
	char word[64], list[384] = "";
	size_t used = 0;
	const char *nearest;

	if (length >= sizeof(word))
		length = sizeof(word) - 1;
	memcpy(word, text, length);
	word[length] = 0;
	nearest = tally_text_nearest(word, words, count);
	if (nearest)
		return tally_fail(error, -EINVAL, -1, "unknown %s '%s'; did you mean %s?", what,
				  word, nearest);
	for (size_t i = 0; i < count && used + 16 < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 words[i]);
	return tally_fail(error, -EINVAL, -1, "unknown %s '%s'; valid are %s", what, word, list);
}

/* --- branches --- */

const char *tally_branch_filter_word(size_t index, const char **ret_help)
{
	const struct tally_branch_word *word = tally_branch_word_at(index);

	if (word && ret_help)
		*ret_help = word->help;
	return word ? word->name : NULL;
}

int tally_branch_filter_parse(const char *text, uint64_t *ret, struct tally_error *error)
{
	const uint64_t levels =
	    PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
	uint64_t bits = 0;

	for (;;) {
		size_t length = strcspn(text, ",");
		const struct tally_branch_word *word = tally_branch_word_find(text, length);

		if (!word) {
			const char *words[WORDS_MOST];
			size_t count = 0;

			while (count < WORDS_MOST &&
			       (words[count] = tally_branch_filter_word(count, NULL)))
				count++;
			return refuse("kind of branch", text, length, words, count, error);
		}
		bits |= word->bits;
		if (!text[length])
			break;
		text += length + 1;
	}
	if (bits && !(bits & ~levels))
		bits |= PERF_SAMPLE_BRANCH_ANY;
	*ret = bits;
	return 0;
}

/* --- registers --- */

const char *tally_register_word(size_t index)
{
	enum tally_register_arch arch = tally_register_arch(NULL);
	const char *before = NULL;

	for (unsigned i = 0; i < 64; i++) {
		const char *name = tally_register_name_at(arch, i);

		/* A register of two words has its name twice. */
		if (!name || (before && !strcmp(before, name)))
			continue;
		before = name;
		if (!index--)
			return name;
	}
	return NULL;
}

static uint64_t register_bits(const char *text, size_t length)
{
	enum tally_register_arch arch = tally_register_arch(NULL);
	uint64_t bits = 0;

	for (unsigned i = 0; i < 64; i++) {
		const char *name = tally_register_name_at(arch, i);

		if (name && strlen(name) == length && !strncasecmp(name, text, length))
			bits |= 1ULL << i;
	}
	return bits;
}

int tally_registers_parse(const char *text, uint64_t *ret, struct tally_error *error)
{
	uint64_t bits = tally_register_mask(NULL);

	if (!bits)
		return tally_fail(error, -EOPNOTSUPP, -1,
				  "the registers of this kind of processor have no names here");
	if (text && *text)
		bits = 0;
	while (text && *text) {
		size_t length = strcspn(text, ",");
		uint64_t found = register_bits(text, length);

		if (!found) {
			const char *words[WORDS_MOST];
			size_t count = 0;

			while (count < WORDS_MOST && (words[count] = tally_register_word(count)))
				count++;
			return refuse("register", text, length, words, count, error);
		}
		bits |= found;
		text += length + (text[length] == ',');
	}
	*ret = bits;
	return 0;
}

/* --- clocks --- */

static const struct {
	const char *name, *help;
	int32_t id;
} clocks[] = {
    {"monotonic", "since the machine was started, as programs see it", CLOCK_MONOTONIC},
    {"monotonic_raw", "the same, never adjusted", CLOCK_MONOTONIC_RAW},
    {"realtime", "since 1970; software events and tracepoints only", CLOCK_REALTIME},
    {"boottime", "as monotonic, with the time in suspend; software events only", CLOCK_BOOTTIME},
    {"tai", "as realtime, without leap seconds; software events only", CLOCK_TAI},
    {"mono", "monotonic", CLOCK_MONOTONIC},
    {"raw", "monotonic_raw", CLOCK_MONOTONIC_RAW},
    {"real", "realtime", CLOCK_REALTIME},
    {"boot", "boottime", CLOCK_BOOTTIME},
};

#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

const char *tally_clock_word(size_t index, const char **ret_help)
{
	if (index >= CLOCKS)
		return NULL;
	if (ret_help)
		*ret_help = clocks[index].help;
	return clocks[index].name;
}

int tally_clock_parse(const char *text, int32_t *ret, struct tally_error *error)
{
	const char *words[CLOCKS], *name = text;
	uint64_t number;

	if (!strncasecmp(name, "CLOCK_", 6))
		name += 6;
	for (size_t i = 0; i < CLOCKS; i++) {
		if (!strcasecmp(clocks[i].name, name)) {
			*ret = clocks[i].id;
			return 0;
		}
		words[i] = clocks[i].name;
	}
	if (!tally_text_u64(text, &number) && number <= INT32_MAX) {
		*ret = (int32_t)number;
		return 0;
	}
	return refuse("clock", text, strlen(text), words, 5, error);
}
