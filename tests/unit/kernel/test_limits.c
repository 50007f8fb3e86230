/* Limits, from made-up trees and from this machine. */
#include "kernel_test.h"

#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void put(const char *root, const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void made_up_tree(void **state)
{
	char root[] = "/tmp/tally-limits-XXXXXX", command[128];
	struct tally_limits limits = {.size = sizeof(limits)};

	(void)state;
	assert_non_null(mkdtemp(root));
	put(root, "proc/sys/kernel/perf_event_paranoid", "-1\n");
	put(root, "proc/sys/kernel/kptr_restrict", "2\n");
	put(root, "proc/sys/kernel/perf_event_mlock_kb", "1024\n");
	put(root, "proc/sys/kernel/perf_event_max_sample_rate", "32000\n");
	put(root, "proc/sys/kernel/perf_event_max_stack", "500\n");
	/* CAP_PERFMON (38), CAP_SYSLOG (34), CAP_IPC_LOCK (14); CapPrm must not be taken for it. */
	put(root, "proc/self/status",
	    "Name:\tx\nCapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\n"
	    "CapEff:\t0000004400004000\nCapBnd:\t000001ffffffffff\n");
	tally_limits_read(root, &limits);
	assert_int_equal(limits.paranoid, -1);
	assert_int_equal(limits.kptr_restrict, 2);
	assert_int_equal(limits.mlock_kb, 1024);
	assert_int_equal(limits.max_sample_rate, 32000);
	assert_int_equal(limits.max_stack, 500);
	assert_true(limits.perfmon && limits.syslog && limits.ipc_lock);
	assert_false(limits.sys_admin || limits.sys_ptrace);
	put(root, "proc/self/status", "CapEff:\nCapEff:\t0000000000280000\n");
	tally_limits_read(root, &limits);
	assert_true(limits.sys_admin && limits.sys_ptrace);
	assert_false(limits.perfmon || limits.syslog || limits.ipc_lock);
	/* Nonsense is as good as nothing. */
	put(root, "proc/sys/kernel/perf_event_max_stack", "many\n");
	put(root, "proc/sys/kernel/perf_event_paranoid", "");
	tally_limits_read(root, &limits);
	assert_int_equal(limits.max_stack, 127);
	assert_int_equal(limits.paranoid, INT_MIN);
	assert_int_equal(limits.cpus, 0);
	put(root, "sys/devices/system/cpu/possible", "0-3,8-11\n");
	tally_limits_read(root, &limits);
	assert_int_equal(limits.cpus, 12);
	assert_false(limits.user_namespace);
	put(root, "proc/self/uid_map", "         0          0 4294967295\n");
	tally_limits_read(root, &limits);
	assert_false(limits.user_namespace);
	put(root, "proc/self/uid_map", "         0       1000          1\n");
	tally_limits_read(root, &limits);
	assert_true(limits.user_namespace);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

static void no_tree(void **state)
{
	struct tally_limits limits = {.size = sizeof(limits)};

	(void)state;
	tally_limits_read("/nonexistent", &limits);
	assert_int_equal(limits.paranoid, INT_MIN);
	assert_int_equal(limits.kptr_restrict, 0);
	assert_int_equal(limits.mlock_kb, 516);
	assert_int_equal(limits.max_sample_rate, 100000);
	assert_int_equal(limits.max_stack, 127);
	assert_false(limits.perfmon || limits.sys_admin);
}

static void this_machine(void **state)
{
	struct tally_limits limits = {.size = sizeof(limits)};
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	int paranoid;

	(void)state;
	if (!file)
		skip();
	assert_int_equal(fscanf(file, "%d", &paranoid), 1);
	fclose(file);
	tally_limits_read(NULL, &limits);
	assert_int_equal(limits.paranoid, paranoid);
	assert_true(limits.nofile > 0 && limits.nofile <= limits.nofile_hard);
	assert_true(limits.max_sample_rate > 0);
}

static int no_rights(void)
{
	struct tally_limits limits = {.size = sizeof(limits)};

	tally_limits_read(NULL, &limits);
	return limits.perfmon || limits.sys_admin || limits.ipc_lock || limits.syslog;
}

static int room_for_files(void)
{
	struct rlimit limit = {.rlim_cur = 64, .rlim_max = 512};

	if (setrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	if (tally_limits_raise_nofile(10) || getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur != 64)
		return 2; /* enough: nothing changes */
	if (tally_limits_raise_nofile(200) || getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur != 512)
		return 3; /* up to the hard limit */
	if (tally_limits_raise_nofile(5000) != -EMFILE)
		return 4; /* nobody cannot go beyond */
	if (tally_limits_raise_nofile(UINT64_MAX) != -EMFILE)
		return 5;
	return 0;
}

static void nobody(void **state)
{
	(void)state;
	assert_int_equal(as_nobody(no_rights), 0);
	assert_int_equal(as_nobody(room_for_files), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(made_up_tree),
	    cmocka_unit_test(no_tree),
	    cmocka_unit_test(this_machine),
	    cmocka_unit_test(nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
