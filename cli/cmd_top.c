/* `tally top`: where the system, or running processes, spend their time now.
 *
 * A recorder fills a live session; a thread runs a profile over it and leaves each new one for the
 * thread that draws.  What grows with the stacks that were met is thrown away with the session,
 * which begins anew then. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <tally/probe.h>
#include <tally/profile.h>
#include <tally/recorder.h>
#include <tally/text.h>
#include "browser.h"
#include "command.h"
#include "options.h"
#include "record_options.h"
#include "say.h"
#include "screen.h"
#include "terminal.h"

#define KEYS_MOST 16
/* A session with more call stacks than this is thrown away: some 64 MB. */
#define STACKS_MOST (4U << 20)
/* As perf: an older sample counts seven eighths at each refresh. */
#define FADING 112U

struct top {
	struct record record; /* targets and events */
	const char *keys[KEYS_MOST];
	size_t key_count;
	double delay; /* s */
	uint64_t entries, refreshes;
	bool zero, stdio, hide_kernel, hide_user, no_children;
	double percent_limit;

	struct tally_recorder_options wanted;
	struct tally_recorder *recorder;
	struct tally_data *data;
	struct tally_session *session;
	pthread_t runner;
	bool running;

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct tally_profile *next; /* made, and not taken by who draws */
	bool ended, full;
	int result;
	struct tally_error error;

	struct browser browser;
	bool frozen;
	char notice[256];
	uint64_t drawn;
	double cpu_before, wall_before, own; /* s, s, % */
};

static volatile sig_atomic_t asked_to_stop;

static void on_signal(int signal)
{
	(void)signal;
	asked_to_stop = 1;
}

static void take_notice(void *context, const char *text)
{
	struct top *top = context;

	if (top->stdio)
		cli_say("top", "%s", text);
	else
		tally_text_escape(text, top->notice, sizeof(top->notice));
}

/* --- the thread that adds up --- */

static int take_profile(void *context, struct tally_profile *profile)
{
	struct top *top = context;
	int result;

	pthread_mutex_lock(&top->lock);
	tally_profile_free(top->next);
	top->next = profile;
	top->full = tally_session_stack_count(top->session) > STACKS_MOST;
	result = top->full || asked_to_stop ? -ECANCELED : 0;
	pthread_cond_signal(&top->changed);
	pthread_mutex_unlock(&top->lock);
	return result;
}

static void *follow(void *context)
{
	struct top *top = context;
	const struct tally_profile_options options = {
	    .size = sizeof(options),
	    .keys = top->keys,
	    .key_count = top->key_count,
	    .callchains = true,
	    .children = !top->no_children,
	};
	const struct tally_profile_live live = {
	    .size = sizeof(live),
	    .interval = (uint64_t)(top->delay * 1e9),
	    .keep = top->zero ? 0 : FADING,
	    .take = take_profile,
	    .context = top,
	};
	struct tally_error error;
	int result = tally_profile_follow(top->session, &options, &live, &error);

	pthread_mutex_lock(&top->lock);
	top->ended = true;
	top->result = result;
	top->error = error;
	pthread_cond_signal(&top->changed);
	pthread_mutex_unlock(&top->lock);
	return NULL;
}

/* --- a session's life --- */

static int begin(struct top *top, struct tally_error *error)
{
	struct tally_session_options options = {.size = sizeof(options), .functions = true};
	int result = tally_recorder_new(&top->wanted, &top->recorder, error);

	if (!result)
		result = tally_recorder_start(top->recorder, &top->data, error);
	if (!result)
		result = tally_session_new(top->data, &options, &top->session, error);
	top->ended = top->full = false;
	if (!result && pthread_create(&top->runner, NULL, follow, top)) {
		error->code = result = -EAGAIN;
		snprintf(error->text, sizeof(error->text), "cannot start a thread");
	}
	top->running = !result;
	return result;
}

static void finish(struct top *top)
{
	struct tally_recorder_result result = {.size = sizeof(result)};
	struct tally_profile *shown = top->browser.profile;
	struct tally_error error;

	if (top->recorder)
		tally_recorder_stop(top->recorder, 0);
	if (top->running)
		pthread_join(top->runner, NULL);
	top->running = false;
	browser_take(&top->browser, NULL);
	tally_profile_free(shown);
	tally_profile_free(top->next);
	top->next = NULL;
	tally_session_free(top->session);
	top->session = NULL;
	tally_data_close(top->data);
	if (top->data)
		tally_recorder_finish(top->recorder, &result, &error);
	top->data = NULL;
	tally_recorder_free(top->recorder);
	top->recorder = NULL;
}

