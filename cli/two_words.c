#include "two_words.h"

#include "options.h"

int cli_take_second(bool *to, const char *value, bool on, struct tally_error *error,
		    const char *what, const char *const *words)
{
	int chosen = on ? cli_choose(error, value, what, words) : 0;

	if (chosen >= 0)
		*to = chosen;
	return chosen < 0 ? chosen : 0;
}

int cli_take_percentage(void *to, const char *value, bool on, struct tally_error *error)
{
	static const char *const words[] = {"absolute", "relative", NULL};

	return cli_take_second(to, value, on, error, "percentage", words);
}

int cli_take_syntax(void *to, const char *value, bool on, struct tally_error *error)
{
	static const char *const words[] = {"att", "intel", NULL};

	return cli_take_second(to, value, on, error, "syntax", words);
}
