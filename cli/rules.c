#include "rules.h"

#include <stdio.h>
#include <string.h>
#include "options.h"

static bool is_given(const struct cli_usage *usage, const struct cli_option *options,
		     const struct cli_given *given, const char *name, size_t length)
{
	if (*name != '-')
		return usage->subcommand && strlen(usage->subcommand) == length &&
			       !strncmp(name, usage->subcommand, length)
			   ? given->subcommand
			   : given->command;
	for (size_t i = 0; options[i].kind != CLI_END && i < CLI_OPTIONS_MOST; i++) {
		const struct cli_option *option = &options[i];
		bool same = length == 2 ? option->letter == name[1]
					: option->name && strlen(option->name) == length - 2 &&
					      !strncmp(option->name, name + 2, length - 2);

		if (same)
			return given->rows[i / 64] >> i % 64 & 1;
	}
	return false;
}

const char *cli_given_first(const struct cli_usage *usage, const struct cli_option *options,
			    const struct cli_given *given, const char *names, int *ret_length)
{
	for (;;) {
		size_t length = strcspn(names, ",");

		if (is_given(usage, options, given, names, length)) {
			*ret_length = (int)length;
			return names;
		}
		if (!names[length])
			return NULL;
		names += length + 1;
	}
}

/* "-a,-b,-c" as "-a, -b or -c" */
static void write_list(const char *names, char *to, size_t room)
{
	size_t length = 0;

	*to = 0;
	while (*names && length < room) {
		size_t word = strcspn(names, ",");
		const char *next = names + word + (names[word] == ',');

		length += (size_t)snprintf(to + length, room - length, "%.*s%s", (int)word, names,
					   !*next              ? ""
					   : strchr(next, ',') ? ", "
							       : " or ");
		names = next;
	}
}

static int exclude(const struct cli_usage *usage, const struct cli_rule *rule, const char *one,
		   int one_length, const char *other, int other_length)
{
	return cli_usage_error(usage, "%.*s and %.*s exclude each other: %s; give one of them",
			       one_length, one, other_length, other, rule->why);
}

static int check(const struct cli_usage *usage, const struct cli_option *options,
		 const struct cli_given *given, const struct cli_rule *rule)
{
	int length, other_length, with_length = 0;
	const char *with = NULL, *other, *one;
	char needed[128];

	one = cli_given_first(usage, options, given, rule->options, &length);
	if (one && rule->with) {
		with = cli_given_first(usage, options, given, rule->with, &with_length);
		if (!with)
			return 0;
	}
	if (!one)
		return 0;
	if (rule->relation == CLI_ONE_OF) {
		other = one[length] ? cli_given_first(usage, options, given, one + length + 1,
						      &other_length)
				    : NULL;
		return other ? exclude(usage, rule, one, length, other, other_length) : 0;
	}
	other = cli_given_first(usage, options, given, rule->others, &other_length);
	if (rule->relation == CLI_EXCLUDES)
		return other ? exclude(usage, rule, one, length, other, other_length) : 0;
	if (other)
		return 0;
	write_list(rule->others, needed, sizeof(needed));
	return cli_usage_error(usage, "%.*s%s%.*s needs %s: %s", length, one, with ? " with " : "",
			       with_length, with ? with : "", needed, rule->why);
}

int cli_rules_check(const struct cli_usage *usage, const struct cli_option *options,
		    const struct cli_given *given)
{
	int status = 0;

	/* What cannot go together comes first: adding what is needed would not help. */
	for (int needs = 0; needs < 2; needs++)
		for (const struct cli_rule *rule = usage->rules; rule && rule->options && !status;
		     rule++)
			if ((rule->relation == CLI_NEEDS) == needs)
				status = check(usage, options, given, rule);
	return status;
}

void cli_rules_list(const struct cli_rule *rules)
{
	static const char *const relations[] = {"one-of", "excludes", "needs"};

	for (; rules && rules->options; rules++)
		printf("%s\t%s\t%s\t%s\t%s\n", relations[rules->relation], rules->options,
		       rules->others ? rules->others : "-", rules->with ? rules->with : "-",
		       rules->why);
}
