#include "push/push.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "push/series.h"

#define SPOOL_USUAL   ((uint64_t)256 << 20)
#define BATCH_USUAL   32
#define TIMEOUT_USUAL 30.0
#define RETRY_USUAL   60.0
#define METHOD        "/push.v1.PusherService/Push"
#define LINE_MOST     1024

bool tally_push_is_built(void)
{
	return tally_http_exists();
}

void tally_push_say(const struct tally_push *push, const char *format, ...)
{
	char line[LINE_MOST];
	va_list list;

	if (!push->options.notice)
		return;
	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	push->options.notice(push->options.context, line);
}

/* --- the URL --- */

/* The host, without its port, is this machine. */
static bool is_here(const char *host)
{
	static const char *const here[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < sizeof(here) / sizeof(*here); i++) {
		size_t length = strlen(here[i]);

		if (!strncasecmp(host, here[i], length) && strchr(":/", host[length]))
			return true;
	}
	return false;
}

static int check_url(const struct tally_push_options *options, struct tally_error *error)
{
	const char *url = options->url, *host;
	bool safe = !strncasecmp(url, "https://", 8);

	if (!safe && strncasecmp(url, "http://", 7) != 0)
		return tally_fail(error, -EINVAL, -1,
				  "the URL '%.200s' must begin with https:// or http://", url);
	host = url + (safe ? 8 : 7);
	if (strcspn(host, "@") < strcspn(host, "/"))
		return tally_fail(error, -EINVAL, -1,
				  "the URL contains a user or a password, which other processes "
				  "can read; use a file with the token");
	if (!strcspn(host, ":/") || host[strcspn(host, "?# \t\r\n")])
		return tally_fail(error, -EINVAL, -1,
				  "the URL '%.200s' is not http://HOST[:PORT][/PATH]", url);
	if (options->token && !safe && !is_here(host))
		return tally_fail(
		    error, -EINVAL, -1,
		    "a token is not sent to '%.200s' without encryption; use https://", url);
	return 0;
}

/* The URL of the method; NULL: out of memory. */
static char *method_url(const char *url)
{
	size_t length = strlen(url);
	char *made;

	while (length && url[length - 1] == '/')
		length--;
	if (length > strlen(METHOD) &&
	    !memcmp(url + length - strlen(METHOD), METHOD, strlen(METHOD)))
		length -= strlen(METHOD);
	return asprintf(&made, "%.*s" METHOD, (int)length, url) < 0 ? NULL : made;
}

/* --- open, close --- */

