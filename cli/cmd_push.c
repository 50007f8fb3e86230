/* `tally push`: recordings as profiles to a server. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/export.h>
#include <tally/push.h>
#include "binaries.h"
#include "command.h"
#include "export_session.h"
#include "interrupt.h"
#include "progress.h"
#include "pushed_list.h"
#include "recording.h"
#include "say.h"

#define NAME   "push"
#define FORMAT "pprof"

struct push {
	const char *url, *spool, *token_file, *user, *tenant, *certificates;
	const char *service, *release, *host;
	struct cli_list labels; /* NAME=VALUE */
	struct cli_list events;
	struct cli_binaries binaries;
	uint64_t spool_mb, batch, max_stack, max_expand;
	double timeout, retry;
	bool once, no_lines, strict, quiet;
	char *usual_spool;
	struct tally_push *to;
	struct cli_pushed pushed;
};

const struct cli_setting cmd_push_settings[] = {
    {"buildid.dir", "--buildid-dir", CLI_SETTING_TEXT, offsetof(struct push, binaries.usual_dir),
     .room = CLI_BUILD_ID_DIR},
    {.key = NULL},
};

static void say_notice(void *context, const char *text)
{
	(void)context;
	cli_say(NAME, "%s", text);
}

static int ask_interrupted(void *context)
{
	(void)context;
	return cli_interrupted();
}

/* --- labels --- */

#define LABELS_OWN 3 /* service, version, host */

/* The labels of a profile; the caller's to free(); the texts are borrowed. */
static struct tally_push_label *make_labels(const struct push *push, const char *host,
					    size_t *ret_count)
{
	struct tally_push_label *labels = calloc(push->labels.count + LABELS_OWN, sizeof(*labels));
	size_t count = 0;

	if (!labels)
		return NULL;
	labels[count++] = (struct tally_push_label){"service_name", push->service};
	if (push->release)
		labels[count++] = (struct tally_push_label){"version", push->release};
	if (push->host)
		host = push->host;
	if (host && *host)
		labels[count++] = (struct tally_push_label){"host", host};
	for (size_t i = 0; i < push->labels.count; i++) {
		/* The name ends where check_labels() put a NUL. */
		const char *name = push->labels.items[i];

		labels[count++] = (struct tally_push_label){name, name + strlen(name) + 1};
	}
	*ret_count = count;
	return labels;
}

/* Cuts NAME=VALUE into two. */
static int check_labels(const struct cli_usage *usage, struct push *push)
{
	for (size_t i = 0; i < push->labels.count; i++) {
		char *end = strchr(push->labels.items[i], '=');

		if (!end || end == push->labels.items[i] || !end[1])
			return cli_usage_error(usage, "--label '%s' is not NAME=VALUE",
					       push->labels.items[i]);
		*end = '\0';
	}
	return 0;
}

static int add_profile(struct push *push, FILE *profile, const char *host, const char *path)
{
	struct tally_error error = {0};
	size_t count;
	struct tally_push_label *labels = make_labels(push, host, &count);
	int status = CLI_OK;

	if (!labels) {
		cli_say(NAME, "out of memory");
		return CLI_FAILED;
	}
	if (tally_push_add(push->to, profile, labels, count, &error)) {
		cli_say(NAME, "%s: %s", path, error.text);
		status = CLI_FAILED;
	} else if (push->once) {
		status = cli_pushed_add(NAME, &push->pushed, path);
	}
	free(labels);
	return status;
}

/* --- recordings --- */

static int export_session(struct push *push, struct tally_session *session, FILE *to,
			  struct tally_error *error)
{
	const struct tally_export_options options = {
	    .size = sizeof(options),
	    .format = FORMAT,
	    .events = (const char *const *)push->events.items,
	    .event_count = push->events.count,
	    .max_stack = push->max_stack > UINT32_MAX ? 0 : (uint32_t)push->max_stack,
	    .no_lines = push->no_lines,
	};
	int code = tally_export_write(session, &options, to, NULL, error);

	if (!code && fflush(to))
		code = -errno;
	if (code && !error->code)
		snprintf(error->text, sizeof(error->text), "the profile: %s", strerror(-code));
	return code;
}

/* A recording that is pushed. */
struct pushing {
	struct push *push;
	const char *path;
};

static int push_session(void *context, struct tally_data *data, struct tally_session *session,
			struct cli_progress *progress)
{
	const struct pushing *pushing = context;
	struct tally_error error = {0};
	FILE *profile = tmpfile();
	int status;

