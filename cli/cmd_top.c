/* `tally top`: where the system, or running processes, spend their time now. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <tally/probe.h>
#include <tally/text.h>
#include "browser.h"
#include "command.h"
#include "say.h"
#include "screen.h"
#include "terminal.h"
#include "top_live.h"
#include "top_options.h"
#include "top_save.h"

/* Bytes of samples that can be saved, and that code is shown of. */
#define SAMPLES_KEPT ((size_t)32 << 20)

struct top {
	struct top_options options;
	struct top_live live;
	struct browser browser;
	struct tally_profile *shown; /* the browser's */
	struct browser_want shown_want;
	bool stdio, frozen;
	bool again; /* a recorder begins that another one was before: its notices are known */
	char notice[256], status[512];
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

	if (top->again)
		return;
	if (top->stdio)
		cli_say("top", "%s", text);
	else
		tally_text_escape(text, top->notice, sizeof(top->notice));
}

/* --- profiles for the browser --- */

static int give_profile(void *context, const struct browser_want *want, struct tally_profile **ret,
			struct tally_error *error)
{
	struct top *top = context;

	(void)error;
	top_live_ask(&top->live, want, !top->stdio);
	if (!top->shown || !browser_same_want(want, &top->shown_want))
		return -EAGAIN;
	*ret = top->shown;
	return 0;
}

static int save(void *context, const char *path, struct tally_error *error)
{
	const struct top *top = context;

	return top_save(top->live.data, path, error);
}

static int annotate(void *context, const struct tally_frame *function,
		    struct tally_annotation **ret, void **ret_kept, struct tally_error *error)
{
	const struct top *top = context;

	return top_annotate(top->live.data, &top->live.session_options, function, ret, ret_kept,
			    error);
}

/* The newest profile into the browser.  1: it is another one; 0, or -ENOMEM. */
static int take_next(struct top *top)
{
	struct browser_want want;
	struct tally_profile *next, *before = top->shown;
	int result;

	if (top->frozen && !top->browser.waiting)
		return 0;
	next = top_live_next(&top->live, &want);
	if (!next)
		return 0;
	if (!browser_same_want(&want, &top->browser.place.want)) {
		tally_profile_free(next);
		return 0;
	}
	top->shown = next;
	top->shown_want = want;
	result = browser_take(&top->browser, next);
	tally_profile_free(before);
	return result ? result : 1;
}

