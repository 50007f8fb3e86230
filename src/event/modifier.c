/* Modifiers: the letters behind an event's colon.
 *
 *   u k h    user, kernel, hypervisor: the first one written excludes the other two
 *   G H      guest, host: likewise; u and p alone leave guests out
 *   I        not while idle            p pp ppp  precise_ip 1 to 3      P  the highest that opens
 *   D        pinned                    e         exclusive              W  weak group
 *   S        read the members of the group with each sample of its leader
 *   b        by a counter that others share through BPF: gives a warning, and counts as usual
 *
 * Source: perf-list(1), section "EVENT MODIFIERS", and perf 6.1's answers for what they leave out.
 */
#include <errno.h>
#include <string.h>
#include "base/fail.h"
#include "event/family.h"

#define LETTERS "ukhGHpPSDIWeb"

bool tally_modifier_looks_like(const struct event_word *word)
{
	for (size_t i = 0; i < word->length; i++)
		if (!word->text[i] || !strchr(LETTERS, word->text[i]))
			return false;
	return word->length > 0;
}

static int check(const struct event_word *modifiers, struct tally_error *error)
{
	for (size_t i = 0; i < modifiers->length; i++) {
		char letter = modifiers->text[i];
		int64_t at = (int64_t)(modifiers->position + i);
		size_t same = 0;

		if (!letter || !strchr(LETTERS, letter)) {
			if (letter < ' ' || letter > '~')
				letter = '?';
			return tally_fail(
			    error, -EINVAL, at,
			    "unknown modifier '%c': expected some of u k h (privilege), G H "
			    "(guest, host), p pp ppp P (precise), S D e W I b",
			    letter);
		}
		for (size_t j = 0; j <= i; j++)
			same += modifiers->text[j] == letter;
		if (same > (letter == 'p' ? 3 : 1))
			return tally_fail(error, -EINVAL, at,
					  letter == 'p'
					      ? "modifier p can be given at most three times"
					      : "modifier %c is given twice",
					  letter);
	}
	return 0;
}

/* The first of u, k and h excludes all three levels, unless some are excluded already; each letter
 * then includes its own. */
static void privilege(struct tally_attr *attr, bool *excluded)
{
	if (!*excluded)
		attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
	*excluded = true;
}

static void guest(struct event_item *item)
{
	if (!item->guest_given)
		item->event.attr.exclude_guest = item->event.attr.exclude_host = 1;
	item->guest_given = true;
}

static void apply(struct event_item *item, char letter, bool leader, bool *excluded)
{
	struct tally_event *event = &item->event;
	struct tally_attr *attr = &event->attr;

	switch (letter) {
	case 'u':
		privilege(attr, excluded);
		attr->exclude_user = 0;
		event->privilege_given = true;
		if (!item->guest_given)
			attr->exclude_guest = 1;
		break;
	case 'k':
		privilege(attr, excluded);
		attr->exclude_kernel = 0;
		event->privilege_given = true;
		break;
	case 'h':
		privilege(attr, excluded);
		attr->exclude_hv = 0;
		event->privilege_given = true;
		break;
	case 'G':
		guest(item);
		attr->exclude_guest = 0;
		break;
	case 'H':
		guest(item);
		attr->exclude_host = 0;
		break;
	case 'p':
		attr->precise_ip = (attr->precise_ip + 1) & 3;
		if (!item->guest_given)
			attr->exclude_guest = 1;
		break;
	case 'P':
		event->precise_max = true;
		break;
	case 'S':
		event->sample_read = true;
		break;
	case 'D':
		attr->pinned |= leader;
		break;
	case 'e':
		attr->exclusive |= leader;
		break;
	case 'W':
		event->weak = true;
		break;
	case 'I':
		attr->exclude_idle = 1;
		break;
	case 'b':
		if (!event->warning)
			event->warning =
			    strdup("modifier b asks for a counter shared through BPF, which is not "
				   "supported; the event gets its own counter");
		break;
	}
}

int tally_modifier_apply(struct event_item *item, const struct event_word *modifiers, bool group,
			 bool leader, struct tally_error *error)
{
	struct tally_attr *attr = &item->event.attr;
	bool excluded = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	unsigned precise = attr->precise_ip;
	int result = check(modifiers, error);

	if (result)
		return result;
	for (size_t i = 0; i < modifiers->length; i++)
		precise += modifiers->text[i] == 'p';
	if (precise > 3)
		return tally_fail(
		    error, -EINVAL, (int64_t)modifiers->position,
		    "with the p of its group, %s would be precise to level %u: the highest is 3",
		    item->event.name, precise);
	/* An event without modifiers excludes guests; the first modifier resets that. */
	if (!group && modifiers->length)
		attr->exclude_guest = 0;
	for (size_t i = 0; i < modifiers->length; i++)
		apply(item, modifiers->text[i], leader, &excluded);
	return 0;
}

void tally_modifier_format(const struct tally_attr *attr, char to[16])
{
	size_t at = 0;

	if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv) {
		if (!attr->exclude_user)
			to[at++] = 'u';
		if (!attr->exclude_kernel)
			to[at++] = 'k';
		if (!attr->exclude_hv)
			to[at++] = 'h';
	}
	for (unsigned i = 0; i < attr->precise_ip; i++)
		to[at++] = 'p';
	if (attr->exclude_host && !attr->exclude_guest)
		to[at++] = 'G';
	if (attr->exclude_idle)
		to[at++] = 'I';
	if (attr->pinned)
		to[at++] = 'D';
	if (attr->exclusive)
		to[at++] = 'e';
	to[at] = 0;
}