/* The newest profile into the browser.  1: it is another one; 0, or -ENOMEM. */
static int take_next(struct top *top)
{
	struct tally_profile *next, *before = top->browser.profile;
	int result;

	pthread_mutex_lock(&top->lock);
	next = top->next;
	if (top->frozen && before)
		next = NULL;
	else
		top->next = NULL;
	pthread_mutex_unlock(&top->lock);
	if (!next)
		return 0;
	result = browser_take(&top->browser, next);
	tally_profile_free(before);
	return result ? result : 1;
}

/* --- what is shown --- */

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* What tally itself takes of a processor, since it was asked last. */
static double own_share(struct top *top)
{
	struct timespec now;
	struct rusage usage;
	double cpu, wall;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &usage);
	wall = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	cpu = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
	if (wall - top->wall_before >= 1) {
		top->own = 100 * (cpu - top->cpu_before) / (wall - top->wall_before);
		top->cpu_before = cpu;
		top->wall_before = wall;
	}
	return top->own;
}

static void state_text(struct top *top, char *text, size_t size)
{
	const struct tally_session_counts *counts = tally_session_counts(top->session);
	size_t used =
	    (size_t)snprintf(text, size, "tally top: %" PRIu64 " samples", counts->samples);

	if (counts->lost)
		used +=
		    (size_t)snprintf(text + used, size - used, ", %" PRIu64 " lost", counts->lost);
	if (counts->dropped)
		used += (size_t)snprintf(text + used, size - used, ", %" PRIu64 " dropped",
					 counts->dropped);
	if (counts->throttled)
		used += (size_t)snprintf(text + used, size - used, ", throttled %" PRIu64 " times",
					 counts->throttled);
	snprintf(text + used, size - used, "; own CPU %.1f%%", own_share(top));
}

static void print_lines(struct top *top)
{
	const struct browser *browser = &top->browser;
	struct tally_profile_event event = {.size = sizeof(event)};
	unsigned width = cli_term_width(), height = cli_term_height();
	uint64_t most = top->entries ? top->entries : height > 6 ? height - 4 : 20;
	char text[2048], name[128];

	state_text(top, text, sizeof(text));
	printf("%s\n", text);
	if (!browser->profile || tally_profile_event(browser->profile, browser->event, &event))
		return;
	tally_text_escape(event.name, name, sizeof(name));
	printf("# %" PRIu64 " samples of %s\n", event.samples, name);
	for (size_t i = 0; i < browser->line_count && i < most; i++) {
		const struct browser_line *line = &browser->lines[i];

		browser_text(browser, line, width ? width : 1000, text, sizeof(text));
		if (width > 24 && strlen(text) > width - 24)
			text[width - 24] = 0;
		if (tally_profile_has_children(browser->profile))
			printf("%6.2f%% %6.2f%%  %s\n", line->share, line->self, text);
		else
			printf("%6.2f%%  %s\n", line->self, text);
	}
	printf("\n");
	fflush(stdout);
}

/* Waits for a profile, a second at most, so that signals are seen. */
static bool wait_for_next(struct top *top)
{
	struct timespec until;
	bool ended;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&top->lock);
	if (!top->next && !top->ended)
		pthread_cond_timedwait(&top->changed, &top->lock, &until);
	ended = top->ended && !top->next;
	pthread_mutex_unlock(&top->lock);
	return !ended;
}

/* Prints each profile.  0, 1: the session is full, or -errno. */
static int print_on(struct top *top)
{
	while (!asked_to_stop && wait_for_next(top)) {
		int result = take_next(top);

		if (result < 0)
			return result;
		if (!result)
			continue;
		print_lines(top);
		if (ferror(stdout))
			return -EPIPE;
		if (top->refreshes && ++top->drawn >= top->refreshes)
			return 0;
	}
	return top->full && !asked_to_stop;
}

static const char *const top_help[] = {
    "p                freeze, go on",
    NULL,
};