static void forget_profiles(struct top *top)
{
	browser_take(&top->browser, NULL);
	tally_profile_free(top->shown);
	top->shown = NULL;
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

static void make_status(struct top *top)
{
	const struct tally_session_counts *counts = tally_session_counts(top->live.session);
	char *text = top->status;
	size_t size = sizeof(top->status), used;

	used = (size_t)snprintf(text, size, "tally top: %" PRIu64 " samples", counts->samples);
	if (counts->lost)
		used +=
		    (size_t)snprintf(text + used, size - used, ", %" PRIu64 " lost", counts->lost);
	if (counts->dropped)
		used += (size_t)snprintf(text + used, size - used, ", %" PRIu64 " dropped",
					 counts->dropped);
	if (counts->throttled)
		used += (size_t)snprintf(text + used, size - used, ", throttled %" PRIu64 " times",
					 counts->throttled);
	used += (size_t)snprintf(text + used, size - used, "; own CPU %.1f%%", own_share(top));
	if (top->frozen)
		snprintf(text + used, size - used, "; frozen, p goes on");
	else if (top->notice[0])
		snprintf(text + used, size - used, "; %s", top->notice);
}

static void print_lines(struct top *top)
{
	const struct browser *browser = &top->browser;
	struct tally_profile_event event = {.size = sizeof(event)};
	unsigned width = cli_term_width(), height = cli_term_height();
	uint64_t most = top->options.entries ? top->options.entries : height > 6 ? height - 4 : 20;
	char text[2048], name[128];

	make_status(top);
	printf("%s\n", top->status);
	if (!browser->profile || tally_profile_event(browser->profile, browser->event, &event))
		return;
	tally_text_escape(event.name, name, sizeof(name));
	printf("# %" PRIu64 " samples of %s\n", event.samples, name);
	for (size_t i = 0; i < browser->line_count && i < most; i++) {
		const struct browser_line *line = &browser->lines[i];

		browser_text(browser, line, width > 24 ? width - 24 : 1000, text, sizeof(text));
		if (tally_profile_has_children(browser->profile))
			printf("%6.2f%% %6.2f%%  %s\n", line->share, line->self, text);
		else
			printf("%6.2f%%  %s\n", line->self, text);
	}
	printf("\n");
	fflush(stdout);
}

/* Prints each profile.  0, 1: the session is full, or -errno. */
static int print_on(struct top *top)
{
	while (!asked_to_stop && top_live_wait(&top->live)) {
		int result = take_next(top);

		if (result < 0)
			return result;
		if (!result)
			continue;
		print_lines(top);
		if (ferror(stdout))
			return -EPIPE;
		if (top->options.refreshes && ++top->drawn >= top->options.refreshes)
			return 0;
	}
	return top->live.full && !asked_to_stop;
}

static const struct browser_hint own_keys[] = {
    {'p', "p", "freeze"}, {'w', "w", "save"}, {'z', "z", "start anew"}, {0}};

static int take_key(struct top *top, struct cli_screen *screen, int key)
{
	key = browser_clicked_key(&top->browser, screen, key);
	if (key == 'p') {
		top->frozen = !top->frozen;
		top->browser.message[0] = 0;
		return BROWSER_CHANGED;
	}
	if (key == 'z') {
		top->options.zero = !top->options.zero;
		top_live_set_zero(&top->live, top->options.zero);
		browser_say(&top->browser, top->options.zero
					       ? "each refresh starts anew; z: older samples fade"
					       : "older samples fade; z: each refresh starts anew");
		return BROWSER_CHANGED;
	}
	return browser_key(&top->browser, screen, key);
}

/* Draws until somebody quits.  0, 1: the session is full, or -errno. */
static int draw_on(struct top *top, struct cli_screen *screen)
{
	bool changed = true;

	while (!asked_to_stop) {
		int key, result = take_next(top);

		if (result < 0)
			return result;
		if (result > 0 && top->options.refreshes && ++top->drawn >= top->options.refreshes)
			return 0;
		if (result > 0 || changed) {
			make_status(top);
			browser_draw(&top->browser, screen);
		}
		if (top_live_is_over(&top->live) && !top->frozen)
			break;
		key = cli_screen_key(screen, top->browser.waiting ? 50 : 200);
		changed = key != CLI_KEY_NONE;
		if (!changed)
			continue;
		result = take_key(top, screen, key);
		if (result < 0 || result == BROWSER_QUIT)
			return result < 0 ? result : 0;
	}
	return top->live.full && !asked_to_stop;
}

static int show(struct top *top, struct cli_screen *screen, struct tally_error *error)
{
	int more = 1, result = 0;

	for (bool again = false; more == 1 && !result; again = true) {
		top->again = again;
		result = top_live_begin(&top->live, error);
		top->again = false;
		if (!result)
			result = browser_start(&top->browser, error);
		if (!result)
			more = screen ? draw_on(top, screen) : print_on(top);
		if (!result && more < 0) {
			error->code = result = more;
			snprintf(error->text, sizeof(error->text), "%s", strerror(-more));
		} else if (!result && top->live.ended && top->live.result &&
			   top->live.result != -ECANCELED) {
			*error = top->live.error;
			result = top->live.result;
		}
		forget_profiles(top);
		top_live_end(&top->live);
	}
	return result;
}

static int run(struct top *top)
{
	struct cli_screen *screen = NULL;
	struct tally_error error = {0};
	int result;

	top->stdio = top->options.stdio || cli_screen_open(&screen) != 0;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
	top->live.record.keep = screen ? SAMPLES_KEPT : 0;
	(void)own_share(top); /* the first one shown is since now */
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

static bool find_places(struct top *top)
{
	const struct tally_recorder_options *wanted = &top->live.record;
	const struct tally_probe_options where = {.size = sizeof(where),
						  .pids = wanted->pids,
						  .pid_count = wanted->pid_count,
						  .system_wide = wanted->system_wide};
	struct tally_error error;

	if (!tally_probe_resolve(&top->options.record.events, &where, &error))
		return true;
	cli_say_error("top", &error);
	return false;
}

static void prepare(struct top *top, const struct browser_source *source)
{
	const struct top_options *options = &top->options;

	top->live.record.notice = take_notice;
	top->live.record.notice_context = top;
	top->live.stop = &asked_to_stop;
	top->live.zero = options->zero;
	top->live.delay = options->delay;
	memcpy(top->live.keys, options->keys, sizeof(options->keys));
	top->live.key_count = options->key_count;
	top->browser = (struct browser){
	    .source = source,
	    .percent_limit = options->percent_limit,
	    .hide_kernel = options->hide_kernel,
	    .hide_user = options->hide_user,
	    .show_samples = options->show_samples,
	    .show_period = options->show_period,
	    .intel = options->intel,
	    .no_source = !options->source,
	    .samples_least = options->samples_least,
	    .order = options->children ? TALLY_CALLER : TALLY_CALLEE,
	    .status = top->status,
	    .own = own_keys,
	    .stop = &asked_to_stop,
	};
}

int cmd_top(int argc, char **argv)
{
	struct top *top = calloc(1, sizeof(*top));
	const struct browser_source source = {.context = top,
					      .profile = give_profile,
					      .annotate = annotate,
					      .done = top_annotate_done,
					      .save = save};
	int status;

	if (!top) {
		cli_say("top", "not enough memory");
		return CLI_FAILED;
	}
	top_live_init(&top->live);
	status = top_options_take(&top->options, argc, argv, &top->live.record,
				  &top->live.session_options, &top->live.profile_options);
	if (status < 0) {
		prepare(top, &source);
		status = find_places(top) ? run(top) : CLI_FAILED;
	}
	browser_done(&top->browser);
	top_options_done(&top->options);
	top_live_done(&top->live);
	free(top);
	return status;
}
