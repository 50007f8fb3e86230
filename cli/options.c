#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "command.h"
#include "help.h"
#include "perf_options.h"
#include "say.h"

struct parser {
	const struct cli_usage *usage;
	const struct cli_option *options;
	int argc, at;
	char **argv;
	struct cli_given given;
};

int cli_refuse(struct tally_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	error->code = -EINVAL;
	error->position = -1;
	return -EINVAL;
}

#define WORDS_MOST 160
/* Of a list of valid words so many bytes are shown: the rest is in the help. */
#define LISTED_MOST 200

int cli_refuse_listed(struct tally_error *error, const char *text, size_t length, const char *what,
		      const char *const *words)
{
	char valid[TALLY_ERROR_TEXT] = "", typed[64];
	const char *nearest;
	size_t count = 0, at = 0;

	for (; words[count]; count++)
		if (at < LISTED_MOST)
			at += (size_t)snprintf(
			    valid + at, sizeof(valid) - at, "%s%s", count ? ", " : "",
			    at + strlen(words[count]) < LISTED_MOST ? words[count] : "...");
	snprintf(typed, sizeof(typed), "%.*s", (int)length, text);
	nearest = length < sizeof(typed) ? tally_text_nearest(typed, words, count) : NULL;
	if (nearest)
		return cli_refuse(error, "unknown %s '%s'; did you mean %s?", what, typed, nearest);
	return cli_refuse(error, "unknown %s '%.*s'; valid are %s", what, (int)length, text, valid);
}

int cli_choose(struct tally_error *error, const char *value, const char *what,
	       const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], value))
			return i;
	return cli_refuse_listed(error, value, strlen(value), what, words);
}

int cli_refuse_word(struct tally_error *error, const char *text, size_t length, const char *what,
		    cli_word word)
{
	const char *words[WORDS_MOST + 1];
	size_t count = 0;

	while (count < WORDS_MOST && (words[count] = word(count, NULL)))
		count++;
	words[count] = NULL;
	return cli_refuse_listed(error, text, length, what, words);
}

int cli_usage_error(const struct cli_usage *usage, const char *format, ...)
{
	char text[TALLY_ERROR_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cli_say(usage->command, "%s (see `tally %s --help`)", text, usage->command);
	return CLI_USAGE;
}

void cli_list_done(struct cli_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct cli_list){0};
}

int cli_list_add(struct cli_list *list, const char *item, size_t length)
{
	char **more = reallocarray(list->items, list->count + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	list->items = more;
	more[list->count] = strndup(item, length);
	if (!more[list->count])
		return -ENOMEM;
	list->count++;
	return 0;
}

static int list_split(struct cli_list *list, const char *text, bool whole)
{
	for (;;) {
		size_t length = whole ? strlen(text) : strcspn(text, ",");
		int error = length ? cli_list_add(list, text, length) : -EINVAL;

		if (error || !text[length])
			return error;
		text += length + 1;
	}
}

static bool takes_value(const struct cli_option *option)
{
	return option->kind != CLI_FLAG && option->kind != CLI_COUNT && option->kind != CLI_SET &&
	       !(option->flags & CLI_BARE);
}

/* The option as the person wrote it, for messages. */
static const char *written(const struct cli_option *option, bool letter, char *to, size_t room)
{
	if (letter || !option->name)
		snprintf(to, room, "-%c", option->letter);
	else
		snprintf(to, room, "--%s", option->name);
	return to;
}

static int store_double(const char *value, double *ret)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || *end || !isfinite(number))
		return -EINVAL;
	*ret = number;
	return 0;
}

/* 0, or CLI_USAGE or CLI_FAILED after having printed why. */
static int store(const struct parser *parser, const struct cli_option *option, bool letter,
		 const char *value, bool on)
{
	struct tally_error error = {.text = ""};
	const char *expected = "";
	char name[64];
	int result = 0;

	if (on && value && !*value && !(option->flags & CLI_EMPTY))
		return cli_usage_error(
		    parser->usage,
		    "%s: the value is empty: did the command in $(...) print nothing?",
		    written(option, letter, name, sizeof(name)));
	if (on && !value &&
	    (option->kind == CLI_U64 || option->kind == CLI_DOUBLE || option->kind == CLI_LIST))
		return 0; /* CLI_OPTIONAL without a value: `to` keeps its value */
	switch (option->kind) {
	case CLI_FLAG:
		*(bool *)option->to = on;
		return 0;
	case CLI_COUNT:
		*(unsigned *)option->to = on ? *(unsigned *)option->to + 1 : 0;
		return 0;
	case CLI_STRING:
		*(const char **)option->to = on ? value : NULL;
		return 0;
	case CLI_U64:
		expected = "a number";
		result = on ? tally_text_u64(value, option->to) : -EINVAL;
		break;
	case CLI_DOUBLE:
		expected = "a number";
		result = on ? store_double(value, option->to) : -EINVAL;
		break;
	case CLI_LIST:
		expected = "names or numbers with commas between them";
		if (on)
			result = list_split(option->to, value, option->flags & CLI_WHOLE);
		else
			cli_list_done(option->to);
		break;
	case CLI_CALL:
		result = option->call(option->to, value, on, &error);
		break;
	case CLI_SET:
		*(int *)option->to = on ? option->number : 0;
		return 0;
	case CLI_END:
	case CLI_GROUP:
		break;
	}
	if (!result)
		return 0;
	written(option, letter, name, sizeof(name));
	if (result == -ENOMEM) {
		cli_say(parser->usage->command, "%s: out of memory", name);
		return CLI_FAILED;
	}
	if (error.text[0])
		return cli_usage_error(parser->usage, "%s: %s", name, error.text);
	if (result == -ERANGE)
		return cli_usage_error(parser->usage, "%s: %s is too large", name, value);
	return cli_usage_error(parser->usage, "%s: '%s' is not %s", name, on ? value : "no",
			       expected);
}

