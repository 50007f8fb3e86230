/* Breakpoints: "mem:ADDRESS[/LENGTH][:rwx]", PERF_TYPE_BREAKPOINT.
 *
 * Default length: 4 bytes, of an instruction the size of a long; default kind: reads and writes.
 * Source: perf-list(1), "mem:", and HW_BREAKPOINT_* of include/uapi/linux/hw_breakpoint.h. */
#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "base/fail.h"
#include "event/family.h"

static bool read_kind(const struct event_word *word, uint32_t *ret)
{
	uint32_t kind = 0;

	for (size_t i = 0; i < word->length; i++) {
		uint32_t bit = word->text[i] == 'r'   ? HW_BREAKPOINT_R
			       : word->text[i] == 'w' ? HW_BREAKPOINT_W
			       : word->text[i] == 'x' ? HW_BREAKPOINT_X
						      : 0;

		if (!bit || kind & bit)
			return false;
		kind |= bit;
	}
	*ret = kind ? kind : HW_BREAKPOINT_RW;
	return true;
}

static struct event_word take_number(const char *text, size_t *at)
{
	struct event_word word = {.text = text + *at, .position = *at};

	while (isalnum((unsigned char)text[*at]))
		++*at;
	word.length = *at - word.position;
	return word;
}

int tally_breakpoint_parse(const char *text, size_t *at, struct tally_attr *ret,
			   struct tally_error *error)
{
	struct tally_attr attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_RW};
	struct event_word word = take_number(text, at);

	if (tally_raw_number(&word, &attr.bp_addr) != 1)
		return tally_fail(error, -EINVAL, (int64_t)word.position,
				  "expected an address, decimal or 0x, of at most 64 bits");
	if (text[*at] == '/') {
		++*at;
		word = take_number(text, at);
		if (tally_raw_number(&word, &attr.bp_len) != 1)
			return tally_fail(error, -EINVAL, (int64_t)word.position,
					  "expected the number of bytes to watch: 1, 2, 4 or 8");
	}
	if (text[*at] == ':') {
		size_t kind_at = *at + 1;

		word = take_number(text, &kind_at);
		/* Other letters are modifiers. */
		if (word.length && read_kind(&word, &attr.bp_type))
			*at = kind_at;
		else if (word.length && strchr("rwx", word.text[0]))
			return tally_fail(error, -EINVAL, (int64_t)word.position,
					  "expected some of r, w and x, each once");
	}
	if (!attr.bp_len)
		attr.bp_len = attr.bp_type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	*ret = attr;
	return 0;
}

int tally_breakpoint_format(const struct tally_attr *attr, char *to, size_t room)
{
	uint32_t kind = attr->bp_type;
	char letters[5] = "", length[24] = "";
	size_t at = 0;

	if (!kind || kind > 7 || !attr->bp_len || attr->config)
		return -1;
	if (kind != HW_BREAKPOINT_RW) {
		letters[at++] = ':';
		if (kind & HW_BREAKPOINT_R)
			letters[at++] = 'r';
		if (kind & HW_BREAKPOINT_W)
			letters[at++] = 'w';
		if (kind & HW_BREAKPOINT_X)
			letters[at++] = 'x';
	}
	if (attr->bp_len != (kind == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4))
		snprintf(length, sizeof(length), "/%llu", (unsigned long long)attr->bp_len);
	return snprintf(to, room, "mem:0x%llx%s%.*s", (unsigned long long)attr->bp_addr, length,
			(int)at, letters);
}

static const struct event_form forms[] = {
    {"mem:ADDRESS[/LENGTH][:rwx]",
     "a hardware breakpoint: reading, writing or executing an address", false},
    {NULL, NULL, false},
};

const struct event_family tally_event_family_breakpoint = {.forms = forms};