	(void)progress;
	if (!profile) {
		cli_say(NAME, "a temporary file: %s", strerror(errno));
		return CLI_FAILED;
	}
	if (export_session(pushing->push, session, profile, &error)) {
		if (!cli_interrupted())
			cli_say(NAME, "%s: %s", pushing->path, error.text);
		status = CLI_FAILED;
	} else {
		status = add_profile(pushing->push, profile, tally_data_info(data)->hostname,
				     pushing->path);
	}
	fclose(profile);
	return status;
}

static int push_recording(struct push *push, const char *path)
{
	const struct cli_export_session session = {.command = NAME,
						   .format = FORMAT,
						   .input = path,
						   .max_expand = push->max_expand,
						   .strict = push->strict,
						   .binaries = &push->binaries,
						   .progress = cli_progress_update};
	struct pushing pushing = {.push = push, .path = path};

	return cli_export_session(&session, push_session, &pushing);
}

/* A profile that is one already begins as gzip does.  Source: RFC 1952, 2.3.1. */
static FILE *open_profile(const char *path)
{
	unsigned char magic[2];
	FILE *file = fopen(path, "re");

	if (file && fread(magic, 1, sizeof(magic), file) == sizeof(magic) && magic[0] == 0x1f &&
	    magic[1] == 0x8b)
		return file;
	if (file)
		fclose(file);
	return NULL;
}

static int push_file(struct push *push, const char *path)
{
	FILE *profile;
	int status;

	if (push->once && cli_pushed_has(&push->pushed, path))
		return CLI_OK;
	profile = open_profile(path);
	if (!profile)
		return push_recording(push, path);
	status = add_profile(push, profile, NULL, path);
	fclose(profile);
	return status;
}

/* --- sending --- */

static int send_all(struct push *push)
{
	struct tally_push_result result = {.size = sizeof(result)};
	struct tally_error error = {0};
	int code = tally_push_send(push->to, &result, &error);

	if (code && code != -ECANCELED)
		cli_say_error(NAME, &error);
	if (result.left)
		cli_say(NAME, "%llu profile%s left in %s for the next time",
			(unsigned long long)result.left, result.left == 1 ? " is" : "s are",
			push->spool);
	if (result.sent && !push->quiet)
		cli_say(NAME, "%llu profile%s sent, %.1f kB, in %llu request%s",
			(unsigned long long)result.sent, result.sent == 1 ? "" : "s",
			(double)result.bytes / 1e3, (unsigned long long)result.requests,
			result.requests == 1 ? "" : "s");
	if (result.refused || result.dropped)
		return CLI_FAILED;
	return code == -EAGAIN ? CLI_LATER : code ? CLI_FAILED : CLI_OK;
}

static int open_spool(struct push *push)
{
	struct tally_push_options options = {.size = sizeof(options),
					     .spool = push->spool,
					     .spool_size = push->spool_mb * 1000000,
					     .url = push->url,
					     .user = push->user,
					     .tenant = push->tenant,
					     .certificates = push->certificates,
					     .batch = (unsigned)push->batch,
					     .timeout = push->timeout,
					     .retry = push->retry,
					     .notice = say_notice,
					     .progress = ask_interrupted};
	struct tally_error error = {0};
	char *token = NULL;
	int code = 0;

	if (push->token_file)
		code = tally_push_token(push->token_file, &token, &error);
	options.token = token;
	if (!code)
		code = tally_push_open(&options, &push->to, &error);
	if (token)
		explicit_bzero(token, strlen(token));
	free(token);
	return code ? cli_say_error(NAME, &error) : 0;
}

static int run(struct push *push, char **files)
{
	sigset_t before;
	int status = open_spool(push), sent;

	if (status)
		return status;
	/* Ctrl-C ends waiting; what is in the spool stays. */
	cli_interrupt_hold(&before);
	if (push->once)
		status = cli_pushed_read(NAME, push->spool, &push->pushed);
	if (!status) {
		for (; *files && !cli_interrupted(); files++)
			if (push_file(push, *files))
				status = CLI_FAILED;
		sent = send_all(push);
		if (!status)
			status = sent;
	}
	tally_push_close(push->to);
	cli_pushed_done(&push->pushed);
	cli_interrupt_release(&before);
	return status;
}

/* --- the command --- */

/* The folder of state that programs keep.  Source: the XDG Base Directory Specification. */
static int choose_spool(struct push *push)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (push->spool)
		return 0;
	if ((state && *state == '/' ? asprintf(&push->usual_spool, "%s/tally/push", state)
	     : home && *home == '/'
		 ? asprintf(&push->usual_spool, "%s/.local/state/tally/push", home)
		 : -1) < 0) {
		push->usual_spool = NULL;
		cli_say(NAME, "no home folder is known; name a folder with --spool");
		return CLI_FAILED;
	}
	push->spool = push->usual_spool;
	return 0;
}

