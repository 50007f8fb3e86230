/* What this machine allows this process: sysctls, rlimits, capabilities. */
#include <tally/limits.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/fs.h"
#include "base/option_struct.h"
#include "kernel/setcap.h"

/* The kernel's defaults, for values that cannot be read; source: kernel/events/core.c and
 * include/uapi/linux/perf_event.h (PERF_MAX_STACK_DEPTH). */
#define DEFAULT_MLOCK_KB  516
#define DEFAULT_RATE      100000
#define DEFAULT_MAX_STACK 127

static int64_t sysctl_or(const char *root, const char *name, int64_t otherwise)
{
	char path[PATH_MAX];
	int64_t value;
	int length = snprintf(path, sizeof(path), "%s/proc/sys/kernel/%s", root, name);

	if (length < 0 || (size_t)length >= sizeof(path) || tally_fs_read_number(path, &value))
		return otherwise;
	return value;
}

/* The first user namespace maps every id to itself.  Source: user_namespaces(7). */
static bool in_user_namespace(const char *root)
{
	uint64_t words[3] = {0}; /* the first id inside, outside, and the count */
	char *map, *at;
	bool first;

	if (tally_fs_readf(1 << 16, &map, NULL, "%s/proc/self/uid_map", root))
		return false;
	at = map;
	for (size_t i = 0; i < 3; i++)
		words[i] = strtoull(at, &at, 10);
	first = !words[0] && !words[1] && words[2] == UINT32_MAX;
	free(map);
	return !first;
}

static uint64_t caps_of_program(const char *root)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/proc/self/exe", root);

	return length > 0 && (size_t)length < sizeof(path) ? tally_setcap_of_file(path) : 0;
}

/* "0-127" -> 128.  Source: Documentation/admin-guide/cputopology.rst. */
static int possible_cpus(const char *root)
{
	char *text, *last;
	long cpus;

	if (tally_fs_readf(1 << 16, &text, NULL, "%s/sys/devices/system/cpu/possible", root))
		return 0;
	last = text + strlen(text);
	while (last > text && last[-1] != '-' && last[-1] != ',')
		last--;
	cpus = strtol(last, NULL, 10) + 1;
	free(text);
	return cpus > 0 && cpus < INT_MAX ? (int)cpus : 0;
}

/* As the kernel gives them to the thread itself.  Source: capget(2). */
static uint64_t own_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

static uint64_t effective_capabilities(const char *root)
{
	uint64_t bits = 0;
	char *status, *line;

	if (tally_fs_readf(1 << 16, &status, NULL, "%s/proc/self/status", root))
		return *root ? 0 : own_capabilities();
	line = strstr(status, "\nCapEff:");
	if (line)
		bits = strtoull(line + strlen("\nCapEff:"), NULL, 16);
	free(status);
	return bits;
}

int tally_limits_read(const char *root, struct tally_limits *ret)
{
	struct tally_limits own = {0};
	struct rlimit limit;
	uint64_t caps;
	int64_t paranoid;

	if (!root)
		root = "";
	paranoid = sysctl_or(root, "perf_event_paranoid", INT_MIN);
	own.paranoid = paranoid < INT_MIN || paranoid > INT_MAX ? INT_MAX : (int)paranoid;
	own.kptr_restrict =
	    sysctl_or(root, "kptr_restrict", 0) > 0 ? (int)sysctl_or(root, "kptr_restrict", 0) : 0;
	own.mlock_kb = sysctl_or(root, "perf_event_mlock_kb", DEFAULT_MLOCK_KB);
	own.max_sample_rate = sysctl_or(root, "perf_event_max_sample_rate", DEFAULT_RATE);
	own.max_stack = sysctl_or(root, "perf_event_max_stack", DEFAULT_MAX_STACK);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit))
		own.memlock = limit.rlim_cur;
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		own.nofile = limit.rlim_cur;
		own.nofile_hard = limit.rlim_max;
	}
	own.cpus = possible_cpus(root);
	own.file_caps = caps_of_program(root);
	own.user_namespace = in_user_namespace(root);
	caps = effective_capabilities(root);
	own.perfmon = caps >> CAP_BIT_PERFMON & 1;
	own.sys_admin = caps >> CAP_BIT_SYS_ADMIN & 1;
	own.ipc_lock = caps >> CAP_BIT_IPC_LOCK & 1;
	own.sys_ptrace = caps >> CAP_BIT_SYS_PTRACE & 1;
	own.syslog = caps >> CAP_BIT_SYSLOG & 1;
	return tally_result_copy(ret, sizeof(own), &own);
}

/* Open descriptors; a small guess without /proc. */
static uint64_t open_descriptors(void)
{
	struct stat status;
	uint64_t count = 0;
	DIR *folder;

	/* From Linux 6.2 on the folder's size is their number (fs/proc/fd.c). */
	if (!stat("/proc/self/fd", &status) && status.st_size > 0)
		return (uint64_t)status.st_size;
	folder = opendir("/proc/self/fd");
	if (!folder)
		return 16;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

int tally_limits_raise_nofile(uint64_t need)
{
	struct rlimit limit, raised;
	uint64_t total;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	/* Some more, for the output file, pipes and descriptors that a library opens meanwhile. */
	if (__builtin_add_overflow(need, open_descriptors() + 16, &total))
		return -EMFILE;
	if (limit.rlim_cur >= total)
		return 0;
	raised = limit;
	raised.rlim_cur = limit.rlim_max;
	if (limit.rlim_max < total) {
		/* CAP_SYS_RESOURCE may exceed the hard limit, up to fs.nr_open. */
		struct rlimit beyond = {.rlim_cur = total, .rlim_max = total};

		if (!setrlimit(RLIMIT_NOFILE, &beyond))
			return 0;
	}
	if (raised.rlim_cur > limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised))
		return -errno;
	return raised.rlim_cur >= total ? 0 : -EMFILE;
}
