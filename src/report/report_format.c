#include "report/report_format.h"

#include <errno.h>
#include <string.h>
#include "base/option_struct.h"

#define ROW(name) &tally_report_format_##name,
static const struct report_format *const formats[] = {REPORT_FORMATS(ROW)};
#undef ROW
#define FORMATS (sizeof(formats) / sizeof(*formats))

/* NULL names the first one. */
static const struct report_format *find(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!name || !strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const char *tally_report_format_name(size_t index, const char **ret_help)
{
	if (index >= FORMATS)
		return NULL;
	if (ret_help)
		*ret_help = formats[index]->help;
	return formats[index]->name;
}

bool tally_report_format_has_trees(const char *name)
{
	const struct report_format *format = find(name);

	return format && format->trees;
}

int tally_report_write(const struct tally_profile *profile,
		       const struct tally_report_options *options, FILE *to)
{
	struct tally_report_options taken = {.size = sizeof(taken)};
	const struct report_format *format;
	int result = tally_options_take(&taken, sizeof(taken), options);

	if (result)
		return result;
	format = find(taken.format);
	return format ? format->write(profile, &taken, to) : -EINVAL;
}