static int check(const struct cli_usage *usage, struct push *push, int files)
{
	if (!push->url)
		return cli_usage_error(usage, "--url is missing: which server?");
	if (files && !push->service)
		return cli_usage_error(
		    usage, "--service is missing: the name by which the server shows the profiles");
	if (push->user && !push->token_file)
		return cli_usage_error(usage, "--user needs --token-file, with its password");
	if (push->timeout < 0 || push->batch > 10000 || push->spool_mb > 1000000000)
		return cli_usage_error(usage, "a number is too small or too large");
	return check_labels(usage, push);
}

int cmd_push(int argc, char **argv)
{
	static const char *const forms[] = {"--url URL --service NAME [OPTIONS] FILE...",
					    "--url URL [OPTIONS]", NULL};
	const struct cli_usage usage = {
	    .command = NAME,
	    .forms = forms,
	    .about = "Sends recordings as profiles to a Pyroscope server, or one that takes the "
		     "same. What cannot be sent waits in a folder for the next time; without files "
		     "only what waits there is sent.",
	    .mixed = true,
	};
	struct push push = {.binaries.inlines = CLI_INLINE_USUAL};
	const struct cli_option options[] = {
	    {CLI_GROUP, .help = "Server"},
	    {CLI_STRING, 'u', "url", "URL", "the server: http(s)://HOST[:PORT][/PATH]",
	     .to = &push.url},
	    {CLI_STRING, 0, "token-file", "FILE",
	     "a token, or the password of --user; others must not be able to read it",
	     .to = &push.token_file},
	    {CLI_STRING, 0, "user", "NAME", "the user of basic authentication", .to = &push.user},
	    {CLI_STRING, 0, "tenant", "ID", "the tenant (X-Scope-OrgID)", .to = &push.tenant},
	    {CLI_STRING, 0, "cacert", "FILE",
	     "certificates of authorities to trust (default: the system's)",
	     .to = &push.certificates},
	    {CLI_GROUP, .help = "Labels"},
	    {CLI_STRING, 's', "service", "NAME", "the label service_name", .to = &push.service},
	    {CLI_STRING, 0, "release", "VERSION", "the label version", .to = &push.release},
	    {CLI_STRING, 0, "host", "NAME", "the label host (default: the recorded machine)",
	     .to = &push.host},
	    {CLI_LIST, 'l', "label", "NAME=VALUE", "one more label", .to = &push.labels,
	     .flags = CLI_WHOLE},
	    {CLI_GROUP, .help = "Sending"},
	    {CLI_DOUBLE, 0, "retry", "SECONDS",
	     "for how long it is tried again (default: 60; -1: not at all)", .to = &push.retry},
	    {CLI_DOUBLE, 0, "timeout", "SECONDS", "the time for one request (default: 30)",
	     .to = &push.timeout},
	    {CLI_U64, 0, "batch", "N", "profiles in one request at most (default: 32)",
	     .to = &push.batch},
	    {CLI_STRING, 0, "spool", "DIR",
	     "where profiles wait (default: ~/.local/state/tally/push)", .to = &push.spool},
	    {CLI_U64, 0, "spool-size", "MB",
	     "megabytes that they take at most; the oldest are dropped (default: 256 MiB)",
	     .to = &push.spool_mb},
	    {CLI_FLAG, 0, "once", NULL, "skip files that were pushed before, and are unchanged",
	     .to = &push.once},
	    {CLI_FLAG, 'q', "quiet", NULL, "do not print what was sent", .to = &push.quiet},
	    {CLI_GROUP, .help = "Profiles"},
	    {CLI_LIST, 'e', "event", "NAMES", "only these events", .to = &push.events},
	    {CLI_FLAG, 0, "no-lines", NULL, "do not look up source lines", .to = &push.no_lines},
	    CLI_INLINE(push.binaries),
	    {CLI_U64, 0, "max-stack", "N", "frames that are kept of a call chain, the innermost",
	     .to = &push.max_stack},
	    CLI_BINARIES(push.binaries),
	    CLI_NO_DEMANGLE(push.binaries),
	    CLI_STRICT(push.strict),
	    CLI_MAX_EXPAND(push.max_expand),
	    {.kind = CLI_END},
	};
	int status = cli_settings_apply(NAME, cmd_push_settings, &push);
	int at = status ? -1 : cli_parse(&usage, options, argc, argv, &status);

	if (at >= 0)
		status = check(&usage, &push, argc - at);
	if (at >= 0 && !status)
		status = choose_spool(&push);
	if (at >= 0 && !status)
		status = run(&push, argv + at);
	cli_list_done(&push.labels);
	cli_list_done(&push.events);
	cli_binaries_done(&push.binaries);
	free(push.usual_spool);
	return status;
}
