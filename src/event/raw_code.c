/* Raw events: rHEX, the CPU's own code, and TYPE:CONFIG, the kernel's two numbers. */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include "base/fail.h"
#include "event/family.h"

/* All of the word as digits of `base`; 1, 0 or -ERANGE. */
static int number(const char *text, size_t length, unsigned base, uint64_t *ret)
{
	uint64_t value = 0;
	bool over = false;

	if (!length)
		return 0;
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		unsigned digit;

		if (!(base == 16 ? isxdigit(byte) : isdigit(byte)))
			return 0;
		digit = (unsigned)(isdigit(byte) ? byte - '0' : tolower(byte) - 'a' + 10);
		over |= __builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, digit, &value);
	}
	if (over)
		return -ERANGE;
	*ret = value;
	return 1;
}

int tally_raw_number(const struct event_word *word, uint64_t *ret)
{
	if (word->length > 2 && word->text[0] == '0' && word->text[1] == 'x')
		return number(word->text + 2, word->length - 2, 16, ret);
	return number(word->text, word->length, 10, ret);
}

int tally_raw_find(const struct event_word *word, struct tally_attr *ret)
{
	uint64_t config;
	int result;

	if (word->length < 2 || word->text[0] != 'r')
		return 0;
	result = number(word->text + 1, word->length - 1, 16, &config);
	if (result == 1)
		*ret = (struct tally_attr){.type = PERF_TYPE_RAW, .config = config};
	return result;
}

static int find(const struct event_word *word, struct tally_attr *ret, struct tally_error *error)
{
	int result = tally_raw_find(word, ret);

	if (result == -ERANGE)
		return tally_fail(error, -EINVAL, (int64_t)word->position,
				  "%.*s: a raw event has at most 16 hex digits",
				  tally_word_shown(word), word->text);
	return result;
}

static int format(const struct tally_attr *attr, const struct tally_event_options *options,
		  char *to, size_t room)
{
	(void)options;
	return attr->type == PERF_TYPE_RAW
		   ? snprintf(to, room, "r%llx", (unsigned long long)attr->config)
		   : -1;
}

static const struct event_form forms[] = {
    {"rNNN", "the CPU's own event with this config, in hexadecimal", true},
    {"TYPE:CONFIG", "an event of a PMU by its numbers, decimal or 0x", false},
    {NULL, NULL, false},
};

const struct event_family tally_event_family_raw = {
    .find = find,
    .format = format,
    .forms = forms,
};
