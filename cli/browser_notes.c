/* What a reader must know of the recording before the rows: losses, and how much has no names, with
 * what to do about it.  A few lines above the first list. */
#include <string.h>
#include "browser.h"
#include "screen.h"

/* So much of a screen may be notes. */
#define PART 6
#define MORE 4 /* columns of what says that there is more */

size_t browser_fitting(const char *text, size_t length, unsigned width)
{
	size_t end = 0, word = 0;
	unsigned columns = 0;

	while (end < length && columns < width) {
		if (text[end] == ' ')
			word = end;
		do
			end++;
		while (end < length && ((unsigned char)text[end] & 0xc0) == 0x80);
		columns++;
	}
	return end == length || !word || text[end] == ' ' ? end : word;
}

unsigned browser_notes(const struct browser *browser, struct cli_screen *screen, unsigned line,
		       bool draw)
{
	unsigned width = screen ? cli_screen_width(screen) : 0, count = 0, most;
	const char *at = browser->notes;

	if (!at || !width || browser->step_count || browser->place.view != BROWSER_LIST)
		return 0;
	most = cli_screen_height(screen) / PART;
	while (*at && count < most) {
		size_t length = strcspn(at, "\n"), used = browser_fitting(at, length, width);
		bool cut = count + 1 == most && at[used + strspn(at + used, " \n")];
		char text[1024];

		if (cut && width > MORE)
			used = browser_fitting(at, length, width - MORE);
		if (draw) {
			size_t bytes = used < sizeof(text) - MORE ? used : sizeof(text) - MORE - 1;

			memcpy(text, at, bytes);
			memcpy(text + bytes, " ...", MORE + 1);
			text[cut ? bytes + MORE : bytes] = 0;
			cli_screen_put(screen, line + count, 0, CLI_WARM, text, width);
		}
		count++;
		at += used;
		at += strspn(at, " \n");
	}
	return count;
}