/* Notes for the rules that the option was given, or taken back by --no-NAME. */
static void note_given(struct parser *parser, const struct cli_option *option, bool on)
{
	for (const struct cli_option *row = parser->options; row->kind != CLI_END; row++) {
		size_t i = (size_t)(row - parser->options);
		uint64_t bit = 1ULL << i % 64;

		if (i >= CLI_OPTIONS_MOST)
			return;
		if (row == option && on)
			parser->given.rows[i / 64] |= bit;
		else if (row == option || (row->kind == CLI_SET && row->to == option->to))
			parser->given.rows[i / 64] &= ~bit;
	}
}

/* Whether the next argument is the option's value. */
static bool is_value(const struct cli_option *option, const char *argument)
{
	size_t length = strlen(argument), end = option->ending ? strlen(option->ending) : 0;

	if (!(option->flags & CLI_OPTIONAL))
		return true;
	if (argument[0] == '-')
		return false;
	return !(option->flags & CLI_ATTACHED) ||
	       (end && length > end && !strcmp(argument + length - end, option->ending));
}

/* Takes the option's value (`attached`, or the next argument) and stores it. */
static int take(struct parser *parser, const struct cli_option *option, bool letter,
		const char *attached, bool on)
{
	char name[64];

	note_given(parser, option, on);
	parser->given.valueless = NULL;
	if (!takes_value(option) || !on) {
		if (attached)
			return cli_usage_error(parser->usage, "%s takes no value",
					       written(option, letter, name, sizeof(name)));
		return store(parser, option, letter, NULL, on);
	}
	if (!attached && parser->at < parser->argc && is_value(option, parser->argv[parser->at]))
		attached = parser->argv[parser->at++];
	parser->given.valueless = attached ? NULL : option->name;
	if (!attached && !(option->flags & CLI_OPTIONAL))
		return cli_usage_error(parser->usage, "%s needs a value: %s",
				       written(option, letter, name, sizeof(name)),
				       option->value ? option->value : "VALUE");
	return store(parser, option, letter, attached, on);
}

/* Whether `typed` (of `length`) is the option's name: 2 exactly, 1 as a beginning, 0 not; *on is
 * false for --no-NAME. */
static int match(const struct cli_option *option, const char *typed, size_t length, bool *on)
{
	const char *name = option->name;
	bool named_no = !strncmp(name, "no-", 3);

	*on = true;
	if (!strncmp(name, typed, length))
		return name[length] ? 1 : 2;
	*on = false;
	if (named_no && !strncmp(name + 3, typed, length))
		return name[3 + length] ? 1 : 2;
	if (!named_no && length > 3 && !strncmp(typed, "no-", 3) &&
	    !strncmp(name, typed + 3, length - 3))
		return name[length - 3] ? 1 : 2;
	return 0;
}

static int no_such_name(const struct parser *parser, const char *typed)
{
	const char *names[CLI_OPTIONS_MOST] = {"help", "no-pager"}, *nearest;
	const char *answer = cli_perf_option(parser->usage->command, typed, 0);
	size_t count = 2;

	for (const struct cli_option *option = parser->options;
	     option->kind != CLI_END && count < CLI_OPTIONS_MOST; option++)
		if (option->name && !(option->flags & CLI_HIDDEN))
			names[count++] = option->name;
	if (answer)
		return cli_usage_error(parser->usage, "perf's --%s is not here: %s", typed, answer);
	nearest = tally_text_nearest(typed, names, count);
	if (nearest)
		return cli_usage_error(parser->usage, "unknown option '--%s'; did you mean --%s?",
				       typed, nearest);
	return cli_usage_error(parser->usage, "unknown option '--%s'", typed);
}

