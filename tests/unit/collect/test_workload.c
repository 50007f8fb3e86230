/* The held command: runs only when it is started, says why it cannot, leaves when nobody starts it.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
#include <cmocka.h>
#include "collect/workload.h"

static void wait_for(struct tally_workload *workload)
{
	while (!tally_workload_check(workload))
		usleep(1000);
}

static void test_runs_when_started(void **state)
{
	char *const command[] = {"sh", "-c", "exit 5", NULL};
	struct tally_workload workload;
	struct tally_error error;

	(void)state;
	assert_int_equal(tally_workload_hold(command, false, &workload, &error), 0);
	usleep(20000);
	assert_false(tally_workload_check(&workload));
	assert_int_equal(tally_workload_start(&workload), 0);
	wait_for(&workload);
	assert_true(WIFEXITED(workload.status));
	assert_int_equal(WEXITSTATUS(workload.status), 5);
	tally_workload_done(&workload);
}

static void test_says_why_not(void **state)
{
	char *const nowhere[] = {"/no/such/program", NULL};
	char *const folder[] = {"/", NULL};
	struct tally_workload workload;
	struct tally_error error;

	(void)state;
	assert_int_equal(tally_workload_hold(nowhere, false, &workload, &error), 0);
	assert_int_equal(tally_workload_start(&workload), -ENOENT);
	tally_workload_done(&workload);
	assert_int_equal(WEXITSTATUS(workload.status), 127);
	assert_int_equal(tally_workload_hold(folder, false, &workload, &error), 0);
	assert_int_equal(tally_workload_start(&workload), -EACCES);
	tally_workload_done(&workload);
	assert_int_equal(WEXITSTATUS(workload.status), 126);
}

static void test_leaves_when_not_started(void **state)
{
	char path[] = "/tmp/tally-workload-XXXXXX";
	char *const command[] = {"rm", path, NULL};
	struct tally_workload workload;
	struct tally_error error;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tally_workload_hold(command, false, &workload, &error), 0);
	tally_workload_done(&workload);
	assert_true(WIFEXITED(workload.status));
	assert_int_equal(access(path, F_OK), 0); /* it was not run */
	unlink(path);
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	handled = 1;
}

/* The child shares our memory while it waits; our handlers must not run in it. */
static void test_signal_of_the_held(void **state)
{
	char *const command[] = {"true", NULL};
	struct sigaction before, ours = {.sa_handler = on_signal};
	struct tally_workload workload;
	struct tally_error error;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &ours, &before), 0);
	assert_int_equal(tally_workload_hold(command, false, &workload, &error), 0);
	assert_int_equal(kill(workload.pid, SIGUSR1), 0);
	assert_int_equal(tally_workload_start(&workload), 0);
	wait_for(&workload);
	tally_workload_done(&workload);
	assert_true(WIFSIGNALED(workload.status));
	assert_int_equal(WTERMSIG(workload.status), SIGUSR1);
	assert_int_equal(handled, 0);
	raise(SIGUSR1);
	assert_int_equal(handled, 1); /* here it is as it was */
	sigaction(SIGUSR1, &before, NULL);
}

/* Its words are the child's own, and a script without "#!" has them all twice. */
static void test_many_words(void **state)
{
	enum { WORDS = 20000 };
	char path[] = "/tmp/tally-script-XXXXXX";
	char **command = calloc(WORDS + 2, sizeof(*command));
	struct tally_workload workload;
	struct tally_error error;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_true(dprintf(fd, "test $# = %d && test \"$9\" = w9 && exit 7\n", WORDS) > 0);
	fchmod(fd, 0700);
	close(fd);
	command[0] = path;
	for (int i = 1; i <= WORDS; i++)
		assert_true(asprintf(&command[i], "w%d", i) > 0);
	assert_int_equal(tally_workload_hold(command, false, &workload, &error), 0);
	for (int i = 1; i <= WORDS; i++)
		free(command[i]);
	free(command);
	assert_int_equal(tally_workload_start(&workload), 0);
	wait_for(&workload);
	tally_workload_done(&workload);
	unlink(path);
	assert_int_equal(WEXITSTATUS(workload.status), 7);
}

static void test_find(void **state)
{
	char folder[] = "/tmp/tally-path-XXXXXX", value[64];
	int fd;

	(void)state;
	assert_int_equal(tally_workload_find("sh"), 0);
	assert_int_equal(tally_workload_find("no-such-program-anywhere"), -ENOENT);
	assert_int_equal(tally_workload_find(""), -ENOENT);
	assert_int_equal(tally_workload_find("/"), -EACCES);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	fd = open("plain", O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(tally_workload_find("./plain"), -EACCES);
	snprintf(value, sizeof(value), "/no/such/folder:%s:/bin", folder);
	setenv("PATH", value, 1);
	/* A refusal is reported only when nothing else is found. */
	assert_int_equal(tally_workload_find("plain"), -EACCES);
	assert_int_equal(tally_workload_find("sh"), 0);
	setenv("PATH", ":/bin", 1);
	assert_int_equal(tally_workload_find("plain"), -EACCES); /* empty: the current folder */
	unlink("plain");
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_runs_when_started),
	    cmocka_unit_test(test_says_why_not),
	    cmocka_unit_test(test_leaves_when_not_started),
	    cmocka_unit_test(test_signal_of_the_held),
	    cmocka_unit_test(test_many_words),
	    cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
