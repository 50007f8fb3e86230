#include "colour_option.h"

#include <string.h>
#include "options.h"

int cli_take_colour(void *to, const char *value, bool on, struct tally_error *error)
{
	static const char *const words[] = {"always", "never", "auto", NULL};
	int chosen = on ? cli_choose(error, value, "time for colours", words) : 0;

	if (chosen < 0)
		return chosen;
	*(const char **)to = on ? value : NULL;
	return 0;
}

bool cli_colour_wanted(const char *when, bool usual)
{
	return when && strcmp(when, "auto") != 0 ? !strcmp(when, "always") : usual;
}
