/* Why not: for every errno, on made-up machines, and the kernel's own refusals. */
#include "kernel_test.h"

#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define USER_AT(level)                                                                           \
	{                                                                                        \
		.paranoid = level, .mlock_kb = 516, .max_sample_rate = 100000, .max_stack = 127, \
		.nofile = 1024, .nofile_hard = 524288                                            \
	}
#define ROOT_AT(level)                                                                           \
	{                                                                                        \
		.paranoid = level, .mlock_kb = 516, .max_sample_rate = 100000, .max_stack = 127, \
		.nofile = 1024, .nofile_hard = 1024, .perfmon = true, .sys_admin = true          \
	}
#define SELF                                        \
	{                                           \
		.pid = 0, .cpu = -1, .group_fd = -1 \
	}
#define PERFMON "sudo setcap cap_perfmon+ep"

static const struct {
	int errnum;
	struct tally_attr attr;
	struct tally_open_target target;
	struct tally_limits limits;
	const char *says[4]; /* in this order */
} cases[] = {
    /* Rights. */
    {EACCES,
     {.type = 1},
     SELF,
     USER_AT(2),
     {"kernel.perf_event_paranoid is 2", "attr.exclude_kernel", PERFMON,
      "sudo sysctl kernel.perf_event_paranoid=1"}},
    {EACCES, {.type = 1}, SELF, USER_AT(2), {PERFMON, "modifier :u"}},
    {EACCES,
     {.type = 1, .exclude_kernel = 1},
     {.pid = -1, .cpu = 0, .group_fd = -1},
     USER_AT(1),
     {"paranoid is 1", "whole CPU", PERFMON, "perf_event_paranoid=0"}},
    {EACCES,
     {.type = 1},
     {.pid = 3, .cpu = 0, .group_fd = -1, .flags = PERF_FLAG_PID_CGROUP},
     USER_AT(2),
     {"a cgroup", PERFMON, "perf_event_paranoid=0"}},
    {EPERM,
     {.type = 2, .config = 300, .sample_type = PERF_SAMPLE_RAW},
     SELF,
     USER_AT(1),
     {"paranoid is 1", "PERF_SAMPLE_RAW", PERFMON, "perf_event_paranoid=-1"}},
    {EACCES,
     {.type = 2, .sample_type = PERF_SAMPLE_RAW, .exclude_kernel = 1},
     SELF,
     USER_AT(2),
     {"PERF_SAMPLE_RAW", PERFMON, "perf_event_paranoid=-1"}},
    {EACCES,
     {.type = 1, .exclude_kernel = 1},
     {.pid = 4242, .cpu = -1, .group_fd = -1},
     USER_AT(2),
     {"may not trace process 4242", PERFMON, "cap_sys_ptrace"}},
    {EACCES, {.type = 1}, SELF, USER_AT(3), {"paranoid is 3", PERFMON, ":u", "Debian"}},
    {EACCES,
     {.type = 1, .exclude_kernel = 1},
     SELF,
     USER_AT(3),
     {"perf_event_paranoid is 3", "refuses all events", PERFMON, "perf_event_paranoid=2"}},
    {EACCES,
     {.type = 1, .exclude_kernel = 1},
     SELF,
     USER_AT(4),
     {"perf_event_paranoid is 4", PERFMON}},
    {EACCES,
     {.type = 1, .exclude_kernel = 1, .namespaces = 1},
     SELF,
     USER_AT(2),
     {"attr.namespaces", PERFMON}},
    {EACCES,
     {.type = 1, .exclude_kernel = 1, .sample_type = PERF_SAMPLE_PHYS_ADDR},
     SELF,
     USER_AT(2),
     {"physical addresses", PERFMON}},
    {EACCES,
     {.exclude_kernel = 1,
      .sample_type = PERF_SAMPLE_BRANCH_STACK,
      .branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL},
     SELF,
     USER_AT(2),
     {"attr.branch_sample_type", PERFMON}},
    {EACCES, {.type = 999, .exclude_kernel = 1}, SELF, USER_AT(2), {"PMU type 999", PERFMON}},
    {EPERM, {.type = 1, .exclude_kernel = 1}, SELF, USER_AT(2), {"seccomp", "--cap-add PERFMON"}},
    {EPERM,
     {.type = 1, .exclude_kernel = 1},
     {.pid = 4242, .cpu = -1, .group_fd = -1},
     USER_AT(2),
     {"seccomp", "--cap-add PERFMON"}},
    {EPERM,
     {.type = 1},
     SELF,
     ROOT_AT(2),
     {"although this process has CAP_PERFMON", "--cap-add PERFMON", "lockdown"}},
    {EACCES, {.type = 1}, SELF, ROOT_AT(2), {"user namespace", "ausearch"}},
    {EPERM,
     {.sample_type = PERF_SAMPLE_REGS_INTR},
     SELF,
     ROOT_AT(2),
     {"locked down", "attr.sample_regs_intr"}},
    {EACCES, {.type = 1, .exclude_kernel = 1}, SELF, USER_AT(1), {"security module"}},
    /* 13.5: setcap takes away what it does not name, and gives nothing in a user namespace. */
    {EACCES,
     {.type = 1},
     SELF,
     {.paranoid = 2, .max_sample_rate = 100000, .file_caps = 1ULL << 34 | 1ULL << 13},
     {"`sudo setcap cap_net_raw,cap_syslog,cap_perfmon+ep $(command -v tally)`"}},
    {EACCES,
     {.type = 1},
     SELF,
     {.paranoid = 2, .max_sample_rate = 100000, .syslog = true, .ipc_lock = true},
     {"`sudo setcap cap_ipc_lock,cap_syslog,cap_perfmon+ep $(command -v tally)`"}},
    {EACCES,
     {.type = 1},
     SELF,
     {.paranoid = 2, .max_sample_rate = 100000, .user_namespace = true},
     {"root of the host", "--cap-add", "setcap does not help", "perf_event_paranoid=1"}},
    /* Hardware that is not there. */
    {ENOENT, {.type = 0}, SELF, ROOT_AT(2), {"virtual machine", "use cpu-clock"}},
    {EOPNOTSUPP, {.type = 0, .sample_period = 1}, SELF, ROOT_AT(2), {"use cpu-clock"}},
    {ENODEV, {.type = 0}, SELF, ROOT_AT(2), {"use cpu-clock"}},
    {ENODEV,
     {.type = 0},
     {.pid = -1, .cpu = 7, .group_fd = -1},
     ROOT_AT(2),
     {"CPU 7 is not online", "use cpu-clock"}},
    {EOPNOTSUPP,
     {.type = 0, .precise_ip = 3},
     SELF,
     ROOT_AT(2),
     {"attr.precise_ip 3", "fewer p", "use cpu-clock"}},
    {EOPNOTSUPP,
     {.type = 4, .sample_type = PERF_SAMPLE_BRANCH_STACK},
     SELF,
     ROOT_AT(2),
     {"attr.branch_sample_type"}},
    {ENOENT, {.type = 3}, SELF, ROOT_AT(2), {"cache", "cpu-clock"}},
    {ENOENT, {.type = 2, .config = 77}, SELF, ROOT_AT(2), {"no tracepoint has the id 77"}},
    {ENOENT, {.type = 1, .config = 99}, SELF, ROOT_AT(2), {"no such software event"}},
    {ENOENT, {.type = 5}, SELF, ROOT_AT(2), {"attr.bp_type"}},
    {ENOENT, {.type = 99}, SELF, ROOT_AT(2), {"attr.type 99"}},
    {ENOENT,
     {.type = 1},
     {.pid = 3, .cpu = 0, .group_fd = -1, .flags = PERF_FLAG_PID_CGROUP},
     ROOT_AT(2),
     {"cgroup has no perf_event controller", "cgroup.subtree_control"}},
    {EOPNOTSUPP,
     {.type = 20, .sample_period = 5},
     SELF,
     ROOT_AT(2),
     {"only counts", "attr.sample_period"}},
    {EOPNOTSUPP, {.type = 1, .precise_ip = 1}, SELF, ROOT_AT(2), {"attr.precise_ip 1"}},
    {EOPNOTSUPP, {.type = 20, .aux_output = 1}, SELF, ROOT_AT(2), {"attr.aux_output"}},
    /* The system call itself. */
    {ENOSYS, {.type = 1}, SELF, ROOT_AT(2), {"seccomp", "--cap-add PERFMON"}},
    {ENOSYS, {.type = 1}, SELF, ROOT_AT(INT_MIN), {"CONFIG_PERF_EVENTS"}},
    /* Fields. */
    {EINVAL,
     {.type = 1, .freq = 1, .sample_freq = 200000},
     SELF,
     USER_AT(2),
     {"attr.sample_freq is 200000", "perf_event_max_sample_rate is 100000", "-F max",
      "kernel.perf_event_max_sample_rate=200000"}},
    {EINVAL,
     {.type = 1, .sample_period = 1ULL << 63},
     SELF,
     ROOT_AT(2),
     {"attr.sample_period 9223372036854775808"}},
    {EINVAL, {.type = 1}, {.pid = -1, .cpu = -1, .group_fd = -1}, ROOT_AT(2), {"pid -1", "cpu -1"}},
    {EINVAL,
     {.type = 1},
     {.pid = 3, .cpu = -1, .flags = PERF_FLAG_PID_CGROUP},
     ROOT_AT(2),
     {"cgroup", "cpu must not be -1"}},
    {EINVAL, {.type = 1, .reserved_1 = 1}, SELF, ROOT_AT(2), {"reserved field"}},
    {EINVAL,
     {.type = 1, .inherit = 1, .sample_type = PERF_SAMPLE_READ},
     SELF,
     ROOT_AT(2),
     {"PERF_SAMPLE_READ", "attr.inherit", "--no-inherit"}},
    {EINVAL,
     {.type = 1, .inherit = 1, .read_format = PERF_FORMAT_GROUP},
     SELF,
     ROOT_AT(2),
     {"PERF_FORMAT_GROUP", "--no-inherit"}},
    {EINVAL, {.type = 1, .inherit_thread = 1}, SELF, ROOT_AT(2), {"needs attr.inherit"}},
    {EINVAL, {.type = 1, .sigtrap = 1}, SELF, ROOT_AT(2), {"attr.remove_on_exec"}},
    {EINVAL,
     {.type = 1, .remove_on_exec = 1, .enable_on_exec = 1},
     SELF,
     ROOT_AT(2),
     {"attr.remove_on_exec and attr.enable_on_exec"}},
    {EINVAL,
     {.type = 1, .sample_type = PERF_SAMPLE_STACK_USER, .sample_stack_user = 100},
     SELF,
     ROOT_AT(2),
     {"attr.sample_stack_user is 100", "multiple of 8"}},
    {EINVAL,
     {.type = 1, .sample_type = PERF_SAMPLE_STACK_USER, .sample_stack_user = 65536},
     SELF,
     ROOT_AT(2),
     {"attr.sample_stack_user is 65536"}},
    {EINVAL,
     {.sample_type = PERF_SAMPLE_REGS_USER, .sample_regs_user = 1ULL << 60},
     SELF,
     ROOT_AT(2),
     {"attr.sample_regs_user"}},
    {EINVAL, {.type = 1, .use_clockid = 1, .clockid = 3}, SELF, ROOT_AT(2), {"attr.clockid 3"}},
    {EINVAL,
     {.type = 1, .pinned = 1},
     {.pid = 0, .cpu = -1, .group_fd = 5},
     ROOT_AT(2),
     {"attr.pinned", "leader only"}},
    {EINVAL, {.type = 1}, {.pid = 0, .cpu = -1, .group_fd = 5}, ROOT_AT(2), {"the group"}},
    {EINVAL, {.precise_ip = 2}, SELF, ROOT_AT(2), {"attr.precise_ip 2"}},
    {EINVAL,
     {.type = 5, .bp_addr = 0x1001, .bp_len = 4},
     SELF,
     ROOT_AT(2),
     {"breakpoint at 0x1001"}},
    {EINVAL,
     {.type = 1, .sample_type = PERF_SAMPLE_CGROUP},
     SELF,
     ROOT_AT(2),
     {"sample_type 0x200000"}},
    /* 13.11: an older kernel is not the reason. */
    {EINVAL,
     {.type = 1},
     {.pid = -1, .cpu = 4, .group_fd = -1},
     {.paranoid = 2, .max_sample_rate = 100000, .perfmon = true, .cpus = 4},
     {"there is no CPU 4", "0 to 3"}},
    {EINVAL, {.type = 1}, {.pid = -1, .cpu = -7, .group_fd = -1}, ROOT_AT(2), {"cpu -7"}},
    {EINVAL,
     {.type = 1},
     {.pid = 0, .cpu = -1, .group_fd = -1, .flags = 0x110},
     ROOT_AT(2),
     {"flags 0x110", "PERF_FLAG_FD_NO_GROUP"}},
    {EINVAL, {.type = 1, .aux_pause = 1}, SELF, ROOT_AT(2), {"attr.aux_pause needs a group"}},
    {EINVAL, {.type = 1, .defer_callchain = 1}, SELF, ROOT_AT(2), {"attr.defer_callchain", "6.19"}},
    {EINVAL,
     {.type = 4, .use_clockid = 1, .clockid = 1, .config = 77},
     SELF,
     ROOT_AT(2),
     {"does not support all fields"}},
    {EOPNOTSUPP, {.type = 1, .aux_start_paused = 1}, SELF, ROOT_AT(2), {"attr.aux_start_paused"}},
    {EINVAL, {.type = 2, .config = 77}, SELF, ROOT_AT(2), {"no tracepoint has the id 77"}},
#if defined(__x86_64__) || defined(__i386__)
    {EINVAL,
     {.type = 5, .bp_type = 1, .bp_addr = 0x1000, .bp_len = 4},
     SELF,
     ROOT_AT(2),
     {"x86 has no breakpoint for reads only", "mem:0x1000:rw"}},
#endif
    {EINVAL, {.type = 9, .exclude_guest = 1}, SELF, ROOT_AT(2), {"attr.exclude_*", "u k h G H I"}},
    {EINVAL, {.type = 9}, SELF, ROOT_AT(2), {"whole CPUs", "pid 0, cpu -1"}},
    {E2BIG, {.type = 1, .config3 = 1}, SELF, ROOT_AT(2), {"136 bytes", "attr.config3"}},
    {E2BIG, {.type = 1, .sig_data = 1}, SELF, ROOT_AT(2), {"128 bytes", "attr.sig_data"}},
    {EOVERFLOW,
     {.type = 1, .sample_max_stack = 200},
     SELF,
     ROOT_AT(2),
     {"attr.sample_max_stack is 200", "kernel.perf_event_max_stack is 127",
      "sysctl kernel.perf_event_max_stack=200"}},
    /* What ran out. */
    {EMFILE, {.type = 1}, SELF, USER_AT(2), {"1024 open files", "ulimit -n 524288"}},
    {EMFILE, {.type = 1}, SELF, ROOT_AT(2), {"hard limit", "prlimit"}},
    {ENFILE, {.type = 1}, SELF, ROOT_AT(2), {"fs.file-max"}},
    {ENOMEM, {.type = 1}, SELF, ROOT_AT(2), {"no memory", "perf_event_max_stack"}},
    {ENOSPC, {.type = 5}, SELF, ROOT_AT(2), {"breakpoints are in use"}},
    {ENOSPC, {.type = 20}, SELF, ROOT_AT(2), {"no room"}},
    {EBUSY, {.type = 0}, SELF, ROOT_AT(2), {"kernel.nmi_watchdog=0"}},
    /* Who is asked for. */
    {ESRCH, {.type = 1}, {.pid = 12345, .cpu = -1, .group_fd = -1}, ROOT_AT(2), {"12345"}},
    {EBADF,
     {.type = 1},
     {.pid = 0, .cpu = -1, .group_fd = 55},
     ROOT_AT(2),
     {"group_fd 55", "leader first"}},
    {EBADF,
     {.type = 1},
     {.pid = 44, .cpu = 0, .group_fd = -1, .flags = PERF_FLAG_PID_CGROUP},
     ROOT_AT(2),
     {"pid 44", "/sys/fs/cgroup"}},
    {EINTR, {.type = 9}, SELF, ROOT_AT(2), {"ftrace", "uprobe"}},
    {EFAULT, {.type = 9}, SELF, ROOT_AT(2), {"attr.config1"}},
    {EIO, {.type = 1}, SELF, ROOT_AT(2), {"Input/output error"}},
};