static int parse_long(struct parser *parser, const char *typed)
{
	size_t length = strcspn(typed, "=");
	const char *value = typed[length] ? typed + length + 1 : NULL;
	const struct cli_option *found = NULL, *second = NULL;
	bool found_on = true;
	char name[64];

	for (const struct cli_option *option = parser->options; option->kind != CLI_END; option++) {
		bool on;
		int how = option->name ? match(option, typed, length, &on) : 0;

		if (!how)
			continue;
		if (how == 1 && found) {
			second = option;
			continue;
		}
		second = NULL;
		found = option;
		found_on = on;
		if (how == 2)
			break;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(length < 60 ? length : 60), typed);
	/* The whole name of another option of perf is not the beginning of one of ours. */
	if (!found || (strlen(found->name) != length && found_on &&
		       cli_perf_option(parser->usage->command, name, 0)))
		return no_such_name(parser, name);
	if (second)
		return cli_usage_error(parser->usage, "--%.*s is ambiguous: --%s or --%s",
				       (int)length, typed, found->name, second->name);
	return take(parser, found, false, value, found_on);
}

/* "-g=dwarf", "-F=99": `sign` is at the '='. */
static int letter_with_sign(const struct parser *parser, const struct cli_option *option,
			    const char *sign)
{
	bool named = option->name && takes_value(option);
	const char *to = named ? option->name : option->with_value;

	if (!takes_value(option) && !to)
		return cli_usage_error(parser->usage, "-%c takes no value", option->letter);
	if (!takes_value(option))
		return cli_usage_error(parser->usage, "-%c takes no value: write --%s%s",
				       option->letter, to, sign);
	return cli_usage_error(
	    parser->usage,
	    "-%c%s: after a letter there is no '=' before the value: write -%c%s%s%s%s%s",
	    option->letter, sign, option->letter, option->flags & CLI_ATTACHED ? "" : " ", sign + 1,
	    named ? " or --" : "", named ? to : "", named ? sign : "");
}

static int no_such_letter(const struct parser *parser, char letter)
{
	const char *answer = cli_perf_option(parser->usage->command, NULL, letter);

	if (answer)
		return cli_usage_error(parser->usage, "perf's -%c is not here: %s", letter, answer);
	return cli_usage_error(parser->usage, "unknown option '-%c'", letter);
}

static int parse_letters(struct parser *parser, const char *letters)
{
	for (; *letters; letters++) {
		const struct cli_option *option = parser->options;
		const char *attached = NULL;
		int status;

		while (option->kind != CLI_END && option->letter != *letters)
			option++;
		if (option->kind == CLI_END)
			return no_such_letter(parser, *letters);
		/* "=" alone may be a separator. */
		if (letters[1] == '=' && (letters[2] || !takes_value(option)))
			return letter_with_sign(parser, option, letters + 1);
		if (takes_value(option) && letters[1])
			attached = letters + 1;
		status = take(parser, option, true, attached, true);
		if (status || attached)
			return status;
	}
	return 0;
}

int cli_parse(const struct cli_usage *usage, const struct cli_option *options, int argc,
	      char **argv, int *ret_status)
{
	struct parser parser = {
	    .usage = usage, .options = options, .argc = argc, .at = 1, .argv = argv};
	int kept =
	    0; /* arguments between the options: they move to argv[1], in place of parsed options */

	while (parser.at < argc) {
		char *argument = argv[parser.at];
		int status;

		if (argument[0] != '-' || !argument[1]) {
			if (usage->subcommand && !parser.given.subcommand &&
			    !strcmp(argument, usage->subcommand)) {
				parser.given.subcommand = true;
				parser.at++;
				continue;
			}
			if (!usage->mixed)
				break;
			argv[1 + kept++] = argv[parser.at++];
			continue;
		}
		parser.at++;
		if (!strcmp(argument, "--"))
			break;
		if (!strcmp(argument, "-h") || !strcmp(argument, "--help")) {
			cli_help_print(usage, options);
			*ret_status = CLI_OK;
			return -1;
		}
		if (!strcmp(argument, "--no-pager")) {
			setenv("TALLY_PAGER", "", 1);
			continue;
		}
		if (!strcmp(argument, "--list-words") && parser.at < argc) {
			cli_help_list_words(options, argv[parser.at]);
			*ret_status = CLI_OK;
			return -1;
		}
		if (!strcmp(argument, "--list-options")) {
			cli_help_list(options);
			*ret_status = CLI_OK;
			return -1;
		}
		if (!strcmp(argument, "--list-rules")) {
			cli_rules_list(usage->rules);
			*ret_status = CLI_OK;
			return -1;
		}
		status = argument[1] == '-' ? parse_long(&parser, argument + 2)
					    : parse_letters(&parser, argument + 1);
		if (status) {
			*ret_status = status;
			return -1;
		}
	}
	parser.at -= kept;
	memmove(&argv[parser.at], &argv[1], (size_t)kept * sizeof(*argv));
	parser.given.command = parser.at < argc;
	if (usage->given)
		*usage->given = parser.given;
	*ret_status = cli_rules_check(usage, options, &parser.given);
	return *ret_status ? -1 : parser.at;
}
