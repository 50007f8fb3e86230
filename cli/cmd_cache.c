/* `tally cache`: shows, checks and clears what Tally keeps between runs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/cache.h>
#include <tally/text.h>
#include <time.h>
#include "command.h"
#include "options.h"
#include "say.h"

#define NAME "cache"

struct request {
	bool check, clear, limit;
	const char *id;  /* --clear: only of builds that start with this; NULL: any */
	uint64_t unused; /* --clear: only what was not used for so many seconds */
	uint64_t limit_bytes;
};

/* Words of sizes and times: a number and a letter that multiplies it. */
struct letter {
	char letter;
	uint64_t factor;
};

static const struct letter sizes[] = {
    {'B', 1}, {'K', 1U << 10}, {'M', 1U << 20}, {'G', 1U << 30}, {0, 1}};
static const struct letter times[] = {{'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};

static bool parse(const char *text, const struct letter *letters, size_t count, uint64_t *ret)
{
	char *end;
	unsigned long long number;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	for (size_t i = 0; i < count && !errno; i++) {
		if (*end != letters[i].letter || (*end && end[1]))
			continue;
		if (number > UINT64_MAX / letters[i].factor)
			return false;
		*ret = number * letters[i].factor;
		return true;
	}
	return false;
}

static int take_limit(void *to, const char *value, bool on, struct tally_error *error)
{
	struct request *request = to;

	if (!on || !value ||
	    !parse(value, sizes, sizeof(sizes) / sizeof(*sizes), &request->limit_bytes))
		return cli_refuse(error, "a size such as 500M or 2G");
	request->limit = true;
	return 0;
}

static bool is_id(const char *text)
{
	size_t length = strlen(text);

	return length >= 2 && length <= 40 && strspn(text, "0123456789abcdef") == length;
}

/* "7d" could be both; a build-id of two digits names nothing that a person means. */
static int take_clear(void *to, const char *value, bool on, struct tally_error *error)
{
	struct request *request = to;

	request->clear = on;
	request->id = NULL;
	request->unused = 0;
	if (!on || !value)
		return 0;
	if (parse(value, times, sizeof(times) / sizeof(*times), &request->unused) &&
	    request->unused)
		return 0;
	if (!is_id(value))
		return cli_refuse(error,
				  "the start of a build-id, or a time such as 12h, 30d or 4w");
	request->id = value;
	return 0;
}

static const char *size_text(uint64_t bytes, char room[32])
{
	static const char units[] = " KMG";
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1024 && unit < 3; unit++)
		value /= 1024;
	if (unit)
		snprintf(room, 32, "%.1f %cB", value, units[unit]);
	else
		snprintf(room, 32, "%" PRIu64 " B", bytes);
	return room;
}

struct shown {
	uint64_t bytes;
	unsigned count, bad;
	bool check;
};

static const char *state_text(const struct tally_cache_file *file, bool check)
{
	switch (file->state) {
	case 0:
		return check ? "ok" : "";
	case -EBADMSG:
		return "damaged, or of another version; it is not used";
	case -EPERM:
		return "others can write it; it is not used";
	default:
		return strerror(-file->state);
	}
}

static int show(void *context, const struct tally_cache_file *file)
{
	struct shown *shown = context;
	char size[32], date[32] = "unknown", image[1024];
	time_t used = (time_t)file->used;
	struct tm local;

	if (!shown->count++)
		printf("%-14s  %-40s  %9s  %-16s  %s\n", "kind", "build-id", "size", "last use",
		       "image");
	if (localtime_r(&used, &local))
		strftime(date, sizeof(date), "%F %H:%M", &local);
	tally_text_escape(file->image, image, sizeof(image));
	printf("%-14s  %-40s  %9s  %-16s  %s", file->kind, *file->id ? file->id : "-",
	       size_text(file->bytes, size), date, *image ? image : file->name);
	if (file->units)
		printf(" (%u of %u units)", file->ready, file->units);
	if (file->state || shown->check)
		printf(": %s", state_text(file, shown->check));
	printf("\n");
	shown->bytes += file->bytes;
	shown->bad += file->state != 0;
	return 0;
}

static int list(const struct request *request)
{
	struct shown shown = {.check = request->check};
	struct tally_error error;
	char size[32], most[32];
	uint64_t limit;

	if (tally_cache_list(NULL, request->check, show, &shown, &error) ||
	    tally_cache_get_limit(NULL, &limit, &error))
		return cli_say_error(NAME, &error);
	printf("%u file%s, %s; the limit is %s\n", shown.count, shown.count == 1 ? "" : "s",
	       size_text(shown.bytes, size), size_text(limit, most));
	if (shown.bad && request->check) {
		cli_say(
		    NAME,
		    "%u file%s cannot be used; --clear removes them, and reports make them again",
		    shown.bad, shown.bad == 1 ? "" : "s");
		return CLI_FAILED;
	}
	return CLI_OK;
}

static int run(const struct request *request)
{
	struct tally_error error;

	if (request->clear) {
		int removed = tally_cache_clear(NULL, request->id, request->unused, &error);

		if (removed < 0)
			return cli_say_error(NAME, &error);
		printf("%d file%s removed\n", removed, removed == 1 ? "" : "s");
	}
	if (request->limit && tally_cache_take_limit(NULL, request->limit_bytes, &error))
		return cli_say_error(NAME, &error);
	return request->clear && !request->check ? CLI_OK : list(request);
}

int cmd_cache(int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", NULL};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about =
		"Shows what tally keeps between runs, so that reports start at once: symbols of "
		"the running kernel, and indexes of the source lines and inlined functions of "
		"programs. All of it can be made again.",
	};
	struct request request = {.check = false};
	const struct cli_option options[] = {
	    {CLI_FLAG, 0, "check", NULL, "read all of each file, and print whether it is whole",
	     .to = &request.check},
	    {CLI_CALL, 0, "clear", "BUILD-ID|TIME",
	     "remove the files of builds that start with this, or that were not used for a time "
	     "such "
	     "as 30d (h, d, w); default: all files",
	     .to = &request, .flags = CLI_OPTIONAL, .call = take_clear},
	    {CLI_CALL, 0, "limit", "SIZE",
	     "keep at most this much (K, M, G), and remove what was not used for the longest time",
	     .to = &request, .call = take_limit},
	    {.kind = CLI_END},
	};
	int status;
	int at = cli_parse(&usage, options, argc, argv, &status);

	if (at >= 0 && at < argc)
		return cli_usage_error(&usage, "unexpected argument '%s'", argv[at]);
	return at < 0 ? status : run(&request);
}