static void every_errno(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_error error = {0};
		struct tally_limits limits = cases[i].limits;
		const char *at = error.text;

		limits.size = sizeof(limits);
		tally_open_explain(cases[i].errnum, &cases[i].attr, &cases[i].target, &limits,
				   &error);
		assert_int_equal(error.code, -cases[i].errnum);
		assert_int_equal(error.position, -1);
		for (size_t j = 0; j < 4 && cases[i].says[j]; j++) {
			at = strstr(at, cases[i].says[j]);
			if (!at)
				fail_msg("case %zu, %s: not in order \"%s\" in: %s", i,
					 strerror(cases[i].errnum), cases[i].says[j], error.text);
		}
		/* Whole, on one line, and never more power than is needed. */
		assert_null(strchr(error.text, '\n'));
		assert_true(strlen(error.text) < TALLY_ERROR_TEXT - 1);
		assert_null(strstr(error.text, "SYS_ADMIN"));
		assert_null(strstr(error.text, "cap_sys_admin"));
		/* No struct for the message: nothing happens. */
		tally_open_explain(cases[i].errnum, &cases[i].attr, &cases[i].target, NULL, NULL);
	}
}

/* The kernel refuses, and the words fit. */
static void real_refusals(void **state)
{
	static const struct {
		struct tally_attr attr;
		struct tally_open_target target;
		int result;
		const char *says;
	} real[] =
	{ {{.type = 1, .exclude_kernel = 1},
	   {.pid = 0x3fffff, .cpu = -1, .group_fd = -1},
	   -ESRCH,
	   "4194303"},
	  {{.type = 1, .exclude_kernel = 1},
	   {.pid = 0, .cpu = -1, .group_fd = 9999},
	   -EBADF,
	   "group_fd 9999"},
	  {{.type = 1, .exclude_kernel = 1, .freq = 1, .sample_freq = 1ULL << 40},
	   SELF,
	   -EINVAL,
	   "kernel.perf_event_max_sample_rate"},
	  {{.type = 1, .exclude_kernel = 1, .sample_period = 1ULL << 63},
	   SELF,
	   -EINVAL,
	   "attr.sample_period"},
	  {{.type = 1,
	    .exclude_kernel = 1,
	    .sample_type = PERF_SAMPLE_CALLCHAIN,
	    .sample_period = 1000,
	    .sample_max_stack = 65535},
	   SELF,
	   -EOVERFLOW,
	   "kernel.perf_event_max_stack"},
	  {{.type = 1, .exclude_kernel = 1, .use_clockid = 1, .clockid = 99},
	   SELF,
	   -EINVAL,
	   "attr.clockid 99"},
	  {{.type = 1, .exclude_kernel = 1, .reserved_1 = 1 << 23}, SELF, -EINVAL, "reserved"},
	  {{.type = 1, .exclude_kernel = 1, .config = 1000},
	   SELF,
	   -ENOENT,
	   "no such software event"},
	  {{.type = 0xfffffff0, .exclude_kernel = 1}, SELF, -ENOENT, "attr.type 4294967280"},
	  {{.type = 1, .exclude_kernel = 1},
	   {.pid = 0, .cpu = 1 << 20, .group_fd = -1},
	   -EINVAL,
	   "there is no CPU 1048576"},
	  {{.type = 1, .exclude_kernel = 1},
	   {.pid = 0, .cpu = -1, .group_fd = -1, .flags = 1ul << 20},
	   -EINVAL,
	   "flags 0x100000"},
#if defined(__x86_64__) || defined(__i386__)
	  {{.type = 5, .exclude_kernel = 1, .bp_type = 1, .bp_addr = 0x1000, .bp_len = 4},
	   SELF,
	   -EINVAL,
	   "reads only"},
#endif
	  {{.type = 1, .exclude_kernel = 1, .inherit = 1, .sample_type = PERF_SAMPLE_READ},
	   SELF,
	   -EINVAL,
	   "PERF_SAMPLE_TID"},
	  /* What is wrong with the attr itself is not blamed on the kernel's age. */
	  {{.type = 1, .exclude_kernel = 1, .sample_type = 1u << 30},
	   SELF,
	   -EINVAL,
	   "attr.sample_type has bits 0x40000000"},
	  {{.type = 1, .exclude_kernel = 1, .read_format = 1u << 30},
	   SELF,
	   -EINVAL,
	   "attr.read_format has bits 0x40000000"},
	  {{.type = 1,
	    .exclude_kernel = 1,
	    .sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT},
	   SELF,
	   -EINVAL,
	   "exclude each other"},
	  {{.type = 1, .exclude_kernel = 1, .sample_type = PERF_SAMPLE_BRANCH_STACK},
	   SELF,
	   -EINVAL,
	   "no kind of branches"},
	  {{.type = 1,
	    .exclude_kernel = 1,
	    .sample_type = PERF_SAMPLE_BRANCH_STACK,
	    .branch_sample_type = 1u << 31 | 8},
	   SELF,
	   -EINVAL,
	   "attr.branch_sample_type has bits 0x80000000"},
	  {{.type = 1, .exclude_kernel = 1, .sample_type = PERF_SAMPLE_AUX, .aux_sample_size = 64},
	   SELF,
	   -EINVAL,
	   "attr.aux_sample_size needs a group"},
	  {{.type = 1,
	    .exclude_kernel = 1,
	    .sigtrap = 1,
	    .remove_on_exec = 1,
	    .sample_period = 1000},
	   {.pid = -1, .cpu = 0, .group_fd = -1},
	   -EINVAL,
	   "attr.sigtrap needs a thread"},
	};
	struct tally_attr plain = software(PERF_COUNT_SW_DUMMY);

	(void)state;
	close(must_open(&plain, -1));
	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++) {
		struct tally_error error = {0};
		int result = tally_open(&real[i].attr, &real[i].target, NULL, &error);

		if (result != real[i].result || !strstr(error.text, real[i].says))
			fail_msg("case %zu: %d: %s", i, result, error.text);
	}
}

