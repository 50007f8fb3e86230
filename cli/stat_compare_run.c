/* --compare: runs commands in turn, as often as requested or needed, so that changes of the machine
 * affect all of them equally. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "say.h"
#include "stat_command.h"

#define CONFIDENCE  0.95
#define COMMANDS    26 /* names are letters */
#define USUAL_RUNS  10
#define UNTIL_RUNS  1000 /* at most, with --until */
#define UNTIL_LEAST 5    /* fewer runs do not show a spread */

struct contestant {
	char name[2];
	char **words;
	char *text; /* `words` point into it */
	struct stat_ask ask;
	struct stat_count count;
};

struct contest {
	const struct stat_ask *ask;
	struct contestant contestants[COMMANDS];
	size_t count;
	bool terminal;
	uint64_t rounds; /* at most */
};

/* A command that needs no shell is run without one. */
static bool is_plain(const char *command)
{
	return !command[strcspn(command, "|&;<>()$`\\\"'*?[]#~=%!{}\n")];
}

static int make_words(struct contestant *contestant, char *command)
{
	size_t count = 0;

	contestant->words = calloc(strlen(command) / 2 + 5, sizeof(*contestant->words));
	contestant->text = strdup(command);
	if (!contestant->words || !contestant->text) {
		cli_say("stat", "out of memory");
		return CLI_FAILED;
	}
	if (is_plain(command)) {
		char *rest = contestant->text, *word;

		while ((word = strsep(&rest, " \t")))
			if (*word)
				contestant->words[count++] = word;
	} else {
		static char shell[] = "sh", option[] = "-c";

		contestant->words[count++] = shell;
		contestant->words[count++] = option;
		contestant->words[count++] = contestant->text;
	}
	return CLI_OK;
}

/* Whether every command's time is known as precisely as requested: half the confidence interval of
 * its mean, in % of the mean. *ret_worst is the widest. */
static bool is_precise(const struct contest *contest, double *ret_worst)
{
	*ret_worst = 0;
	for (size_t i = 0; i < contest->count; i++) {
		const struct tally_stat *stat = contest->contestants[i].count.stat;
		struct tally_stat_duration times = {.size = sizeof(times)};
		size_t runs = tally_stat_runs(stat);
		double width;

		tally_stat_duration(stat, &times);
		if (runs < UNTIL_LEAST || times.elapsed <= 0)
			return false;
		width = 100 * tally_stat_student(CONFIDENCE, (double)(runs - 1)) *
			times.elapsed_spread / times.elapsed;
		if (width > *ret_worst)
			*ret_worst = width;
	}
	return *ret_worst <= contest->ask->until;
}

static void print_progress(const struct contest *contest, uint64_t round, const char *name)
{
	double worst;

	if (!contest->terminal)
		return;
	fprintf(stderr, "\r%s: run %llu of %s%llu", name, (unsigned long long)round + 1,
		contest->ask->until > 0 ? "at most " : "", (unsigned long long)contest->rounds);
	if (contest->ask->until > 0 && round >= UNTIL_LEAST) {
		is_precise(contest, &worst);
		fprintf(stderr, ", times known to %.2f %% of %.2f %%", worst, contest->ask->until);
	}
	fputs("\033[K", stderr);
}

static void end_progress(const struct contest *contest)
{
	if (contest->terminal)
		fputs("\r\033[K", stderr);
}

/* Nobody needs the command's output twenty times. */
static int silence_stdout(void)
{
	int before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	if (nowhere >= 0) {
		dup2(nowhere, STDOUT_FILENO);
		close(nowhere);
	}
	return before;
}

static void restore_stdout(int before)
{
	if (before < 0)
		return;
	dup2(before, STDOUT_FILENO);
	close(before);
}

static int run_one(struct contest *contest, struct contestant *contestant, uint64_t round,
		   struct stat_count *into, bool *ret_over)
{
	int status;

	print_progress(contest, round, contestant->name);
	status = stat_run_once(&contestant->ask, into, ret_over);
	if (status && !*ret_over) {
		end_progress(contest);
		cli_say("stat", "%s (%s) failed with status %d: its time would be meaningless",
			contestant->name, contestant->text, status);
		*ret_over = true;
	}
	return status;
}

