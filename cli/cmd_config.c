/* `tally config`: perf's configuration files, and which of their keys Tally uses. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "command.h"
#include "config.h"
#include "options.h"
#include "say.h"
#include "settings.h"

/* The command and the option that a key sets, as text; NULL when Tally does not use it. */
static const char *meaning(const char *key, char *to, size_t room)
{
	size_t length = 0;

	for (size_t i = 0; i < cli_command_count; i++) {
		const struct cli_setting *setting = cli_commands[i].settings;

		for (; setting && setting->key; setting++)
			if (!strcasecmp(setting->key, key))
				length += (size_t)snprintf(to + length, room - length, "%s%s %s",
							   length ? ", " : "", cli_commands[i].name,
							   setting->option);
		if (length >= room)
			return to;
	}
	if (!strncmp(key, "pager.", 6) && cli_command_find(key + 6))
		length = (size_t)snprintf(to, room, "%s: the pager", key + 6);
	return length ? to : NULL;
}

static void print_file_keys(const struct cli_config *config, bool plain)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct cli_config_entry *entry = &config->entries[i];
		char line[256], about[256];
		const char *means = meaning(entry->key, about, sizeof(about));

		if (cli_config_find(config, entry->key) != entry)
			continue; /* a later line wins */
		snprintf(line, sizeof(line), "%s=%s", entry->key, entry->value);
		if (plain)
			puts(line);
		else
			printf("%-36s  %s (%s:%u)\n", line, means ? means : "no meaning in tally",
			       entry->file, entry->line);
	}
}

static void print_all_keys(void)
{
	for (size_t i = 0; i < cli_command_count; i++)
		for (const struct cli_setting *setting = cli_commands[i].settings;
		     setting && setting->key; setting++)
			printf("%-36s  %s %s\n", setting->key, cli_commands[i].name,
			       setting->option);
	printf("%-36s  %s\n", "pager.COMMAND", "COMMAND: the pager, or false for none");
}

int cmd_config(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS] [SECTION.NAME]...", NULL};
	const struct cli_usage usage = {
	    .command = "config",
	    .forms = forms,
	    .about = "Prints what perf's configuration files (/etc/perfconfig, ~/.perfconfig or "
		     "$PERF_CONFIG) set, and the option of tally that each key sets. With names, "
		     "prints their values.",
	    .mixed = true,
	};
	struct tally_error error = {.text = ""};
	struct cli_config config;
	bool plain = false, keys = false;
	const struct cli_option options[] = {
	    {CLI_FLAG, 'l', "list", NULL, "keys and values alone, as perf config prints them",
	     .to = &plain},
	    {CLI_FLAG, 0, "keys", NULL, "all keys that tally obeys", .to = &keys},
	    {.kind = CLI_END},
	};
	int status, at = cli_parse(&usage, options, argc, argv, &status);

	if (at < 0)
		return status;
	if (keys) {
		print_all_keys();
		return CLI_OK;
	}
	if (cli_config_read(&config, &error)) {
		cli_say("config", "%s", error.text);
		return CLI_FAILED;
	}
	if (config.left_out)
		cli_say("config", "%s belongs to another user: not read", config.left_out);
	status = CLI_OK;
	for (int i = at; i < argc; i++) {
		const struct cli_config_entry *entry = cli_config_find(&config, argv[i]);

		if (strchr(argv[i], '=')) {
			status = cli_usage_error(&usage,
						 "'%s': tally does not write these files; "
						 "edit them, or use perf config",
						 argv[i]);
			break;
		}
		if (entry)
			printf("%s=%s\n", entry->key, entry->value);
		else
			status = CLI_FAILED;
	}
	if (at == argc && config.count)
		print_file_keys(&config, plain);
	else if (at == argc && !plain)
		puts("No configuration file sets anything; `tally config --keys` lists the keys "
		     "that tally uses.");
	cli_config_done(&config);
	return status;
}
