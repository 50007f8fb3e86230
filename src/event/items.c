/* The growing list of events that a string becomes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "event/family.h"

bool tally_word_is(const struct event_word *word, const char *text)
{
	return strlen(text) == word->length && !memcmp(word->text, text, word->length);
}

int tally_items_add(struct event_items *items, const struct tally_attr *attr, const char *name,
		    size_t length)
{
	struct event_item *item;

	if (items->count == items->room) {
		size_t room = items->room ? items->room * 2 : 16;
		struct event_item *grown = reallocarray(items->items, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		items->items = grown;
		items->room = room;
	}
	item = &items->items[items->count];
	*item = (struct event_item){.event.attr = *attr};
	item->event.name = strndup(name, length);
	if (!item->event.name)
		return -ENOMEM;
	items->count++;
	return 0;
}

void tally_items_done(struct event_items *items)
{
	for (size_t i = 0; i < items->count; i++)
		free(items->items[i].event.name);
	free(items->items);
	*items = (struct event_items){0};
}
