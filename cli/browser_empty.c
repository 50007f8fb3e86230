/* Why a list has no rows, and what to do about it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tally/text.h>
#include "browser.h"

/* The choice of the place that was made last, as it is most likely to hide all. */
static bool by_place(const struct browser_place *place, char *text, size_t size)
{
	const struct {
		const char *what, *name;
	} choices[] = {
	    {"contains", place->filter},
	    {"is of the binary", place->dso},
	    {"is of the program", place->comm},
	    {"is of the thread", place->want.one_thread ? place->thread : ""},
	};
	char name[256];

	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		if (!choices[i].name[0])
			continue;
		tally_text_escape(choices[i].name, name, sizeof(name));
		snprintf(text, size, "no row %s '%s': Esc goes back", choices[i].what, name);
		return true;
	}
	return false;
}

/* Of samples that are there. */
static void by_rows(const struct browser *browser, const struct tally_profile_event *event,
		    char *text, size_t size)
{
	if (browser->place.view == BROWSER_FUNCTION)
		snprintf(text, size, "this function has no samples now: Esc goes back");
	else if (by_place(&browser->place, text, size))
		return;
	else if (browser->hide_kernel && browser->hide_user)
		snprintf(text, size, "the kernel and user space are hidden: K and U show them");
	else if (browser->hide_kernel || browser->hide_user)
		snprintf(text, size, "all samples are of %s, which is hidden: %c shows it",
			 browser->hide_kernel ? "the kernel" : "user space",
			 browser->hide_kernel ? 'K' : 'U');
	else if (event->row_count && browser->percent_limit > 0)
		snprintf(text, size, "every row is below %g %% (--percent-limit)",
			 browser->percent_limit);
	else
		snprintf(text, size, "no row has enough samples yet");
}

void browser_why_empty(const struct browser *browser, char *text, size_t size)
{
	struct tally_profile_event event = {.size = sizeof(event)};

	tally_profile_event(browser->profile, browser->event, &event);
	if (event.samples)
		by_rows(browser, &event, text, size);
	else if (event.all_samples)
		snprintf(text, size,
			 "none of %" PRIu64 " samples passes the filters of the command line",
			 event.all_samples);
	else if (browser->own)
		snprintf(text, size, "no samples yet: nothing that is watched has run");
	else
		snprintf(text, size, "the recording has no samples of this event");
}
