#include "colour_option.h"

#include <string.h>
#include "options.h"

int cli_take_colour(void *to, const char *value, bool on, struct tally_error *error)
{
	if (on && strcmp(value, "always") != 0 && strcmp(value, "never") != 0 &&
	    strcmp(value, "auto") != 0)
		return cli_refuse(error, "'%s' is invalid; valid are always, never and auto",
				  value);
	*(const char **)to = on ? value : NULL;
	return 0;
}

bool cli_colour_wanted(const char *when, bool usual)
{
	return when && strcmp(when, "auto") != 0 ? !strcmp(when, "always") : usual;
}