static void draw(struct top *top, struct cli_screen *screen)
{
	unsigned height = cli_screen_height(screen), width = cli_screen_width(screen);
	char text[512];

	cli_screen_clear(screen);
	state_text(top, text, sizeof(text));
	cli_screen_put(screen, 0, 0, CLI_BOLD, text, width);
	if (top->browser.profile)
		browser_draw(&top->browser, screen, 1, height > 2 ? height - 2 : 0);
	else
		cli_screen_put(screen, 2, 2, CLI_PLAIN, "waiting for samples", width);
	snprintf(text, sizeof(text), "%s%s",
		 top->frozen ? "frozen, p goes on; "
			     : "q quit  ? keys  / filter  Enter tree  p freeze  ",
		 top->notice);
	cli_screen_put(screen, height - 1, 0, CLI_BAR, text, width);
	cli_screen_fill(screen, height - 1, 0, CLI_BAR);
	cli_screen_show(screen);
}

/* Draws until somebody quits.  0, 1: the session is full, or -errno. */
static int draw_on(struct top *top, struct cli_screen *screen)
{
	bool ended = false;

	while (!asked_to_stop) {
		unsigned height = cli_screen_height(screen);
		int key, result = take_next(top);

		if (result < 0)
			return result;
		if (result > 0 && top->refreshes && ++top->drawn >= top->refreshes)
			return 0;
		draw(top, screen);
		pthread_mutex_lock(&top->lock);
		ended = top->ended && !top->next;
		pthread_mutex_unlock(&top->lock);
		if (ended && !top->frozen)
			break;
		key = cli_screen_key(screen, 200);
		if (key == CLI_KEY_NONE)
			continue;
		if (key == 'p')
			top->frozen = !top->frozen;
		else if (key == '?')
			browser_help(screen, top_help);
		else
			result =
			    browser_key(&top->browser, screen, key, height > 4 ? height - 4 : 1);
		if (result < 0 || result == BROWSER_QUIT)
			return result < 0 ? result : 0;
	}
	return top->full && !asked_to_stop;
}

static int show(struct top *top, struct cli_screen *screen, struct tally_error *error)
{
	int more = 1, result = 0;

	while (more == 1 && !result) {
		result = begin(top, error);
		if (!result)
			more = screen ? draw_on(top, screen) : print_on(top);
		if (!result && more < 0) {
			error->code = result = more;
			snprintf(error->text, sizeof(error->text), "%s", strerror(-more));
		} else if (!result && top->ended && top->result && top->result != -ECANCELED) {
			*error = top->error;
			result = top->result;
		}
		finish(top);
	}
	return result;
}

static int run(struct top *top)
{
	struct cli_screen *screen = NULL;
	struct tally_error error = {0};
	int result;

	if (!top->stdio)
		top->stdio = cli_screen_open(&screen) != 0;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
	top->wanted.notice = take_notice;
	top->wanted.notice_context = top;
	result = show(top, screen, &error);
	cli_screen_close(screen);
	if (result == -EPIPE)
		return CLI_OK;
	if (result)
		cli_say_error("top", &error);
	if (result == -EACCES || result == -EPERM)
		return CLI_NOT_PERMITTED;
	return result ? CLI_FAILED : CLI_OK;
}

/* --- options --- */

static int take_keys(void *to, const char *value, bool on, struct tally_error *error)
{
	struct top *top = to;

	top->key_count = 0;
	while (on && *value) {
		size_t length = strcspn(value, ",");
		const char *key = tally_key_find(value, length);

		if (!key)
			return cli_refuse_word(error, value, length, "sort key", tally_key_name);
		if (top->key_count == KEYS_MOST)
			return cli_refuse(error, "more than %d sort keys", KEYS_MOST);
		top->keys[top->key_count++] = key;
		value += length + (value[length] == ',');
	}
	return 0;
}

static int take_call_graph(void *to, const char *value, bool on, struct tally_error *error)
{
	*(const char **)to = on ? value : NULL;
	if (!on || record_is_call_graph(value))
		return 0;
	return cli_refuse(error,
			  "'%s' is not a way to record call chains; valid are auto, fp, "
			  "dwarf[,SIZE], lbr",
			  value);
}