/* 13.11: the size that the kernel writes back with E2BIG. */
static void reports_the_kernels_size(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_DUMMY), raw;
	struct tally_open_target target = this_thread();
	struct tally_error error = {0}, relaxed = {0};
	uint32_t given_up;
	char size[32];
	int fd;

	(void)state;
	close(must_open(&attr, -1));
	attr.config4 = 1; /* what a kernel that knows it does with it does not matter */
	fd = tally_open(&attr, &target, NULL, &error);
	if (fd != -E2BIG) {
		print_message("skipped: this kernel knows attr.config4\n");
		if (fd >= 0)
			close(fd);
		skip();
	}
	raw = attr;
	raw.size = sizeof(raw);
	assert_int_equal(syscall(SYS_perf_event_open, &raw, 0, -1, -1, 0), -1);
	assert_in_range(raw.size, PERF_ATTR_SIZE_VER0, sizeof(raw) - 8);
	assert_int_equal(error.position, raw.size);
	snprintf(size, sizeof(size), "has %u bytes", raw.size);
	assert_non_null(strstr(error.text, size));
	assert_int_equal(
	    tally_open_relaxed(&attr, &target, NULL, TALLY_RELAXED_ALL, &given_up, &relaxed),
	    -E2BIG);
	assert_int_equal(relaxed.position, raw.size);
}

