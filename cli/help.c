#include "help.h"

#include <stdio.h>
#include <string.h>
#include "terminal.h"

#define HELP_MOST 4096
#define HELP_COLUMN \
	28u /* where the texts begin; after a longer option the text begins on the next line */

/* Prints words from column `at`, wrapped before `width`, further lines from column `indent`. */
static void wrap(const char *text, size_t at, size_t indent, size_t width)
{
	while (*text) {
		size_t word = strcspn(text, " ");

		if (at > indent && at + 1 + word > width) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)word, text);
		at += word;
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static size_t columns(void)
{
	size_t width = cli_term_width();

	if (!width)
		return 80;
	return width < 60 ? 60 : width > 100 ? 100 : width;
}

const char *cli_help_words(cli_word word, char *to, size_t room)
{
	size_t at = 0;
	const char *name;

	*to = '\0';
	for (size_t i = 0; at < room && (name = word(i, NULL)); i++)
		at += (size_t)snprintf(to + at, room - at, "%s%s", i ? ", " : "", name);
	return to;
}

/* The option's help with its words in the place of "{}". */
static const char *help_of(const struct cli_option *option, char *to, size_t room)
{
	const char *place = option->word ? strstr(option->help, "{}") : NULL;
	char words[HELP_MOST / 2];

	if (!place)
		return option->help;
	snprintf(to, room, "%.*s%s%s", (int)(place - option->help), option->help,
		 cli_help_words(option->word, words, sizeof(words)), place + 2);
	return to;
}

static void print_option(const struct cli_option *option, size_t width)
{
	char left[128], value[64] = "", help[HELP_MOST];
	size_t length;

	if (option->value && option->flags & CLI_OPTIONAL)
		snprintf(value, sizeof(value), "[%s%s]", option->name ? "=" : "", option->value);
	else if (option->value)
		snprintf(value, sizeof(value), "%s%s", option->name ? "=" : " ", option->value);
	if (option->letter && option->name)
		snprintf(left, sizeof(left), "  -%c, --%s%s", option->letter, option->name, value);
	else if (option->letter)
		snprintf(left, sizeof(left), "  -%c%s", option->letter, value);
	else
		snprintf(left, sizeof(left), "      --%s%s", option->name, value);
	length = strlen(left);
	fputs(left, stdout);
	if (length + 2 > HELP_COLUMN)
		printf("\n%*s", (int)HELP_COLUMN, "");
	else
		printf("%*s", (int)(HELP_COLUMN - length), "");
	wrap(help_of(option, help, sizeof(help)), HELP_COLUMN, HELP_COLUMN, width);
}

void cli_help_print(const struct cli_usage *usage, const struct cli_option *options)
{
	static const struct cli_option everywhere[] = {
	    {CLI_FLAG, 0, "no-pager", NULL, "print straight to the terminal", NULL, 0, NULL},
	    {CLI_FLAG, 'h', "help", NULL, "this text", NULL, 0, NULL},
	};
	size_t width = columns();

	for (size_t i = 0; usage->forms[i]; i++)
		printf("%s tally %s %s\n", i ? "   or:" : "Usage:", usage->command,
		       usage->forms[i]);
	putchar('\n');
	wrap(usage->about, 0, 0, width);
	if (options->kind != CLI_GROUP)
		puts("\nOptions:");
	for (; options->kind != CLI_END; options++) {
		if (options->kind == CLI_GROUP)
			printf("\n%s:\n", options->help);
		else if (!(options->flags & CLI_HIDDEN))
			print_option(options, width);
	}
	print_option(&everywhere[0], width);
	print_option(&everywhere[1], width);
}

void cli_help_list(const struct cli_option *options)
{
	char help[HELP_MOST];

	for (; options->kind != CLI_END; options++)
		if (options->kind != CLI_GROUP && !(options->flags & CLI_HIDDEN))
			printf("%c\t%s\t%s%s\t%s\n", options->letter ? options->letter : '-',
			       options->name ? options->name : "-",
			       options->value ? options->value : "-",
			       options->flags & CLI_OPTIONAL ? "?" : "",
			       help_of(options, help, sizeof(help)));
	puts("-\tno-pager\t-\tprint straight to the terminal");
	puts("h\thelp\t-\tthis text");
}

static bool is_option(const struct cli_option *option, const char *name)
{
	if (name[0] == '-' && name[1] == '-')
		return option->name && !strcmp(option->name, name + 2);
	if (name[0] == '-')
		return option->letter == name[1] && !name[2];
	return option->value && !strcmp(option->value, name);
}

void cli_help_list_words(const struct cli_option *options, const char *name)
{
	const char *word, *help;

	while (options->kind != CLI_END && !(options->word && is_option(options, name)))
		options++;
	for (size_t i = 0; options->word && (word = options->word(i, &help)); i++)
		printf("%s\t%s\n", word, help);
}