/* Text of a header: no control characters. */
static bool is_header(const char *text)
{
	for (; text && *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			return false;
	return true;
}

static int check_options(struct tally_push_options *options, struct tally_error *error)
{
	if (!options->spool || !*options->spool || !options->url)
		return tally_fail(error, -EINVAL, -1, "no spool, or no URL, is given");
	if (!is_header(options->token) || !is_header(options->user) || !is_header(options->tenant))
		return tally_fail(error, -EINVAL, -1,
				  "the token, user or tenant contains control characters");
	if (options->user && strchr(options->user, ':'))
		return tally_fail(error, -EINVAL, -1, "the user must not contain ':'");
	if (!options->spool_size)
		options->spool_size = SPOOL_USUAL;
	if (!options->batch)
		options->batch = BATCH_USUAL;
	if (!(options->timeout > 0))
		options->timeout = TIMEOUT_USUAL;
	if (!(options->retry > 0 || options->retry < 0))
		options->retry = RETRY_USUAL;
	return check_url(options, error);
}

static bool copy_text(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return *to || !text;
}

static int copy_texts(struct tally_push *push)
{
	struct tally_push_options *options = &push->options;

	push->url = method_url(options->url);
	if (!push->url || !copy_text(&push->spool_path, options->spool) ||
	    !copy_text(&push->token, options->token) || !copy_text(&push->user, options->user) ||
	    !copy_text(&push->tenant, options->tenant) ||
	    !copy_text(&push->certificates, options->certificates))
		return -ENOMEM;
	options->url = push->url;
	options->spool = push->spool_path;
	options->token = push->token;
	options->user = push->user;
	options->tenant = push->tenant;
	options->certificates = push->certificates;
	return 0;
}

static int open_client(struct tally_push *push, struct tally_error *error)
{
	const struct tally_push_options *options = &push->options;
	const struct http_client_options http = {.url = options->url,
						 .token = options->token,
						 .user = options->user,
						 .tenant = options->tenant,
						 .certificates = options->certificates,
						 .timeout = options->timeout,
						 .progress = options->progress,
						 .progress_context = options->context};
	int result = tally_http_open(&http, &push->client);

	if (!result)
		return 0;
	return tally_fail(error, result, -1,
			  result == -ENOTSUP  ? "profiles are not sent: tally was built without "
						"libcurl (in Debian: libcurl4-gnutls-dev)"
			  : result == -EINVAL ? "libcurl does not accept the URL or an option"
					      : "out of memory");
}

int tally_push_open(const struct tally_push_options *options, struct tally_push **ret,
		    struct tally_error *error)
{
	struct tally_push *push = calloc(1, sizeof(*push));
	int result;

	if (!push)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	push->options.size = sizeof(push->options);
	push->spool = (struct push_spool){.folder = -1, .lock = -1};
	result = tally_options_take(&push->options, sizeof(push->options), options);
	if (result)
		tally_fail(error, result, -1, "options that this libtally does not know");
	if (!result)
		result = check_options(&push->options, error);
	if (!result && copy_texts(push))
		result = tally_fail(error, -ENOMEM, -1, "out of memory");
	if (!result)
		result = open_client(push, error);
	if (!result)
		result = tally_push_spool_open(&push->spool, push->spool_path,
					       push->options.spool_size, error);
	if (result)
		tally_push_close(push);
	else
		*ret = push;
	return result;
}

void tally_push_close(struct tally_push *push)
{
	if (!push)
		return;
	tally_http_close(push->client);
	tally_push_spool_close(&push->spool);
	if (push->token)
		explicit_bzero(push->token, strlen(push->token));
	free(push->spool_path);
	free(push->url);
	free(push->token);
	free(push->user);
	free(push->tenant);
	free(push->certificates);
	free(push);
}

/* --- into the spool --- */

static void say_dropped(void *context, const struct push_entry *entry)
{
	struct tally_push *push = context;
	char when[32] = "?";
	time_t seconds = (time_t)(strtoull(entry->name, NULL, 10) / 1000000000);
	struct tm parts;

	if (localtime_r(&seconds, &parts))
		strftime(when, sizeof(when), "%F %T", &parts);
	push->sum.dropped++;
	tally_push_say(push,
		       "the spool %s is full (%.1f MB): dropped the oldest profile, of %s, %llu "
		       "bytes",
		       push->spool_path, (double)push->options.spool_size / 1e6, when,
		       (unsigned long long)entry->size);
}

int tally_push_add(struct tally_push *push, FILE *profile, const struct tally_push_label *labels,
		   size_t count, struct tally_error *error)
{
	struct tally_buf head = {.data = NULL};
	off_t size = -1;
	int result;

	if (!fseeko(profile, 0, SEEK_END))
		size = ftello(profile);
	if (size < 0 || fseeko(profile, 0, SEEK_SET))
		return tally_fail(error, -errno, -1, "the profile: %s", strerror(errno));
	result = tally_push_series_head(&head, labels, count, (uint64_t)size, error);
	if (!result) {
		result = tally_push_spool_add(&push->spool, &head, profile, (uint64_t)size,
					      say_dropped, push);
		if (result == -EFBIG)
			tally_fail(error, result, -1,
				   "a profile of %.1f MB is larger than the whole spool",
				   (double)size / 1e6);
		else if (result)
			tally_fail(error, result, -1, "the spool %s: %s", push->spool_path,
				   strerror(-result));
	}
	tally_buf_done(&head);
	return result;
}
