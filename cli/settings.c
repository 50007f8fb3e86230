#include "settings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "config.h"
#include "say.h"

static int store(const struct cli_setting *setting, const char *value, void *to,
		 struct tally_error *error)
{
	double number;
	char *end;

	switch (setting->kind) {
	case CLI_SETTING_BOOL:
		return cli_config_bool(value, to)
			   ? cli_refuse(error, "'%s' is not true or false", value)
			   : 0;
	case CLI_SETTING_DOUBLE:
		number = strtod(value, &end);
		if (end == value || *end || !isfinite(number))
			return cli_refuse(error, "'%s' is not a number", value);
		*(double *)to = number;
		return 0;
	case CLI_SETTING_TEXT:
		if (strlen(value) >= setting->room)
			return cli_refuse(error, "the value is longer than %zu characters",
					  setting->room - 1);
		memcpy(to, value, strlen(value) + 1);
		return 0;
	case CLI_SETTING_CALL:
		return setting->call(to, value, true, error);
	}
	return -EINVAL;
}

int cli_settings_apply(const char *command, const struct cli_setting *settings, void *object)
{
	struct tally_error error = {.text = ""};
	struct cli_config config;
	int status = CLI_OK;

	if (cli_config_read(&config, &error)) {
		cli_say(command, "%s", error.text);
		return CLI_USAGE;
	}
	if (config.left_out)
		cli_say(command, "%s belongs to another user: not read", config.left_out);
	for (; settings->key && status == CLI_OK; settings++) {
		const struct cli_config_entry *entry = cli_config_find(&config, settings->key);

		if (!entry ||
		    !store(settings, entry->value, (char *)object + settings->offset, &error))
			continue;
		cli_say(command, "%s:%u: %s: %s", entry->file, entry->line, entry->key, error.text);
		status = CLI_USAGE;
	}
	cli_config_done(&config);
	return status;
}

void cli_settings_pager(const char *command)
{
	const struct cli_config_entry *entry;
	struct cli_config config;
	struct tally_error error;
	char key[64];
	bool wanted;

	if (!isatty(STDOUT_FILENO) || getenv("TALLY_PAGER") || cli_config_read(&config, &error))
		return;
	snprintf(key, sizeof(key), "pager.%s", command);
	entry = cli_config_find(&config, key);
	if (entry && cli_config_bool(entry->value, &wanted))
		setenv("TALLY_PAGER", entry->value, 1);
	else if (entry && !wanted)
		setenv("TALLY_PAGER", "", 1);
	cli_config_done(&config);
}