/* One after the other, the next round in reverse order. */
static int run_round(struct contest *contest, uint64_t round, bool *ret_over)
{
	for (size_t i = 0; i < contest->count; i++) {
		size_t at = round & 1 ? contest->count - 1 - i : i;
		struct contestant *contestant = &contest->contestants[at];
		int status = run_one(contest, contestant, round, &contestant->count, ret_over);

		if (*ret_over)
			return status;
	}
	return CLI_OK;
}

/* Runs that fill caches and do not count. */
static int warm_up(struct contest *contest)
{
	for (uint64_t round = 0; round < contest->ask->warm_up; round++)
		for (size_t i = 0; i < contest->count; i++) {
			struct stat_count nowhere = {0};
			bool over = false;
			int status =
			    run_one(contest, &contest->contestants[i], round, &nowhere, &over);

			stat_count_done(&nowhere);
			if (status || over)
				return status ? status : CLI_FAILED;
		}
	return CLI_OK;
}

static int run_all(struct contest *contest)
{
	int status = warm_up(contest);
	double worst;

	for (uint64_t round = 0; !status && round < contest->rounds; round++) {
		bool over = false;

		status = run_round(contest, round, &over);
		if (over)
			break;
		if (contest->ask->until > 0 && is_precise(contest, &worst))
			break;
	}
	return status;
}

static int report_result(const struct contest *contest, const struct stat_output *output)
{
	struct tally_stat_compare_options options = {
	    .size = sizeof(options),
	    .confidence = CONFIDENCE,
	    .colour = output->colour,
	    .width = output->width,
	};
	struct tally_stat_compared compared[COMMANDS] = {{0}};
	double worst;
	int result;

	for (size_t i = 0; i < contest->count; i++) {
		compared[i] = (struct tally_stat_compared){
		    .name = contest->contestants[i].name,
		    .command = contest->ask->command[i],
		    .stat = contest->contestants[i].count.stat,
		};
		/* Interrupted before each command ran once: there is nothing to compare. */
		if (!compared[i].stat || !tally_stat_runs(compared[i].stat))
			return CLI_FAILED;
	}
	result = output->format == STAT_OWN_JSON
		     ? tally_stat_compare_json(compared, contest->count, &options, output->to)
		     : tally_stat_compare_text(compared, contest->count, &options, output->to);
	if (contest->ask->until > 0 && !is_precise(contest, &worst))
		cli_say("stat",
			"after %zu runs the times are known to only %.2f %%; -r allows more runs",
			tally_stat_runs(compared[0].stat), worst);
	return result == -ENOMEM ? CLI_FAILED : CLI_OK;
}

static int prepare(struct contest *contest, const struct stat_ask *ask)
{
	int status = CLI_OK;

	for (char **command = ask->command; *command && !status; command++) {
		struct contestant *contestant = &contest->contestants[contest->count];

		if (contest->count == COMMANDS)
			return cli_usage_error(ask->usage, "--compare takes at most %d commands",
					       COMMANDS);
		*contestant = (struct contestant){.name = {(char)('A' + contest->count)}};
		contest->count++;
		status = make_words(contestant, *command);
		if (!status && !contestant->words[0])
			return cli_usage_error(ask->usage, "--compare: a command is empty");
		contestant->ask = *ask;
		contestant->ask.command = contestant->words;
	}
	if (!status && contest->count < 2)
		return cli_usage_error(ask->usage,
				       "--compare needs at least two commands, each as one word: "
				       "tally stat --compare 'sort a' 'sort b'");
	return status;
}

int stat_compare(const struct stat_ask *ask, struct stat_output *output)
{
	struct contest *contest = calloc(1, sizeof(*contest));
	int status, before;

	if (!contest) {
		cli_say("stat", "out of memory");
		return CLI_FAILED;
	}
	contest->ask = ask;
	contest->terminal = isatty(STDERR_FILENO);
	contest->rounds = ask->repeat_given ? ask->repeat
			  : ask->until > 0  ? UNTIL_RUNS
					    : USUAL_RUNS;
	status = prepare(contest, ask);
	if (!status) {
		before = silence_stdout();
		status = run_all(contest);
		restore_stdout(before);
		end_progress(contest);
		if (!status || stat_interrupted())
			status = report_result(contest, output) ? CLI_FAILED : status;
	}
	for (size_t i = 0; i < contest->count; i++) {
		stat_count_done(&contest->contestants[i].count);
		free(contest->contestants[i].words);
		free(contest->contestants[i].text);
	}
	free(contest);
	return status;
}
