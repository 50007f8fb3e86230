#include "report_screen.h"

#include <stdio.h>
#include "browser.h"
#include "screen.h"

static void draw(struct browser *browser, struct cli_screen *screen)
{
	unsigned height = cli_screen_height(screen), width = cli_screen_width(screen);
	char text[256];

	cli_screen_clear(screen);
	browser_draw(browser, screen, 0, height > 1 ? height - 1 : 0);
	snprintf(text, sizeof(text), "q quit  ? keys  / filter  Enter %s",
		 browser->order == TALLY_CALLER ? "what it called" : "callers");
	cli_screen_put(screen, height - 1, 0, CLI_BAR, text, width);
	cli_screen_fill(screen, height - 1, 0, CLI_BAR);
	cli_screen_show(screen);
}

/* The first event that has samples. */
static size_t first_event(const struct tally_profile *profile)
{
	struct tally_profile_event event = {.size = sizeof(event)};

	for (size_t i = 0; !tally_profile_event(profile, i, &event); i++)
		if (event.samples)
			return i;
	return 0;
}

int cli_report_screen(struct tally_profile *profile, double percent_limit,
		      enum tally_call_order order)
{
	struct browser browser = {
	    .event = first_event(profile), .percent_limit = percent_limit, .order = order};
	struct cli_screen *screen;
	int result = cli_screen_open(&screen);

	if (result)
		return result;
	result = browser_take(&browser, profile);
	while (result >= 0 && result != BROWSER_QUIT) {
		unsigned height = cli_screen_height(screen);
		int key;

		draw(&browser, screen);
		key = cli_screen_key(screen, -1);
		if (key == '?')
			browser_help(screen, NULL);
		else
			result = browser_key(&browser, screen, key, height > 3 ? height - 3 : 1);
	}
	cli_screen_close(screen);
	browser_done(&browser);
	return result < 0 ? result : 0;
}
