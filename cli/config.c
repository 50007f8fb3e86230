#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST  (1u << 20)
#define KEY_MOST   256
#define VALUE_MOST 4096

struct reader {
	struct cli_config *config;
	const char *path, *at, *end;
	unsigned line;
	char section[KEY_MOST];
};

static int refuse(const struct reader *reader, struct tally_error *error, const char *what)
{
	*error = (struct tally_error){.code = -EINVAL, .position = -1};
	snprintf(error->text, sizeof(error->text), "%s:%u: %s", reader->path, reader->line, what);
	return -EINVAL;
}

static int no_memory(struct tally_error *error)
{
	*error = (struct tally_error){.code = -ENOMEM, .position = -1, .text = "out of memory"};
	return -ENOMEM;
}

static void skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
		reader->at++;
}

static void skip_line(struct reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n')
		reader->at++;
}

/* [section] or [section "part"], which becomes section.part. */
static int read_section(struct reader *reader, struct tally_error *error)
{
	size_t length = 0;
	bool quoted = false;

	for (reader->at++; reader->at < reader->end && *reader->at != '\n'; reader->at++) {
		char c = *reader->at;

		if (c == ']' && !quoted) {
			reader->at++;
			reader->section[length] = '\0';
			return length ? 0 : refuse(reader, error, "a section without a name");
		}
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (c == ' ' || c == '\t'))
			c = '.';
		else if (quoted && c == '\\' && reader->at + 1 < reader->end)
			c = *++reader->at;
		if (length + 1 == sizeof(reader->section))
			return refuse(reader, error, "the section's name is too long");
		if (c != '.' || !length || reader->section[length - 1] != '.')
			reader->section[length++] = (char)tolower((unsigned char)c);
	}
	return refuse(reader, error, "no ']' at the end of the section's name");
}

/* What follows "=": to the end of the line, without blanks around it. */
static int read_value(struct reader *reader, char value[VALUE_MOST], struct tally_error *error)
{
	size_t length = 0, kept = 0;
	bool quoted = false;

	skip_blanks(reader);
	for (; reader->at < reader->end && *reader->at != '\n'; reader->at++) {
		char c = *reader->at;

		if (c == '\r' || (!quoted && (c == '#' || c == ';'))) {
			skip_line(reader);
			break;
		}
		if (c == '"') {
			quoted = !quoted;
			kept = length;
			continue;
		}
		if (c == '\\') {
			static const char names[] = "ntb\"\\", means[] = "\n\t\b\"\\";
			const char *name;

			if (++reader->at == reader->end)
				break;
			if (*reader->at == '\n') {
				reader->line++;
				continue;
			}
			name = strchr(names, *reader->at);
			if (!name || !*name)
				return refuse(reader, error, "unknown character after a backslash");
			c = means[name - names];
		}
		if (length + 1 == VALUE_MOST)
			return refuse(reader, error, "the value is too long");
		value[length++] = c;
		if (quoted || (c != ' ' && c != '\t'))
			kept = length;
	}
	value[kept] = '\0';
	return quoted ? refuse(reader, error, "a quote that does not end") : 0;
}

static int add(struct reader *reader, unsigned line, const char *name, const char *value,
	       struct tally_error *error)
{
	struct cli_config *config = reader->config;
	struct cli_config_entry *more =
	    reallocarray(config->entries, config->count + 1, sizeof(*more));
	struct cli_config_entry *entry;

	if (!more)
		return no_memory(error);
	config->entries = more;
	entry = &more[config->count];
	*entry = (struct cli_config_entry){
	    .value = strdup(value), .file = strdup(reader->path), .line = line};
	if (asprintf(&entry->key, "%s.%s", reader->section, name) < 0)
		entry->key = NULL;
	config->count++; /* cli_config_done() frees it, also when it is incomplete */
	return entry->key && entry->value && entry->file ? 0 : no_memory(error);
}