static size_t own_rows(struct top *top, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "Call stacks"},
	    {CLI_FLAG, 'g', NULL, NULL, "call chains, as --call-graph auto", &top->record.callchain,
	     .with_value = "call-graph"},
	    {CLI_CALL, 0, "call-graph", "HOW",
	     "record call chains by auto (unwound, else fp), fp (frame pointers), dwarf[,SIZE] "
	     "or lbr",
	     &top->record.call_graph, .call = take_call_graph},
	    {CLI_FLAG, 0, "no-children", NULL,
	     "with call chains: only a function's own share, without what it called",
	     &top->no_children},
	    {CLI_GROUP, .help = "What to show"},
	    {CLI_CALL, 's', "sort", "KEYS",
	     "the keys that rows are made of: {} (default: dso,symbol)", top, .call = take_keys,
	     .word = tally_key_name},
	    {CLI_DOUBLE, 'd', "refresh", "SECONDS", "time between two refreshes (default: 2)",
	     &top->delay},
	    {CLI_FLAG, 'z', "zero", NULL,
	     "begin anew at each refresh, instead of letting older samples fade", &top->zero},
	    {CLI_FLAG, 'K', "hide-kernel-symbols", NULL, "no rows of the kernel",
	     &top->hide_kernel},
	    {CLI_FLAG, 'U', "hide-user-symbols", NULL, "no rows of user space", &top->hide_user},
	    {CLI_DOUBLE, 0, "percent-limit", "PERCENT", "leave out rows below this share",
	     &top->percent_limit},
	    {CLI_GROUP, .help = "Output"},
	    {CLI_FLAG, 0, "stdio", NULL,
	     "print a table at each refresh, instead of a screen with keys", &top->stdio},
	    {CLI_U64, 'E', "entries", "N",
	     "rows of a printed table (default: what the terminal has, else 20)", &top->entries},
	    {CLI_U64, 0, "refreshes", "N", "end after so many refreshes", &top->refreshes},
	    {.kind = CLI_END},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

static int take_options(struct top *top, int argc, char **argv)
{
	static const char *const forms[] = {"[OPTIONS]", "[OPTIONS] -p PID,...", NULL};
	const struct cli_usage usage = {
	    .command = "top",
	    .forms = forms,
	    .about =
		"Shows where the whole system, or running processes, spend their time now: the "
		"functions with the most samples first.  On a terminal it is a screen: ? "
		"shows its keys.",
	};
	struct cli_option options[CLI_OPTIONS_MOST];
	struct record *record = &top->record;
	size_t rows = record_target_rows(record, options);
	int status, at;

	rows += record_event_rows(record, options + rows);
	own_rows(top, options + rows);
	at = cli_parse(&usage, options, argc, argv, &status);
	if (at < 0)
		return status;
	if (at < argc)
		return cli_usage_error(
		    &usage, "'%s': top runs no command; start it and give its -p PID", argv[at]);
	if (!(top->delay >= 0.1 && top->delay <= 86400))
		return cli_usage_error(&usage, "-d: give a time of 0.1 to 86400 seconds");
	top->wanted = (struct tally_recorder_options){.size = sizeof(top->wanted)};
	if (!record_targets_take(record, &top->wanted) || !record_events_take(record, &top->wanted))
		return CLI_USAGE;
	top->wanted.callchain = record->callchain;
	top->wanted.call_graph = record->call_graph;
	if (!record->pids.count && !record->tids.count && !record->parents.count &&
	    !record->users.count)
		top->wanted.system_wide = true;
	return -1;
}

static bool find_places(struct top *top)
{
	const struct tally_probe_options where = {.size = sizeof(where),
						  .pids = top->wanted.pids,
						  .pid_count = top->wanted.pid_count,
						  .system_wide = top->wanted.system_wide};
	struct tally_error error;

	if (!tally_probe_resolve(&top->record.events, &where, &error))
		return true;
	cli_say_error("top", &error);
	return false;
}

int cmd_top(int argc, char **argv)
{
	struct top top = {
	    .delay = 2,
	    .keys = {tally_key_find("dso", 3), tally_key_find("symbol", 6)},
	    .key_count = 2,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .changed = PTHREAD_COND_INITIALIZER,
	};
	int status = take_options(&top, argc, argv);

	top.browser.percent_limit = top.percent_limit;
	top.browser.hide_kernel = top.hide_kernel;
	top.browser.hide_user = top.hide_user;
	top.browser.order = top.no_children ? TALLY_CALLEE : TALLY_CALLER;
	if (status < 0)
		status = find_places(&top) ? run(&top) : CLI_FAILED;
	browser_done(&top.browser);
	record_events_done(&top.record);
	record_targets_done(&top.record);
	return status;
}