static int out_of_files(void)
{
	struct rlimit few = {.rlim_cur = 20, .rlim_max = 100};
	struct tally_attr attr = software(PERF_COUNT_SW_DUMMY);
	struct tally_open_target target = this_thread();
	struct tally_error error;
	int fd;

	setrlimit(RLIMIT_NOFILE, &few);
	while ((fd = tally_open(&attr, &target, NULL, &error)) >= 0)
		;
	if (fd == -EACCES)
		return 77;
	return fd == -EMFILE && strstr(error.text, "ulimit -n 100") ? 0 : 1;
}

static int what_nobody_may(void)
{
	struct tally_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};
	struct tally_open_target target = this_thread();
	struct tally_limits limits = {.size = sizeof(limits)};
	struct tally_error error;
	int fd;

	tally_limits_read(NULL, &limits);
	if (limits.paranoid != 2)
		return 77;
	fd = tally_open(&attr, &target, &limits, &error);
	if (fd != -EACCES || !strstr(error.text, "paranoid is 2") ||
	    !strstr(error.text, "cap_perfmon") || !strstr(error.text, ":u"))
		return 1;
	/* As it advises. */
	attr.exclude_kernel = 1;
	fd = tally_open(&attr, &target, &limits, &error);
	if (fd < 0)
		return 2;
	target = (struct tally_open_target){.pid = -1, .cpu = 0, .group_fd = -1};
	fd = tally_open(&attr, &target, &limits, &error);
	if (fd != -EACCES || !strstr(error.text, "whole CPU") || !strstr(error.text, "cap_perfmon"))
		return 3;
	target = (struct tally_open_target){.pid = 1, .cpu = -1, .group_fd = -1};
	fd = tally_open(&attr, &target, &limits, &error);
	if (fd != -EACCES || !strstr(error.text, "may not trace process 1"))
		return 4;
	attr.namespaces = 1;
	target = this_thread();
	fd = tally_open(&attr, &target, &limits, &error);
	if (fd != -EACCES || !strstr(error.text, "attr.namespaces"))
		return 5;
	return 0;
}