static int read_variable(struct reader *reader, struct tally_error *error)
{
	char name[KEY_MOST], value[VALUE_MOST] = "true";
	unsigned line = reader->line; /* a value may have several */
	size_t length = 0;

	while (reader->at < reader->end &&
	       (isalnum((unsigned char)*reader->at) || strchr("-_.", *reader->at))) {
		if (!*reader->at || length + 1 == sizeof(name))
			return refuse(reader, error, "invalid name");
		name[length++] = (char)tolower((unsigned char)*reader->at++);
	}
	name[length] = '\0';
	skip_blanks(reader);
	if (!length)
		return refuse(reader, error, "expected [section] or name = value");
	if (!reader->section[0])
		return refuse(reader, error, "a name before the first [section]");
	if (reader->at < reader->end && *reader->at == '=') {
		int code;

		reader->at++;
		code = read_value(reader, value, error);
		if (code)
			return code;
	} else if (reader->at < reader->end && !strchr("\r\n#;", *reader->at)) {
		return refuse(reader, error, "no '=' after the name");
	}
	return add(reader, line, name, value, error);
}

static int read_text(struct reader *reader, struct tally_error *error)
{
	while (reader->at < reader->end) {
		char c = *reader->at;
		int code = 0;

		if (c == '\n') {
			reader->line++;
			reader->at++;
		} else if (c == ' ' || c == '\t' || c == '\r') {
			reader->at++;
		} else if (c == '#' || c == ';') {
			skip_line(reader);
		} else {
			code =
			    c == '[' ? read_section(reader, error) : read_variable(reader, error);
		}
		if (code)
			return code;
	}
	return 0;
}

static int read_file(struct cli_config *config, const char *path, bool anybodys,
		     struct tally_error *error)
{
	struct reader reader = {.config = config, .path = path, .line = 1};
	struct stat about;
	int code = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	ssize_t got;

	if (fd < 0)
		return 0;
	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || !about.st_size)
		goto out;
	if (!anybodys && about.st_uid && about.st_uid != geteuid()) {
		free(config->left_out);
		config->left_out = strdup(path);
		goto out;
	}
	if (about.st_size > FILE_MOST) {
		code = refuse(&reader, error, "the file is larger than 1 MiB");
		goto out;
	}
	text = malloc((size_t)about.st_size);
	if (!text) {
		code = no_memory(error);
		goto out;
	}
	got = pread(fd, text, (size_t)about.st_size, 0);
	reader.at = text;
	reader.end = text + (got > 0 ? got : 0);
	/* Editors of other systems begin a file with a byte order mark, which perf skips, too. */
	if (got >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		reader.at += 3;
	code = read_text(&reader, error);
out:
	free(text);
	close(fd);
	return code;
}

int cli_config_read(struct cli_config *ret, struct tally_error *error)
{
	const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");
	struct cli_config config = {0};
	char *path = NULL;
	int code;

	if (only) {
		code = *only ? read_file(&config, only, true, error) : 0;
	} else {
		code = read_file(&config, "/etc/perfconfig", true, error);
		if (!code && home && *home && asprintf(&path, "%s/.perfconfig", home) >= 0)
			code = read_file(&config, path, false, error);
		free(path);
	}
	if (code)
		cli_config_done(&config);
	else
		*ret = config;
	return code;
}

void cli_config_done(struct cli_config *config)
{
	for (size_t i = 0; i < config->count; i++) {
		free(config->entries[i].key);
		free(config->entries[i].value);
		free(config->entries[i].file);
	}
	free(config->entries);
	free(config->left_out);
	*config = (struct cli_config){0};
}

const struct cli_config_entry *cli_config_find(const struct cli_config *config, const char *key)
{
	for (size_t i = config->count; i--;)
		if (!strcasecmp(config->entries[i].key, key))
			return &config->entries[i];
	return NULL;
}

int cli_config_bool(const char *value, bool *ret)
{
	static const char *const yes[] = {"true", "yes", "on"}, *const no[] = {"false", "no", "off",
									       ""};
	char *end;
	long number;

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!strcasecmp(value, yes[i])) {
			*ret = true;
			return 0;
		}
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (!strcasecmp(value, no[i])) {
			*ret = false;
			return 0;
		}
	number = strtol(value, &end, 0);
	if (*end)
		return -EINVAL;
	*ret = number != 0;
	return 0;
}
