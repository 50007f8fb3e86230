/* The growing list of events that a string becomes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "event/term.h"

bool tally_word_is(const struct event_word *word, const char *text)
{
	return strlen(text) == word->length && !memcmp(word->text, text, word->length);
}

int tally_items_put(struct event_items *items, struct tally_event *event)
{
	if (!array_next(&items->items, &items->room, items->count, 16, sizeof(*items->items)))
		return -ENOMEM;
	items->items[items->count++] = (struct event_item){.event = *event};
	return 0;
}

int tally_items_add(struct event_items *items, const struct tally_attr *attr, const char *name,
		    size_t length)
{
	struct tally_event event = {.attr = *attr, .scale = 1, .name = strndup(name, length)};
	int result = event.name ? tally_items_put(items, &event) : -ENOMEM;

	if (result)
		free(event.name);
	return result;
}

void tally_items_done(struct event_items *items)
{
	for (size_t i = 0; i < items->count; i++)
		tally_event_done(&items->items[i].event);
	free(items->items);
	*items = (struct event_items){0};
}