/* As container runtimes do it. */
static bool forbid_with(unsigned errnum)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int in_a_container(unsigned errnum)
{
	struct tally_attr attr = software(PERF_COUNT_SW_CPU_CLOCK);
	struct tally_open_target target = this_thread();
	struct tally_error error;

	if (!forbid_with(errnum))
		return 77;
	if (tally_open(&attr, &target, NULL, &error) != -(int)errnum)
		return 1;
	return strstr(error.text, "seccomp") && strstr(error.text, "--cap-add PERFMON") ? 0 : 2;
}

static int seccomp_eperm(void)
{
	return in_a_container(EPERM);
}

static int seccomp_enosys(void)
{
	return in_a_container(ENOSYS);
}

static void containers(void **state)
{
	int eperm = as_nobody(seccomp_eperm), enosys = as_nobody(seccomp_enosys);
	struct tally_limits limits = {.size = sizeof(limits)};

	(void)state;
	tally_limits_read(NULL, &limits);
	if (eperm == 77 || limits.paranoid > 2 || limits.paranoid == INT_MIN) {
		print_message("skipped: no seccomp filters, or events closed to users\n");
		skip();
	}
	assert_int_equal(eperm, 0);
	assert_int_equal(enosys, 0);
}

static void nobody(void **state)
{
	int status = as_nobody(what_nobody_may);

	(void)state;
	if (status == 77) {
		print_message("skipped: kernel.perf_event_paranoid is not 2\n");
		skip();
	}
	assert_int_equal(status, 0);
	assert_int_equal(as_nobody(out_of_files), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_errno),
	    cmocka_unit_test(real_refusals),
	    cmocka_unit_test(reports_the_kernels_size),
	    cmocka_unit_test(containers),
	    cmocka_unit_test(nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
